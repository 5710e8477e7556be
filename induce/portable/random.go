package portable

import (
	"math"
	"math/bits"
)

// SplitMix returns the random number at a position of the sequence of a key: SplitMix64 of Steele,
// Lea and Flood, "Fast splittable pseudorandom number generators" (2014), read at any position. It
// also is a hash of two words.
func SplitMix(key, position uint64) uint64 {
	z := key + position*0x9e3779b97f4a7c15 // 2^64 over the golden ratio
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Random is a sequence of random numbers, after a position of the sequence of a key.
type Random struct{ Key, Position uint64 }

// Next returns the next number.
func (r *Random) Next() uint64 {
	r.Position++
	return SplitMix(r.Key, r.Position)
}

// Below returns a number in [0, n).
func (r *Random) Below(n int) int {
	high, _ := bits.Mul64(r.Next(), uint64(n))
	return int(high)
}

// Binomial returns the number of n trials that succeed, if each does so with the probability part/whole, at most 1. whole is
// below 2^63.
func (r *Random) Binomial(n int64, part, whole uint64) (succeeded int64) {
	for n > 0 && part > 0 {
		if part == whole {
			return succeeded + n
		}
		// A trial draws a number in [0, 1) and succeeds if the number is below part/whole. The first binary digit decides for
		// half of the trials; the loop continues with the other half.
		low := r.half(n)
		if part *= 2; part < whole {
			n = low
			continue
		}
		part -= whole
		succeeded += low
		n -= low
	}
	return succeeded
}

// exactTrials is the number of trials up to which half counts coins. For more coins, half draws from the normal approximation.
const exactTrials = 1 << 12

// half returns how many of n coins fall on one side.
func (r *Random) half(n int64) int64 {
	if n > exactTrials {
		return n/2 + int64(math.Round(float64(math.Sqrt(float64(n))/2*r.Normal())))
	}
	heads := 0
	for ; n > 64; n -= 64 {
		heads += bits.OnesCount64(r.Next())
	}
	return int64(heads + bits.OnesCount64(r.Next()>>(64-n)))
}

// Normal returns a number of the standard normal distribution, from exactTrials coins and a uniform number that fills
// the gaps between their sums.
func (r *Random) Normal() float64 {
	const scale = 1 << 32
	sum := r.half(exactTrials) - exactTrials/2
	between := int64(r.Next()>>32) - scale/2
	return float64(sum*scale+between) / (scale * 32) // 32 is the standard deviation of the sum
}

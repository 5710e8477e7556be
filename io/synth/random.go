package synth

import "math/bits"

// gamma is the odd step between the inputs of neighbouring numbers, 2^64 over the golden
// ratio. The generator is SplitMix64 of Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators" (2014), read at any position.
const gamma = 0x9e3779b97f4a7c15

// mix is the hash of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// at returns the random number of a key at a position.
func at(key, position uint64) uint64 { return mix(key + position*gamma) }

// The streams of a seed. The streams of the columns follow the last.
const (
	streamPlan = iota
	streamCopies
	streamNoise
	streamColumns
)

// keyOf returns the key of a stream. The seed is hashed twice. Otherwise neighbouring seeds
// would have the same streams in another order.
func keyOf(seed uint64, stream int) uint64 {
	return at(mix(mix(seed+gamma)), uint64(stream))
}

// threshold returns a share of the 2^32 values of half a random number.
func threshold(share float64) uint64 { return uint64(share * (1 << 32)) }

// random is a sequence of random numbers.
type random struct{ key, next uint64 }

func (r *random) uint64() uint64 {
	r.next++
	return at(r.key, r.next)
}

// below returns a number from 0 to n-1, for n > 0.
func (r *random) below(n int) int {
	high, _ := bits.Mul64(r.uint64(), uint64(n))
	return int(high)
}

// between returns a number from low to high, both included.
func (r *random) between(low, high int) int { return low + r.below(high-low+1) }

// permutation returns the numbers 0 to n-1 in random order.
func (r *random) permutation(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := r.below(i + 1)
		p[i], p[j] = p[j], i
	}
	return p
}

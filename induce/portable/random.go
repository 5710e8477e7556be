package portable

import "math/bits"

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

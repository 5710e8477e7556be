package synth

import "github.com/espalier-ml/espalier/induce/portable"

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
	return portable.SplitMix(portable.SplitMix(portable.SplitMix(seed, 1), 0), uint64(stream))
}

// threshold returns a share of the 2^32 values of half a random number.
func threshold(share float64) uint64 { return uint64(share * (1 << 32)) }

// random is a sequence of random numbers.
type random struct{ portable.Random }

// between returns a number from low to high, both included.
func (r *random) between(low, high int) int { return low + r.Below(high-low+1) }

// permutation returns the numbers 0 to n-1 in random order.
func (r *random) permutation(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := r.Below(i + 1)
		p[i], p[j] = p[j], i
	}
	return p
}

package metric

import "math/bits"

// Pairs is the exact sum for an area under a ROC curve (Mann and Whitney's U), in 128 bits: twice
// the weight of the pairs of a positive and a negative row in which the positive row ranks higher.
// A tie counts half.
type Pairs struct{ hi, lo uint64 }

// Add adds the product of two weights.
func (p *Pairs) Add(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	var carry uint64
	p.lo, carry = bits.Add64(p.lo, lo, 0)
	p.hi, _ = bits.Add64(p.hi, hi, carry)
}

// Sub subtracts the product of two weights.
func (p *Pairs) Sub(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	var borrow uint64
	p.lo, borrow = bits.Sub64(p.lo, lo, 0)
	p.hi, _ = bits.Sub64(p.hi, hi, borrow)
}

// Share returns the share of these pairs among all pairs, given the positive and the
// negative weight. It is nil if one of them is 0.
func (p *Pairs) Share(positive, negative uint64) *float64 {
	if positive == 0 || negative == 0 {
		return nil
	}
	return new(p.Over(positive, negative))
}

// Over is Share for weights above 0.
func (p *Pairs) Over(positive, negative uint64) float64 {
	twice := float64(float64(p.hi)*0x1p64) + float64(p.lo)
	return twice / 2 / float64(positive) / float64(negative)
}

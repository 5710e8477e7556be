package metric

import "github.com/espalier-ml/espalier/induce/portable"

// Pairs is the exact sum for an area under a ROC curve (Mann and Whitney's U), in 128 bits: twice
// the weight of the pairs of a positive and a negative row in which the positive row ranks higher.
// A tie counts half.
type Pairs struct{ portable.Products }

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
	return p.Float() / 2 / float64(positive) / float64(negative)
}

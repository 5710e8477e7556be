package judging

import (
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Frequencies returns the class frequencies that the predictions of a tree follow, of sum 1: the priors, or the
// shares of the training rows if classes have weights. It is nil if predictions follow the rows as they are.
func Frequencies(t *tree.Tree) []float64 {
	if t.Label.Priors != nil {
		return t.Label.Priors
	}
	if t.Training.Weights != tree.WeightsByClass {
		return nil
	}
	total := float64(portable.Sum(t.Nodes[0].RawClassWeights))
	shares := make([]float64, len(t.Nodes[0].RawClassWeights))
	for k, w := range t.Nodes[0].RawClassWeights {
		shares[k] = float64(w) / total
	}
	return shares
}

// Factors are how much the classes of rows count. nil: weights count as they are.
type Factors struct {
	// Unit is the common integer factor of the products, a power of 2, that leaves them with many digits: the weight of
	// all rows becomes Unit times as large.
	Unit float64

	byClass []float64 // including Unit
}

// mostWeight is the greatest weight of all rows after multiplication: the rounding error of the weight of a leaf
// is then at most 2^-51 of it.
const mostWeight = 1 << 50

// FactorsOf returns the factors that give rows the class frequencies, given the weight of the rows by class. Classes
// without rows have no part in the frequencies. The result is nil if frequencies is nil, or if there are no rows.
func FactorsOf(frequencies []float64, weights []int64) *Factors {
	total := float64(portable.Sum(weights))
	if frequencies == nil || total == 0 {
		return nil
	}
	f := &Factors{Unit: 1, byClass: make([]float64, len(weights))}
	for float64(total*f.Unit) <= mostWeight/2 {
		f.Unit *= 2
	}
	seen := 0.0
	for k, w := range weights {
		if w > 0 {
			seen += frequencies[k]
		}
	}
	for k, w := range weights {
		if w > 0 && seen > 0 {
			f.byClass[k] = frequencies[k] / seen * total / float64(w) * f.Unit
		}
	}
	return f
}

// Of returns the factor of a class, including Unit.
func (f *Factors) Of(class int) float64 { return f.byClass[class] }

// Weight returns the weight of rows of a class, multiplied by the factor of the class and rounded; the given
// weight if there are no factors.
func (f *Factors) Weight(class int, weight int64) int64 {
	if f == nil {
		return weight
	}
	return int64(math.RoundToEven(float64(float64(weight) * f.byClass[class])))
}

// Weights returns weights by class, multiplied; the given weights if there are no factors.
func (f *Factors) Weights(weights []int64) []int64 {
	if f == nil {
		return weights
	}
	multiplied := make([]int64, len(weights))
	for k, w := range weights {
		multiplied[k] = f.Weight(k, w)
	}
	return multiplied
}

// Counts returns counts of rows with multiplied weights; the given counts if there are no factors.
func (f *Factors) Counts(c *tree.LeafCounts) *tree.LeafCounts {
	if f == nil {
		return c
	}
	multiplied := *c
	multiplied.Weights = make([][]int64, len(c.Weights))
	for v, weights := range c.Weights {
		if weights != nil {
			multiplied.Weights[v] = f.Weights(weights)
		}
	}
	return &multiplied
}

// ClassWeights returns the weight of counted rows by class.
func ClassWeights(c *tree.LeafCounts, classes int) []int64 {
	weights := make([]int64, classes)
	for _, leaf := range c.Weights {
		for k, w := range leaf {
			weights[k] += w
		}
	}
	return weights
}

// ClassWeightsOf returns the weight of the labels of objects by class.
func ClassWeightsOf(o *dataset.Objects) []int64 {
	weights := make([]int64, o.Classes)
	for i := range o.Len() {
		for _, label := range o.Labels(i) {
			weights[label.Class] += label.Weight
		}
	}
	return weights
}

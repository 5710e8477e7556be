package metric

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/tree"
)

// The values of Metrics.Weights.
const (
	WeightsByPriors = "priors"
	WeightsByClass  = tree.WeightsByClass
)

// judged returns m, the metrics of a tree on leaves, with all figures but areas by the factors: see package judging.
func judged(m *Metrics, t *tree.Tree, leaves []Leaf, factors *judging.Factors, scale float64, e *effects) *Metrics {
	if factors == nil {
		return m
	}
	j := evaluate(multiplied(leaves, factors), t.Label.Classes, scale*factors.Unit, e, t.Label.ErrorCosts)
	j.AUCOvRMacro = m.AUCOvRMacro
	j.AUCOvOMacro = m.AUCOvOMacro
	if j.Intervals != nil && m.Intervals != nil {
		j.Intervals.AUCOvRMacro = m.Intervals.AUCOvRMacro
	}
	for k := range j.PerClass {
		j.PerClass[k].AUC = m.PerClass[k].AUC
		j.PerClass[k].ROC = m.PerClass[k].ROC
	}
	if j.Weights = WeightsByClass; t.Label.Priors != nil {
		j.Weights = WeightsByPriors
	}
	return &j
}

// multiplied returns leaves with the weights multiplied by factors.
func multiplied(leaves []Leaf, factors *judging.Factors) []Leaf {
	each := weightOfRow(leaves)
	list := slices.Clone(leaves)
	for i := range list {
		l := &list[i]
		squares := make([]float64, len(l.Weights))
		for k, w := range l.Weights {
			one := float64(float64(w) * each)
			if l.Squares != nil {
				one = l.Squares[k]
			}
			squares[k] = float64(one * float64(factors.Of(k)*factors.Of(k)))
		}
		l.Weights = factors.Weights(l.Weights)
		l.Squares = squares
	}
	return list
}

// FactorsOf returns how much the classes of counted rows count that judge a tree with leaf models; nil: as they are.
func FactorsOf(t *tree.Tree, counts ...*tree.ScoreCounts) *judging.Factors {
	frequencies := judging.Frequencies(t)
	if frequencies == nil {
		return nil
	}
	weights := make([]int64, len(t.Label.Classes))
	for _, c := range counts {
		for k, w := range judging.ClassWeights(c.Plain(), len(weights)) {
			weights[k] += w
		}
		for s := range c.Unordered() {
			for k, w := range s.Weights {
				weights[k] += w
			}
		}
	}
	return judging.FactorsOf(frequencies, weights)
}

// JudgePairs multiplies the weights of the rows of two trees by how much their classes count: as b, the newer tree, or
// else a predicts for. It returns the factor of all weights.
func JudgePairs(a, b *tree.Tree, pairs []PairedRows) (unit float64) {
	frequencies := judging.Frequencies(a)
	if newer := judging.Frequencies(b); newer != nil {
		frequencies = make([]float64, len(newer))
		for k, name := range a.Label.Classes {
			frequencies[k] = newer[slices.Index(b.Label.Classes, name)]
		}
	}
	if frequencies == nil {
		return 1
	}
	weights := make([]int64, len(frequencies))
	for i := range pairs {
		for k, w := range pairs[i].A.Weights {
			weights[k] += w
		}
	}
	factors := judging.FactorsOf(frequencies, weights)
	if factors == nil {
		return 1
	}
	for i := range pairs {
		own := factors.Weights(pairs[i].A.Weights)
		pairs[i].A.Weights, pairs[i].B.Weights = own, own
	}
	return factors.Unit
}

package metric

import (
	"cmp"
	"slices"
)

// ranking sorts the leaves by ascending probability of a class. Tied leaves are
// counted together, so areas and gains do not depend on their order.
type ranking struct {
	class     int
	order     []int // positions of the leaves
	tiers     []tier
	own, rest uint64 // weight of the rows of the class, and of all others
}

// tier is the run of leaves with one probability.
type tier struct {
	end       int // end of the run in the order
	own, rest uint64
}

// rank ranks the leaves by a class. totals are the weights of the leaves.
func rank(leaves []Leaf, totals []uint64, class int) ranking {
	r := ranking{class: class, order: byProbability(leaves, class)}
	for from := 0; from < len(r.order); {
		p := leaves[r.order[from]].Probabilities[class]
		t := tier{end: from}
		for ; t.end < len(r.order) && leaves[r.order[t.end]].Probabilities[class] == p; t.end++ {
			i := r.order[t.end]
			own := uint64(leaves[i].Weights[class])
			t.own += own
			t.rest += totals[i] - own
		}
		r.own += t.own
		r.rest += t.rest
		r.tiers = append(r.tiers, t)
		from = t.end
	}
	return r
}

// weightsOf returns the weight of each leaf.
func weightsOf(leaves []Leaf) []uint64 {
	totals := make([]uint64, len(leaves))
	for i := range leaves {
		for _, w := range leaves[i].Weights {
			totals[i] += uint64(w)
		}
	}
	return totals
}

// byProbability returns the positions of the leaves by ascending probability of
// a class.
func byProbability(leaves []Leaf, class int) []int {
	order := make([]int, len(leaves))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Compare(leaves[i].Probabilities[class], leaves[j].Probabilities[class])
	})
	return order
}

// area returns the area under the ROC curve: Mann and Whitney's U over the number of
// pairs of a row of the class and another row. U counts the pairs in which the first
// row has the higher probability; a tie counts half. The sum is exact. The area is
// nil without rows of the class or without other rows.
func (r *ranking) area() *float64 {
	var below uint64
	var twice Pairs // twice U
	for _, t := range r.tiers {
		twice.Add(t.own, 2*below+t.rest)
		below += t.rest
	}
	return twice.Share(r.own, r.rest)
}

// areaAgainst is area with the rows of one other class in place of all other rows.
func (r *ranking) areaAgainst(leaves []Leaf, other int) *float64 {
	var below uint64
	var twice Pairs
	from := 0
	for _, t := range r.tiers {
		var tied uint64
		for _, i := range r.order[from:t.end] {
			tied += uint64(leaves[i].Weights[other])
		}
		twice.Add(t.own, 2*below+tied)
		below += tied
		from = t.end
	}
	return twice.Share(r.own, below)
}

// averagePrecision returns the sum of (recall - recall before) * precision over the
// tiers. It is nil without rows of the class.
func (r *ranking) averagePrecision() *float64 {
	if r.own == 0 {
		return nil
	}
	var own, all uint64 // weights so far
	sum := 0.0
	for _, t := range slices.Backward(r.tiers) {
		own += t.own
		all += t.own + t.rest
		if t.own > 0 {
			sum += float64(float64(t.own) / float64(r.own) * (float64(own) / float64(all)))
		}
	}
	return defined(sum)
}

// Shares is the number of gains and lifts: at 1/Shares, 2/Shares, .. 1 of the rows.
const Shares = 10

// gains returns, for each of the Shares, the share of the class's rows among the
// likeliest rows; nil without rows of the class. If a share ends within a tier, the
// tier's rows are taken evenly.
func (r *ranking) gains() []float64 {
	if r.own == 0 {
		return nil
	}
	gains := make([]float64, 0, Shares)
	var own, all uint64 // weights before the tier
	for _, t := range slices.Backward(r.tiers) {
		for weight := t.own + t.rest; len(gains) < Shares; {
			target := uint64(len(gains)+1) * (r.own + r.rest) // in units of 1/Shares
			if target > Shares*(all+weight) {
				break
			}
			part := float64(target-Shares*all) / float64(Shares*weight)
			gains = append(gains, min(1, (float64(own)+float64(part*float64(t.own)))/float64(r.own)))
		}
		own += t.own
		all += t.own + t.rest
	}
	return gains
}

package prune

import (
	"cmp"
	"slices"

	"github.com/espalier-ml/espalier/induce/metric"
)

// scoreAreas sets the macro-averaged areas under the ROC curves.
func (s *Sequence) scoreAreas(scores []Score, r *reached, m *moves) {
	first := 0
	if r.classes == 2 {
		first = 1 // two classes have one area, of the second class
	}
	sums, defined := make([]float64, len(scores)), 0
	for c := first; c < r.classes; c++ {
		positives := r.classWeights(0)[c]
		negatives := r.weight[0] - positives
		if positives == 0 || negatives == 0 {
			continue
		}
		defined++
		ranks, most := s.ranks(c)
		a := area{sums: make([]weights, most+1)}
		for k := range scores {
			for _, v := range m.out[k] {
				a.remove(ranks[v], r.side(int(v), c))
			}
			for _, v := range m.in[k] {
				a.add(ranks[v], r.side(int(v), c))
			}
			sums[k] += *a.twice.Share(uint64(positives), uint64(negatives))
		}
	}
	if defined == 0 {
		return
	}
	for k, sum := range sums {
		scores[k].AUC = new(sum / float64(defined))
	}
}

// ranks returns by node the rank of its probability of a class, ascending from 1,
// and the highest rank. Equal probabilities have the same rank.
func (s *Sequence) ranks(class int) (rank []int, most int) {
	type entry struct {
		probability float64
		node        int32
	}
	order := make([]entry, len(s.tree.Nodes))
	for v := range order {
		order[v] = entry{s.tree.Nodes[v].Probabilities[class], int32(v)}
	}
	slices.SortFunc(order, func(x, y entry) int { return cmp.Compare(x.probability, y.probability) })
	rank = make([]int, len(order))
	for i, e := range order {
		if i == 0 || e.probability != order[i-1].probability {
			most++
		}
		rank[e.node] = most
	}
	return rank, most
}

// weights are the weight of the rows of a class, and of all other rows.
type weights struct{ positive, negative uint64 }

// side returns the weights of a class and of all others at a node.
func (r *reached) side(node, class int) weights {
	positive := r.classed[node*r.classes+class]
	return weights{uint64(positive), uint64(r.weight[node] - positive)}
}

// area keeps twice Mann and Whitney's U while leaves are added and removed. U is
// the weight of the pairs of a positive and a negative row in which the positive
// row has the higher rank; a tie counts half.
type area struct {
	sums  []weights // Fenwick tree over ranks: entry i is the sum of the i & -i ranks up to i
	all   weights
	twice metric.Pairs
}

// add adds a leaf with its rank and weights.
func (a *area) add(rank int, w weights) {
	if w == (weights{}) {
		return
	}
	a.pairs(rank, w, (*metric.Pairs).Add)
	a.change(rank, w)
}

// remove removes a leaf with its rank and weights.
func (a *area) remove(rank int, w weights) {
	if w == (weights{}) {
		return
	}
	a.change(rank, weights{-w.positive, -w.negative}) // modulo 2^64: the sums themselves are never negative
	a.pairs(rank, w, (*metric.Pairs).Sub)
}

// pairs counts the pairs with at least one row in a leaf: pairs with rows of other
// leaves, and pairs within the leaf.
func (a *area) pairs(rank int, w weights, count func(*metric.Pairs, uint64, uint64)) {
	below, upTo := a.sum(rank-1), a.sum(rank)
	count(&a.twice, w.positive, below.negative+upTo.negative+w.negative)
	count(&a.twice, w.negative, 2*a.all.positive-below.positive-upTo.positive)
}

func (a *area) change(rank int, by weights) {
	a.all.positive += by.positive
	a.all.negative += by.negative
	for i := rank; i < len(a.sums); i += i & -i {
		a.sums[i].positive += by.positive
		a.sums[i].negative += by.negative
	}
}

// sum returns the sum of the weights up to a rank.
func (a *area) sum(rank int) weights {
	var w weights
	for i := rank; i > 0; i &= i - 1 {
		w.positive += a.sums[i].positive
		w.negative += a.sums[i].negative
	}
	return w
}

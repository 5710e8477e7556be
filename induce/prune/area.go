package prune

import (
	"cmp"
	"slices"

	"github.com/espalier-ml/espalier/induce/metric"
)

// scoreAreas fills in the areas under ROC curves, class by class.
func (s *Sequence) scoreAreas(scores []Score, r *reached, m *moves) {
	first := 0
	if r.classes == 2 {
		first = 1 // the area is that of the second class
	}
	sums, defs := make([]float64, len(scores)), 0
	for c := first; c < r.classes; c++ {
		positives := r.of(0)[c]
		negatives := r.weight[0] - positives
		if positives == 0 || negatives == 0 {
			continue
		}
		defs++
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
	if defs == 0 {
		return
	}
	for k, sum := range sums {
		scores[k].AUC = defined(sum / float64(defs))
	}
}

// ranks numbers the nodes' probabilities of a class in ascending order, from 1,
// equal ones alike, and returns the largest number.
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

// weights of rows of a class and of all others.
type weights struct{ positive, negative uint64 }

// side returns the weights that reach a node.
func (r *reached) side(node, class int) weights {
	positive := r.classed[node*r.classes+class]
	return weights{uint64(positive), uint64(r.weight[node] - positive)}
}

// area keeps twice Mann and Whitney's U of leaves that come and go: the pairs of
// a positive and a negative row in which the positive one has the higher rank,
// where a tie counts half.
type area struct {
	sums  []weights // Fenwick tree over ranks: entry i sums up the last i & -i ranks up to i
	all   weights
	twice metric.Pairs
}

func (a *area) add(rank int, w weights) {
	if w == (weights{}) {
		return
	}
	a.pairs(rank, w, (*metric.Pairs).Add)
	a.change(rank, w)
}

func (a *area) remove(rank int, w weights) {
	if w == (weights{}) {
		return
	}
	a.change(rank, weights{-w.positive, -w.negative}) // modulo 2^64: no sum is below 0 in the end
	a.pairs(rank, w, (*metric.Pairs).Sub)
}

// pairs counts the pairs that a leaf has a row in, with the others and in
// itself.
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

// sum returns the weights of all ranks up to one.
func (a *area) sum(rank int) weights {
	var w weights
	for i := rank; i > 0; i &= i - 1 {
		w.positive += a.sums[i].positive
		w.negative += a.sums[i].negative
	}
	return w
}

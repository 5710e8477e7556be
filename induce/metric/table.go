package metric

import "slices"

// table holds the leaves with their weights by class, without zeros.
type table struct {
	leaves  []Leaf   // in canonical order
	order   []int    // by leaf: its position in the given list
	totals  []uint64 // by leaf: weight of its rows
	members []member // by class, then by leaf
	ends    []int    // by class: end of its members
	// squares has by member the sum of the squared weights of its rows; nil if the leaves have none.
	squares []float64
}

// member is a leaf that has rows of a class.
type member struct {
	leaf   int32
	weight uint64 // weight of the rows of the class
}

func newTable(leaves []Leaf, classes int) *table {
	t := &table{
		leaves: make([]Leaf, len(leaves)), order: canonical(leaves), totals: make([]uint64, len(leaves)), ends: make([]int, classes),
	}
	// The lists of successive leaves are adjacent, so that memory is read in order.
	probabilities := make([]float64, 0, len(leaves)*classes)
	weights := make([]int64, 0, len(leaves)*classes)
	for i, at := range t.order {
		l := leaves[at]
		probabilities = append(probabilities, l.Probabilities...)
		weights = append(weights, l.Weights...)
		l.Probabilities = probabilities[i*classes:]
		l.Weights = weights[i*classes:]
		t.leaves[i] = l
		for c, w := range l.Weights {
			t.totals[i] += uint64(w)
			if w > 0 {
				t.ends[c]++
			}
		}
	}
	all := 0
	for c, n := range t.ends {
		t.ends[c] = all // moves on to the end below
		all += n
	}
	t.members = make([]member, all)
	if slices.ContainsFunc(t.leaves, func(l Leaf) bool { return l.Squares != nil }) {
		t.squares = make([]float64, all)
	}
	for i := range t.leaves {
		for c, w := range t.leaves[i].Weights {
			if w > 0 {
				t.members[t.ends[c]] = member{int32(i), uint64(w)}
				if squares := t.leaves[i].Squares; squares != nil {
					t.squares[t.ends[c]] = squares[c]
				}
				t.ends[c]++
			}
		}
	}
	return t
}

// first returns the index of the first member of a class.
func (t *table) first(class int) int {
	if class == 0 {
		return 0
	}
	return t.ends[class-1]
}

// of returns the members of a class.
func (t *table) of(class int) []member { return t.members[t.first(class):t.ends[class]] }

package metric

import (
	"math"
	"slices"
)

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
	probabilities, weights := make([]float64, 0, len(leaves)*classes), make([]int64, 0, len(leaves)*classes)
	for i, at := range t.order {
		l := leaves[at]
		probabilities, weights = append(probabilities, l.Probabilities...), append(weights, l.Weights...)
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

// Tiers are the distinct probabilities of a class among the leaves with rows of the class. They
// divide the line of probabilities into slots: slot 2i+1 is tier i, and slot 2i is between tiers
// i-1 and i. Otherwise an area only depends on the weight of the rows in each slot. Most leaves
// have no rows of a rare class, so there are few slots.
type Tiers struct{ bits []uint64 }

// Clear removes all tiers.
func (t *Tiers) Clear() { t.bits = t.bits[:0] }

// Add adds a probability. Call Settle after the last one.
func (t *Tiers) Add(probability float64) { t.bits = append(t.bits, order(probability)) }

// Settle sorts the tiers.
func (t *Tiers) Settle() {
	slices.Sort(t.bits)
	t.bits = slices.Compact(t.bits)
}

// Slots returns how many slots there are.
func (t *Tiers) Slots() int { return 2*len(t.bits) + 1 }

// Slot returns the slot of a probability.
func (t *Tiers) Slot(probability float64) int32 {
	x := order(probability)
	low := 0
	n := len(t.bits)
	if n == 0 || x < t.bits[0] { // true for nearly all leaves without rows of a rare class
		return 0
	}
	for n > 0 { // without branching, because no processor could predict the half
		half := (n + 1) / 2
		next := low
		if t.bits[low+half-1] < x {
			next = low + half
		}
		low = next
		n -= half
	}
	if low < len(t.bits) && t.bits[low] == x {
		return int32(2*low + 1)
	}
	return int32(2 * low)
}

// order returns the bits of a number >= 0, which are ordered like the numbers.
func order(x float64) uint64 { return math.Float64bits(x + 0) } // -0 becomes 0

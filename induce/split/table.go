package split

import (
	"math"
	"slices"
)

// table has the estimates of the tests of a small node of objects that weigh 1 each. The score of such a
// test follows from its price and from the number of objects by class in one of its outcomes. These numbers
// are digits of the outcome's index, with a base for each class. A node has fewer indexes than tests, so
// looking up an estimate takes a fraction of the time of computing it.
type table struct {
	most    int64     // greatest number of indexes
	strides []int32   // by class: by how much an object raises the index; empty: the node has no table
	scores  []float64 // by index, then by way: estimate before the price counts; NaN: not computed

	deltas []int32 // by position among the present codes of a feature: index of an outcome of this code alone
	cells  []int64 // cells of an outcome
	pairs  []int64 // cells of a feature, see unpack
	best   []float64
}

// A table has at most mostTabled indexes, and outcomesPerFeature for each feature: with more, hardly any
// index would be looked up twice.
const (
	mostTabled         = 1 << 14
	outcomesPerFeature = 8
)

// begin begins the table of a node.
func (b *table) begin(n *Totals, ways int) {
	b.strides = b.strides[:0]
	if n.pairs == 0 {
		return
	}
	stride := int64(1)
	for k, objects := range n.N {
		if n.M[k] != objects {
			b.strides = b.strides[:0]
			return
		}
		b.strides = append(b.strides, int32(stride))
		if stride *= objects + 1; stride > b.most {
			b.strides = b.strides[:0]
			return
		}
	}
	need := int(stride) * ways
	if cap(b.scores) < need {
		b.scores = make([]float64, need)
	}
	b.scores = b.scores[:need]
	for i := 0; i < need; i += ways {
		b.scores[i] = math.NaN()
	}
}

// index returns the index of an outcome with the given cells.
func (b *table) index(cells []int64) int32 {
	at := int32(0)
	for k, stride := range b.strides {
		at += int32(cells[2*k]) * stride
	}
	return at
}

// outcome returns the cells of the outcome with the given index.
func (b *table) outcome(index int32) []int64 {
	b.cells = b.cells[:0]
	for k, stride := range b.strides {
		rest := index / stride
		if k+1 < len(b.strides) {
			rest = index % b.strides[k+1] / stride
		}
		b.cells = append(b.cells, int64(rest), int64(rest))
	}
	return b.cells
}

// Strides returns the strides of the classes if Scan looks up the tests of a feature, and nil otherwise. The sums of
// the strides of objects by code then suffice for Scan, see Histogram.Tally. A feature's tests are looked up in a
// small node of objects that weigh 1 each, if the prices of all tests are the same.
func (t *Team) Strides(column *Column) []int32 {
	if t.exactly || len(t.table.strides) == 0 || column.Monotone != 0 || !column.Numeric && column.Costs != nil {
		return nil
	}
	return t.table.strides
}

// lookUp is visit with the estimates of the table, for the best scores.
func (t *Team) lookUp() {
	s := t.exact
	b := &t.table
	b.deltas = append(b.deltas[:0], s.h.Tally...)
	if s.h.Tally == nil {
		for _, code := range s.present {
			b.deltas = append(b.deltas, b.index(s.cells(int(code))))
		}
	}
	if !s.column.Numeric {
		t.rank(slotRest, b.deltas)
		if t.slots[slotSets] && len(s.values()) >= leastPlaced {
			t.unpack()
			t.sets()
		}
		return
	}
	codes := b.deltas
	sum := int32(0)
	last := len(codes) - 1
	missing := int(s.present[last]) == s.column.missing()
	if missing {
		t.rank(slotRest, codes[last:])
		sum = codes[last] // a missing value takes the no branch
		codes = codes[:last]
	}
	if t.slots[slotBins] {
		t.rank(slotBins, codes)
	}
	if !t.slots[slotThresholds] {
		return
	}
	if missing && s.present[0] >= 1 {
		t.rank(slotThresholds, b.deltas[last:])
	}
	for i := range codes[:len(codes)-1] {
		sum += codes[i]
		codes[i] = sum
	}
	t.rank(slotThresholds, codes[:len(codes)-1])
}

// unpack makes the cells of the present codes from the tally, if there is one.
func (t *Team) unpack() {
	s := t.exact
	if s.h.Tally == nil {
		return
	}
	b := &t.table
	width := len(s.acc)
	n := width * s.column.Codes
	b.pairs = slices.Grow(b.pairs[:0], n)[:n]
	for i, code := range s.present {
		copy(b.pairs[int(code)*width:], b.outcome(b.deltas[i]))
	}
	s.h = Histogram{Cells: b.pairs}
}

// rank raises the best scores of a slot by tests with outcomes of the given indexes.
func (t *Team) rank(slot int, outcomes []int32) {
	b := &t.table
	b.best = b.best[:0]
	for range t.ways {
		b.best = append(b.best, math.Inf(-1))
	}
	best := b.best
	for _, index := range outcomes {
		row := b.scores[int(index)*len(best):][:len(best)]
		if math.IsNaN(row[0]) {
			t.fill(index, row)
		}
		for i, x := range row {
			if x > best[i] {
				best[i] = x
			}
		}
	}
	for i, x := range best {
		w := &t.ways[i]
		w.best[slot] = max(w.best[slot], float64(x*t.scales[w.scale].factor))
	}
}

// fill computes the estimates of the outcome with the given index.
func (t *Team) fill(index int32, row []float64) {
	t.tests = 0
	t.measureCells(0, false, t.table.outcome(index))
	t.rate()
	for i := range row {
		row[i] = t.unpriced(&t.ways[i], 0)
	}
	t.tests = 0
}

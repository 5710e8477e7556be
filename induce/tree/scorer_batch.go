package tree

import (
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// blockRows is the number of rows that go through the tree together: the numbers
// of a column and the lists of rows are to stay in the nearest cache.
const blockRows = 4096

// Leaves writes the id of the leaf that each row reaches into leaves, which must
// have as many places as there are rows. There is one column for each input, in
// the order of Features, with numbers for numeric features. Memory is taken by
// column, not by row.
func (s *Scorer) Leaves(columns []dataset.Vector, leaves []int32) error {
	if len(columns) != len(s.inputs) {
		return fmt.Errorf("%d columns: want one for each of the %d features that the tree tests", len(columns),
			len(s.inputs))
	}
	for i := range columns {
		if rows := columns[i].Rows(); rows != len(leaves) {
			return fmt.Errorf("feature %q: %d rows: want %d", s.inputs[i].Name, rows, len(leaves))
		}
		if s.numeric[i] && columns[i].Type != dataset.Number {
			return fmt.Errorf("feature %q: a column of type %s: want numbers", s.inputs[i].Name, columns[i].Type)
		}
	}
	b := &batch{Scorer: s, vectors: columns, columns: make([]column, len(columns)), leaves: leaves}
	for from := 0; from < len(leaves); from += blockRows {
		b.block(from, min(from+blockRows, len(leaves)))
	}
	return nil
}

// batch sends rows through the tree: node by node, each node dealing the rows
// that reach it to its branches. So a column is read only at the rows that the
// tree asks for it, and one row's next value does not wait for the last.
type batch struct {
	*Scorer

	vectors []dataset.Vector
	columns []column
	leaves  []int32
	lists   [2][blockRows]int32 // of rows; a node's are dealt from one list to the same places of the other
	stack   []segment
	sorted  []int64 // rows of a segment at a multiway test, below where they go to
}

// segment is the rows from lists[list][from:to] that reached a node.
type segment struct{ at, from, to, list int32 }

// column is an input as the tests take it: numbers, or codes of categories.
type column struct {
	ready   bool
	index   []int32   // nil: a value per row
	entries []float64 // by row, or by index, plus 1: the first is that of missing
}

func (b *batch) block(from, to int) {
	rows := b.lists[0][:to-from]
	for i := range rows {
		rows[i] = int32(from + i)
	}
	b.stack = append(b.stack[:0], segment{at: b.root, to: int32(to - from)})
	for len(b.stack) > 0 {
		last := b.stack[len(b.stack)-1]
		b.stack = b.stack[:len(b.stack)-1]
		b.deal(last)
	}
}

// deal sends the rows of a segment on.
func (b *batch) deal(g segment) {
	rows := b.lists[g.list][g.from:g.to]
	if g.at < 0 {
		leaf := int32(b.Scorer.leaves[^g.at].Leaf)
		for _, r := range rows {
			b.leaves[r] = leaf
		}
		return
	}
	n := &b.steps[g.at]
	c := b.column(n.input)
	dst := b.lists[1-g.list][g.from:g.to]
	yes := 0
	switch {
	case n.op == opMultiway:
		b.fanOut(g, c, &b.fans[int(n.cut)])
		return
	case n.op == opThreshold && c.index == nil:
		yes = dealFrom(dst, rows, c.entries, n.cut)
	case n.op == opThreshold:
		yes = dealFromIndex(dst, rows, c, n.cut)
	default:
		yes = dealBetween(dst, rows, c, n.cut, b.upper[g.at])
	}
	middle := g.from + int32(yes)
	if middle > g.from {
		b.stack = append(b.stack, segment{n.yes, g.from, middle, 1 - g.list})
	}
	if middle < g.to {
		b.stack = append(b.stack, segment{n.no, middle, g.to, 1 - g.list})
	}
}

// column returns an input's column, made ready when first it is tested.
func (b *batch) column(input int32) *column {
	c, v := &b.columns[input], &b.vectors[input]
	if c.ready {
		return c
	}
	c.ready, c.index = true, v.Index
	categories := b.categories[input]
	switch {
	case v.Index == nil && categories == nil:
		c.entries = v.Numbers
	case v.Index == nil:
		c.entries = codesOfNumbers(make([]float64, 0, len(v.Numbers)), categories, v.Numbers)
	case categories == nil:
		c.entries = append(append(make([]float64, 0, len(v.Numbers)+1), math.NaN()), v.Numbers...)
	case v.Type == dataset.Number:
		c.entries = codesOfNumbers(append(make([]float64, 0, len(v.Numbers)+1), float64(categories.Missing())), categories,
			v.Numbers)
	default:
		c.entries = append(make([]float64, 0, len(v.Texts)+1), float64(categories.Missing()))
		for _, s := range v.Texts {
			c.entries = append(c.entries, float64(categories.Text(s)))
		}
	}
	return c
}

func codesOfNumbers(dst []float64, c *dataset.Categories, numbers []float64) []float64 {
	for _, x := range numbers {
		dst = append(dst, float64(c.Number(x)))
	}
	return dst
}

// at returns a row's entry.
func (c *column) at(row int32) float64 {
	if c.index == nil {
		return c.entries[row]
	}
	return c.entries[c.index[row]+1]
}

// dealFrom deals rows: those of numbers from the cut on to the front of dst, in
// their order, the others to its back. It returns how many are in front. There is
// no branch to be guessed wrong: each row is written to both ends, and one of
// them stays.
func dealFrom(dst, rows []int32, numbers []float64, cut float64) int {
	front, back := 0, len(rows)-1
	for _, r := range rows {
		yes := 0
		if numbers[r] >= cut {
			yes = 1
		}
		dst[front], dst[back] = r, r
		front += yes
		back -= 1 - yes
	}
	return front
}

func dealFromIndex(dst, rows []int32, c *column, cut float64) int {
	front, back := 0, len(rows)-1
	for _, r := range rows {
		yes := 0
		if c.entries[c.index[r]+1] >= cut {
			yes = 1
		}
		dst[front], dst[back] = r, r
		front += yes
		back -= 1 - yes
	}
	return front
}

func dealBetween(dst, rows []int32, c *column, lower, upper float64) int {
	front, back := 0, len(rows)-1
	for _, r := range rows {
		above, below := 0, 0
		x := c.at(r)
		if x >= lower {
			above = 1
		}
		if x < upper {
			below = 1
		}
		dst[front], dst[back] = r, r
		front += above & below
		back -= 1 - above&below
	}
	return front
}

// fanOut deals the rows of a segment at a multiway test: it sorts them by where
// they go to.
func (b *batch) fanOut(g segment, c *column, f *fan) {
	b.sorted = b.sorted[:0]
	for _, r := range b.lists[g.list][g.from:g.to] {
		b.sorted = append(b.sorted, int64(f.child(int32(c.at(r))))<<32|int64(r))
	}
	slices.Sort(b.sorted)
	from, dst := 0, b.lists[1-g.list][g.from:g.to]
	for i, x := range b.sorted {
		dst[i] = int32(x)
		if i+1 == len(b.sorted) || b.sorted[i+1]>>32 != x>>32 {
			b.stack = append(b.stack, segment{int32(x >> 32), g.from + int32(from), g.from + int32(i+1), 1 - g.list})
			from = i + 1
		}
	}
}

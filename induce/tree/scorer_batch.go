package tree

import (
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// blockRows is how many rows pass the tree together, so that the numbers of a column and the lists
// of rows fit into the L1 cache.
const blockRows = 4096

// Leaves sets leaves[i] to the id of the leaf that row i reaches, for each of len(leaves) rows.
// columns has one column per input, in the order of Features; the columns of numeric features
// contain numbers. Leaves allocates memory per column, not per row.
func (s *Scorer) Leaves(columns []dataset.Vector, leaves []int32) error {
	var b batch
	return b.run(s, columns, leaves)
}

// run sets the leaves of rows.
func (b *batch) run(s *Scorer, columns []dataset.Vector, leaves []int32) error {
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
	b.Scorer = s
	b.vectors = columns
	b.columns = make([]column, len(columns))
	b.leaves = leaves
	for from := 0; from < len(leaves); from += blockRows {
		b.block(from, min(from+blockRows, len(leaves)))
	}
	return nil
}

// batch sends rows through the tree node by node: each node distributes its rows among its
// branches. A column is thus read only at the rows whose path tests it, and the processor need not
// finish the test of one row before the test of the next.
type batch struct {
	*Scorer

	vectors []dataset.Vector
	columns []column
	leaves  []int32
	scores  *Scores             // classes and probabilities; nil for leaves only
	lists   [2][blockRows]int32 // rows; distributing a node's rows copies them from one list to the same places of the other
	stack   []segment
	sorted  []int64 // rows of a segment at a multiway test, with their targets in the high bits
}

// segment is the rows lists[list][from:to], which have reached the target at.
type segment struct{ at, from, to, list int32 }

// column holds the numbers of an input, or its codes if it is categorical.
type column struct {
	ready   bool
	index   []int32   // by row: an index into entries less 1; nil if there is one entry per row
	entries []float64 // by row, or by index plus 1; then entries[0] is missing
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

// deal distributes the rows of a segment among the next nodes or leaves.
func (b *batch) deal(g segment) {
	rows := b.lists[g.list][g.from:g.to]
	if g.at < 0 {
		for _, r := range rows {
			b.leaves[r] = ^g.at
		}
		if b.scores != nil {
			b.refine(^g.at, rows)
		}
		return
	}
	n := &b.steps[g.at]
	c := b.column(n.feature)
	dst := b.lists[1-g.list][g.from:g.to]
	if n.fan != nil {
		b.fanOut(g, c, n.fan)
		return
	}
	yes := c.partition(dst, rows, n.low, n.high)
	middle := g.from + int32(yes)
	if middle > g.from {
		b.stack = append(b.stack, segment{n.yes, g.from, middle, 1 - g.list})
	}
	if middle < g.to {
		b.stack = append(b.stack, segment{n.no, middle, g.to, 1 - g.list})
	}
}

// column returns the column of an input, and prepares it at its first test.
func (b *batch) column(input int32) *column {
	c := &b.columns[input]
	v := &b.vectors[input]
	if c.ready {
		return c
	}
	c.ready = true
	c.index = v.Index
	categories := b.categories[input]
	switch {
	case v.Index == nil && categories == nil:
		c.entries = v.Numbers
	case v.Index == nil:
		c.entries = codesOfNumbers(make([]float64, 0, len(v.Numbers)), categories, v.Numbers)
	case categories == nil:
		c.entries = append(append(make([]float64, 0, len(v.Numbers)+1), math.NaN()), v.Numbers...)
	case v.Type == dataset.Number:
		c.entries = append(make([]float64, 0, len(v.Numbers)+1), float64(categories.Missing()))
		c.entries = codesOfNumbers(c.entries, categories, v.Numbers)
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

// at returns the entry of a row.
func (c *column) at(row int32) float64 {
	if c.index == nil {
		return c.entries[row]
	}
	return c.entries[c.index[row]+1]
}

// partition copies rows to dst: rows with entries from low on and below high to the front, in their order, and the
// remaining rows to the back. It returns how many are in front. There is no branch that the
// processor could mispredict: each row is written to both ends, and one of the two is overwritten.
func (c *column) partition(dst, rows []int32, low, high float64) int {
	front := 0
	back := len(rows) - 1
	entries := c.entries
	index := c.index
	for _, r := range rows {
		at := r
		if index != nil {
			at = index[r] + 1
		}
		yes := count(entries[at] >= low) &^ count(entries[at] >= high)
		dst[front], dst[back] = r, r
		front += yes
		back -= 1 - yes
	}
	return front
}

// fanOut distributes the rows of a segment at a multiway test. It sorts them by target.
func (b *batch) fanOut(g segment, c *column, f *fan) {
	b.sorted = b.sorted[:0]
	for _, r := range b.lists[g.list][g.from:g.to] {
		b.sorted = append(b.sorted, int64(f.child(int(c.at(r))))<<32|int64(r))
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

// Scores are the predictions of a tree for rows. A Scores keeps its memory between uses.
type Scores struct {
	Leaves  []int32 // by row: id of the leaf's node
	Classes []int32 // by row: index of the predicted class
	// Probabilities holds the probabilities of each row's classes, row after row. It is empty for a
	// tree without leaf models, because its nodes have the probabilities.
	Probabilities []float64
}

// Of returns the probabilities of a row, by class.
func (s *Scores) Of(row int) []float64 {
	classes := len(s.Probabilities) / len(s.Leaves)
	return s.Probabilities[row*classes:][:classes:classes]
}

// Score sets into to the predictions for rows. columns are as in Leaves. For a tree without leaf
// models it only sets the leaves.
func (s *Scorer) Score(columns []dataset.Vector, rows int, into *Scores) error {
	into.Leaves = slices.Grow(into.Leaves[:0], rows)[:rows]
	var b batch
	into.Classes = into.Classes[:0]
	into.Probabilities = into.Probabilities[:0]
	if s.models != nil {
		classes := len(s.models.label.Classes)
		into.Classes = slices.Grow(into.Classes, rows)[:rows]
		into.Probabilities = slices.Grow(into.Probabilities, rows*classes)[:rows*classes]
		b.scores = into
	}
	return b.run(s, columns, into.Leaves)
}

// refine sets the classes and probabilities of rows at a leaf with a model, term by term.
func (b *batch) refine(leaf int32, rows []int32) {
	m := b.models
	classes := len(b.models.label.Classes)
	l := &m.leaves[leaf]
	of := func(r int32, n int) []float64 { return b.scores.Probabilities[int(r)*classes:][:n] }
	for _, r := range rows {
		if l.intercept == nil {
			b.scores.Classes[r] = m.plain[leaf]
			copy(of(r, classes), b.Scorer.leaves[leaf].Probabilities)
		} else {
			l.begin(of(r, classes))
		}
	}
	if l.intercept == nil {
		return
	}
	raised := m.width
	if l.raised != nil {
		raised = len(l.raised)
	}
	terms := m.terms[l.terms.from:l.terms.to]
	for i := range terms {
		c := b.column(terms[i].input)
		for _, r := range rows {
			terms[i].AddTo(of(r, raised), c.at(r))
		}
	}
	b.boost(l, rows, func(r int32) []float64 { return of(r, raised) })
	for _, r := range rows {
		b.scores.Classes[r] = int32(m.finish(l, of(r, classes)))
	}
}

package inmemory

import (
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/grow"
	"github.com/espalier-ml/espalier/induce/split"
)

// choices finds the tests of the node's trees, and groups the trees by their tests. The choice of the most trees
// comes last.
func (g *grower) choices(o *openNode, s *search, w *workspace) []grow.Choice {
	if len(s.Trees) == 0 {
		return nil
	}
	g.findTests(o, s, w)
	choices := s.Choices(func(tree int, test *split.Candidate) grow.Measured {
		return s.Measure(tree, test, &w.scratch)
	})
	w.unload()
	for i := range choices {
		choices[i].Cells = g.widened(o, s, choices[i].Cells)
	}
	slices.SortStableFunc(choices, func(a, b grow.Choice) int { return len(a.Members) - len(b.Members) })
	return choices
}

// widened returns the cells of the used classes as cells of all classes.
func (g *grower) widened(o *openNode, s *search, cells [][]int64) [][]int64 {
	if s.used == nil {
		return cells
	}
	all := make([][]int64, len(cells))
	for i := range cells {
		all[i] = make([]int64, 2*len(o.Objects))
		for number, k := range s.used {
			all[i][2*k], all[i][2*k+1] = cells[i][2*number], cells[i][2*number+1]
		}
	}
	return all
}

// children splits the node by a choice and returns the child nodes, smallest first. The
// last choice takes over the node's histogram; the other choices copy it.
func (g *grower) children(o *openNode, by *grow.Choice, last bool, w *workspace) []*openNode {
	opened := o.Children(g.nodes, by, g.Columns)
	b := &block{order: make([]int32, o.objects())}
	g.held.Add(4 * int64(len(b.order)))
	b.users.Store(int32(len(opened)))
	parts := by.Test.Partition(
		o.table.counters[by.Test.Feature].Codes, g.Columns[by.Test.Feature].Codes-1, by.Outcomes, o.order, b.order,
	)
	children := make([]*openNode, len(opened))
	for i := range opened {
		children[i] = &openNode{Open: opened[i], table: o.table, block: b, varied: o.varied, order: parts[i]}
	}
	o.table.users.Add(int32(len(children)))
	slices.SortStableFunc(children, func(a, b *openNode) int { return a.objects() - b.objects() })
	g.inherit(o, children, last, w)
	return children
}

// inherit makes the histograms of the children. If it costs less than counting, the histogram of
// the largest child is the parent's minus the histograms of its siblings.
func (g *grower) inherit(o *openNode, children []*openNode, last bool, w *workspace) {
	largest := children[len(children)-1]
	if o.cells == nil || !g.worthKeeping(largest.varied, largest.objects()) {
		return
	}
	if last {
		largest.cells = o.cells
		o.cells = nil
	} else {
		largest.cells = g.newCells()
		copy(largest.cells, o.cells)
	}
	for _, child := range children[:len(children)-1] {
		if g.worthKeeping(child.varied, child.objects()) {
			child.cells = g.newCells()
		}
		r := g.selection(child, w)
		g.shareIfLarge(child, w, func(_ *workspace, next func() int) {
			for at := next(); at >= 0; at = next() {
				f := int(child.varied.features[at])
				g.subtractChild(g.layout.Column(largest.cells, f, 0), child, &r, f)
			}
		})
	}
}

// subtractChild subtracts a child's counts of feature f from its parent's counts. If the child
// keeps its histogram, it also keeps these counts.
func (g *grower) subtractChild(parent []int64, child *openNode, r *induce.Selection, f int) {
	if child.cells == nil {
		child.table.counters[f].Uncount(parent, r)
		return
	}
	cells := g.layout.Column(child.cells, f, 0)
	child.table.counters[f].Count(cells, r)
	induce.Subtract(parent, cells)
}

// newCells returns memory for a histogram.
func (g *grower) newCells() []int64 {
	cells := make([]int64, g.layout.Cells())
	g.held.Add(8 * int64(len(cells)))
	return cells
}

package inmemory

import (
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// choice is a test with the trees of a node that have chosen it.
type choice struct {
	test     split.Test
	outcomes []int32
	cells    [][]int64 // by outcome: objects and weight of each class
	members  tree.Together[*induce.Node]
}

// choices groups the trees of a node by the tests that they have chosen, and
// records the tests in their nodes. The node of a tree without a test becomes a leaf.
// The choice of the most trees comes last.
func (g *grower) choices(o *openNode, s *search, w *workspace) []choice {
	var inner tree.Together[*induce.Node] // by position among the trees of the search
	for i := range s.Trees {
		if s.Trees[i].Best.Kind == 0 {
			s.leaves = append(s.leaves, s.nodes[i])
		} else {
			inner = append(inner, tree.Member[*induce.Node]{Tree: i, Node: s.nodes[i]})
		}
	}
	var choices []choice
	for _, alike := range inner.Groups(func(a, b tree.Member[*induce.Node]) bool {
		return s.Trees[a.Tree].Best.Test == s.Trees[b.Tree].Best.Test
	}) {
		c := choice{test: s.Trees[alike[0].Tree].Best.Test, members: alike}
		g.record(o, s, &c, w)
		for i := range alike {
			alike[i].Tree = s.Trees[alike[i].Tree].Number
		}
		choices = append(choices, c)
	}
	w.unload()
	slices.SortStableFunc(choices, func(a, b choice) int { return len(a.members) - len(b.members) })
	return choices
}

// record writes a chosen test and the runners-up to the nodes of its trees, and counts the objects
// of the test's outcomes.
func (g *grower) record(o *openNode, s *search, c *choice, w *workspace) {
	load := g.loader(o, s, w)
	for i, m := range c.members {
		n := m.Node
		best := s.Trees[m.Tree].Best
		n.Test = &best
		var cells [][]int64
		n.Parts, cells, n.Outcomes = s.Parts(m.Tree, &best, &w.scratch, load)
		if i == 0 {
			c.outcomes, c.cells = n.Outcomes, g.widened(o, s, cells)
		}
	}
	for _, m := range c.members {
		if second := s.Trees[m.Tree].RunnerUp; second.Kind != 0 {
			parts, _, _ := s.Parts(m.Tree, &second, &w.scratch, load)
			second.Score = parts.Total
			m.Node.RunnerUp = &second
		}
	}
}

// widened returns the cells of the used classes as cells of all classes.
func (g *grower) widened(o *openNode, s *search, cells [][]int64) [][]int64 {
	if s.used == nil {
		return cells
	}
	all := make([][]int64, len(cells))
	for i := range cells {
		all[i] = make([]int64, 2*len(o.n))
		for number, k := range s.used {
			all[i][2*k], all[i][2*k+1] = cells[i][2*number], cells[i][2*number+1]
		}
	}
	return all
}

// children splits the node by a choice and returns the child nodes, smallest first. The
// last choice takes over the node's histogram; the other choices copy it.
func (g *grower) children(o *openNode, by *choice, last bool, w *workspace) []*openNode {
	children := make([]*openNode, len(by.cells))
	b := &block{order: w.numbers.get(o.objects)}
	g.held.Add(4 * int64(len(b.order)))
	b.users.Store(int32(len(children)))
	parts := by.test.Partition(
		o.table.counters[by.test.Feature].Codes, g.Columns[by.test.Feature].Codes-1, by.outcomes, o.order, b.order,
	)
	for i, c := range by.cells {
		child := &openNode{table: o.table, block: b, varied: o.varied, n: make([]int64, len(o.n)), m: make([]int64, len(o.n))}
		for k := range child.n {
			child.n[k], child.m[k] = c[2*k], c[2*k+1]
			child.objects += int(c[2*k])
		}
		child.order = parts[i]
		children[i] = child
		child.members = by.members.Below(func(m tree.Member[*induce.Node]) *induce.Node {
			node := new(induce.Node)
			m.Node.Children = append(m.Node.Children, node)
			return node
		})
	}
	o.table.users.Add(int32(len(children)))
	for i, child := range children {
		child.Place = induce.Place{Depth: o.Depth + 1, Path: o.Path.Below(by.test, i)}
	}
	slices.SortStableFunc(children, func(a, b *openNode) int { return a.objects - b.objects })
	g.inherit(o, children, last, w)
	return children
}

// inherit makes the histograms of the children. If it costs less than counting, the histogram of
// the largest child is the parent's minus the histograms of its siblings.
func (g *grower) inherit(o *openNode, children []*openNode, last bool, w *workspace) {
	largest := children[len(children)-1]
	if o.cells == nil || !g.worthKeeping(largest.varied, largest.objects) {
		return
	}
	if last {
		largest.cells = o.cells
		o.cells = nil
	} else {
		largest.cells = g.newCells(w)
		copy(largest.cells, o.cells)
	}
	for _, child := range children[:len(children)-1] {
		if g.worthKeeping(child.varied, child.objects) {
			child.cells = g.newCells(w)
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
	clear(cells)
	child.table.counters[f].Count(cells, r)
	induce.Subtract(parent, cells)
}

// newCells returns memory for a histogram, which is not cleared.
func (g *grower) newCells(w *workspace) []int64 {
	cells := w.histograms.get(g.layout.Cells())
	g.held.Add(8 * int64(len(cells)))
	return cells
}

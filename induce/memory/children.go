package memory

import (
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
)

// choice is the trees of a node that have chosen the same test.
type choice struct {
	test     split.Test
	outcomes []int32
	cells    [][]int64 // of each outcome, over all classes
	members  []member
}

// choices groups the trees of a node by the tests that they have chosen, and
// records the tests in their nodes. A tree without a test is left with a leaf.
func (g *grower) choices(o *openNode, s *search, w *workspace) []choice {
	var choices []choice
	for i := range s.seekers {
		m := &s.seekers[i]
		if m.best.Kind == 0 {
			s.leaves = append(s.leaves, m.node)
			continue
		}
		cells := g.split(o, s, m, w)
		at := slices.IndexFunc(choices, func(c choice) bool { return c.test == m.best.Test })
		if at < 0 {
			at = len(choices)
			choices = append(choices, choice{test: m.best.Test, outcomes: m.node.Outcomes, cells: cells})
		}
		choices[at].members = append(choices[at].members, m.member)
	}
	return choices
}

// split records a tree's test in its node and returns the cells of each
// outcome, over all classes.
func (g *grower) split(o *openNode, s *search, m *seeker, w *workspace) [][]int64 {
	f := m.best.Feature
	w.scanners[m.tree].Node(m.totals, m.sum)
	scanner := g.loadScanner(o, m, f, g.countCells(o, s, f, w), w)
	m.node.Test = &m.best
	var cells [][]int64
	m.node.Parts, cells, m.node.Outcomes = scanner.Parts(&m.best)
	g.clearHeavy(o, m, f, w)
	g.clearCells(s, w)
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

// children splits the node by each choice and returns the child nodes, those of one
// choice smallest first. The last choice takes over the node's objects and
// histogram, the others get copies.
func (g *grower) children(o *openNode, choices []choice, ws []*workspace) []*openNode {
	if len(choices) == 0 {
		g.release(o, ws[0])
		return nil
	}
	var children []*openNode
	for i := range choices {
		parent := o
		if i < len(choices)-1 {
			parent = o.fork()
		}
		parent.members = choices[i].members
		children = append(children, g.childrenBy(parent, &choices[i], ws)...)
	}
	return children
}

// childrenBy splits the node by one choice.
func (g *grower) childrenBy(o *openNode, by *choice, ws []*workspace) []*openNode {
	children := make([]*openNode, len(by.cells))
	from, weights := o.from, make([][]int64, len(by.cells))
	for i, c := range by.cells {
		child := &openNode{extent: o.extent, from: from, n: make([]int64, len(o.n)), m: make([]int64, len(o.n))}
		for k := range child.n {
			child.n[k], child.m[k] = c[2*k], c[2*k+1]
			from += int(c[2*k])
		}
		child.to = from
		children[i], weights[i] = child, child.m
		for _, m := range o.members {
			node := &induce.Node{}
			m.node.Children = append(m.node.Children, node)
			child.members = append(child.members, member{m.tree, node})
		}
	}
	for i, child := range children {
		child.Place = induce.Place{Depth: o.Depth + 1, Path: o.Path.Below(by.test, weights, i)}
	}
	g.partition(o, by, children, ws[0])
	g.inherit(o, children, ws)
	return children
}

// partition moves the objects of each outcome side by side and keeps their order.
func (g *grower) partition(o *openNode, by *choice, children []*openNode, w *workspace) {
	t := by.test
	missing := g.columns[t.Feature].Codes - 1
	codes := &o.objects.Codes[t.Feature]
	starts := w.starts[:0]
	for _, c := range children {
		starts = append(starts, c.from)
	}
	for i, code := range by.outcomes {
		w.childOf[code] = int32(i)
	}
	n := o.to - o.from
	order, class, weight := o.order[o.from:o.to], o.class[o.from:o.to], o.weight[o.from:o.to]
	w.orderCopy = append(w.orderCopy[:0], order...)
	w.classCopy = append(w.classCopy[:0], class...)
	w.weightCopy = append(w.weightCopy[:0], weight...)
	for i := range n {
		id := w.orderCopy[i]
		to := t.Outcome(codes.At(int(id)), missing)
		if t.Kind == split.Multiway {
			to = int(w.childOf[to])
		}
		j := starts[to] - o.from
		order[j], class[j], weight[j] = id, w.classCopy[i], w.weightCopy[i]
		starts[to]++
	}
	w.starts = starts
}

// inherit sorts the children by size. Where it costs less than counting, the
// largest child gets its parent's histogram less those of its siblings.
func (g *grower) inherit(o *openNode, children []*openNode, ws []*workspace) {
	slices.SortStableFunc(children, func(a, b *openNode) int { return (a.to - a.from) - (b.to - b.from) })
	if o.cells == nil {
		return
	}
	largest := children[len(children)-1]
	if !g.worthKeeping(largest.to - largest.from) {
		g.release(o, ws[0])
		return
	}
	siblings := children[:len(children)-1]
	for _, child := range siblings {
		if g.worthKeeping(child.to - child.from) {
			child.cells = ws[0].histograms.get(g.layout.Cells())
			clear(child.cells)
		}
	}
	var next atomic.Int64
	inParallel(len(ws), func(int) {
		for f := int(next.Add(1) - 1); f < len(g.columns); f = int(next.Add(1) - 1) {
			parent := g.layout.Column(o.cells, f, 0)
			for _, child := range siblings {
				g.subtractChild(parent, child, f)
			}
		}
	})
	largest.cells, o.cells = o.cells, nil
}

// subtractChild subtracts a child's counts of a feature from those of its parent.
// A child that keeps its histogram keeps the counts.
func (g *grower) subtractChild(parent []int64, child *openNode, f int) {
	r := child.selection()
	if child.cells != nil {
		cells := g.layout.Column(child.cells, f, 0)
		child.counters[f].Count(cells, &r)
		induce.Subtract(parent, cells)
		return
	}
	codes, classes := child.counters[f].Codes, g.classes
	for i, id := range r.Order {
		at := 2 * (codes.At(int(id))*classes + int(r.Class[i]))
		parent[at]--
		parent[at+1] -= r.Weight[i]
	}
}

// release gives the node's histogram back.
func (g *grower) release(o *openNode, w *workspace) {
	if o.cells != nil {
		w.histograms.put(o.cells)
		o.cells = nil
	}
}

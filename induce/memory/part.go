package memory

import (
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"

	"github.com/espalier-ml/espalier/induce/split"
)

// group is the trees of a node that have chosen the same test.
type group struct {
	test     split.Test
	outcomes []int32
	cells    [][]int64 // of each outcome, over all classes
	members  []member
}

// groups puts together the trees that have chosen the same test, and records
// it in their nodes. A tree that has found none is left with a leaf.
func (g *grower) groups(o *open, v *view, w *workspace) []group {
	var groups []group
	for i := range v.viewers {
		m := &v.viewers[i]
		if m.best.Kind == 0 {
			v.leaves = append(v.leaves, m.node)
			continue
		}
		cells := g.split(o, v, m, w)
		at := slices.IndexFunc(groups, func(other group) bool { return other.test == m.best.Test })
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{test: m.best.Test, outcomes: m.node.Outcomes, cells: cells})
		}
		groups[at].members = append(groups[at].members, m.member)
	}
	return groups
}

// split records a tree's test in its node and returns the cells of each
// outcome, over all classes.
func (g *grower) split(o *open, v *view, m *viewer, w *workspace) [][]int64 {
	f := m.best.Feature
	w.scanners[m.tree].Node(m.totals, m.sum)
	scanner := g.show(o, m, f, g.load(o, v, f, w), w)
	m.node.Test = &m.best
	var cells [][]int64
	m.node.Parts, cells, m.node.Outcomes = scanner.Parts(&m.best)
	g.hide(o, m, f, w)
	g.unload(v, w)
	if v.dense == nil {
		return cells
	}
	all := make([][]int64, len(cells))
	for i := range cells {
		all[i] = make([]int64, 2*len(o.n))
		for d, k := range v.dense {
			all[i][2*k], all[i][2*k+1] = cells[i][2*d], cells[i][2*d+1]
		}
	}
	return all
}

// children parts the node's objects by each group's test and returns the child
// nodes, those of one group smallest first. The last group takes the node's
// objects and histogram, the others copies.
func (g *grower) children(o *open, groups []group, ws []*workspace) []*open {
	if len(groups) == 0 {
		g.release(o, ws[0])
		return nil
	}
	var children []*open
	for i := range groups {
		of := o
		if i < len(groups)-1 {
			of = o.fork()
		}
		of.members = groups[i].members
		children = append(children, g.childrenOf(of, &groups[i], ws)...)
	}
	return children
}

func (g *grower) childrenOf(o *open, by *group, ws []*workspace) []*open {
	children := make([]*open, len(by.cells))
	from, weights := o.from, make([][]int64, len(by.cells))
	for i, c := range by.cells {
		child := &open{extent: o.extent, from: from, n: make([]int64, len(o.n)), m: make([]int64, len(o.n))}
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
	g.part(o, by, children, ws[0])
	g.inherit(o, children, ws)
	return children
}

// part moves the objects of each outcome side by side, keeping their order.
func (g *grower) part(o *open, by *group, children []*open, w *workspace) {
	t := by.test
	missing := g.columns[t.Feature].Codes - 1
	codes := &o.objects.Codes[t.Feature]
	at := w.at[:0]
	for _, c := range children {
		at = append(at, c.from)
	}
	for i, code := range by.outcomes {
		w.childOf[code] = int32(i)
	}
	n := o.to - o.from
	order, class, weight := o.order[o.from:o.to], o.class[o.from:o.to], o.weight[o.from:o.to]
	w.order = append(w.order[:0], order...)
	w.classes = append(w.classes[:0], class...)
	w.weight = append(w.weight[:0], weight...)
	for i := range n {
		id := w.order[i]
		to := t.Outcome(codes.At(int(id)), missing)
		if t.Kind == split.Multiway {
			to = int(w.childOf[to])
		}
		j := at[to] - o.from
		order[j], class[j], weight[j] = id, w.classes[i], w.weight[i]
		at[to]++
	}
	w.at = at
}

// inherit sorts the children by size and gives the largest the parent's
// histogram less those of its siblings, where that pays.
func (g *grower) inherit(o *open, children []*open, ws []*workspace) {
	slices.SortStableFunc(children, func(a, b *open) int { return (a.to - a.from) - (b.to - b.from) })
	if o.cells == nil {
		return
	}
	large := children[len(children)-1]
	if !g.worthKeeping(large.to - large.from) {
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
				g.takeOff(parent, child, f)
			}
		}
	})
	large.cells, o.cells = o.cells, nil
}

// takeOff subtracts a child's counts of a feature from its parent's, and keeps
// them where the child keeps its histogram.
func (g *grower) takeOff(parent []int64, child *open, f int) {
	r := child.rows()
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

func (g *grower) release(o *open, w *workspace) {
	if o.cells != nil {
		w.histograms.put(o.cells)
		o.cells = nil
	}
}

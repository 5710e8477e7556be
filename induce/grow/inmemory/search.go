package inmemory

import (
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/grow/nodesearch"
	"github.com/espalier-ml/espalier/induce/split"
)

// search is the search for the tests of one node. If the node keeps its histogram, all classes are
// counted; otherwise only the classes of the node are.
type search struct {
	nodesearch.Search

	layout  *induce.Layout // layout of the kept histogram
	varies  []bool         // by position: whether the values of a feature may vary in the node
	objects induce.Selection
	used    []int           // the classes that are counted; nil: all
	fresh   bool            // the kept histogram is not counted yet
	leaves  []*induce.Node  // nodes of trees that stop at the node
	nodes   []*induce.Node  // nodes of the other trees, which need tests
	heavy   [][]heavyObject // by tree in nodes
}

// newSearch writes the counts of the node to its trees and prepares the search. It leaves out trees
// for which the node is a leaf, whatever tests there are.
func (g *grower) newSearch(o *openNode, w *workspace) *search {
	s := &w.search
	s.Reset(&g.Rules, o.Place, o.varied.features)
	s.layout = &g.layout
	s.used = nil
	s.fresh = false
	s.leaves, s.nodes, s.heavy = s.leaves[:0], s.nodes[:0], s.heavy[:0]
	stop := g.opts.Stop != nil && g.opts.Stop()
	rows := int64(-1)
	var all [split.Impurities]*split.Totals
	for _, m := range o.members {
		if g.Params[m.Tree].MinRows > 0 && rows < 0 {
			rows = g.rows(o)
		}
		totals := g.Totals(m.Tree, o.n, o.m, &all)
		m.Node.Objects, m.Node.Weight, m.Node.Class = totals.Objects, totals.Weight, o.m
		if leaf := g.isLeaf(o, m.Tree, totals, rows); leaf || stop {
			m.Node.Stopped = !leaf
			s.leaves = append(s.leaves, m.Node)
			continue
		}
		s.Add(m.Tree, totals)
		s.nodes = append(s.nodes, m.Node)
	}
	if len(s.Trees) == 0 {
		return s
	}
	g.gather(o, w)
	for i := range s.Trees {
		s.heavy = append(s.heavy, g.heavy(o, &s.Trees[i]))
	}
	if o.cells == nil && g.worthKeeping(o.varied, o.objects) {
		o.cells = g.newCells(w)
		s.fresh = true
	}
	if o.cells == nil {
		g.compact(o, s, w)
	} else {
		s.objects = g.selection(o, w)
	}
	s.Group()
	return s
}

// isLeaf reports whether the node is a leaf of a tree, whatever tests there are. rows is
// the number of rows of the node, or negative if no tree needs it.
func (g *grower) isLeaf(o *openNode, tree int, t *split.Totals, rows int64) bool {
	return g.IsLeaf(tree, o.Depth, t) || rows >= 0 && rows < g.Params[tree].MinRows || !t.Paired() && g.labelled(o)
}

// worthKeeping reports whether a node with the given number of objects keeps its histogram: it
// does if counting the objects costs more than subtracting the cells of all features that may vary.
func (g *grower) worthKeeping(v *varied, objects int) bool {
	return g.layout.Cells() <= keptCells && 2*objects*len(v.features) > 3*v.cells
}

// selection returns the node's objects for counting, with all classes, in the memory of
// the workspace.
func (g *grower) selection(o *openNode, w *workspace) induce.Selection {
	s := induce.Selection{Order: o.order, Class: o.table.class, N: o.n, M: o.m, Packed: g.packed}
	g.weigh(&s, o, w)
	if o.order == nil {
		return s
	}
	class := o.table.class
	w.classOf = fit(w.classOf, len(o.order))
	for i, id := range o.order {
		w.classOf[i] = class[id]
	}
	s.Class = w.classOf
	return s
}

// weigh sets the weights and the shares of the node's objects in a selection.
func (g *grower) weigh(s *induce.Selection, o *openNode, w *workspace) {
	weight := o.table.weight
	if s.Weight = weight; weight == nil || o.order == nil && !g.raw {
		return
	}
	w.weightOf, w.shares = fit(w.weightOf, o.objects), w.shares[:0]
	s.Weight = w.weightOf
	if !g.raw {
		for i, id := range o.order {
			w.weightOf[i] = weight[id]
		}
		return
	}
	for i := range w.weightOf {
		at := o.at(i)
		w.weightOf[i] = weight[at]
		if id := o.table.id(at); marked(g.mixed, id) {
			w.shares, w.weightOf[i] = induce.AppendShares(w.shares, at, o.table.class[at], g.objects.Raw(int(id)))
		}
	}
	s.Shares = w.shares
}

// labelled reports whether a node whose soft objects all have the same majority class is a leaf,
// because its rows only have labels of this class.
func (g *grower) labelled(o *openNode) bool {
	if !g.soft || g.Params[0].Classes == split.OfObjects {
		return false
	}
	if g.disputed == nil {
		return true
	}
	for i := range o.objects {
		if marked(g.disputed, o.table.id(o.at(i))) {
			return false
		}
	}
	return true
}

// fit returns a slice of n values, in the memory of s if that is large enough.
func fit[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// compact numbers the classes of the node without gaps, and sets up the counting with these numbers.
func (g *grower) compact(o *openNode, s *search, w *workspace) {
	s.used = w.used[:0]
	n, m := w.usedObjects[:0], w.usedWeight[:0]
	for k, objects := range o.n {
		if objects > 0 || o.m[k] > 0 {
			w.numberOf[k] = uint16(len(s.used))
			s.used, n, m = append(s.used, k), append(n, objects), append(m, o.m[k])
		}
	}
	class := o.table.class
	w.classOf = fit(w.classOf, o.objects)
	for i := range w.classOf {
		w.classOf[i] = w.numberOf[class[o.at(i)]]
	}
	s.objects = induce.Selection{Order: o.order, Class: w.classOf, N: n, M: m, Packed: g.packed}
	g.weigh(&s.objects, o, w)
	for i := range s.objects.Shares {
		share := &s.objects.Shares[i]
		share.Class = w.numberOf[share.Class]
	}
	w.used = s.used
	w.usedObjects = n
	w.usedWeight = m
	if len(s.used) == g.objects.Classes {
		return
	}
	var made [split.Impurities]*split.Totals
	for i := range s.Trees {
		t := &s.Trees[i]
		t.Totals = g.Totals(t.Number, s.objects.N, s.objects.M, &made)
	}
}

// findTests finds the best test and the runner-up of the node for each tree.
func (g *grower) findTests(o *openNode, s *search, w *workspace) {
	if len(s.Trees) == 0 {
		return
	}
	s.varies = fit(s.varies, len(o.varied.features))
	g.shareIfLarge(o, w, func(w *workspace, next func() int) {
		s.Begin(&w.scratch)
		load := g.loader(o, s, w)
		for at := next(); at >= 0; at = next() {
			s.varies[at] = s.Scan(at, &w.scratch, load)
		}
		w.unload()
	})
	s.fresh = false
	s.Collect(0, len(o.varied.features), &w.scratch, g.loader(o, s, w))
	s.Choose()
	o.varied = g.narrowed(o.varied, s.varies)
}

// loader returns a function that loads the node's histogram of a feature into the memory of a worker.
func (g *grower) loader(o *openNode, s *search, w *workspace) nodesearch.Load {
	return func(f, tree int, strides []int32) (split.Histogram, []int32) {
		codes := g.Columns[f].Codes
		if strides != nil && o.cells == nil && o.order != nil {
			w.tallyUp(o, s, f, codes, strides)
			return split.Histogram{Tally: w.tally.Sums}, w.tally.Present
		}
		w.load(o, s, f, codes)
		return split.Histogram{Cells: w.pairs, Heavy: w.heavySums(s.heavy[tree], o.table.counters[f].Codes, codes)}, w.present
	}
}

// settle makes nodes leaves: it sets their rows and class weights.
func (g *grower) settle(o *openNode, leaves []*induce.Node) {
	if len(leaves) == 0 {
		return
	}
	class := o.m
	raw := o.m
	rows := g.rows(o)
	switch {
	case g.mixed == nil || g.soft:
	case g.raw:
		class = g.otherWeights(o, -1)
	default:
		raw = g.otherWeights(o, 1)
	}
	for _, n := range leaves {
		n.Class, n.Raw, n.Rows = class, raw, rows
		if g.opts.Settled != nil {
			g.opts.Settled(n.Weight)
		}
	}
}

// otherWeights returns the weights by class that the node does not count: the raw weights if sign
// is 1, the weights by the majority classes of its objects if sign is -1.
func (g *grower) otherWeights(o *openNode, sign int64) []int64 {
	weights := slices.Clone(o.m)
	for i := range o.objects {
		id := o.table.id(o.at(i))
		if !marked(g.mixed, id) {
			continue
		}
		weights[g.objects.Class[id]] -= sign * g.objects.Weight[id]
		for _, cw := range g.objects.Raw(int(id)) {
			weights[cw.Class] += sign * cw.Weight
		}
	}
	return weights
}

// rows returns the number of rows of the node's objects.
func (g *grower) rows(o *openNode) int64 {
	rows := int64(0)
	if g.objects.Rows == nil { // each row weighs 1
		for _, weight := range o.m {
			rows += weight
		}
		return rows
	}
	for i := range o.objects {
		rows += g.objects.Rows[o.table.id(o.at(i))]
	}
	return rows
}

package inmemory

import (
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/grow"
	"github.com/espalier-ml/espalier/induce/split"
)

// search is the search for the tests of one node. If the node keeps its histogram, all classes are
// counted; otherwise only the classes of the node are.
type search struct {
	grow.Search

	layout  *induce.Layout // layout of the kept histogram
	varies  []bool         // by position: whether the values of a feature may vary in the node
	objects induce.Selection
	used    []int           // the classes that are counted; nil: all
	fresh   bool            // the kept histogram is not counted yet
	heavy   [][]heavyObject // by tree of the search
}

// newSearch prepares the search for the tests of the node.
func (g *grower) newSearch(o *openNode, w *workspace) *search {
	s := &w.search
	stop := g.opts.Stop != nil && g.opts.Stop()
	rows := func() int64 { return g.rows(o) }
	s.Open(&g.Rules, &o.Open, o.varied.features, stop, rows, func() bool { return g.labelled(o) })
	if len(s.Trees) == 0 {
		return s
	}
	s.layout = &g.layout
	s.used = nil
	s.heavy = s.heavy[:0]
	g.gather(o, w)
	for i := range s.Trees {
		s.heavy = append(s.heavy, g.heavy(o, &s.Trees[i]))
	}
	s.fresh = o.cells == nil && g.worthKeeping(o.varied, o.objects())
	if s.fresh {
		o.cells = g.newCells()
	}
	if o.cells == nil {
		g.compact(o, s, w)
	} else {
		s.objects = g.selection(o, w)
	}
	s.Group()
	return s
}

// worthKeeping reports whether a node with the given number of objects keeps its histogram: it
// does if counting the objects costs more than subtracting the cells of all features that may vary.
func (g *grower) worthKeeping(v *varied, objects int) bool {
	return g.layout.Cells() <= keptCells && 2*objects*len(v.features) > 3*v.cells
}

// selection returns the node's objects for counting, with all classes, in the memory of
// the workspace.
func (g *grower) selection(o *openNode, w *workspace) induce.Selection {
	s := induce.Selection{Order: o.order, Class: o.table.class, N: o.Objects, M: o.Weight, Packed: g.packed}
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
	w.weightOf = fit(w.weightOf, o.objects())
	w.shares = w.shares[:0]
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

// labelled reports whether all rows of the node's soft objects, which have the same majority class, have labels
// of this class.
func (g *grower) labelled(o *openNode) bool {
	if g.disputed == nil {
		return true
	}
	for i := range o.objects() {
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
	n := w.usedObjects[:0]
	m := w.usedWeight[:0]
	for k, objects := range o.Objects {
		if objects > 0 || o.Weight[k] > 0 {
			w.numberOf[k] = uint16(len(s.used))
			s.used = append(s.used, k)
			n = append(n, objects)
			m = append(m, o.Weight[k])
		}
	}
	class := o.table.class
	w.classOf = fit(w.classOf, o.objects())
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
	if len(s.used) < g.objects.Classes {
		s.Count(s.objects.N, s.objects.M)
	}
}

// findTests finds the best test and the runner-up of the node for each tree.
func (g *grower) findTests(o *openNode, s *search, w *workspace) {
	s.varies = fit(s.varies, len(o.varied.features))
	g.shareIfLarge(o, w, func(w *workspace, next func() int) {
		s.Begin(&w.scratch, g.loader(o, s, w))
		for at := next(); at >= 0; at = next() {
			s.varies[at] = s.Scan(at, &w.scratch)
		}
		w.unload()
	})
	s.fresh = false
	s.Collect(0, len(o.varied.features), &w.scratch)
	o.varied = g.narrowed(o.varied, s.varies)
}

// loader returns a function that loads the node's histogram of a feature into the memory of a worker.
func (g *grower) loader(o *openNode, s *search, w *workspace) grow.Load {
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
func (g *grower) settle(o *openNode, leaves grow.Members) {
	if len(leaves) == 0 {
		return
	}
	g.Describe(&o.Open, leaves, g.otherWeights(o), g.rows(o))
	for _, m := range leaves {
		if g.opts.Settled != nil {
			g.opts.Settled(m.Node.Weight)
		}
	}
}

// otherWeights returns the weights by class that the node does not count, see grow.Rules.Describe.
func (g *grower) otherWeights(o *openNode) []int64 {
	if g.mixed == nil || g.Soft {
		return o.Weight
	}
	sign := int64(1)
	if g.raw { // the node counts raw weights
		sign = -1
	}
	weights := slices.Clone(o.Weight)
	for i := range o.objects() {
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
		for _, weight := range o.Weight {
			rows += weight
		}
		return rows
	}
	for i := range o.objects() {
		rows += g.objects.Rows[o.table.id(o.at(i))]
	}
	return rows
}

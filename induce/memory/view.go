package memory

import (
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"

	"github.com/espalier-ml/espalier/induce/split"
)

// view is a node as its histograms see it: with all classes where the
// histogram is kept, else with only the classes that it has.
type view struct {
	rows    induce.Selection
	dense   []int          // the class of each class number in use; nil: all classes
	fresh   bool           // the kept histogram is yet to be counted
	leaves  []*induce.Node // of the trees that go no further
	viewers []viewer
	packs   [][]int // of viewers whose scanners look at each test together, the first for all
}

// viewer is a tree that looks for its test of the node.
type viewer struct {
	member

	totals *split.Totals
	heavy  []heavyObject
	sum    split.Heavy
	best   split.Candidate // Kind 0: none
}

type heavyObject struct {
	id  int32
	sum split.Heavy
}

// view fills in the node's sums and prepares the search for tests.
func (g *grower) view(o *open, w *workspace) *view {
	v := &view{rows: o.rows()}
	stop := g.opts.Stop != nil && g.opts.Stop()
	for _, m := range o.members {
		totals := g.totals(o, m, o.n, o.m)
		m.node.Objects, m.node.Weight, m.node.Class = totals.Objects, totals.Weight, o.m
		if leaf := g.isLeaf(o, m, totals); leaf || stop {
			m.node.Cut = !leaf
			v.leaves = append(v.leaves, m.node)
			continue
		}
		to := viewer{member: m, totals: totals}
		g.addHeavy(o, &to)
		v.viewers = append(v.viewers, to)
	}
	if len(v.viewers) == 0 {
		return v
	}
	if o.cells == nil && g.worthKeeping(o.to-o.from) {
		o.cells = w.histograms.get(g.layout.Cells())
		clear(o.cells)
		v.fresh = true
	}
	if o.cells == nil {
		g.compact(o, v, w)
	}
	return v
}

// totals sums up the node for a tree, from its objects and weight by class.
func (g *grower) totals(o *open, m member, objects, weight []int64) *split.Totals {
	return g.wishes.Bound(g.criteria[m.tree].NewTotals(objects, weight), o.Path, g.columns)
}

// isLeaf reports whether a tree goes no further than this node, whatever tests
// there are.
func (g *grower) isLeaf(o *open, m member, t *split.Totals) bool {
	p := &g.params[m.tree]
	return g.criteria[m.tree].IsLeaf(t) || p.MaxDepth > 0 && o.Depth >= p.MaxDepth || p.MinRows > 0 && g.rows(o) < p.MinRows
}

func (g *grower) rows(o *open) int64 {
	rows := int64(0)
	for _, id := range o.order[o.from:o.to] {
		rows += o.objects.RowsOf(int(id))
	}
	return rows
}

func (g *grower) addHeavy(o *open, to *viewer) {
	criterion := g.criteria[to.tree]
	for i, weight := range o.weight[o.from:o.to] {
		if criterion.IsHeavy(weight) {
			h := heavyObject{o.order[o.from+i], split.NewHeavy(weight, to.totals.Weight)}
			to.heavy = append(to.heavy, h)
			to.sum.Add(&h.sum)
		}
	}
}

// worthKeeping reports whether a node of so many objects keeps its histogram:
// when counting them costs more than subtracting all cells does.
func (g *grower) worthKeeping(objects int) bool {
	cells := g.layout.Cells()
	return cells <= keptCells && 2*objects*len(g.columns) > 3*cells
}

// compact numbers only the classes that the node has.
func (g *grower) compact(o *open, v *view, w *workspace) {
	v.dense = w.dense[:0]
	n, m := w.denseN[:0], w.denseM[:0]
	for k, objects := range o.n {
		if objects > 0 {
			w.number[k] = uint16(len(v.dense))
			v.dense, n, m = append(v.dense, k), append(n, objects), append(m, o.m[k])
		}
	}
	w.class = w.class[:0]
	for _, k := range v.rows.Class {
		w.class = append(w.class, w.number[k])
	}
	v.rows.Class, v.rows.N, v.rows.M = w.class, n, m
	w.dense, w.denseN, w.denseM = v.dense, n, m
	for i := range v.viewers {
		m := &v.viewers[i]
		m.totals = g.totals(o, m.member, v.rows.N, v.rows.M)
	}
}

// search finds each tree's best test of the node.
func (g *grower) search(o *open, v *view, ws []*workspace) {
	if len(v.viewers) == 0 {
		return
	}
	g.pack(v)
	scores := ws[0].scores
	var next atomic.Int64
	inParallel(len(ws), func(i int) {
		w := ws[i]
		for i := range v.viewers {
			m := &v.viewers[i]
			w.scanners[m.tree].Node(m.totals, m.sum)
		}
		for f := int(next.Add(1) - 1); f < len(g.columns); f = int(next.Add(1) - 1) {
			h := g.load(o, v, f, w)
			for _, pack := range v.packs {
				g.scan(o, v, pack, f, h, w, scores)
			}
			g.unload(v, w)
		}
	})
	v.fresh = false
	for i := range v.viewers {
		g.wishes.Grant(o.Depth, 0, scores[v.viewers[i].tree])
		g.choose(o, v, &v.viewers[i], ws[0])
	}
}

// scan scores a feature's tests for the trees of a pack.
func (g *grower) scan(o *open, v *view, pack []int, f int, h []int64, w *workspace, scores [][]float64) {
	first := &v.viewers[pack[0]]
	w.others = w.others[:0]
	for _, i := range pack[1:] {
		w.others = append(w.others, w.scanners[v.viewers[i].tree])
	}
	scores[first.tree][f] = g.show(o, first, f, h, w).ScanWith(w.others)
	g.hide(o, first, f, w)
	for i, scanner := range w.others {
		scores[v.viewers[pack[1+i]].tree][f] = scanner.Best()
	}
}

// pack puts viewers together for scanning. Those with heavy objects or bounds have
// sums of their own.
func (g *grower) pack(v *view) {
	alone := func(m *viewer) bool { return len(m.heavy) > 0 || m.totals.Bounds != nil }
viewers:
	for i := range v.viewers {
		m := &v.viewers[i]
		for p, pack := range v.packs {
			first := &v.viewers[pack[0]]
			switch {
			case alone(m) || alone(first):
			case g.criteria[first.tree].Leads(g.criteria[m.tree]):
				v.packs[p] = append(pack, i)
				continue viewers
			case g.criteria[m.tree].Leads(g.criteria[first.tree]):
				v.packs[p] = append([]int{i}, pack...)
				continue viewers
			}
		}
		v.packs = append(v.packs, []int{i})
	}
}

// choose takes the best of a tree's tests.
func (g *grower) choose(o *open, v *view, m *viewer, w *workspace) {
	scanner, loaded := w.scanners[m.tree], -1
	scanner.Node(m.totals, m.sum)
	unload := func() {
		if loaded >= 0 {
			g.hide(o, m, loaded, w)
			g.unload(v, w)
		}
	}
	m.best = scanner.Choose(w.scores[m.tree], func(f int) {
		unload()
		g.show(o, m, f, g.load(o, v, f, w), w)
		loaded = f
	})
	unload()
}

// load returns a feature's cells, which it counts unless they are kept.
func (g *grower) load(o *open, v *view, f int, w *workspace) []int64 {
	if o.cells != nil {
		cells := g.layout.Column(o.cells, f, 0)
		if v.fresh {
			o.counters[f].Count(cells, &v.rows)
		}
		return cells
	}
	cells := w.cells[:2*len(v.rows.N)*g.columns[f].Codes]
	w.present = o.counters[f].CountSeen(cells, &v.rows, w.seen[:(g.columns[f].Codes+63)/64], w.present)
	return cells
}

// unload clears what load counted in the workspace.
func (g *grower) unload(v *view, w *workspace) {
	for _, code := range w.present {
		clear(w.cells[2*len(v.rows.N)*int(code) : 2*len(v.rows.N)*int(code+1)])
	}
	w.present = w.present[:0]
}

// show hands a loaded feature to a tree's scanner, which it returns.
func (g *grower) show(o *open, m *viewer, f int, cells []int64, w *workspace) *split.Scanner {
	h := split.Histogram{Cells: cells}
	if len(m.heavy) > 0 {
		h.Heavy = w.heavyOf(g.columns[f].Codes)
		for i := range m.heavy {
			h.Heavy[o.counters[f].Codes.At(int(m.heavy[i].id))].Add(&m.heavy[i].sum)
		}
	}
	var present []int32
	if len(w.present) > 0 {
		present = w.present
	}
	scanner := w.scanners[m.tree]
	scanner.Load(f, o.Path.Column(f, g.columns, &w.column), h, present)
	return scanner
}

// hide clears what show summed up in the workspace.
func (g *grower) hide(o *open, m *viewer, f int, w *workspace) {
	for i := range m.heavy {
		w.heavy[o.counters[f].Codes.At(int(m.heavy[i].id))] = split.Heavy{}
	}
}

// settle makes leaves of nodes.
func (g *grower) settle(o *open, leaves []*induce.Node) {
	if len(leaves) == 0 {
		return
	}
	raw := make([]int64, g.classes)
	for _, id := range o.order[o.from:o.to] {
		for _, cw := range o.objects.Raw(int(id)) {
			raw[cw.Class] += cw.Weight
		}
	}
	rows := g.rows(o)
	for _, n := range leaves {
		n.Raw, n.Rows = raw, rows
		if g.opts.Settled != nil {
			g.opts.Settled(n.Weight)
		}
	}
}

package memory

import (
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
)

// search is the search for tests of one node. The objects are counted with all
// classes where the node keeps its histogram, else with the classes that it has.
type search struct {
	objects induce.Selection
	used    []int          // the classes that are counted; nil: all
	fresh   bool           // the kept histogram is not counted yet
	leaves  []*induce.Node // of trees that stop at the node
	seekers []seeker
	teams   [][]int // of seekers that scan each test together, the leader first
}

// seeker is a tree that seeks its best test of the node.
type seeker struct {
	member

	totals *split.Totals
	heavy  []heavyObject
	sum    split.Heavy     // of all heavy objects
	best   split.Candidate // Kind 0: none
}

// heavyObject is an object that weighs more than theta of all, see split.Heavy.
type heavyObject struct {
	id  int32
	sum split.Heavy
}

// newSearch fills in the counts of the node and prepares the search. Trees for
// which the node is a leaf in any case do not seek.
func (g *grower) newSearch(o *openNode, w *workspace) *search {
	s := &search{objects: o.selection()}
	stop := g.opts.Stop != nil && g.opts.Stop()
	for _, m := range o.members {
		totals := g.totals(o, m, o.n, o.m)
		m.node.Objects, m.node.Weight, m.node.Class = totals.Objects, totals.Weight, o.m
		if leaf := g.isLeaf(o, m, totals); leaf || stop {
			m.node.Stopped = !leaf
			s.leaves = append(s.leaves, m.node)
			continue
		}
		seeks := seeker{member: m, totals: totals}
		g.addHeavy(o, &seeks)
		s.seekers = append(s.seekers, seeks)
	}
	if len(s.seekers) == 0 {
		return s
	}
	if o.cells == nil && g.worthKeeping(o.to-o.from) {
		o.cells = w.histograms.get(g.layout.Cells())
		clear(o.cells)
		s.fresh = true
	}
	if o.cells == nil {
		g.compact(o, s, w)
	}
	return s
}

// totals returns the node's sums as the criterion of a tree needs them, from the
// number and weight of the objects by class.
func (g *grower) totals(o *openNode, m member, objects, weight []int64) *split.Totals {
	return g.constraints.Bound(g.criteria[m.tree].NewTotals(objects, weight), o.Path, g.columns)
}

// isLeaf reports whether the node is a leaf of a tree, whatever tests there are.
func (g *grower) isLeaf(o *openNode, m member, t *split.Totals) bool {
	p := &g.params[m.tree]
	return g.criteria[m.tree].IsLeaf(t) || p.MaxDepth > 0 && o.Depth >= p.MaxDepth ||
		p.MinRows > 0 && o.rows() < p.MinRows
}

// addHeavy lists the heavy objects of the node.
func (g *grower) addHeavy(o *openNode, to *seeker) {
	criterion := g.criteria[to.tree]
	for i, weight := range o.weight[o.from:o.to] {
		if criterion.IsHeavy(weight) {
			h := heavyObject{o.order[o.from+i], split.NewHeavy(weight, to.totals.Weight)}
			to.heavy = append(to.heavy, h)
			to.sum.Add(&h.sum)
		}
	}
}

// worthKeeping reports whether a node of so many objects keeps its histogram: it
// does where counting them costs more than subtracting all cells.
func (g *grower) worthKeeping(objects int) bool {
	cells := g.layout.Cells()
	return cells <= keptCells && 2*objects*len(g.columns) > 3*cells
}

// compact numbers the classes that the node has, and counts with these numbers.
func (g *grower) compact(o *openNode, s *search, w *workspace) {
	s.used = w.used[:0]
	n, m := w.usedObjects[:0], w.usedWeight[:0]
	for k, objects := range o.n {
		if objects > 0 {
			w.numberOf[k] = uint16(len(s.used))
			s.used, n, m = append(s.used, k), append(n, objects), append(m, o.m[k])
		}
	}
	w.classes = w.classes[:0]
	for _, k := range s.objects.Class {
		w.classes = append(w.classes, w.numberOf[k])
	}
	s.objects.Class, s.objects.N, s.objects.M = w.classes, n, m
	w.used, w.usedObjects, w.usedWeight = s.used, n, m
	for i := range s.seekers {
		m := &s.seekers[i]
		m.totals = g.totals(o, m.member, s.objects.N, s.objects.M)
	}
}

// findTests finds each tree's best test of the node.
func (g *grower) findTests(o *openNode, s *search, ws []*workspace) {
	if len(s.seekers) == 0 {
		return
	}
	g.makeTeams(s)
	scores := ws[0].scores
	var next atomic.Int64
	inParallel(len(ws), func(i int) {
		w := ws[i]
		for i := range s.seekers {
			m := &s.seekers[i]
			w.scanners[m.tree].Node(m.totals, m.sum)
		}
		for f := int(next.Add(1) - 1); f < len(g.columns); f = int(next.Add(1) - 1) {
			cells := g.countCells(o, s, f, w)
			for _, team := range s.teams {
				g.scan(o, s, team, f, cells, w, scores)
			}
			g.clearCells(s, w)
		}
	})
	s.fresh = false
	for i := range s.seekers {
		g.constraints.Restrict(o.Depth, 0, scores[s.seekers[i].tree])
		g.choose(o, s, &s.seekers[i], ws[0])
	}
}

// scan scores a feature's tests for the trees of a team.
func (g *grower) scan(o *openNode, s *search, team []int, f int, cells []int64, w *workspace, scores [][]float64) {
	first := &s.seekers[team[0]]
	w.others = w.others[:0]
	for _, i := range team[1:] {
		w.others = append(w.others, w.scanners[s.seekers[i].tree])
	}
	scores[first.tree][f] = g.loadScanner(o, first, f, cells, w).ScanWith(w.others)
	g.clearHeavy(o, first, f, w)
	for i, scanner := range w.others {
		scores[s.seekers[team[1+i]].tree][f] = scanner.Best()
	}
}

// makeTeams groups the seekers that can scan together. Seekers with heavy objects or
// bounds have sums of their own, and scan alone.
func (g *grower) makeTeams(s *search) {
	alone := func(m *seeker) bool { return len(m.heavy) > 0 || m.totals.Bounds != nil }
seekers:
	for i := range s.seekers {
		m := &s.seekers[i]
		for p, team := range s.teams {
			first := &s.seekers[team[0]]
			switch {
			case alone(m) || alone(first):
			case g.criteria[first.tree].Leads(g.criteria[m.tree]):
				s.teams[p] = append(team, i)
				continue seekers
			case g.criteria[m.tree].Leads(g.criteria[first.tree]):
				s.teams[p] = append([]int{i}, team...)
				continue seekers
			}
		}
		s.teams = append(s.teams, []int{i})
	}
}

// choose finds the best of a tree's tests from the scores of the features.
func (g *grower) choose(o *openNode, s *search, m *seeker, w *workspace) {
	scanner, loaded := w.scanners[m.tree], -1
	scanner.Node(m.totals, m.sum)
	clearLoaded := func() {
		if loaded >= 0 {
			g.clearHeavy(o, m, loaded, w)
			g.clearCells(s, w)
		}
	}
	m.best = scanner.Choose(w.scores[m.tree], func(f int) {
		clearLoaded()
		g.loadScanner(o, m, f, g.countCells(o, s, f, w), w)
		loaded = f
	})
	clearLoaded()
}

// countCells returns a feature's cells: those of the kept histogram, or newly counted
// ones in the workspace.
func (g *grower) countCells(o *openNode, s *search, f int, w *workspace) []int64 {
	if o.cells != nil {
		cells := g.layout.Column(o.cells, f, 0)
		if s.fresh {
			o.counters[f].Count(cells, &s.objects)
		}
		return cells
	}
	cells := w.cells[:2*len(s.objects.N)*g.columns[f].Codes]
	w.present = o.counters[f].CountSeen(cells, &s.objects, w.seen[:(g.columns[f].Codes+63)/64], w.present)
	return cells
}

// clearCells zeroes the cells that countCells counted in the workspace.
func (g *grower) clearCells(s *search, w *workspace) {
	for _, code := range w.present {
		clear(w.cells[2*len(s.objects.N)*int(code) : 2*len(s.objects.N)*int(code+1)])
	}
	w.present = w.present[:0]
}

// loadScanner gives a feature's cells to the scanner of a tree, and returns the
// scanner.
func (g *grower) loadScanner(o *openNode, m *seeker, f int, cells []int64, w *workspace) *split.Scanner {
	h := split.Histogram{Cells: cells}
	if len(m.heavy) > 0 {
		h.Heavy = w.heavySums(g.columns[f].Codes)
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

// clearHeavy zeroes the sums of heavy objects that loadScanner made in the workspace.
func (g *grower) clearHeavy(o *openNode, m *seeker, f int, w *workspace) {
	for i := range m.heavy {
		w.heavy[o.counters[f].Codes.At(int(m.heavy[i].id))] = split.Heavy{}
	}
}

// settle makes leaves of nodes: it fills in their rows and raw class weights.
func (g *grower) settle(o *openNode, leaves []*induce.Node) {
	if len(leaves) == 0 {
		return
	}
	raw := make([]int64, g.classes)
	for _, id := range o.order[o.from:o.to] {
		for _, cw := range o.objects.Raw(int(id)) {
			raw[cw.Class] += cw.Weight
		}
	}
	rows := o.rows()
	for _, n := range leaves {
		n.Raw, n.Rows = raw, rows
		if g.opts.Settled != nil {
			g.opts.Settled(n.Weight)
		}
	}
}

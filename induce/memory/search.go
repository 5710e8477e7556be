package memory

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
)

// search is the search for tests of one node. The objects are counted with all
// classes where the node keeps its histogram, else with the classes that it has.
type search struct {
	layout  *induce.Layout // of the kept histogram
	objects induce.Selection
	used    []int          // the classes that are counted; nil: all
	fresh   bool           // the kept histogram is not counted yet
	leaves  []*induce.Node // of trees that stop at the node
	seekers []seeker
	teams   []team

	estimates []split.Estimate // of the best scores: for each feature those of each seeker, in the order of the teams
}

// team is seekers that scan each test together, see split.Team.
type team struct {
	alone    bool // one seeker that no team takes
	first    int  // position of the first seeker's estimate
	seekers  []int
	criteria []*split.Criterion
}

// seeker is a tree that seeks its best test of the node.
type seeker struct {
	member

	team   int // number among the teams
	totals *split.Totals
	heavy  []heavyObject
	sum    split.Heavy     // of all heavy objects
	best   split.Candidate // Kind 0: none

	runnerUp split.Candidate // see induce.Node; Kind 0: none
}

// heavyObject is an object that weighs more than theta of all, see split.Heavy.
type heavyObject struct {
	id  int32
	sum split.Heavy
}

// newSearch fills in the counts of the node and prepares the search. Trees for
// which the node is a leaf in any case do not seek.
func (g *grower) newSearch(o *openNode, w *workspace) *search {
	s := &search{layout: &g.layout}
	stop := g.opts.Stop != nil && g.opts.Stop()
	rows := int64(-1)
	var all [2]*split.Totals
	for _, m := range o.members {
		if g.params[m.tree].MinRows > 0 && rows < 0 {
			rows = g.rows(o)
		}
		totals := g.totals(m, o.n, o.m, &all)
		m.node.Objects, m.node.Weight, m.node.Class = totals.Objects, totals.Weight, o.m
		if leaf := g.isLeaf(o, m, totals, rows); leaf || stop {
			m.node.Stopped = !leaf
			s.leaves = append(s.leaves, m.node)
			continue
		}
		if s.seekers == nil {
			s.seekers = make([]seeker, 0, len(o.members))
		}
		s.seekers = append(s.seekers, seeker{member: m, totals: totals})
	}
	if len(s.seekers) == 0 {
		return s
	}
	g.gather(o, w)
	for i := range s.seekers {
		g.addHeavy(o, &s.seekers[i])
	}
	if o.cells == nil && g.worthKeeping(o.objects) {
		o.cells = g.newCells(w)
		clear(o.cells)
		s.fresh = true
	}
	if o.cells == nil {
		g.compact(o, s, w)
	} else {
		s.objects = g.selection(o, w)
	}
	return s
}

// totals returns the node's sums as the criterion of a tree needs them, from the
// number and weight of the objects by class. made has the sums for criteria without the
// Gini index and with it, once they are made.
func (g *grower) totals(m member, objects, weight []int64, made *[2]*split.Totals) *split.Totals {
	kind := 0
	if g.params[m.tree].Algorithm.Gini() {
		kind = 1
	}
	if made[kind] == nil {
		made[kind] = g.criteria[m.tree].NewTotals(objects, weight)
		made[kind].Ordered = g.constraints.Monotone()
	}
	return made[kind]
}

// isLeaf reports whether the node, of so many rows, is a leaf of a tree, whatever tests
// there are.
func (g *grower) isLeaf(o *openNode, m member, t *split.Totals, rows int64) bool {
	p := &g.params[m.tree]
	return g.criteria[m.tree].IsLeaf(t) || p.MaxDepth > 0 && o.Depth >= p.MaxDepth || p.MinRows > 0 && rows < p.MinRows ||
		!t.Paired() && g.labelled(o)
}

// addHeavy lists the heavy objects of the node.
func (g *grower) addHeavy(o *openNode, to *seeker) {
	criterion := g.criteria[to.tree]
	if !criterion.IsHeavy(g.heaviest) || !to.totals.Paired() {
		return
	}
	for i := range o.objects {
		id := o.at(i)
		if weight := o.extent.weightOf(id); criterion.IsHeavy(weight) {
			h := heavyObject{id, split.NewHeavy(weight, to.totals.Weight)}
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

// selection returns the node's objects for counting, with all classes, in the memory of
// the workspace.
func (g *grower) selection(o *openNode, w *workspace) induce.Selection {
	s := induce.Selection{Order: o.order, Class: o.extent.class, N: o.n, M: o.m, Packed: g.packed}
	g.weigh(&s, o, w)
	if o.order == nil {
		return s
	}
	class := o.extent.class
	w.classOf = fit(w.classOf, len(o.order))
	for i, id := range o.order {
		w.classOf[i] = class[id]
	}
	s.Class = w.classOf
	return s
}

// weigh sets the weights and the shares of the node's objects in a selection.
func (g *grower) weigh(s *induce.Selection, o *openNode, w *workspace) {
	weight := o.extent.weight
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
		if id := o.extent.id(at); marked(g.mixed, id) {
			w.shares, w.weightOf[i] = induce.AppendShares(w.shares, at, o.extent.class[at], g.objects.Raw(int(id)))
		}
	}
	s.Shares = w.shares
}

// labelled reports whether a node of soft objects of one majority class is a leaf because its rows
// have labels of this class alone.
func (g *grower) labelled(o *openNode) bool {
	if !g.soft || g.params[0].Classes == split.OfObjects {
		return false
	}
	if g.disputed == nil {
		return true
	}
	for i := range o.objects {
		if marked(g.disputed, o.extent.id(o.at(i))) {
			return false
		}
	}
	return true
}

// fit returns memory for n values.
func fit[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// compact numbers the classes that the node has, and counts with these numbers.
func (g *grower) compact(o *openNode, s *search, w *workspace) {
	s.used = w.used[:0]
	n, m := w.usedObjects[:0], w.usedWeight[:0]
	for k, objects := range o.n {
		if objects > 0 || o.m[k] > 0 {
			w.numberOf[k] = uint16(len(s.used))
			s.used, n, m = append(s.used, k), append(n, objects), append(m, o.m[k])
		}
	}
	class := o.extent.class
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
	w.used, w.usedObjects, w.usedWeight = s.used, n, m
	if len(s.used) == g.classes {
		return
	}
	var made [2]*split.Totals
	for i := range s.seekers {
		m := &s.seekers[i]
		m.totals = g.totals(m.member, s.objects.N, s.objects.M, &made)
	}
}

// makeTeams groups the seekers that can scan together. Seekers with heavy objects have
// sums of their own, and scan alone, as do seekers whose thresholds must have ordered sides.
func (g *grower) makeTeams(s *search) {
	for i := range s.seekers {
		m := &s.seekers[i]
		c := g.criteria[m.tree]
		if len(m.heavy) > 0 || m.totals.Ordered || !c.Joins(c) || g.unpriced {
			m.team = len(s.teams)
			s.teams = append(s.teams, team{alone: true, seekers: []int{i}})
			continue
		}
		at := slices.IndexFunc(s.teams, func(t team) bool { return !t.alone && t.criteria[0].Joins(c) })
		if at < 0 {
			at = len(s.teams)
			n := len(s.seekers)
			s.teams = append(s.teams, team{seekers: make([]int, 0, n), criteria: make([]*split.Criterion, 0, n)})
		}
		t := &s.teams[at]
		m.team = at
		t.seekers, t.criteria = append(t.seekers, i), append(t.criteria, c)
	}
	first := 0
	for i := range s.teams {
		s.teams[i].first = first
		first += len(s.teams[i].seekers)
	}
}

// row returns the estimates of a feature for the seekers of a team.
func (s *search) row(f int, t *team) []split.Estimate {
	at := f*len(s.seekers) + t.first
	return s.estimates[at : at+len(t.seekers)]
}

// findTests finds each tree's best test of the node.
func (g *grower) findTests(o *openNode, s *search, w *workspace) {
	if len(s.seekers) == 0 {
		return
	}
	g.makeTeams(s)
	w.estimates = fit(w.estimates, len(g.columns)*len(s.seekers))
	s.estimates = w.estimates
	g.shareIfLarge(o, w, func(w *workspace, next func() int) {
		g.begin(s, w)
		for f := next(); f >= 0; f = next() {
			w.load(o, s, f, g.columns[f].Codes)
			for i := range s.teams {
				g.scan(o, s, i, f, w)
			}
		}
		w.unload()
	})
	s.fresh = false
	for i := range s.teams {
		t := &s.teams[i]
		if g.demanding {
			g.restrict(o, s, t)
		}
		g.chooseTests(o, s, i, w)
		g.findRunnersUp(o, s, i, w)
	}
}

// chooseTests finds the best tests for the trees of a team, from the scores of the features.
func (g *grower) chooseTests(o *openNode, s *search, at int, w *workspace) {
	if t := &s.teams[at]; t.alone {
		g.choose(o, s, t, w)
	} else {
		g.chooseEach(o, s, at, w)
	}
}

// findRunnersUp finds the best tests of other features than those of the chosen tests, for the
// trees of a team that compare them.
func (g *grower) findRunnersUp(o *openNode, s *search, at int, w *workspace) {
	t, none := &s.teams[at], split.Estimate{Low: math.Inf(-1), High: math.Inf(-1)}
	winners := make([]split.Candidate, len(t.seekers))
	compares := false
	for i, seeker := range t.seekers {
		m := &s.seekers[seeker]
		winners[i], m.best = m.best, split.Candidate{}
		wanted := winners[i].Kind != 0 && g.criteria[m.tree].Compares(m.totals.Weight)
		compares = compares || wanted
		for f := range g.columns {
			if !wanted || f == winners[i].Feature {
				s.row(f, t)[i] = none
			}
		}
	}
	if compares {
		g.chooseTests(o, s, at, w)
	}
	for i, seeker := range t.seekers {
		m := &s.seekers[seeker]
		m.runnerUp, m.best = m.best, winners[i]
		if m.runnerUp.Kind != 0 {
			parts, _, _ := g.measure(o, s, m, &m.runnerUp, w)
			m.runnerUp.Score = parts.Total
		}
	}
}

// measure returns the parts of the score of a test, and the cells of its outcomes.
func (g *grower) measure(o *openNode, s *search, m *seeker, test *split.Candidate, w *workspace) (
	parts split.Parts, cells [][]int64, outcomes []int32,
) {
	f := test.Feature
	w.scanners[m.tree].Node(m.totals, m.sum)
	w.load(o, s, f, g.columns[f].Codes)
	parts, cells, outcomes = g.loadScanner(o, m, f, w).Parts(test)
	g.clearHeavy(o, m, f, w)
	return parts, cells, outcomes
}

// restrict enforces the feature that the node has to test.
func (g *grower) restrict(o *openNode, s *search, t *team) {
	for i := range t.seekers {
		scores := make([]float64, len(g.columns))
		for f := range scores {
			scores[f] = s.row(f, t)[i].High
		}
		if !g.constraints.Restrict(o.Depth, 0, scores) {
			return
		}
		for f, score := range scores {
			if math.IsInf(score, -1) {
				s.row(f, t)[i] = split.Estimate{Low: score, High: score}
			}
		}
	}
}

// begin starts a node in a worker's scanners.
func (g *grower) begin(s *search, w *workspace) {
	for i := range s.teams {
		t, first := &s.teams[i], &s.seekers[s.teams[i].seekers[0]]
		if t.alone {
			w.scanners[first.tree].Node(first.totals, first.sum)
		} else {
			w.team(i).Node(first.totals, t.criteria)
		}
	}
}

// scan scores a feature's tests for the trees of a team.
func (g *grower) scan(o *openNode, s *search, at, f int, w *workspace) {
	t := &s.teams[at]
	if !t.alone {
		g.loadTeam(o, at, f, w).Scan(s.row(f, t))
		return
	}
	m := &s.seekers[t.seekers[0]]
	score := g.loadScanner(o, m, f, w).Scan()
	s.row(f, t)[0] = split.Estimate{Low: score, High: score}
	g.clearHeavy(o, m, f, w)
}

// loadTeam gives the loaded cells of a feature to a worker's team.
func (g *grower) loadTeam(o *openNode, at, f int, w *workspace) *split.Team {
	t := w.team(at)
	t.Load(f, o.Path.Column(f, g.columns, &w.column), split.Histogram{Cells: w.pairs}, w.present)
	return t
}

// choose finds the best of the tests of a tree that scans alone, from the scores of the
// features.
func (g *grower) choose(o *openNode, s *search, t *team, w *workspace) {
	m, scored := &s.seekers[t.seekers[0]], -1
	w.scores = fit(w.scores, len(g.columns))
	for f := range w.scores {
		w.scores[f] = s.row(f, t)[0].High
	}
	scanner := w.scanners[m.tree]
	scanner.Node(m.totals, m.sum)
	m.best = scanner.Choose(w.scores, func(f int) {
		if scored >= 0 {
			g.clearHeavy(o, m, scored, w)
		}
		w.load(o, s, f, g.columns[f].Codes)
		g.loadScanner(o, m, f, w)
		scored = f
	})
	if scored >= 0 {
		g.clearHeavy(o, m, scored, w)
	}
}

// chooseEach finds the best tests for the trees of a team, from the estimates of the
// features' best scores. Only features that may have the best test are scanned again.
func (g *grower) chooseEach(o *openNode, s *search, at int, w *workspace) {
	t := &s.teams[at]
	w.cuts, w.least = fit(w.cuts, len(t.seekers)), fit(w.least, len(t.seekers))
	for len(w.found) < len(t.seekers) {
		w.found = append(w.found, nil)
	}
	found := w.found[:len(t.seekers)]
	for i := range found {
		found[i], w.least[i] = found[i][:0], math.Inf(-1)
	}
	for f := range g.columns {
		for i, e := range s.row(f, t) {
			if e.Low > w.least[i] {
				w.least[i] = e.Low
			}
		}
	}
	for i, low := range w.least {
		w.least[i] = split.Cut(low)
	}
	for f := range g.columns {
		wanted := false
		for i, e := range s.row(f, t) {
			w.cuts[i] = math.Inf(1)
			if e.High >= w.least[i] && !math.IsInf(e.High, -1) {
				w.cuts[i], wanted = w.least[i], true
			}
		}
		if wanted {
			w.load(o, s, f, g.columns[f].Codes)
			g.loadTeam(o, at, f, w).Collect(w.cuts, found)
		}
	}
	for i, seeker := range t.seekers {
		if len(found[i]) > 0 {
			s.seekers[seeker].best = split.Best(found[i])
		}
	}
}

// loadScanner gives the loaded cells of a feature to the scanner of a tree, and returns
// the scanner.
func (g *grower) loadScanner(o *openNode, m *seeker, f int, w *workspace) *split.Scanner {
	h := split.Histogram{Cells: w.pairs}
	if len(m.heavy) > 0 {
		h.Heavy = w.heavySums(g.columns[f].Codes)
		for i := range m.heavy {
			h.Heavy[o.extent.counters[f].Codes.At(int(m.heavy[i].id))].Add(&m.heavy[i].sum)
		}
	}
	scanner := w.scanners[m.tree]
	scanner.Load(f, o.Path.Column(f, g.columns, &w.column), h, w.present)
	return scanner
}

// clearHeavy zeroes the sums of heavy objects that loadScanner made in the workspace.
func (g *grower) clearHeavy(o *openNode, m *seeker, f int, w *workspace) {
	for i := range m.heavy {
		w.heavy[o.extent.counters[f].Codes.At(int(m.heavy[i].id))] = split.Heavy{}
	}
}

// settle makes leaves of nodes: it fills in their rows and class weights.
func (g *grower) settle(o *openNode, leaves []*induce.Node) {
	if len(leaves) == 0 {
		return
	}
	class, raw, rows := o.m, o.m, g.rows(o)
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

// otherWeights returns the weights by class that the node does not count: the raw ones if sign is 1,
// those by the majority classes of its objects if it is -1.
func (g *grower) otherWeights(o *openNode, sign int64) []int64 {
	weights := slices.Clone(o.m)
	for i := range o.objects {
		id := o.extent.id(o.at(i))
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
		rows += g.objects.Rows[o.extent.id(o.at(i))]
	}
	return rows
}

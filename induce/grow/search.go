package grow

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Search finds the best tests of a node. Its memory is reused for one node after another.
type Search struct {
	Trees  []Tree  // trees that need a test
	Leaves Members // nodes of the other trees

	rules     *Rules
	place     induce.Place
	features  []int32     // the features that are searched, ascending
	asked     []int       // features that the path tests, if some tree limits them
	spent     induce.Bill // what they cost, if some tree limits that
	teams     []team
	presence  []bool           // by position: whether a presence test has to be put above a test of the feature, see split.Column.Presence
	gains     []float64        // by position and team: see split.Scanner.Gain; nil unless some tree chooses the root by them
	estimates []split.Estimate // bounds of the best score, by position, then by tree in the order of the teams
	highest   []highest        // by tree, in the order of the teams
}

// highest is the two highest lower bounds of the features' best scores, for a tree.
type highest struct {
	first, second float64

	cut float64 // a feature whose upper bound is lower does not matter to the tree
}

// Tree is the search for a single tree.
type Tree struct {
	Member

	Totals *split.Totals
	Heavy  split.Heavy // sum of the node's heavy objects

	team, member int // its team, and its number there
	at           int // position of its estimates in the row of a feature
	compares     bool
	bounds       bounds
	byCodes      bool              // the node is the root and tests the feature with the highest gain, see induce.Params.RootByCodes
	gain         float64           // the highest gain so far
	demanded     int               // position of the only feature that counts, as the node has to test it and it has tests; -1: none
	found        []split.Candidate // tests that may be the best, or the runner-up
	best         split.Candidate   // the chosen test, see Choices
	first        float64           // the highest lower bound of a feature's best score
	second       float64           // the next best score, of another feature
}

// team is trees that look at each test together, see split.Team.
type team struct {
	exactly  bool
	bounds   bounds
	first    int // position of the first tree's estimate
	trees    []int
	criteria []*split.Criterion
}

// Load returns the histogram of a feature for the tree at a position in Search.Trees, and the codes
// with objects, ascending; nil if they are unknown. With strides, the histogram may have a tally instead
// of cells.
type Load func(feature, number int, strides []int32) (split.Histogram, []int32)

// Scratch is the memory of one goroutine.
type Scratch struct {
	teams  []*split.Team
	load   Load
	column split.Column // one feature at a node
	apart  *split.Team  // scores the tests of features whose values some objects of the node lack, see Search.apart
	cuts   []float64
	found  [][]split.Candidate

	present []int32 // codes of a feature, see Search.apart
}

// Open begins the search of another node for the trees in which the node may be split. In all other trees,
// listed in Leaves, the criterion, the depth, the number of rows or labels of a single class make it a leaf. rows and
// labelled are only called if they decide. If stop is true, all nodes are leaves, and tree.Node.Stopped marks the nodes that would
// need a test. features are the features that are searched, ascending: Scan and Collect take positions in this
// list.
func (s *Search) Open(
	rules *Rules, o *Open, features []int32, stop bool, rows func() int64, labelled func() bool,
) {
	s.reset(rules, o.Place, features)
	var made [split.Impurities]*split.Totals
	counted := int64(-1)
	for _, m := range o.Members {
		t := rules.totals(m.Tree, o.Objects, o.Weight, &made)
		least := rules.Params[m.Tree].MinRows
		if least > 0 && counted < 0 {
			counted = rows()
		}
		leaf := rules.isLeaf(m.Tree, o.Place, t) || least > 0 && counted < least ||
			rules.Soft && rules.OfRows && !t.Paired() && labelled()
		if leaf || stop {
			m.Node.Stopped = !leaf
			s.Leaves = append(s.Leaves, m)
		} else {
			s.add(m, t)
		}
	}
}

// reset begins the search of another node, without trees.
func (s *Search) reset(rules *Rules, place induce.Place, features []int32) {
	s.rules = rules
	s.place = place
	s.features = features
	s.asked = nil
	s.spent = induce.Bill{}
	s.gains = nil
	if rules.confined {
		s.asked = place.Path.Features(rules.Columns)
	}
	if rules.costly {
		s.spent = place.Path.Spent(rules.Columns)
	}
	s.Trees = s.Trees[:0]
	s.Leaves = s.Leaves[:0]
	s.teams = s.teams[:0]
}

// add adds a tree.
func (s *Search) add(m Member, totals *split.Totals) {
	t := next(&s.Trees)
	*t = Tree{
		Member: m, Totals: totals, byCodes: s.rules.Params[m.Tree].RootByCodes && s.place.Depth == 0, demanded: -1,
		found: t.found[:0], gain: math.Inf(-1), first: math.Inf(-1), second: math.Inf(-1),
	}
}

// next appends an element, and returns it with what its memory has of an earlier use.
func next[T any](list *[]T) *T {
	*list = slices.Grow(*list, 1)
	*list = (*list)[:len(*list)+1]
	return &(*list)[len(*list)-1]
}

// Count replaces the objects and the weights by class, if the histograms of the node only have some of the
// classes: all other classes have neither.
func (s *Search) Count(objects, weight []int64) {
	var made [split.Impurities]*split.Totals
	for i := range s.Trees {
		s.Trees[i].Totals = s.rules.totals(s.Trees[i].Tree, objects, weight, &made)
	}
}

// Group groups the trees into teams. It is called once the heavy objects of all trees are known.
func (s *Search) Group() {
	for i := range s.Trees {
		t := &s.Trees[i]
		c := s.rules.Criteria[t.Tree]
		t.compares = c.Compares(t.Totals.Weight)
		t.bounds = s.rules.bounds(t.Tree, s.asked, &s.spent)
		exactly := t.Heavy.Weight > 0 || t.Totals.Ordered || !c.Joins(c) || s.rules.unpriced
		t.team = slices.IndexFunc(s.teams, func(of team) bool {
			return !exactly && !of.exactly && of.bounds == t.bounds && of.criteria[0].Joins(c)
		})
		if t.team < 0 {
			t.team = len(s.teams)
			of := next(&s.teams)
			*of = team{exactly: exactly, bounds: t.bounds, trees: of.trees[:0], criteria: of.criteria[:0]}
		}
		of := &s.teams[t.team]
		t.member = len(of.trees)
		of.trees = append(of.trees, i)
		of.criteria = append(of.criteria, c)
	}
	first := 0
	for i := range s.teams {
		s.teams[i].first = first
		first += len(s.teams[i].trees)
	}
	for i := range s.Trees {
		t := &s.Trees[i]
		t.at = s.teams[t.team].first + t.member
	}
	n := len(s.features) * len(s.Trees)
	s.estimates = slices.Grow(s.estimates[:0], n)[:n]
	if s.rules.byCodes && s.place.Depth == 0 {
		s.gains = make([]float64, len(s.features)*len(s.teams))
	}
	s.highest = slices.Grow(s.highest[:0], len(s.Trees))[:len(s.Trees)]
	s.presence = slices.Grow(s.presence[:0], len(s.features))[:len(s.features)]
	clear(s.presence)
}

// row returns the estimates of the feature at a position for the trees of a team.
func (s *Search) row(at int, t *team) []split.Estimate {
	from := at*len(s.Trees) + t.first
	return s.estimates[from : from+len(t.trees)]
}

// Begin begins the node in a goroutine's memory. It comes before Scan, Collect and Measure, which load features by load.
func (s *Search) Begin(w *Scratch, load Load) {
	w.load = load
	for len(w.teams) < len(s.teams) {
		w.teams = append(w.teams, split.NewTeam(len(s.rules.Columns)))
	}
	for i := range s.teams {
		t := &s.teams[i]
		first := &s.Trees[s.teams[i].trees[0]]
		w.teams[i].Node(first.Totals, first.Heavy, t.criteria, t.exactly)
	}
}

// load loads a feature for the team with the given index, and reports whether objects of the node lack a value that nobody
// ordered: see apart. If scan is true, only Scan uses it.
func (s *Search) load(f, team int, scan bool, w *Scratch) (loaded *split.Team, lacking bool) {
	t := w.teams[team]
	column := s.place.Path.Column(f, s.rules.Columns, &w.column)
	var strides []int32
	if scan && s.gains == nil && !column.Unordered {
		strides = t.Strides(column)
	}
	h, present := w.load(f, s.teams[team].trees[0], strides)
	if column.Unordered {
		if apart := s.apart(f, team, column, h, present, w); apart != nil {
			return apart, true
		}
	}
	t.Load(f, column, h, present)
	return t, false
}

// apart returns a team that has loaded an unordered feature, for the objects of the node that have a value; nil if all have
// one. So a score counts for these objects alone, as in C4.5. If it counted for the whole node, in which the test would be
// done in use, chance would count as often, and features that few objects have would be tested before others: see
// docs/dev/decisions.md.
func (s *Search) apart(f, number int, column *split.Column, h split.Histogram, present []int32, w *Scratch) *split.Team {
	t := &s.teams[number]
	node := &s.Trees[t.trees[0]]
	n := node.Totals
	if last := len(present) - 1; present != nil && (last < 0 || int(present[last]) < column.Codes-1) { // other cells mean nothing
		return nil
	}
	absent := h.Cells[2*(column.Codes-1)*len(n.N):][:2*len(n.N)]
	objects := make([]int64, len(n.N))
	weight := make([]int64, len(n.N))
	lacking := false
	for k := range n.N {
		objects[k] = n.N[k] - absent[2*k]
		weight[k] = n.M[k] - absent[2*k+1]
		lacking = lacking || absent[2*k]|absent[2*k+1] != 0
	}
	if !lacking {
		return nil
	}
	if w.apart == nil {
		w.apart = split.NewTeam(len(s.rules.Columns))
	}
	totals := t.criteria[0].NewTotals(objects, weight)
	totals.Ordered = n.Ordered
	heavy := node.Heavy
	if h.Heavy != nil {
		heavy = heavy.Minus(&h.Heavy[column.Codes-1])
	}
	w.apart.Node(totals, heavy, t.criteria, t.exactly)
	if present == nil {
		present = w.present[:0]
		for code := range column.Codes - 1 {
			if slices.ContainsFunc(h.Cells[2*code*len(n.N):][:2*len(n.N)], func(x int64) bool { return x != 0 }) {
				present = append(present, int32(code))
			}
		}
		w.present = present
	} else {
		present = present[:len(present)-1]
	}
	w.apart.Load(f, column, h, present)
	return w.apart
}

// closed reports whether a feature has no tests at the node.
func (s *Search) closed(b *bounds, f int) bool {
	if b.selected != "" && !b.selected.Has(f) || b.known && !slices.Contains(s.asked, f) || b.once && slices.Contains(s.asked, f) {
		return true
	}
	if !b.free && b.cost == 0 && b.further == (dataset.Amounts{}) {
		return false
	}
	due := s.place.Path.Due(f, s.rules.Columns)
	return b.free && due.Cost > 0 || b.cost > 0 && s.spent.Cost+due.Cost > b.cost ||
		!s.spent.Keeps(b.further, due.Further)
}

// Scan estimates the best scores of the feature at a position, and reports whether its values may vary in
// the node. Several goroutines may scan features at the same time, each with its own memory.
func (s *Search) Scan(at int, w *Scratch) (varies bool) {
	f := int(s.features[at])
	for i := range s.teams {
		row := s.row(at, &s.teams[i])
		if s.closed(&s.teams[i].bounds, f) {
			for k := range row {
				row[k] = split.NoTests()
			}
			varies = true
			continue
		}
		team, lacking := s.load(f, i, true, w)
		team.Scan(row)
		varies = varies || team.Varies()
		s.presence[at] = s.presence[at] || lacking
		if s.gains != nil {
			s.gains[at*len(s.teams)+i] = team.Gain()
		}
	}
	return varies
}

// Collect collects the tests of the features at the positions [from, to) that may be a tree's best test or
// its runner-up. These features have been scanned, and the features before were collected.
func (s *Search) Collect(from, to int, w *Scratch) {
	s.bound(from, to)
	for at := from; at < to; at++ {
		for team := range s.teams {
			if !s.matters(at, &s.teams[team]) {
				continue
			}
			wanted := false
			w.cuts = w.cuts[:0]
			for _, number := range s.teams[team].trees {
				cut := s.cut(&s.Trees[number], at)
				wanted = wanted || !math.IsInf(cut, 1)
				w.cuts = append(w.cuts, cut)
			}
			if wanted {
				s.collect(int(s.features[at]), team, w)
			}
		}
	}
}

// collect collects the tests of a feature that reach the cuts of a team's trees.
func (s *Search) collect(f, team int, w *Scratch) {
	w.found = w.found[:0]
	for _, number := range s.teams[team].trees {
		w.found = append(w.found, s.Trees[number].found)
	}
	of, _ := s.load(f, team, false, w)
	of.Collect(w.cuts, w.found)
	for i, number := range s.teams[team].trees {
		s.Trees[number].found = w.found[i]
	}
}

// estimate returns the estimate of the feature at a position for a tree.
func (s *Search) estimate(t *Tree, at int) split.Estimate { return s.estimates[at*len(s.Trees)+t.at] }

// demand returns the position of the feature that a tree has to test at the node, judged by the positions
// up to to; -1: any. The positions before from were judged by earlier calls.
func (s *Search) demand(t *Tree, from, to int) int {
	hasTests := func(at int) bool { return !math.IsInf(s.estimate(t, at).High, -1) }
	feature, only := s.rules.demanded(s.place)
	if at := s.position(feature); from <= at && at < to && (only || hasTests(at)) {
		t.byCodes = false // what users demand goes first
		return at
	}
	best := t.demanded
	for at := from; t.byCodes && at < to; at++ {
		if gain := s.gains[at*len(s.teams)+t.team]; gain > t.gain && hasTests(at) {
			t.gain = gain
			best = at
		}
	}
	return best
}

// position returns the position of a feature; -1 if it is not searched.
func (s *Search) position(f int) int {
	if at, found := slices.BinarySearch(s.features, int32(f)); found {
		return at
	}
	return -1
}

// bound raises the bounds of the trees' scores by the features at the positions [from, to). If one of these
// is the feature that the node has to test, no other feature counts for the trees in which it has a test.
// It visits the estimates in the order of their memory: wide data have thousands of features.
func (s *Search) bound(from, to int) {
	for i := range s.Trees {
		t := &s.Trees[i]
		if at := s.demand(t, from, to); at != t.demanded {
			t.demanded = at
			t.found = t.found[:0]
			t.first = s.estimate(t, at).Low
			t.second = math.Inf(-1)
		}
		s.highest[t.at] = highest{first: t.first, second: t.second}
	}
	n := len(s.Trees)
	for at := from; at < to; at++ {
		for k, e := range s.estimates[at*n : (at+1)*n] {
			h := &s.highest[k]
			switch {
			case e.Low > h.first:
				h.second = h.first
				h.first = e.Low
			case e.Low > h.second:
				h.second = e.Low
			}
		}
	}
	for i := range s.Trees {
		t := &s.Trees[i]
		h := &s.highest[t.at]
		if t.demanded < 0 {
			t.first = h.first
			t.second = h.second
		}
		if h.cut = split.Cut(t.first); t.compares {
			h.cut = split.Cut(t.second)
		}
	}
}

// matters reports whether the feature at a position may matter to a tree of a team: cut decides.
func (s *Search) matters(at int, t *team) bool {
	for i, e := range s.row(at, t) {
		if e.High >= s.highest[t.first+i].cut {
			return true
		}
	}
	return false
}

// cut returns the least estimate with which a test of the feature at a position matters to a tree; +Inf if
// no test matters. The best test ties with the best score of its feature, and of all features. The
// runner-up ties with the best score of its feature, and of all features other than the feature of
// the best test: that is at least the second highest of the features' best scores.
func (s *Search) cut(t *Tree, at int) float64 {
	e := s.estimate(t, at)
	least := t.first
	if t.compares {
		least = max(t.second, e.Low)
	}
	least = split.Cut(least)
	if e.High < least || math.IsInf(e.High, -1) || t.demanded >= 0 && at != t.demanded {
		return math.Inf(1)
	}
	return least
}

// Choices chooses the best test of each tree among the tests that were collected, and writes it to the node of
// the tree with its runner-up. measure is Measure, or returns what Measure has returned. It returns the choices in
// the order of their first trees. A tree without a test is added to the Leaves.
func (s *Search) Choices(measure func(number int, test *split.Candidate) Measured) []Choice {
	var inner Members // by position among the trees
	for i := range s.Trees {
		t := &s.Trees[i]
		if t.best = split.Best(t.found, -1); t.best.Kind != 0 {
			inner = append(inner, Member{Tree: i, Node: t.Node})
		} else {
			s.Leaves = append(s.Leaves, t.Member)
		}
	}
	var choices []Choice
	for _, alike := range inner.Groups(func(a, b Member) bool { return s.chosen(a.Tree) == s.chosen(b.Tree) }) {
		choices = append(choices, s.choice(alike, measure))
	}
	return choices
}

// chosen returns the test of the node of the tree at a position: its best test, or the presence test above it.
func (s *Search) chosen(number int) split.Test {
	best := &s.Trees[number].best
	if s.asksPresence(best.Feature) {
		return s.rules.Columns[best.Feature].Presence(best.Feature)
	}
	return best.Test
}

// asksPresence reports whether a presence test has to be put above a test of the feature.
func (s *Search) asksPresence(feature int) bool { return s.presence[s.position(feature)] }

// choice measures the test that trees have chosen, and their runners-up. The trees are given by their positions.
func (s *Search) choice(alike Members, measure func(number int, test *split.Candidate) Measured) Choice {
	c := Choice{Members: alike, Test: s.chosen(alike[0].Tree)}
	for _, m := range alike {
		best := &s.Trees[m.Tree].best
		c.Measured = measure(m.Tree, best)
		m.Node.Test = &tree.Test{Test: c.Test, Cost: best.Own, Score: c.Parts}
		if s.asksPresence(best.Feature) {
			m.Node.Test.Cost = 0
		}
	}
	for i, m := range alike {
		t := &s.Trees[m.Tree]
		alike[i].Tree = t.Tree
		if !t.compares {
			continue
		}
		if second := split.Best(t.found, c.Test.Feature); second.Kind != 0 {
			total := measure(m.Tree, &second).Parts.Total
			m.Node.Test.RunnerUp = &tree.RunnerUp{Test: second.Test, Cost: second.Billed(), Total: total}
		}
	}
	return c
}

// Found returns the tests that may be the best or the runner-up of the tree, of the features that
// were collected.
func (t *Tree) Found() []split.Candidate { return t.found }

// Measure measures a test for the tree at a position, see split.Scanner.Parts. It is quicker for a test that was
// measured last.
func (s *Search) Measure(number int, test *split.Candidate, w *Scratch) Measured {
	t := &s.Trees[number]
	team, lacking := s.load(test.Feature, t.team, false, w)
	parts, cells, outcomes := team.Parts(t.member, test)
	if lacking {
		cells = presenceCells(t.Totals, cells)
		outcomes = nil
	}
	return Measured{parts, cells, outcomes}
}

// presenceCells returns the cells of the outcomes of a presence test, given the cells of the outcomes of the test below.
func presenceCells(n *split.Totals, below [][]int64) [][]int64 {
	cells := [][]int64{make([]int64, 2*len(n.N)), make([]int64, 2*len(n.N))}
	for _, outcome := range below {
		for i, x := range outcome {
			cells[0][i] += x
		}
	}
	for k := range n.N {
		cells[1][2*k] = n.N[k] - cells[0][2*k]
		cells[1][2*k+1] = n.M[k] - cells[0][2*k+1]
	}
	return cells
}

package split

import (
	"math"
	"slices"
)

// Histogram counts objects of a node by the codes of one feature: Cells[2*(code*classes+class)] is
// the number of objects, and the next cell is their weight. Heavy holds by code the sums over the
// heavy objects of the node; nil if it has none.
type Histogram struct {
	Cells []int64
	Heavy []Heavy

	// Tally has by position among the codes with objects the sum of the strides of the objects' classes, see
	// Team.Strides. If it is not nil, there are no cells.
	Tally []int32
}

// Scanner scores the tests of a node, feature by feature. It holds scratch memory, so only one
// goroutine at a time may use it.
type Scanner struct {
	c *Criterion
	n *Totals // &node once a node was started

	node    Totals
	feature int
	column  *Column
	h       Histogram
	present []int32 // codes with objects, ascending
	cost    float64 // cost for which divisor was computed; NaN if none
	divisor float64 // see Criterion.divisor

	acc     []int64 // sums of one outcome, laid out like the cells of a code
	sides   []side
	groups  groups  // the tests for sets
	allHere []int32 // memory for present

	best  float64     // best score seen by Scan
	cut   float64     // least score of the tests that Collect returns
	found []Candidate // filled by Collect
}

// NewScanner returns a scanner for the criterion.
func NewScanner(c *Criterion) *Scanner {
	return &Scanner{c: c}
}

// Node starts a node. heavy holds the sums over its heavy objects. The histograms loaded for the
// node must have the classes of n.
func (s *Scanner) Node(n *Totals, heavy Heavy) {
	s.node = *n // a copy, because the scanners of other workers share n
	s.node.heavy = heavy
	s.n = &s.node
	s.acc = slices.Grow(s.acc[:0], 2*len(n.N))[:2*len(n.N)]
}

// Load sets the feature to scan. present lists the codes with objects, ascending; if it is nil,
// Load finds them in the histogram.
func (s *Scanner) Load(feature int, column *Column, h Histogram, present []int32) {
	s.feature = feature
	s.column = column
	s.h = h
	s.present = present
	s.cost = math.NaN()
	if present != nil {
		return
	}
	s.allHere = s.allHere[:0]
	for code := range column.Codes {
		cells := s.cells(code)
		for k := 0; k < len(cells); k += 2 {
			if cells[k] != 0 {
				s.allHere = append(s.allHere, int32(code))
				break
			}
		}
	}
	s.present = s.allHere
}

// Scan returns the best score of the tests of the loaded feature; -Inf if no test has two outcomes
// in the node.
func (s *Scanner) Scan() float64 {
	s.best = math.Inf(-1)
	s.visit(false)
	return s.best
}

// Collect appends the tests of the loaded feature with scores of at least cut to found, in test
// order. See offer.
func (s *Scanner) Collect(cut float64, found []Candidate) []Candidate {
	s.cut = cut
	s.found = found
	s.visit(true)
	return s.found
}

// offer appends a test that competes to found, unless an earlier test of its feature has at least
// its score at no higher price, because that test would win in any case.
func offer(found []Candidate, c Candidate) []Candidate {
	if math.IsInf(c.Score, -1) {
		return found
	}
	for i := range found {
		if f := &found[i]; f.Feature == c.Feature && f.Cost <= c.Cost && f.Score >= c.Score {
			return found
		}
	}
	return append(found, c)
}

// Best returns the best test on all features except but, or on all features if but is -1. It is the
// cheapest test that ties with the best score, or the first of several such tests. Its Kind is 0 if
// found has no test.
func Best(found []Candidate, but int) Candidate {
	high := math.Inf(-1)
	for i := range found {
		if found[i].Feature != but {
			high = max(high, found[i].Score)
		}
	}
	var best Candidate
	floor := Floor(high)
	for i := range found {
		c := &found[i]
		if c.Feature != but && c.Score >= floor && (best.Kind == 0 || c.Cost < best.Cost) {
			best = *c
		}
	}
	return best
}

// visit scores the tests of the loaded feature in test order. If selecting is true, it collects
// tests; otherwise it keeps the best score.
func (s *Scanner) visit(selecting bool) {
	if len(s.present) < 2 {
		return
	}
	if !s.column.Numeric {
		s.categorical(selecting)
		return
	}
	if s.c.family.Thresholds() {
		s.thresholds(selecting)
	}
	missing := s.column.missing()
	if s.column.Monotone == 0 && s.c.family.Bins() {
		s.bins(missing, selecting)
	}
	if last := s.present[len(s.present)-1]; int(last) == missing {
		s.single(Missing, last, s.column.Cost, selecting)
	}
}

// bins visits the tests for single bins.
func (s *Scanner) bins(missing int, selecting bool) {
	for _, code := range s.present {
		if int(code) != missing {
			s.single(Bin, code, s.column.Cost, selecting)
		}
	}
}

// categorical visits the tests of a feature that is not numeric.
func (s *Scanner) categorical(selecting bool) {
	if s.column.Monotone != 0 { // a constrained feature of one value: only the test for missing can separate objects
		if missing := int32(s.column.missing()); s.present[len(s.present)-1] == missing {
			s.single(Missing, missing, s.column.Cost, selecting)
		}
		return
	}
	if s.c.family == Multiways {
		s.measureCodes()
		parts := s.c.parts(s.n, s.sides, s.divide(s.column, s.column.Cost))
		s.consider(Test{Feature: s.feature, Kind: Multiway}, s.column.Cost, parts.Total, selecting)
		return
	}
	other := int32(s.column.other())
	missing := int32(s.column.missing())
	for _, code := range s.present {
		switch code {
		case other:
			s.single(Other, code, s.column.Cost, selecting)
		case missing:
			s.single(Missing, code, s.column.Cost, selecting)
		default:
			if !s.rare(code) {
				s.single(Equals, code, s.column.cost(int(code)), selecting)
			}
		}
	}
	if s.c.family.Sets(s.column.Codes) {
		s.sets(selecting)
	}
}

// thresholds visits one threshold for each distinct partition of the node. All thresholds between
// two neighbouring codes with objects divide the node in the same way, and the lowest of them is
// the first in test order.
func (s *Scanner) thresholds(selecting bool) {
	clear(s.acc)
	var heavy Heavy
	last := len(s.present)
	missing := s.column.missing()
	if int(s.present[last-1]) == missing { // a missing value takes the no branch
		last--
		s.add(missing, &heavy)
		if last > 0 && s.present[0] > 0 {
			s.threshold(1, &heavy, selecting)
		}
	}
	for _, code := range s.present[:max(last-1, 0)] {
		s.add(int(code), &heavy)
		s.threshold(int(code)+1, &heavy, selecting)
	}
}

// add adds the cells and the heavy objects of a code to the running sums.
func (s *Scanner) add(code int, heavy *Heavy) {
	cells := s.cells(code)
	acc := s.acc[:len(cells)]
	for i, x := range cells {
		acc[i] += x
	}
	if s.h.Heavy != nil {
		heavy.Add(&s.h.Heavy[code])
	}
}

// threshold scores a threshold. The running sums hold its no side.
func (s *Scanner) threshold(code int, heavy *Heavy, selecting bool) {
	var no, yes side
	s.part(s.acc, heavy, &no, &yes)
	if s.n.Ordered && s.column.Monotone != 0 && !s.ordered(&no, &yes) {
		return
	}
	s.weigh(Test{Feature: s.feature, Kind: Threshold, Code: code}, s.column.Cost, &no, &yes, selecting)
}

// single visits the test whose outcome 1 is a single code.
func (s *Scanner) single(kind Kind, code int32, cost float64, selecting bool) {
	var no, yes side
	s.singleSides(int(code), &no, &yes)
	s.weigh(Test{Feature: s.feature, Kind: kind, Code: int(code)}, cost, &no, &yes, selecting)
}

// weigh scores a two-outcome test, given its outcomes.
func (s *Scanner) weigh(t Test, cost float64, no, yes *side, selecting bool) {
	s.consider(t, cost, s.c.rank(s.n, no, yes, s.divide(s.column, cost)), selecting)
}

// singleSides measures the outcomes of the test for a single code.
func (s *Scanner) singleSides(code int, no, yes *side) {
	var heavy Heavy
	if s.h.Heavy != nil {
		heavy = s.h.Heavy[code]
	}
	s.part(s.cells(code), &heavy, yes, no)
}

// consider keeps the best score or, if selecting is true, collects a test with a sufficient score.
func (s *Scanner) consider(t Test, cost, score float64, selecting bool) {
	if !selecting {
		s.best = max(s.best, score)
	} else if score >= s.cut {
		s.found = offer(s.found, s.column.candidate(t, cost, score))
	}
}

// part measures the two outcomes of a test: one from its cells, rest as its complement in the node.
// It runs once per test, and is the hottest loop of scoring.
func (s *Scanner) part(cells []int64, heavy *Heavy, one, rest *side) {
	n := s.n
	p := &s.c.phi
	terms := s.c.terms
	var squaresOne, squaresRest int64
	var sumOne, sumRest float64
	classN := n.N
	classM := n.M[:len(n.N)]
	cells = cells[:2*len(classN)]
	impure := terms == Discrimination || terms == AllTerms || n.pairs == 0
	for k := range classN {
		a := cells[2*k]
		m := cells[2*k+1]
		b := classN[k] - a
		l := classM[k] - m
		one.objects += a
		one.weight += m
		squaresOne += a * a
		squaresRest += b * b
		switch {
		case !impure:
		case p.kind == Entropy:
			sumOne += p.xlogx.at(m)
			sumRest += p.xlogx.at(l)
		default:
			sumOne += p.term(m)
			sumRest += p.term(l)
		}
	}
	rest.objects = n.Objects - one.objects
	rest.weight = n.Weight - one.weight
	one.pairs = (one.objects*one.objects - squaresOne) / 2
	rest.pairs = (rest.objects*rest.objects - squaresRest) / 2
	if impure {
		one.impurity, rest.impurity = s.c.phi.finish(sumOne, one.weight), s.c.phi.finish(sumRest, rest.weight)
	}
	if s.h.Heavy != nil {
		one.heavy, rest.heavy = *heavy, n.heavy.Minus(heavy)
	}
}

// divide returns the divisor of the score of a test with this cost. It is cached while the cost
// stays the same.
func (s *Scanner) divide(column *Column, cost float64) float64 {
	if cost != s.cost {
		s.cost, s.divisor = cost, s.c.divisor(column, cost, column.unit())
	}
	return s.divisor
}

// measureCodes measures the outcomes of the test with one outcome per code.
func (s *Scanner) measureCodes() {
	s.sides = s.sides[:0]
	for _, code := range s.present {
		var one, rest side
		s.singleSides(int(code), &rest, &one)
		one.impurity = s.cellsImpurity(s.cells(int(code)), one.weight)
		s.sides = append(s.sides, one)
	}
}

// Gain returns by how much the impurity would fall if the node were divided by all codes of the loaded
// feature, less what chance brings: codes without information share the impurity of the node.
func (s *Scanner) Gain() float64 {
	s.measureCodes()
	gain := s.n.impurity
	for i := range s.sides {
		gain -= s.sides[i].impurity
	}
	return gain - float64(float64(len(s.sides)-1)*s.n.impurity/float64(max(1, s.n.Objects)))
}

// cellsImpurity returns the weight times the impurity of one outcome's cells, for every algorithm.
func (s *Scanner) cellsImpurity(cells []int64, weight int64) float64 {
	sum := 0.0
	for k := 1; k < len(cells); k += 2 {
		sum += s.c.phi.term(cells[k])
	}
	return s.c.phi.finish(sum, weight)
}

// cells returns the cells of a code in the loaded histogram.
func (s *Scanner) cells(code int) []int64 {
	width := len(s.acc)
	return s.h.Cells[code*width : code*width+width]
}

// Parts returns all parts of the score of a test of the loaded feature, and the cells (objects and
// weight by class) of its outcomes. A two-outcome test has the outcomes no and yes, in this order.
// A multiway test has one outcome per present code, and Parts also returns the codes.
func (s *Scanner) Parts(t *Candidate) (Parts, [][]int64, []int32) {
	cells, codes := s.measure(&t.Test)
	return s.partsBy(s.c, t), cells, codes
}

// measure measures the outcomes of a test of the loaded feature, and returns their cells and the
// codes of a multiway test, as Parts does.
func (s *Scanner) measure(t *Test) (cells [][]int64, codes []int32) {
	if t.Kind == Multiway {
		cells = make([][]int64, len(s.present))
		for i, code := range s.present {
			cells[i] = slices.Clone(s.cells(int(code)))
		}
		s.measureCodes()
		return cells, slices.Clone(s.present)
	}
	var heavy Heavy
	clear(s.acc)
	for _, code := range s.present { // sums up the yes side
		if t.Outcome(int(code), s.column.missing()) == 1 {
			s.add(int(code), &heavy)
		}
	}
	var no, yes side
	s.part(s.acc, &heavy, &yes, &no)
	cells = [][]int64{make([]int64, len(s.acc)), slices.Clone(s.acc)}
	for k := range s.n.N {
		cells[0][2*k] = s.n.N[k] - s.acc[2*k]
		cells[0][2*k+1] = s.n.M[k] - s.acc[2*k+1]
	}
	no.impurity, yes.impurity = s.cellsImpurity(cells[0], no.weight), s.cellsImpurity(cells[1], yes.weight)
	s.sides = append(s.sides[:0], no, yes)
	return cells, nil
}

// partsBy returns the parts of the score of the test measured last, by a criterion that joins the
// scanner's criterion.
func (s *Scanner) partsBy(c *Criterion, t *Candidate) Parts {
	return c.parts(s.n, s.sides, c.divisor(s.column, t.Cost, 1))
}

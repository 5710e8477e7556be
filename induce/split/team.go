package split

import (
	"math"
	"math/bits"
	"slices"
)

// Team scores the tests of a node, feature by feature, for several criteria at once. It estimates
// scores first, because quotients and logarithms take most of the time, and bounds the error of the
// estimates. Only the few tests that may be the best for some criterion are then scored exactly. A
// team of a single criterion can also score all tests exactly. A team holds scratch memory, so only
// one goroutine at a time may use it.
type Team struct {
	n        *Totals
	exactly  bool // whether all tests are scored exactly
	criteria []*Criterion
	members  []teamMember // by criterion
	ways     []way
	lights   []light
	exact    *Scanner // scanner whose criterion measures all parts that any criterion needs
	measured Test     // test whose outcomes exact holds; Kind 0 if none
	sums     [][]int64
	codes    []int32
	total    float64 // inverse of the total weight

	scales []scale // one for each method of counting prices among the criteria
	slots  [slots]bool

	running     [2]running // the second one for sets of values with missing ones
	nodeTerms   []float64  // by class: the impurity term of the node's weight
	nodeTerm    float64    // sum of nodeTerms
	nodeSquares int64      // sum of the squared objects by class

	batch
	table table
	found func(i, member int)
	cuts  []float64
}

// Estimate bounds the best score of the tests of a feature. Both bounds are -Inf if no test has two
// outcomes in the node. Low alone is -Inf if no test is certain to compete: see Totals.Paired.
type Estimate struct{ Low, High float64 }

// NoTests returns the estimate of a feature without tests.
func NoTests() Estimate { return Estimate{math.Inf(-1), math.Inf(-1)} }

// The tests of a feature are divided into slots; each criterion considers some slots.
const (
	slotThresholds = iota
	slotBins
	slotRest // tests for missing, and all tests for a single value of categorical features
	slotSets
	slots
)

type teamMember struct {
	way    int
	family Family
	slots  [slots]bool // by slot: whether the member considers it; slotSets depends on the feature
}

// way is a scoring variant, which several criteria may share.
type way struct {
	light  int // index into the lights; -1 if balance and efficiency do not count
	lambda float64
	scale  int            // index into the scales
	off    float64        // bound on the error of an estimate without the price in this node
	best   [slots]float64 // by slot: estimate of the best score
	sure   [slots]float64 // likewise, of tests that certainly compete, in nodes without pairs
	cut    float64        // used by collect: estimates below it matter to no criterion
}

// scale is a method of counting prices.
type scale struct {
	c       *Criterion // a criterion that uses the method
	priced  bool       // whether the criterion counts prices at all
	divisor float64    // divisor for which factor was computed
	factor  float64    // for the tests of the batch: inverse of the product of their divisor and the total weight
	most    float64    // largest factor of the feature
}

// light is the weight above which the efficiency falls, see Criterion.efficiency.
type light struct {
	weight float64
	factor float64 // inverse of the product of the pairs of the node and its weight beyond the light one
}

// batchSize is how many tests are measured before they are scored, so that their measures stay in
// the L1 cache.
const batchSize = 128

// batch holds the measures of tests of the same slot and price. Outcome one is the outcome that is
// counted, and rest is its complement.
type batch struct {
	slot  int
	tests int

	at         [batchSize]int32     // position among the present codes; for a threshold, the last code of the no side
	one, rest  [batchSize]float64   // weights of the outcomes
	pairs      [batchSize]float64   // heterogeneous pairs of one
	pairsRest  [batchSize]float64   // heterogeneous pairs of rest
	balance    [batchSize]float64   // weight outside the outcome with the most objects
	gain       [batchSize]float64   // reduction of the impurity
	efficiency [][batchSize]float64 // balance plus efficiency, for each light
}

// NewTeam returns a team for nodes with this number of features.
func NewTeam(features int) *Team {
	return &Team{exact: &Scanner{}, table: table{most: min(mostTabled, outcomesPerFeature*int64(features))}}
}

// Joins reports whether both criteria can be in the same team: they measure the outcomes of the
// same tests in the same way.
func (c *Criterion) Joins(other *Criterion) bool {
	teams := func(c *Criterion) bool { return c.terms <= AllTerms && c.family != Multiways }
	return teams(c) && teams(other) && c.phi.kind == other.phi.kind && c.total == other.total
}

// Node starts a node. The criteria must join each other. If exactly is true, there must be a single
// criterion, and all its tests are scored exactly. This is required if the node has heavy objects,
// if the sides of its thresholds must be in order, and if the criterion does not join itself.
func (t *Team) Node(n *Totals, heavy Heavy, criteria []*Criterion, exactly bool) {
	t.n = n
	t.exactly = exactly
	t.measured = Test{}
	if !slices.Equal(t.criteria, criteria) {
		t.gather(criteria)
	}
	t.exact.Node(n, heavy)
	if exactly {
		return
	}
	for i := range t.lights {
		t.lights[i].factor = 1 / ((float64(n.Weight) - t.lights[i].weight) * float64(max(n.pairs, 1)))
	}
	for i := range t.ways {
		t.setOff(&t.ways[i])
	}
	t.table.begin(n, len(t.ways))
	if len(n.N) <= 2 {
		return
	}
	t.nodeTerms = t.nodeTerms[:0]
	t.nodeTerm = 0
	t.nodeSquares = 0
	for k, m := range n.M {
		t.nodeTerms = append(t.nodeTerms, t.exact.c.phi.nearTerm(m))
		t.nodeTerm += t.nodeTerms[k]
		t.nodeSquares += n.N[k] * n.N[k]
	}
}

// gather finds the scoring variants that the criteria share.
func (t *Team) gather(criteria []*Criterion) {
	t.criteria = append(t.criteria[:0], criteria...)
	t.members = t.members[:0]
	t.ways = t.ways[:0]
	t.lights = t.lights[:0]
	t.scales = t.scales[:0]
	t.slots = [slots]bool{}
	lead := criteria[0]
	for _, c := range criteria {
		if c.terms != BalanceEfficiency {
			lead = c
		}
		m := teamMember{family: c.family, slots: [slots]bool{c.family.Thresholds(), c.family.Bins(), true, false}}
		for i, has := range m.slots {
			t.slots[i] = t.slots[i] || has
		}
		w := t.way(c)
		m.way = slices.IndexFunc(t.ways, func(o way) bool {
			return o.light == w.light && o.lambda == w.lambda && o.scale == w.scale
		})
		if m.way < 0 {
			m.way = len(t.ways)
			t.ways = append(t.ways, w)
		}
		t.members = append(t.members, m)
	}
	t.exact.c = lead
	t.total = 1 / lead.total
	if len(t.efficiency) < len(t.lights) {
		t.efficiency = make([][batchSize]float64, len(t.lights))
	}
}

// way returns the scoring variant of a criterion.
func (t *Team) way(c *Criterion) way {
	if c.terms == Discrimination {
		return way{light: -1, lambda: 1, scale: t.scaleOf(c)}
	}
	at := slices.IndexFunc(t.lights, func(l light) bool { return l.weight == c.light })
	if at < 0 {
		at = len(t.lights)
		t.lights = append(t.lights, light{weight: c.light})
	}
	if c.terms == BalanceEfficiency {
		return way{light: at, scale: t.scaleOf(c)}
	}
	return way{light: at, lambda: c.lambda, scale: t.scaleOf(c)}
}

// scaleOf returns the index of the method by which a criterion counts prices.
func (t *Team) scaleOf(c *Criterion) int {
	at := slices.IndexFunc(t.scales, func(s scale) bool {
		return s.priced == c.priced && (!c.priced || s.c.pricing == c.pricing)
	})
	if at < 0 {
		at = len(t.scales)
		t.scales = append(t.scales, scale{c: c, priced: c.priced, divisor: math.NaN()})
	}
	return at
}

// Load sets the feature to scan, as Scanner.Load does.
func (t *Team) Load(feature int, column *Column, h Histogram, present []int32) {
	t.slots[slotSets] = false
	for i := range t.members {
		m := &t.members[i]
		m.slots[slotSets] = !column.Numeric && m.family.Sets(column.Codes)
		t.slots[slotSets] = t.slots[slotSets] || m.slots[slotSets]
	}
	t.exact.Load(feature, column, h, present)
}

// Scan estimates, for each criterion, the best score of the tests of the loaded feature.
func (t *Team) Scan(best []Estimate) {
	if t.exactly {
		score := t.exact.Scan()
		best[0] = Estimate{score, score}
		return
	}
	for i := range t.ways {
		t.ways[i].best = [slots]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1), math.Inf(-1)}
		t.ways[i].sure = t.ways[i].best
	}
	t.found = nil
	t.visit()
	for i := range t.members {
		m := &t.members[i]
		w := &t.ways[m.way]
		high := m.best(&w.best)
		low := high
		if t.n.pairs == 0 {
			low = m.best(&w.sure)
		}
		off := t.off(w)
		best[i] = Estimate{low - off, high + off} // -Inf stays -Inf
	}
}

// Varies reports whether objects of the node have several codes of the loaded feature.
func (t *Team) Varies() bool { return len(t.exact.present) > 1 }

// Gain is Scanner.Gain for the criteria of the team.
func (t *Team) Gain() float64 { return t.exact.Gain() }

// best returns the best score among the slots that the member considers.
func (m *teamMember) best(scores *[slots]float64) float64 {
	high := scores[slotRest]
	if x := scores[slotThresholds]; m.slots[slotThresholds] && x > high {
		high = x
	}
	if x := scores[slotBins]; m.slots[slotBins] && x > high {
		high = x
	}
	if x := scores[slotSets]; m.slots[slotSets] && x > high {
		high = x
	}
	return high
}

// off bounds the error of an estimated score of the loaded feature.
func (t *Team) off(w *way) float64 {
	return float64(w.off * t.scales[w.scale].most)
}

// setOff bounds the errors of estimates. The unit is the rounding error of one operation on numbers
// as large as the parts of a score. Both the estimate and the score take fewer operations than
// operations returns. No part exceeds the weight of the node or, for the entropy, its product with
// the logarithm.
func (t *Team) setOff(w *way) {
	w.off = float64(w.lambda * t.gainOff())
	if w.light >= 0 {
		w.off += float64(rounding * float64(t.n.Weight) * float64(2*t.operations()))
	}
}

// rounding is the relative error of one operation.
const rounding = 0x1p-52

// operations bounds how many operations a score and its estimate take.
func (t *Team) operations() float64 { return float64(64 + 8*len(t.n.N)) }

// gainOff bounds the error of an estimated gain.
func (t *Team) gainOff() float64 {
	return float64(rounding * float64(t.n.Weight) * float64(t.operations()*float64(1+bits.Len64(uint64(t.n.Weight)))))
}

// Collect scores the tests that may have the best score. cuts holds for each criterion the least
// score that matters, or +Inf to leave the criterion out. Collect appends the tests of each
// criterion to found, in test order: see offer.
func (t *Team) Collect(cuts []float64, found [][]Candidate) {
	if t.exactly {
		found[0] = t.exact.Collect(cuts[0], found[0])
		return
	}
	t.cuts = cuts
	for i := range t.ways {
		t.ways[i].cut = math.Inf(1)
	}
	for i, m := range t.members {
		t.ways[m.way].cut = min(t.ways[m.way].cut, cuts[i])
	}
	slot := -1
	at := int32(0)
	var test Test
	var cost float64
	var no, yes side
	t.found = func(i, member int) {
		if t.slot != slot || t.at[i] != at {
			slot = t.slot
			at = t.at[i]
			test, cost = t.test(i, &no, &yes)
		}
		c := t.criteria[member]
		score := c.rank(t.exact.n, &no, &yes, c.divisor(t.exact.column, cost, t.exact.column.unit()))
		if slot == slotSets {
			score = float64(t.exact.groups.discount * score)
		}
		found[member] = offer(found[member], t.exact.column.candidate(test, cost, score))
	}
	t.visit()
}

// Parts returns the parts of the score of a test of the loaded feature for one of the criteria, and
// the cells and the codes of its outcomes, as Scanner.Parts does. The outcomes are measured only
// once for all criteria.
func (t *Team) Parts(member int, c *Candidate) (Parts, [][]int64, []int32) {
	if t.measured != c.Test {
		t.measured = c.Test
		t.sums, t.codes = t.exact.measure(&c.Test)
	}
	return t.exact.partsBy(t.criteria[member], c), t.sums, t.codes
}

// Cut returns the least estimate that a test with the best score, or a test that ties with it, may
// have, given the low estimate of the best score.
func Cut(low float64) float64 { return low - float64(2*tie*max(1, max(low, -low))) }

// visit measures and scores the tests of the loaded feature in test order.
func (t *Team) visit() {
	s := t.exact
	t.tests = 0
	for i := range t.scales {
		t.scales[i].most = 0
	}
	if len(s.present) < 2 {
		return
	}
	t.price(s.column.Cost)
	if t.found == nil && t.Strides(s.column) != nil {
		t.lookUp()
		return
	}
	if !s.column.Numeric {
		t.categorical()
		return
	}
	if t.slots[slotThresholds] {
		t.begin(slotThresholds)
		t.thresholds()
		t.score()
	}
	if s.column.Monotone == 0 && t.slots[slotBins] {
		t.begin(slotBins)
		if t.sameBins() {
			return
		}
		t.bins()
		t.score()
	}
	if last := len(s.present) - 1; int(s.present[last]) == s.column.missing() {
		t.begin(slotRest)
		t.single(last)
		t.score()
	}
}

// sameBins scores the tests for single bins if there are two codes and no missing values: these
// tests divide the node in the same way as its only threshold.
func (t *Team) sameBins() bool {
	s := t.exact
	if t.found != nil || len(s.present) != 2 || int(s.present[1]) == s.column.missing() || !t.slots[slotThresholds] {
		return false
	}
	objects := int64(0)
	cells := s.cells(int(s.present[0]))
	for k := 0; k < len(cells); k += 2 {
		objects += cells[k]
	}
	if 2*objects == t.n.Objects { // then the balance depends on which outcome is yes
		return false
	}
	for i := range t.ways {
		t.ways[i].best[slotBins] = t.ways[i].best[slotThresholds]
		t.ways[i].sure[slotBins] = t.ways[i].sure[slotThresholds]
	}
	return true
}

// price sets the price of the tests that follow.
func (t *Team) price(cost float64) {
	t.score()
	column := t.exact.column
	for i := range t.scales {
		s := &t.scales[i]
		divisor := 1.0
		if s.priced {
			divisor = s.c.divisor(column, cost, column.unit())
		}
		if divisor != s.divisor {
			s.divisor = divisor
			s.factor = t.total / divisor
		}
		s.most = max(s.most, s.factor)
	}
}

func (t *Team) begin(slot int) {
	t.slot = slot
	t.tests = 0
}

// categorical visits the tests of a feature that is not numeric.
func (t *Team) categorical() {
	s := t.exact
	t.begin(slotRest)
	missing := s.column.missing()
	for i, code := range s.present {
		if s.column.Monotone != 0 && int(code) != missing || s.rare(code) {
			continue
		}
		if s.column.Costs != nil {
			_, cost := t.codeTest(int(code))
			t.price(cost)
		}
		t.single(i)
	}
	t.score()
	t.sets()
}

// sets visits the tests for sets.
func (t *Team) sets() {
	s := t.exact
	if !t.slots[slotSets] || !s.group() {
		return
	}
	t.price(s.column.Cost)
	for i := range t.scales { // until the price is set again
		t.scales[i].factor = float64(t.scales[i].factor * s.groups.discount)
		t.scales[i].divisor = math.NaN()
	}
	t.begin(slotSets)
	t.measureSets()
	t.score()
}

// codeTest returns the test of slotRest for a single code, and its price.
func (t *Team) codeTest(code int) (Test, float64) {
	column := t.exact.column
	test := Test{Feature: t.exact.feature, Kind: Equals, Code: code}
	switch code {
	case column.missing():
		test.Kind = Missing
	case column.other():
		test.Kind = Other
	default:
		return test, column.cost(code)
	}
	return test, column.Cost
}

// test returns test i of the batch and its price, and measures its outcomes exactly.
func (t *Team) test(i int, no, yes *side) (Test, float64) {
	s := t.exact
	at := int(t.at[i])
	*no, *yes = side{}, side{}
	if t.slot == slotSets {
		return s.setAt(at, no, yes), s.column.Cost
	}
	if t.slot == slotRest {
		s.singleSides(int(s.present[at]), no, yes)
		return t.codeTest(int(s.present[at]))
	}
	if t.slot == slotBins {
		s.singleSides(int(s.present[at]), no, yes)
		return Test{Feature: s.feature, Kind: Bin, Code: int(s.present[at])}, s.column.Cost
	}
	clear(s.acc)
	var heavy Heavy
	if last := s.present[len(s.present)-1]; int(last) == s.column.missing() {
		s.add(int(last), &heavy)
	}
	for _, code := range s.present[:at+1] {
		s.add(int(code), &heavy)
	}
	s.part(s.acc, &heavy, no, yes)
	from := 1
	if at >= 0 {
		from = int(s.present[at]) + 1
	}
	return Test{Feature: s.feature, Kind: Threshold, Code: from}, s.column.Cost
}

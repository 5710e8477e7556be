package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

const (
	// steps is the budget of the searches of one level of a tree, in additions to counters.
	steps = 1 << 21
	// mostSteps is how many times its share of the steps a node may take for its own candidates, without a search. Nodes
	// of many classes may take more, and are leaves.
	mostSteps = 8
	// mostKept bounds the results that a growth keeps, to some 20 MB.
	mostKept = 1 << 17
	// mostFeatures is the number of features that the searches of a tree may test: the most promising ones of the root.
	mostFeatures = 24
	// slack is by how much, relative to the cost of errors without tests, a test has to lower the total.
	slack = 1e-12
)

// Grow grows a tree from its objects, at least one, and returns its nodes. p.Losses must be set. If stop, which may be
// nil, returns true, all open nodes become leaves.
func Grow(o *dataset.Objects, columns []split.Column, p induce.Params, stop func() bool) []tree.Node {
	g := newGrower(o, columns, p)
	g.stop = stop
	ids := make([]int32, o.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	root := place{ids: ids, asked: make([]byte, (len(columns)+7)/8)}
	g.narrow(&root)
	g.grow(root)
	return tree.Ordered(g.nodes)
}

// grower grows one tree.
type grower struct {
	objects  *dataset.Objects
	columns  []split.Column
	params   induce.Params
	costs    [][]float64           // cost of errors by actual and predicted class
	prior    []float64             // by class: weight of the rows that are added to a node, with the shares of all objects
	drawn    float64               // sum of prior, 0 if the errors count as they are
	total    float64               // weight of all objects
	features []int                 // features that may be tested
	byPath   []bool                // by feature: the price depends on the tests above
	list     []dataset.ClassWeight // class weights of the objects, as they count where the tree will be used
	ends     []int32               // by object: end of its part of the list
	stop     func() bool

	nodes []tree.Node
	memo  map[key]found

	cells   []int64 // by code and class, of one feature at a node
	touched []int32 // codes with objects
	yes, no []int64 // by class, of the outcomes of a test
}

// place is an open node: its objects, the features that the tests above have paid for, and the path.
type place struct {
	ids   []int32
	asked []byte // by feature, as bits
	depth int
	spent induce.Bill // what the tests above cost, if that is limited
}

// key names the nodes that have the same total: the sums of two hashes of the objects, and what is paid.
type key struct {
	sums [2]uint64
	paid string
}

// found is the result of a search.
type found struct {
	total  float64
	test   split.Test // Kind 0: the node is a leaf
	budget int64
	exact  bool // no other candidate was left out
}

func newGrower(o *dataset.Objects, columns []split.Column, p induce.Params) *grower {
	table := p.Losses.Table()
	weights := o.ClassWeights()
	factors := judging.FactorsOf(table.Priors, weights)
	g := &grower{
		objects: o, columns: columns, params: p, costs: table.ErrorCosts, byPath: make([]bool, len(columns)),
		ends: make([]int32, o.Len()), memo: make(map[key]found), yes: make([]int64, o.Classes), no: make([]int64, o.Classes),
	}
	codes := 0
	for f := range columns {
		g.features = append(g.features, f)
		g.byPath[f] = columns[f].ByPath()
		codes = max(codes, columns[f].Codes)
	}
	g.cells = make([]int64, codes*o.Classes)
	for i := range o.Len() {
		for _, w := range o.Raw(i) {
			w.Weight = factors.Weight(int(w.Class), w.Weight)
			g.list = append(g.list, w)
		}
		g.ends[i] = int32(len(g.list))
	}
	g.total = float64(o.TotalWeight())
	if !p.Empirical {
		g.drawn = tree.UsualSmoothing * cmp.Or(p.RowWeight, 1)
	}
	if factors != nil {
		g.total *= factors.Unit
		g.drawn *= factors.Unit
	}
	for _, w := range factors.Weights(weights) {
		g.prior = append(g.prior, float64(g.drawn*(float64(w)/g.total)))
	}
	return g
}

// of returns the class weights of an object.
func (g *grower) of(id int32) []dataset.ClassWeight {
	if id == 0 {
		return g.list[:g.ends[0]]
	}
	return g.list[g.ends[id-1]:g.ends[id]]
}

// weigh returns the weight of objects by class.
func (g *grower) weigh(ids []int32) []int64 {
	weights := make([]int64, g.objects.Classes)
	for _, id := range ids {
		for _, w := range g.of(id) {
			weights[w.Class] += w.Weight
		}
	}
	return weights
}

// errors returns the cost of errors of a node as a leaf, with class shares that are drawn towards the shares of all
// objects.
func (g *grower) errors(weights []int64) float64 {
	sum := sumOf(weights)
	if sum == 0 {
		return 0
	}
	least := math.Inf(1)
	for predicted := range weights {
		cost := 0.0
		for actual, w := range weights {
			cost += float64((float64(w) + g.prior[actual]) * g.costs[actual][predicted])
		}
		least = min(least, cost)
	}
	return float64(least * (float64(sum) / (float64(sum) + g.drawn)))
}

// impurity returns the weight of a node times its generalised Gini index.
func (g *grower) impurity(weights []int64) float64 {
	sum := sumOf(weights)
	if sum == 0 {
		return 0
	}
	mixed := 0.0
	for actual, w := range weights {
		if w == 0 {
			continue
		}
		for predicted, v := range weights {
			mixed += float64(float64(float64(w)*float64(v)) * g.costs[actual][predicted])
		}
	}
	return mixed / float64(sum)
}

func sumOf(weights []int64) int64 {
	sum := int64(0)
	for _, w := range weights {
		sum += w
	}
	return sum
}

// candidate is a test at a node.
type candidate struct {
	test  split.Test
	price float64 // for all rows of the node
	after float64 // cost of errors if the children are leaves
	gain  float64 // decrease of the impurity
}

// net returns the total if the children are leaves.
func (c *candidate) net() float64 { return c.after + c.price }

// candidates returns the candidates at a node with the given class weights.
func (g *grower) candidates(at *place, weights []int64) []candidate {
	var list []candidate
	sum := float64(sumOf(weights))
	mixed := g.impurity(weights)
	for _, f := range g.features {
		best := g.bestOf(at.ids, f, weights)
		for i, c := range []candidate{best.purest, best.cheapest} {
			if c.test.Kind == 0 || i == 1 && c.test == best.purest.test {
				continue
			}
			due := g.due(at, &c.test)
			if !g.params.Allow(due, &at.spent) {
				continue
			}
			c.price = float64(due.Cost * sum)
			c.gain = max(0, mixed-c.gain)
			list = append(list, c)
		}
	}
	return list
}

// due returns what a test costs at a node.
func (g *grower) due(at *place, t *split.Test) induce.Due {
	column := &g.columns[t.Feature]
	paid := g.paid(at, t.Feature)
	return induce.Due{Cost: column.Due(t, paid), Further: column.FurtherDue(paid)}
}

// paid returns what the tests above a node have paid for a feature.
func (g *grower) paid(at *place, f int) split.Paid {
	if !g.byPath[f] {
		return split.Paid{}
	}
	paid := split.Paid{Asked: has(at.asked, f)}
	if group := g.columns[f].Group; group != "" {
		for other := range g.columns {
			paid.SetUp = paid.SetUp || has(at.asked, other) && g.columns[other].Group == group
		}
	}
	return paid
}

func has(bits []byte, f int) bool { return bits[f/8]>>(f%8)&1 != 0 }

// pair is the candidates of a feature: the test after which the impurity, in gain, is the least, and the test after which
// the cost of errors is the least. Their Kind is 0 if no test has two outcomes.
type pair struct{ purest, cheapest candidate }

// bestOf returns the candidates of a feature at a node with the given class weights.
func (g *grower) bestOf(ids []int32, f int, weights []int64) pair {
	var best pair
	best.purest.gain = math.Inf(1)
	best.cheapest.after = math.Inf(1)
	g.count(ids, &g.objects.Codes[f])
	if len(g.touched) > 1 {
		if g.columns[f].Numeric {
			g.thresholds(f, weights, &best)
		}
		g.singles(f, weights, &best)
	}
	for _, code := range g.touched {
		clear(g.cellsOf(code))
	}
	return best
}

// thresholds tries the thresholds between the codes with objects, from the highest to the lowest.
func (g *grower) thresholds(f int, weights []int64, best *pair) {
	known := g.touched
	if last := len(known) - 1; int(known[last]) == g.columns[f].Codes-1 {
		known = known[:last] // without the missing values
	}
	clear(g.yes)
	for i := len(known) - 1; i > 0; i-- {
		for k, w := range g.cellsOf(known[i]) {
			g.yes[k] += w
		}
		g.try(split.Test{Feature: f, Kind: split.Threshold, Code: int(known[i-1]) + 1}, weights, best)
	}
}

// singles tries the tests for a single code. A numeric feature has only the test for missing values.
func (g *grower) singles(f int, weights []int64, best *pair) {
	missing := g.columns[f].Codes - 1
	for _, code := range g.touched {
		test := split.Test{Feature: f, Kind: split.Equals, Code: int(code)}
		switch {
		case test.Code == missing:
			test.Kind = split.Missing
		case g.columns[f].Numeric:
			continue
		case test.Code == missing-1:
			test.Kind = split.Other
		}
		copy(g.yes, g.cellsOf(code))
		g.try(test, weights, best)
	}
}

// try compares a test, whose outcome 1 has the class weights g.yes, with the candidates of its feature.
func (g *grower) try(test split.Test, weights []int64, best *pair) {
	for k := range g.no {
		g.no[k] = weights[k] - g.yes[k]
	}
	c := candidate{test: test, after: g.errors(g.yes) + g.errors(g.no), gain: g.impurity(g.yes) + g.impurity(g.no)}
	if c.gain < best.purest.gain {
		best.purest = c
	}
	if c.after < best.cheapest.after || c.after == best.cheapest.after && c.gain < best.cheapest.gain {
		best.cheapest = c
	}
}

// cellsOf returns the class weights of a code, as count has counted them.
func (g *grower) cellsOf(code int32) []int64 {
	return g.cells[int(code)*g.objects.Classes : (int(code)+1)*g.objects.Classes]
}

// count counts objects by code and class.
func (g *grower) count(ids []int32, codes *dataset.Codes) {
	g.touched = g.touched[:0]
	for _, id := range ids {
		code := int32(codes.At(int(id)))
		cells := g.cellsOf(code)
		if isZero(cells) {
			g.touched = append(g.touched, code)
		}
		for _, w := range g.of(id) {
			cells[w.Class] += w.Weight
		}
	}
	slices.Sort(g.touched)
	g.touched = slices.Compact(g.touched)
}

func isZero(cells []int64) bool {
	return !slices.ContainsFunc(cells, func(c int64) bool { return c != 0 })
}

// search returns the least total of a node that it finds within a budget of steps.
func (g *grower) search(at *place, budget int64) found {
	k := g.keyOf(at)
	if f, known := g.memo[k]; known && (f.exact || f.budget >= budget) {
		return f
	}
	weights := g.weigh(at.ids)
	best := found{total: g.errors(weights), budget: budget}
	best.exact = g.closed(at, weights)
	cost := g.stepsOf(len(at.ids))
	if best.exact || cost == 0 || budget < cost { // cost 0: no feature can be asked
		return best
	}
	g.searchTests(at, weights, budget-cost, cost, &best)
	if len(g.memo) >= mostKept {
		clear(g.memo)
	}
	g.memo[k] = best
	return best
}

// stepsOf returns how many steps the candidates of a node of this many objects take.
func (g *grower) stepsOf(objects int) int64 {
	n := 0
	for _, f := range g.features {
		n += objects + min(objects, g.columns[f].Codes)*2*g.objects.Classes*g.objects.Classes
	}
	return int64(n)
}

// searchTests searches the tests of a node. cost is what the candidates of the node have cost.
func (g *grower) searchTests(at *place, weights []int64, budget, cost int64, best *found) {
	list := g.candidates(at, weights)
	width := max(2, int(math.Sqrt(float64(budget/cost))))
	best.exact = width >= len(list)
	if !best.exact {
		list = promising(list, width)
	}
	least := float64(slack * best.total)
	for i := range list {
		c := &list[i]
		if c.price >= best.total-least {
			continue
		}
		children := g.children(at, &c.test)
		total := c.price
		exact := true
		for j := range children {
			child := &children[j]
			share := float64(len(child.ids)) / float64(len(at.ids))
			f := g.search(child, int64(float64(budget/int64(len(list)))*share))
			total += f.total
			exact = exact && f.exact
		}
		best.exact = best.exact && exact
		if total < best.total-least {
			best.total = total
			best.test = c.test
		}
	}
}

// promising returns the candidates that are searched if there is no time for all: half of them have the least total if
// the children are leaves, and half of them the greatest gain for their price.
func promising(list []candidate, width int) []candidate {
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.net(), b.net()) })
	half := (width + 1) / 2
	slices.SortStableFunc(list[half:], func(a, b candidate) int { return cmp.Compare(b.worth(), a.worth()) })
	return list[:width]
}

// worth returns the gain for the price. Tests without a price come first.
func (c *candidate) worth() float64 {
	if c.price == 0 {
		if c.gain == 0 {
			return 0
		}
		return math.MaxFloat64
	}
	return c.gain / c.price
}

// closed reports whether a node must be a leaf.
func (g *grower) closed(at *place, weights []int64) bool {
	p := &g.params
	if float64(sumOf(weights)) <= float64(p.Theta*g.total) || p.MaxDepth > 0 && at.depth >= p.MaxDepth {
		return true
	}
	if p.MinRows > 0 {
		rows := int64(0)
		for _, id := range at.ids {
			rows += g.objects.RowsOf(int(id))
		}
		return rows < p.MinRows
	}
	return false
}

// children returns the children of a node by outcome: no, then yes.
func (g *grower) children(at *place, t *split.Test) []place {
	column := &g.columns[t.Feature]
	spent := at.spent
	if g.params.Limited() {
		spent.Add(g.due(at, t))
	}
	asked := slices.Clone(at.asked)
	if g.byPath[t.Feature] {
		asked[t.Feature/8] |= 1 << (t.Feature % 8)
	}
	parts := t.Partition(&g.objects.Codes[t.Feature], column.Codes-1, nil, at.ids, make([]int32, len(at.ids)))
	children := make([]place, len(parts))
	for i, ids := range parts {
		children[i] = place{ids: ids, asked: asked, depth: at.depth + 1, spent: spent}
	}
	return children
}

// keyOf returns the key of a node. Where the depth, the cost or the paid tests of a path are limited, these count as
// well.
func (g *grower) keyOf(at *place) key {
	var k key
	for _, id := range at.ids {
		x := mixed(uint64(id) + 1)
		k.sums[0] += x
		k.sums[1] += mixed(x)
	}
	k.paid = string(at.asked)
	if g.params.MaxDepth > 0 {
		k.sums[0] += mixed(uint64(at.depth) << 32)
	}
	if g.params.PathCost > 0 {
		k.sums[1] += mixed(math.Float64bits(at.spent.Cost))
	}
	if g.params.PathTests > 0 {
		k.sums[0] += mixed(uint64(at.spent.Tests)<<48 + 1)
	}
	for i, limit := range g.params.PathFurther {
		if limit > 0 {
			k.sums[1] += mixed(math.Float64bits(at.spent.Further[i]) + uint64(i) + 1)
		}
	}
	return k
}

// mixed mixes the bits of a number (the finish of SplitMix64).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// narrow leaves the features that are the most promising at the root.
func (g *grower) narrow(root *place) {
	if g.stepsOf(len(root.ids)) > mostFeatures*mostSteps*steps {
		g.features = nil // too many classes
	}
	if len(g.features) <= mostFeatures {
		return
	}
	list := g.candidates(root, g.weigh(root.ids))
	var kept []int
	for _, order := range []func(a, b candidate) int{
		func(a, b candidate) int { return cmp.Compare(a.net(), b.net()) },
		func(a, b candidate) int { return cmp.Compare(b.worth(), a.worth()) },
		func(a, b candidate) int { return cmp.Compare(b.gain, a.gain) },
	} {
		slices.SortStableFunc(list, order)
		n := 0
		for i := range list {
			if f := list[i].test.Feature; n < mostFeatures/3 && !slices.Contains(kept, f) {
				kept = append(kept, f)
				n++
			}
		}
	}
	slices.Sort(kept)
	g.features = kept
}

// grow grows the subtree of a node, and returns the number of the node.
func (g *grower) grow(at place) int {
	n := len(g.nodes)
	g.nodes = append(g.nodes, tree.Node{})
	weights := g.weigh(at.ids)
	if g.stop != nil && g.stop() {
		g.describe(&g.nodes[n], at.ids)
		g.nodes[n].Stopped = !g.closed(&at, weights)
		return n
	}
	test, score := g.choose(&at, weights)
	if test.Kind == 0 {
		g.describe(&g.nodes[n], at.ids)
		return n
	}
	children := g.children(&at, &test)
	no := g.grow(children[0])
	yes := g.grow(children[1])
	node := &g.nodes[n]
	node.Test = &tree.Test{Test: test, Cost: g.columns[test.Feature].Price(&test), Score: split.Parts{Total: score}}
	node.Branches = []tree.Branch{{Outcome: 1, Child: yes}, {Outcome: 0, Child: no}}
	return n
}

// choose returns the test of a node, and by how much it lowers the total or, beyond the sight of the search, the
// impurity, per row of the tree.
func (g *grower) choose(at *place, weights []int64) (split.Test, float64) {
	if g.closed(at, weights) {
		return split.Test{}, 0
	}
	budget := int64(steps * (float64(sumOf(weights)) / g.total))
	if f := g.search(at, budget); f.test.Kind != 0 {
		return f.test, (g.errors(weights) - f.total) / g.total
	}
	if g.stepsOf(len(at.ids)) > mostSteps*budget {
		return split.Test{}, 0
	}
	var best candidate
	for _, c := range g.candidates(at, weights) {
		if c.gain > slack*g.total && c.worth() > best.worth() {
			best = c
		}
	}
	return best.test, best.gain / g.total
}

// describe sets the counts of a leaf.
func (g *grower) describe(n *tree.Node, ids []int32) {
	o := g.objects
	n.ClassWeights, n.RawClassWeights = make([]int64, o.Classes), make([]int64, o.Classes)
	for _, id := range ids {
		i := int(id)
		n.Objects++
		n.Rows += o.RowsOf(i)
		n.Weight += o.Weight[i]
		n.ClassWeights[o.Class[i]] += o.Weight[i]
		for _, w := range o.Raw(i) {
			n.RawClassWeights[w.Class] += w.Weight
		}
	}
	if o.Soft() {
		n.ClassWeights = n.RawClassWeights
	}
}

package inmemory_test

import (
	"maps"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// naive grows a tree from the definitions in package split, object by
// object and test by test.
type naive struct {
	*growtest.Data

	p     induce.Params
	setUp float64 // price of a group in the test that is scored
}

// grow grows the node of the given objects, and returns it with all nodes below it. asked are the features of the tests
// on the way to it, spent is what these tests cost, and paid how many of them cost something.
func (g *naive) grow(ids, asked []int, spent float64, paid int) []tree.Node {
	n := tree.Node{ClassWeights: make([]int64, g.Objects.Classes), RawClassWeights: make([]int64, g.Objects.Classes)}
	for _, i := range ids {
		n.Objects++
		n.Rows += g.Objects.RowsOf(i)
		n.Weight += g.Objects.Weight[i]
		if !g.Objects.Soft() {
			n.ClassWeights[g.Objects.Class[i]] += g.Objects.Weight[i]
		}
		for _, cw := range g.Objects.Raw(i) {
			n.RawClassWeights[cw.Class] += cw.Weight
			if g.Objects.Soft() {
				n.ClassWeights[cw.Class] += cw.Weight
			}
		}
	}
	if g.homogeneous(ids) || float64(n.Weight) <= g.p.Theta*float64(g.Total)*(1+1e-9) ||
		g.p.MaxDepth > 0 && len(asked) == g.p.MaxDepth || n.Rows < g.p.MinRows {
		return []tree.Node{n}
	}
	competing, scored := g.competing(ids, asked, spent, paid)
	best, parts := pick(competing, scored)
	if best.Kind == 0 {
		return []tree.Node{n}
	}
	n.Test = &tree.Test{Test: best.Test, Cost: best.Own, Score: parts}
	if 100*n.Weight >= g.Total {
		n.Test.RunnerUp = runnerUp(competing, scored, best.Feature)
	}
	nodes := make([]tree.Node, 1)
	for outcome, child := range g.part(&best.Test, ids) {
		if len(child) == 0 {
			continue
		}
		n.Branches = append(n.Branches, tree.Branch{Outcome: outcome, Child: len(nodes)})
		further := paid
		if best.Billed() > 0 {
			further++
		}
		below := g.grow(child, append(slices.Clone(asked), best.Feature), spent+best.Billed(), further)
		for i := range below {
			for k := range below[i].Branches {
				below[i].Branches[k].Child += len(nodes)
			}
		}
		nodes = append(nodes, below...)
	}
	if best.Kind != split.Multiway {
		slices.Reverse(n.Branches) // yes, no
	}
	nodes[0] = n
	return nodes
}

// homogeneous reports whether a node needs no test: its objects have one class, and its rows too
// if the parameters say so.
func (g *naive) homogeneous(ids []int) bool {
	classes := make(map[uint16]bool)
	for _, i := range ids {
		if g.Objects.Soft() && g.Objects.RowsOf(i) == 0 {
			continue
		}
		for _, cw := range g.Objects.Labels(i) {
			classes[cw.Class] = true
		}
	}
	return g.pairs(ids) == 0 && (g.p.Classes == split.OfObjects || len(classes) <= 1)
}

// competing lists all tests that the node may have, with the parts of their scores.
func (g *naive) competing(ids, asked []int, spent float64, paid int) (tests []split.Candidate, scored []split.Parts) {
	for _, t := range g.tests() {
		t.Own = t.Cost
		if t.Cost = g.billed(&t, asked); t.Cost == 0 {
			t.Cost = g.Features[t.Feature].Cost * 0.1
		}
		g.setUp = max(t.Cost-t.Own, 0)
		different := slices.Compact(slices.Sorted(slices.Values(asked)))
		if most := g.p.PathFeatures; most > 0 && len(different) >= most && !slices.Contains(asked, t.Feature) {
			continue
		}
		if g.p.Once && slices.Contains(asked, t.Feature) {
			continue
		}
		if due := g.cheapest(t.Feature, asked); spent+due > g.p.MostCost() || due > 0 && g.p.PathTests > 0 && paid >= g.p.PathTests {
			continue
		}
		if g.p.Selected != "" && !g.p.Selected.Has(t.Feature) {
			continue
		}
		if p, ok := g.score(&t, ids); ok && g.allowed(&t.Test, ids) {
			t.Score = p.Total
			tests, scored = append(tests, t), append(scored, p)
		}
	}
	wished := func(t split.Candidate) bool { return g.Columns[t.Feature].First == len(asked)+1 }
	if g.p.RootByCodes && len(asked) == 0 && !slices.ContainsFunc(tests, wished) {
		root := g.byCodes(tests, ids)
		wished = func(t split.Candidate) bool { return t.Feature == root }
	}
	if slices.ContainsFunc(tests, wished) {
		for i := len(tests) - 1; i >= 0; i-- {
			if !wished(tests[i]) {
				tests, scored = slices.Delete(tests, i, i+1), slices.Delete(scored, i, i+1)
			}
		}
	}
	return tests, scored
}

// byCodes returns the first of the tests' features whose codes together gain the most, less what
// chance brings.
func (g *naive) byCodes(tests []split.Candidate, ids []int) int {
	best, most := -1, math.Inf(-1)
	for f := range g.Columns {
		if !slices.ContainsFunc(tests, func(t split.Candidate) bool { return t.Feature == f }) {
			continue
		}
		codes := make(map[int][]int)
		for _, i := range ids {
			code := g.Objects.Codes[f].At(i)
			codes[code] = append(codes[code], i)
		}
		gain := g.impurity(ids)
		for _, code := range slices.Sorted(maps.Keys(codes)) {
			gain -= g.impurity(codes[code])
		}
		if gain -= float64(len(codes)-1) * g.impurity(ids) / float64(len(ids)); gain > most+1e-12 {
			best, most = f, gain
		}
	}
	return best
}

// pick finds the best of the tests by the tie rule: scores within 1e-12 of
// the best are equal, then the cheapest wins, then the first.
func pick(tests []split.Candidate, scored []split.Parts) (found split.Candidate, parts split.Parts) {
	best := math.Inf(-1)
	for _, t := range tests {
		best = max(best, t.Score)
	}
	for i, t := range tests {
		if best-t.Score <= 1e-12*max(1, math.Abs(best)) && (found.Kind == 0 || t.Cost < found.Cost) {
			found, parts = t, scored[i]
		}
	}
	return found, parts
}

// runnerUp finds the best of the tests of other features than the chosen one.
func runnerUp(tests []split.Candidate, scored []split.Parts, chosen int) *tree.RunnerUp {
	var others []split.Candidate
	var parts []split.Parts
	for i, t := range tests {
		if t.Feature != chosen {
			others, parts = append(others, t), append(parts, scored[i])
		}
	}
	if len(others) == 0 {
		return nil
	}
	best, _ := pick(others, parts)
	return &tree.RunnerUp{Test: best.Test, Cost: best.Billed(), Total: best.Score}
}

// share returns the weight of the objects of the second class, as a share.
func (g *naive) share(ids []int) float64 {
	var second, all int64
	for _, i := range ids {
		all += g.Objects.Weight[i]
		for _, cw := range g.weights(i) {
			if cw.Class == 1 {
				second += cw.Weight
			}
		}
	}
	return float64(second) / float64(all)
}

// allowed reports whether a test keeps to the monotone constraints.
func (g *naive) allowed(t *split.Test, ids []int) bool {
	switch m := g.Columns[t.Feature].Monotone; {
	case m == 0 || t.Kind == split.Missing:
		return true
	case t.Kind != split.Threshold:
		return false
	default:
		sides := g.part(t, ids)
		return float64(m)*(g.share(sides[1])-g.share(sides[0])) >= 0
	}
}

// counted returns the divisor of a test's score.
func (g *naive) counted(t *split.Candidate) float64 {
	price, sum, priced := t.Cost, 0.0, 0.0
	switch share := g.sharers(t.Feature); g.p.Pricing.SetUps {
	case split.SharedSetUps:
		price -= g.setUp - g.setUp/share
	case split.FreeSetUps:
		price -= g.setUp
	default:
	}
	for i := range g.Features {
		if each := g.meanPrice(i); each > 0 {
			sum, priced = sum+each, priced+1
		}
	}
	switch usual := sum / priced; g.p.Pricing.Prices {
	case split.RootPrices:
		return math.Sqrt(max(price/usual, 0.25))
	case split.ShiftedPrices:
		return (price + usual) / usual
	case split.FlooredPrices:
		return max(price, usual) / usual
	default:
		return price
	}
}

// meanPrice returns the mean price of a feature over its codes, with its share of its group's.
func (g *naive) meanPrice(i int) float64 {
	f := &g.Features[i]
	sum := 0.0
	for code := range f.Codes() {
		cost := f.Cost
		if code < len(f.Values) {
			if c, ok := f.ValueCosts[f.Values[code]]; ok {
				cost = c
			}
		}
		sum += cost
	}
	return sum/float64(f.Codes()) + f.GroupCost/g.sharers(i)
}

// sharers returns the number of features in a feature's group.
func (g *naive) sharers(i int) float64 {
	n := 0.0
	for j := range g.Features {
		if i == j || g.Features[i].Group != "" && g.Features[j].Group == g.Features[i].Group {
			n++
		}
	}
	return n
}

// billed returns what is paid for a test of the given own price after tests on
// the features asked.
func (g *naive) billed(t *split.Candidate, asked []int) float64 {
	f := &g.Features[t.Feature]
	if g.Columns[t.Feature].FreeRepeats && slices.Contains(asked, t.Feature) && f.ValueCosts == nil {
		return 0
	}
	if f.Group == "" || slices.ContainsFunc(asked, func(other int) bool { return g.Features[other].Group == f.Group }) {
		return t.Cost
	}
	return t.Cost + f.GroupCost
}

// cheapest returns what the cheapest test of a feature costs at a node.
func (g *naive) cheapest(feature int, asked []int) float64 {
	f := &g.Features[feature]
	t := split.Candidate{Test: split.Test{Feature: feature}, Cost: f.Cost}
	for _, cost := range f.ValueCosts {
		t.Cost = min(t.Cost, cost)
	}
	return g.billed(&t, asked)
}

// tests lists all tests in test order, each at its own price.
func (g *naive) tests() []split.Candidate {
	var list []split.Candidate
	for i := range g.Features {
		f := &g.Features[i]
		add := func(kind split.Kind, from, to int) {
			for code := from; code < to; code++ {
				t := split.Candidate{Test: split.Test{Feature: i, Kind: kind, Code: code}, Cost: f.Cost}
				if kind == split.Equals {
					if cost, ok := f.ValueCosts[f.Values[code]]; ok {
						t.Cost = cost
					}
				}
				list = append(list, t)
			}
		}
		family := g.p.Family
		if f.Kind == dataset.Numeric && family != split.OneHot {
			add(split.Threshold, 1, f.Bins())
		}
		if f.Kind == dataset.Numeric && (family == split.OneHot || family == split.Both) {
			add(split.Bin, 0, f.Bins())
		}
		if f.Kind == dataset.Categorical && family == split.Multiways {
			add(split.Multiway, 0, 1)
			continue
		}
		if f.Kind == dataset.Categorical {
			add(split.Equals, 0, f.Bins())
			add(split.Other, f.OtherCode(), f.OtherCode()+1)
		}
		add(split.Missing, f.MissingCode(), f.MissingCode()+1)
	}
	return list
}

func (g *naive) part(t *split.Test, ids []int) [][]int {
	f := &g.Features[t.Feature]
	outcomes := make([][]int, 2)
	if t.Kind == split.Multiway {
		outcomes = make([][]int, f.Codes())
	}
	for _, i := range ids {
		code, x := g.Objects.Codes[t.Feature].At(i), 0
		switch {
		case t.Kind == split.Multiway:
			x = code
		case t.Kind == split.Threshold && code > t.Code && code != f.MissingCode(), code == t.Code:
			x = 1
		}
		outcomes[x] = append(outcomes[x], i)
	}
	return outcomes
}

// pairs returns the number of pairs of objects of different classes.
func (g *naive) pairs(ids []int) float64 {
	n := make([]float64, g.Objects.Classes)
	for _, i := range ids {
		n[g.Objects.Class[i]]++
	}
	same := 0.0
	for _, x := range n {
		same += x * (x - 1) / 2
	}
	return float64(len(ids)*(len(ids)-1))/2 - same
}

// impurity returns w phi / W.
func (g *naive) impurity(ids []int) float64 {
	m, w := make([]float64, g.Objects.Classes), 0.0
	for _, i := range ids {
		for _, cw := range g.weights(i) {
			m[cw.Class] += float64(cw.Weight)
		}
		w += float64(g.Objects.Weight[i])
	}
	entropy, gini := 0.0, 1.0
	for _, x := range m {
		if x > 0 {
			entropy -= x / w * math.Log2(x/w)
			gini -= x / w * (x / w)
		}
	}
	if a := g.p.Algorithm; a == split.ECART || a == split.CART || a == split.CCART {
		return w / float64(g.Total) * gini
	}
	return w / float64(g.Total) * entropy
}

// weights returns the weights of an object by class, as the impurity sees them.
func (g *naive) weights(i int) []dataset.ClassWeight {
	if g.Objects.Soft() || g.p.Classes == split.OfRows {
		return g.Objects.Raw(i)
	}
	return []dataset.ClassWeight{{Class: g.Objects.Class[i], Weight: g.Objects.Weight[i]}}
}

func (g *naive) weight(ids []int) float64 {
	w := 0.0
	for _, i := range ids {
		w += float64(g.Objects.Weight[i])
	}
	return w
}

// score scores a test; ok says that it competes: it has two outcomes in the node and, where the
// objects of the node have one class, it lowers the impurity.
func (g *naive) score(t *split.Candidate, ids []int) (p split.Parts, ok bool) {
	total, wv, pv := float64(g.Total), g.weight(ids), g.pairs(ids)
	gain, separated, most, present := 0.0, pv, 0.0, 0
	var big []int
	outcomes := g.part(&t.Test, ids)
	for _, x := range outcomes {
		if len(x) > 0 {
			present++
		}
	}
	if present < 2 {
		return p, false
	}
	gain = g.impurity(ids)
	for _, x := range outcomes {
		if len(x) == 0 {
			continue
		}
		wx, px := g.weight(x), g.pairs(x)
		if len(x) > len(big) {
			big = x
		}
		for _, i := range x {
			w := float64(g.Objects.Weight[i])
			m := max(w, g.p.Theta*total)
			if pv > 0 {
				p.Efficiency += w / total * (1 - max(wx-m, 0)/(wv-m)*px/pv)
			}
		}
		gain -= g.impurity(x)
		separated -= px
		most = max(most, wx)
	}
	p.Balance = (wv - g.weight(big)) / total
	p.Discrimination = max(gain, 0)
	if pv == 0 && p.Discrimination <= 1e-12 {
		return p, false
	}
	switch g.p.Algorithm {
	case split.EC45, split.ECART:
		p.Total = (p.Balance + p.Efficiency + g.p.Lambda*p.Discrimination) / g.counted(t)
	case split.ASR:
		p.Total = (p.Balance + p.Efficiency) / g.counted(t)
	case split.C45, split.CART:
		p.Total = p.Discrimination
	case split.CC45, split.CCART:
		p.Total = p.Discrimination / g.counted(t)
	case split.IP:
		p.Total = separated
	case split.Bal:
		p.Total = (wv - most) / total
	}
	return p, true
}

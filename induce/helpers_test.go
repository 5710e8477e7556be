package induce_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// data is a random training set.
type data struct {
	features []dataset.Feature
	columns  []split.Column
	objects  *dataset.Objects
	total    int64
}

// numeric returns a feature with so many bins, whose cuts are 1, 2, ...
func numeric(name string, bins int, cost float64) dataset.Feature {
	f := dataset.Feature{Name: name, Kind: dataset.Numeric, Cost: cost}
	for b := 1; b < bins; b++ {
		f.Cuts = append(f.Cuts, float64(b))
	}
	return f
}

// categorical returns a feature with the values v0, v1, ...
func categorical(name string, values int, cost float64) dataset.Feature {
	f := dataset.Feature{Name: name, Kind: dataset.Categorical, Type: dataset.Text, Cost: cost}
	for v := range values {
		f.Values = append(f.Values, fmt.Sprintf("v%d", v))
	}
	return f
}

// someFeatures has both kinds, codes of one and two bytes and costs by value.
func someFeatures() []dataset.Feature {
	priced := categorical("priced", 3, 2)
	priced.ValueCosts = map[string]float64{"v1": 0.5}
	return []dataset.Feature{
		numeric("few", 4, 1), categorical("job", 5, 1), priced, numeric("many", 300, 3), numeric("flag", 2, 1),
	}
}

// pricedFeatures are someFeatures in two groups, one of which costs more than all
// tests together.
func pricedFeatures() []dataset.Feature {
	features := someFeatures()
	for f, group := range map[int]string{0: "lab", 1: "form", 2: "form", 3: "lab"} {
		features[f].Group, features[f].GroupCost = group, map[string]float64{"lab": 20, "form": 0.3}[group]
	}
	return features
}

// freely returns the same data, where further tests on a feature cost nothing.
func (d *data) freely() *data {
	f := *d
	f.columns = slices.Clone(d.columns)
	for i := range f.columns {
		f.columns[i].FreeRepeats = true
	}
	return &f
}

// newData draws objects. Most codes are spread, every third feature nearly
// always has the same one. Classes depend on the codes but for noise.
func newData(r *rand.Rand, features []dataset.Feature, classes, objects int, weighted bool) *data {
	d := &data{features: features, columns: split.Columns(features)}
	d.objects = dataset.NewObjects(dataset.NewLayout(features), classes, weighted, objects)
	codes := make([]int, len(features))
	for range objects {
		class := 0
		for f := range features {
			codes[f] = r.IntN(features[f].Codes())
			if f%3 == 2 && r.IntN(10) > 0 {
				codes[f] = 1
			}
			class += codes[f] * 4 / features[f].Codes()
		}
		if r.IntN(4) == 0 {
			class = r.IntN(classes)
		}
		raw, rows := randomWeights(r, class%classes, classes, weighted)
		d.objects.Append(codes, raw, rows)
	}
	for _, w := range d.objects.Weight {
		d.total += w
	}
	return d
}

// randomWeights draws an object's class weights; one in fifty is heavy.
func randomWeights(r *rand.Rand, class, classes int, weighted bool) (raw []dataset.ClassWeight, rows int64) {
	for k := range classes {
		weight := int64(0)
		switch {
		case k == class:
			weight = int64(1 + r.IntN(3))
			if r.IntN(50) == 0 {
				weight = 100
			}
		case r.IntN(2*classes) == 0:
			weight = 1
		}
		if weight > 0 {
			raw = append(raw, dataset.ClassWeight{Class: uint16(k), Weight: weight})
			rows += weight
		}
	}
	if weighted {
		rows = int64(1 + r.IntN(5))
	}
	return raw, rows
}

// shuffled returns the same objects in another order.
func (d *data) shuffled(r *rand.Rand) *data {
	order := make([]int32, d.objects.Len())
	for i, j := range r.Perm(len(order)) {
		order[i] = int32(j)
	}
	s := *d
	s.objects = d.objects.Select(order)
	return &s
}

func (d *data) grow(p induce.Params, workers int) *induce.Node {
	return induce.Grow(d.objects, d.columns, p, d.total, 0, induce.Options{Workers: workers})
}

func encode(t *testing.T, n *induce.Node) string {
	t.Helper()
	b, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// near compares floats of two ways of computing a score: they agree to 1e-11 of
// the larger of them and 1, about 100 times their rounding.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-11*max(1, math.Abs(a), math.Abs(b))
}

// compare reports the first nodes of each path at which two trees differ, in
// scores by more than rounding.
func compare(t *testing.T, got, want *induce.Node, path string) {
	t.Helper()
	g, w := *got, *want
	g.Children, w.Children, g.Test, w.Test, g.Parts, w.Parts = nil, nil, nil, nil, split.Parts{}, split.Parts{}
	if encode(t, &g) != encode(t, &w) {
		t.Errorf("%s: counts\n%s, want\n%s", path, encode(t, &g), encode(t, &w))
		return
	}
	if got.Test == nil || want.Test == nil || len(got.Children) != len(want.Children) {
		if got.Test != nil || want.Test != nil {
			t.Errorf("%s: test %+v, want %+v", path, got.Test, want.Test)
		}
		return
	}
	p, q := got.Parts, want.Parts
	scores := near(p.Balance, q.Balance) && near(p.Efficiency, q.Efficiency) && near(p.Discrimination, q.Discrimination) &&
		near(p.Total, q.Total) && near(got.Test.Score, want.Test.Score)
	if got.Test.Test != want.Test.Test || got.Test.Cost != want.Test.Cost || got.Test.Free != want.Test.Free || !scores {
		t.Errorf("%s: %+v with %+v, want\n%+v with %+v", path, *got.Test, p, *want.Test, q)
		return
	}
	for i := range got.Children {
		compare(t, got.Children[i], want.Children[i], fmt.Sprintf("%s/%d", path, i))
	}
}

func algorithms() []split.Algorithm {
	return []split.Algorithm{
		split.EC45, split.ECART, split.ASR, split.C45, split.CART, split.CC45, split.CCART, split.IP, split.Bal,
	}
}

func families() []split.Family {
	return []split.Family{split.OneHot, split.Thresholds, split.Both, split.Multiways}
}

// naive grows a tree from the definitions in package split, object by
// object and test by test.
type naive struct {
	*data

	p induce.Params
}

// grow grows the node of the given objects. asked are the features of the tests
// on the way to it, low and high the bounds of the second class's share there.
func (g *naive) grow(ids, asked []int, low, high float64) *induce.Node {
	n := &induce.Node{Class: make([]int64, g.objects.Classes), Raw: make([]int64, g.objects.Classes)}
	for _, i := range ids {
		n.Objects++
		n.Rows += g.objects.RowsOf(i)
		n.Weight += g.objects.Weight[i]
		n.Class[g.objects.Class[i]] += g.objects.Weight[i]
		for _, cw := range g.objects.Raw(i) {
			n.Raw[cw.Class] += cw.Weight
		}
	}
	if g.pairs(ids) == 0 || float64(n.Weight) <= g.p.Theta*float64(g.total)*(1+1e-9) ||
		g.p.MaxDepth > 0 && len(asked) == g.p.MaxDepth || n.Rows < g.p.MinRows {
		return n
	}
	best, parts := g.choose(ids, asked, low, high)
	if best.Kind == 0 {
		return n
	}
	n.Test, n.Parts = &best, parts
	sides := g.part(&best.Test, ids)
	for outcome, child := range sides {
		if len(child) > 0 {
			from, to := g.bounds(&best.Test, sides, outcome, low, high)
			n.Children = append(n.Children, g.grow(child, append(slices.Clone(asked), best.Feature), from, to))
			if best.Kind == split.Multiway {
				n.Outcomes = append(n.Outcomes, int32(outcome))
			}
		}
	}
	return n
}

// choose finds the best of all tests by the tie rule: scores within 1e-12 of
// the best are equal, then the cheapest wins, then the first.
func (g *naive) choose(ids, asked []int, low, high float64) (found split.Candidate, parts split.Parts) {
	var competing []split.Candidate
	var scored []split.Parts
	best := math.Inf(-1)
	for _, t := range g.tests() {
		if t.Cost = g.billed(&t, asked); t.Cost == 0 {
			t.Free, t.Cost = true, g.features[t.Feature].Cost*0.1
		}
		if p, ok := g.score(&t, ids); ok && g.allowed(&t.Test, ids, low, high) {
			t.Score = p.Total
			competing, scored = append(competing, t), append(scored, p)
		}
	}
	wished := func(t split.Candidate) bool { return g.columns[t.Feature].First == len(asked)+1 }
	if slices.ContainsFunc(competing, wished) {
		for i := len(competing) - 1; i >= 0; i-- {
			if !wished(competing[i]) {
				competing, scored = slices.Delete(competing, i, i+1), slices.Delete(scored, i, i+1)
			}
		}
	}
	for _, t := range competing {
		best = max(best, t.Score)
	}
	for i, t := range competing {
		if best-t.Score <= 1e-12*max(1, math.Abs(best)) && (found.Kind == 0 || t.Cost < found.Cost) {
			found, parts = t, scored[i]
		}
	}
	return found, parts
}

// bounds returns the bounds of one side of a test.
func (g *naive) bounds(t *split.Test, sides [][]int, outcome int, low, high float64) (from, to float64) {
	m := g.columns[t.Feature].Monotone
	if t.Kind != split.Threshold || m == 0 {
		return low, high
	}
	middle := (g.share(sides[0]) + g.share(sides[1])) / 2
	if (m > 0) == (outcome == 1) {
		return middle, high
	}
	return low, middle
}

// share returns the weight of the objects of the second class, as a share.
func (g *naive) share(ids []int) float64 {
	var second, all int64
	for _, i := range ids {
		all += g.objects.Weight[i]
		if g.objects.Class[i] == 1 {
			second += g.objects.Weight[i]
		}
	}
	return float64(second) / float64(all)
}

// allowed reports whether a test keeps to the monotone constraints.
func (g *naive) allowed(t *split.Test, ids []int, low, high float64) bool {
	if !slices.ContainsFunc(g.columns, func(c split.Column) bool { return c.Monotone != 0 }) {
		return true
	}
	sides := g.part(t, ids)
	for _, side := range sides {
		if p := g.share(side); len(side) > 0 && (p < low || p > high) {
			return false
		}
	}
	switch m := g.columns[t.Feature].Monotone; {
	case m == 0 || t.Kind == split.Missing:
		return true
	case t.Kind != split.Threshold:
		return false
	default:
		return float64(m)*(g.share(sides[1])-g.share(sides[0])) >= 0
	}
}

// billed returns what is paid for a test of the given own price after tests on
// the features asked.
func (g *naive) billed(t *split.Candidate, asked []int) float64 {
	f := &g.features[t.Feature]
	if g.columns[t.Feature].FreeRepeats && slices.Contains(asked, t.Feature) && f.ValueCosts == nil {
		return 0
	}
	if f.Group == "" || slices.ContainsFunc(asked, func(other int) bool { return g.features[other].Group == f.Group }) {
		return t.Cost
	}
	return t.Cost + f.GroupCost
}

// tests lists all tests in test order, each at its own price.
func (g *naive) tests() []split.Candidate {
	var list []split.Candidate
	for i := range g.features {
		f := &g.features[i]
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
	f := &g.features[t.Feature]
	outcomes := make([][]int, 2)
	if t.Kind == split.Multiway {
		outcomes = make([][]int, f.Codes())
	}
	for _, i := range ids {
		code, x := g.objects.Codes[t.Feature].At(i), 0
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
	n := make([]float64, g.objects.Classes)
	for _, i := range ids {
		n[g.objects.Class[i]]++
	}
	same := 0.0
	for _, x := range n {
		same += x * (x - 1) / 2
	}
	return float64(len(ids)*(len(ids)-1))/2 - same
}

// impurity returns w phi / W.
func (g *naive) impurity(ids []int) float64 {
	m, w := make([]float64, g.objects.Classes), 0.0
	for _, i := range ids {
		m[g.objects.Class[i]] += float64(g.objects.Weight[i])
		w += float64(g.objects.Weight[i])
	}
	entropy, gini := 0.0, 1.0
	for _, x := range m {
		if x > 0 {
			entropy -= x / w * math.Log2(x/w)
			gini -= x / w * (x / w)
		}
	}
	if a := g.p.Algorithm; a == split.ECART || a == split.CART || a == split.CCART {
		return w / float64(g.total) * gini
	}
	return w / float64(g.total) * entropy
}

func (g *naive) weight(ids []int) float64 {
	w := 0.0
	for _, i := range ids {
		w += float64(g.objects.Weight[i])
	}
	return w
}

// score scores a test; ok says that it has two outcomes in the node.
func (g *naive) score(t *split.Candidate, ids []int) (p split.Parts, ok bool) {
	total, wv, pv := float64(g.total), g.weight(ids), g.pairs(ids)
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
			w := float64(g.objects.Weight[i])
			m := max(w, g.p.Theta*total)
			p.Efficiency += w / total * (1 - max(wx-m, 0)/(wv-m)*px/pv)
		}
		gain -= g.impurity(x)
		separated -= px
		most = max(most, wx)
	}
	p.Balance = (wv - g.weight(big)) / total
	p.Discrimination = max(gain, 0)
	switch g.p.Algorithm {
	case split.EC45, split.ECART:
		p.Total = (p.Balance + p.Efficiency + g.p.Lambda*p.Discrimination) / t.Cost
	case split.ASR:
		p.Total = (p.Balance + p.Efficiency) / t.Cost
	case split.C45, split.CART:
		p.Total = p.Discrimination
	case split.CC45, split.CCART:
		p.Total = p.Discrimination / t.Cost
	case split.IP:
		p.Total = separated
	case split.Bal:
		p.Total = (wv - most) / total
	}
	return p, true
}

package memory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/memory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestGrowPriced compares trees with those of the naive grower where what tests
// cost depends on the path.
func TestGrowPriced(t *testing.T) {
	free := 0
	for _, a := range growtest.Algorithms() {
		for _, family := range growtest.Families() {
			for seed := range uint64(6) {
				r := rand.New(rand.NewPCG(uint64(a)<<8|uint64(family), seed))
				features := growtest.SomeFeatures()
				if seed%3 > 0 {
					features = growtest.PricedFeatures()
				}
				d := growtest.New(r, features, 2+r.IntN(3), 2+r.IntN(80), r.IntN(2) == 0)
				if seed%3 != 1 {
					d = d.Freely()
				}
				p := growtest.RandomParams(r, a, family)
				got := d.Grow(p, 1)
				if growtest.Compare(t, got, growNaively(d, p), "root"); t.Failed() {
					t.Fatalf("%s, tests %s, seed %d: %+v", a, family, seed, p)
				}
				got.Walk(func(n *induce.Node, _ int) {
					if n.Test != nil && n.Test.Free {
						free++
					}
				})
			}
		}
	}
	if free == 0 {
		t.Error("no test was free")
	}
}

// modelOf makes a tree of grown nodes.
func modelOf(d *growtest.Data, root *induce.Node) *tree.Tree {
	m, _ := induce.Model(root, d.Features)
	for k := range d.Objects.Classes {
		m.Label.Classes = append(m.Label.Classes, strconv.Itoa(k))
	}
	if d.Columns[0].FreeRepeats {
		m.Algorithm.RepeatCost = tree.RepeatFree
	}
	m.Estimate(tree.Raw, 1)
	m.Measure()
	return m
}

// pays lists what each test on a path is billed at, by definition: the set of
// groups and of features that the tests before have paid for.
func pays(features []dataset.Feature, path []*tree.Test, free bool) []float64 {
	var paid []float64
	for i, test := range path {
		f, price := &features[test.Feature], test.Cost
		again, setUp := false, f.Group == ""
		for _, before := range path[:i] {
			again = again || before.Feature == test.Feature
			setUp = setUp || features[before.Feature].Group == f.Group
		}
		if !setUp {
			price += f.GroupCost
		}
		if again && free && f.ValueCosts == nil {
			price = 0
		}
		paid = append(paid, price)
	}
	return paid
}

// TestBilling follows every object to its leaf and adds up what it pays.
func TestBilling(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(11, seed))
		d := growtest.New(r, growtest.PricedFeatures(), 2+r.IntN(3), 120, true)
		if seed%2 == 0 {
			d = d.Freely()
		}
		p := growtest.RandomParams(r, growtest.Algorithms()[r.IntN(9)], growtest.Families()[r.IntN(4)])
		m := modelOf(d, d.Grow(p, 1))
		full, billed := billAll(t, d, m)
		expected, most := m.Complexity.Billed()
		if !growtest.Near(m.Complexity.ExpectedCost, full) || !growtest.Near(expected, billed.expected) ||
			!growtest.Near(most, billed.most) {
			t.Errorf("seed %d: complexity %+v, want the price %v, billed %+v", seed, m.Complexity, full, billed)
		}
		for i := range m.Nodes {
			if n := &m.Nodes[i]; !n.Leaf() {
				column := split.NewColumn(&d.Features[n.Test.Feature])
				if n.Test.Cost != column.Price(&n.Test.Test) {
					t.Errorf("seed %d, node %d: %+v costs %v", seed, i, n.Test.Test, n.Test.Cost)
				}
			}
		}
		decoded, err := tree.Decode(m.Encode())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !slices.Equal(decoded.Billed(), m.Billed()) {
			t.Errorf("seed %d: decoded, paths are billed at %v, want %v", seed, decoded.Billed(), m.Billed())
		}
	}
}

type bill struct{ expected, most float64 }

// billAll sends each object down a tree. It returns the mean price of its tests,
// and what is billed for them.
func billAll(t *testing.T, d *growtest.Data, m *tree.Tree) (full float64, billed bill) {
	t.Helper()
	onPaths, total := m.Billed(), 0.0
	for i := range d.Objects.Len() {
		var path []*tree.Test
		at := 0
		for !m.Nodes[at].Leaf() {
			n := &m.Nodes[at]
			path = append(path, n.Test)
			f := &d.Features[n.Test.Feature]
			outcome := n.Test.Outcome(d.Objects.Codes[n.Test.Feature].At(i), f.MissingCode())
			at = n.Branches[slices.IndexFunc(n.Branches, func(b tree.Branch) bool { return b.Outcome == outcome })].Child
		}
		sum, weight := 0.0, float64(d.Objects.Weight[i])
		for k, price := range pays(d.Features, path, d.Columns[0].FreeRepeats) {
			if path[k].Paid() != price {
				t.Fatalf("object %d, test %d: billed at %v, want %v", i, k, path[k].Paid(), price)
			}
			sum += price
			full += path[k].Cost * weight
		}
		if !growtest.Near(onPaths[at], sum) {
			t.Fatalf("object %d: its path is billed at %v, want %v", i, onPaths[at], sum)
		}
		billed.expected += sum * weight
		billed.most = max(billed.most, sum)
		total += weight
	}
	billed.expected /= total
	return full / total, billed
}

// TestDearGroups: of two groups of features that tell the same, at a price of
// 1,000 each, a tree opens one on each path and stays in it, while without the
// price it mixes them.
func TestDearGroups(t *testing.T) {
	mixed := func(price float64) (paths, most int) {
		r := rand.New(rand.NewPCG(1, 9))
		var features []dataset.Feature
		for f := range 8 {
			feature := growtest.Numeric(fmt.Sprintf("n%d", f), 4, 1)
			feature.Group, feature.GroupCost = []string{"a", "b"}[f%2], price
			features = append(features, feature)
		}
		d := growtest.New(r, features, 2, 1, false)
		for range 400 {
			codes := make([]int, 8)
			for f := 0; f < 8; f += 2 {
				codes[f] = r.IntN(4)
				codes[f+1] = codes[f]
				if r.IntN(8) == 0 {
					codes[f+1] = r.IntN(4) // the twins differ at times: either group alone tells nearly all
				}
			}
			class := uint16((codes[0] + codes[2] + codes[4] + codes[6]) / 2 % 2)
			d.Objects.Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
			d.Total++
		}
		m := modelOf(d, d.Grow(induce.Params{Algorithm: split.EC45, Family: split.Thresholds, Lambda: 1, Theta: 0.02}, 1))
		groups := make([]map[string]bool, len(m.Nodes))
		groups[0] = map[string]bool{}
		for i := range m.Nodes {
			n := &m.Nodes[i]
			if n.Leaf() {
				paths++
				most = max(most, len(groups[i]))
				continue
			}
			for _, b := range n.Branches {
				groups[b.Child] = map[string]bool{features[n.Test.Feature].Group: true}
				for g := range groups[i] {
					groups[b.Child][g] = true
				}
			}
		}
		return paths, most
	}
	if paths, most := mixed(0); most != 2 || paths < 10 {
		t.Errorf("groups that cost nothing: %d paths through up to %d of them, want both", paths, most)
	}
	if paths, most := mixed(1000); most != 1 || paths < 10 {
		t.Errorf("dear groups: %d paths through up to %d of them, want 1", paths, most)
	}
}

// TestSetUpsByHand: eight objects, one a code of x, of which y is the upper half. y
// parts the classes but is of a group that costs 9, shared by two features. Scores by
// cc45: y gains 1 bit and x at most .55 (3 of 8 apart) for a price of 1. In full y's
// is 1/10; shared 1/5.5; free 1/1; never none.
func TestSetUpsByHand(t *testing.T) {
	x, y, z := growtest.Numeric("x", 8, 1), growtest.Numeric("y", 2, 1), growtest.Numeric("z", 2, 1)
	y.Group, y.GroupCost, z.Group, z.GroupCost = "lab", 9, "lab", 9
	features := []dataset.Feature{x, y, z}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 8)
	for i, class := range []uint16{0, 1, 0, 1, 0, 1, 0, 1} {
		o.Append([]int{i, int(class), 0}, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	const gain = 0.137925 // of the best threshold on x, 1 against 7 objects: 1 - 7/8 H(3/7)
	for way, want := range map[split.SetUps]struct {
		feature      int
		score, price float64
	}{
		split.PaidSetUps: {0, gain, 1}, split.SharedSetUps: {1, 1 / 5.5, 10},
		split.FreeSetUps: {1, 1, 10}, split.NoSetUps: {0, gain, 1},
	} {
		params := induce.Params{Algorithm: split.CC45, Family: split.Thresholds, SetUps: way}
		root := memory.Grow(o, split.Columns(features), params, 8, memory.Options{})
		got, score := root.Test, root.Parts.Total
		if got.Feature != want.feature || math.Abs(score-want.score) > 1e-5 || got.Billed() != want.price {
			t.Errorf("set-ups %q: feature %d, score %v, billed %v, want %+v", way, got.Feature, score, got.Billed(), want)
		}
	}
}

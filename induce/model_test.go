package induce_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

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
		m := d.Model(d.Grow(p, 1))
		billed := billAll(t, d, m)
		if !growtest.Near(m.Complexity.ExpectedCost, billed.expected) || !growtest.Near(m.Complexity.MaxCost, billed.most) {
			t.Errorf("seed %d: complexity %+v, want the bill %+v", seed, m.Complexity, billed)
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
		_, got := decoded.PathCosts()
		if _, want := m.PathCosts(); !slices.Equal(got, want) || decoded.Complexity != m.Complexity {
			t.Errorf("seed %d: decoded, paths are billed at %v, %+v; want %v, %+v", seed, got, decoded.Complexity, want, m.Complexity)
		}
	}
}

type bill struct{ expected, most float64 }

// billAll sends each object down a tree. It returns what is billed for the tests.
func billAll(t *testing.T, d *growtest.Data, m *tree.Tree) (billed bill) {
	t.Helper()
	_, onPaths := m.PathCosts()
	total := 0.0
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
		}
		if !growtest.Near(onPaths[at], sum) {
			t.Fatalf("object %d: its path is billed at %v, want %v", i, onPaths[at], sum)
		}
		billed.expected += sum * weight
		billed.most = max(billed.most, sum)
		total += weight
	}
	billed.expected /= total
	return billed
}

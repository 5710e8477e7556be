package inmemory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestGrowConstrained compares trees with the trees of the naive grower.
func TestGrowConstrained(t *testing.T) {
	thresholds := 0
	for _, a := range growtest.Algorithms() {
		for _, family := range growtest.Families() {
			for seed := range uint64(8) {
				r := rand.New(rand.NewPCG(uint64(a)<<8|uint64(family), seed))
				d := growtest.New(r, growtest.SomeFeatures(), 2, 2+r.IntN(100), r.IntN(2) == 0).Constrained(r)
				p := growtest.RandomParams(r, a, family)
				got := d.Grow(p, 1)
				if growtest.Compare(t, got, growNaively(d, p), "root"); t.Failed() {
					t.Fatalf("%s, tests %s, seed %d: %+v, columns %+v", a, family, seed, p, d.Columns)
				}
				for i := range got {
					if n := &got[i]; n.Test != nil && n.Test.Kind == split.Threshold && d.Columns[n.Test.Feature].Monotone != 0 {
						thresholds++
					}
				}
			}
		}
	}
	if thresholds < 100 {
		t.Errorf("%d thresholds on constrained features: too few to test anything", thresholds)
	}
}

// TestFirst: by hand, a constant feature cannot be tested; the node is free then.
func TestFirst(t *testing.T) {
	features := []dataset.Feature{growtest.Numeric("same", 3, 1), growtest.Numeric("x", 4, 1), growtest.Numeric("y", 4, 1)}
	d := &growtest.Data{Features: features, Columns: split.Columns(features)}
	d.Objects = dataset.NewObjects(dataset.NewLayout(features), 2, false, 16)
	for x := range 4 {
		for y := range 4 { // x alone tells the class
			d.Objects.Append([]int{1, x, y}, []dataset.ClassWeight{{Class: uint16(x % 2), Weight: 1}}, 1)
		}
	}
	d.Total = 16
	for _, test := range []struct {
		first []int // 1 + depth, by feature
		want  []int // features tested at the root and at its first child
	}{
		{[]int{0, 0, 0}, []int{1, 1}},
		{[]int{0, 0, 1}, []int{2, 1}},
		{[]int{0, 0, 2}, []int{1, 2}},
		{[]int{1, 0, 2}, []int{1, 2}},
		{[]int{2, 0, 1}, []int{2, 1}},
	} {
		for f := range d.Columns {
			d.Columns[f].First = test.first[f]
		}
		nodes := d.Grow(induce.Params{Algorithm: split.C45, Family: split.Thresholds}, 1)
		inner := 1 + slices.IndexFunc(nodes[1:], func(n tree.Node) bool { return n.Test != nil })
		if got := []int{nodes[0].Test.Feature, nodes[inner].Test.Feature}; !slices.Equal(got, test.want) {
			t.Errorf("first %v: features %v, want %v", test.first, got, test.want)
		}
	}
}

// TestMonotone: as a constrained feature grows and all else stays, predictions move one way only:
// for all algorithms and families of tests, by any estimate, without priors and with them, of the
// tree, of its prunings and of a tree that has any nodes made leaves, whether their leaves are
// settled or not. Settling moves the leaves of no tree more.
func TestMonotone(t *testing.T) {
	moved, broken, nearer := 0, 0, 0
	for seed := range uint64(108) {
		r := rand.New(rand.NewPCG(17, seed))
		d := growtest.New(r, growtest.SomeFeatures(), 2, 20+r.IntN(200), r.IntN(2) == 0).Constrained(r)
		if r.IntN(4) == 0 {
			d = d.Softened(r)
		}
		algorithm := growtest.Algorithms()[seed%9]
		p := growtest.RandomParams(r, algorithm, growtest.Families()[seed/9%4])
		p.PathCost = 0 // small trees put nothing to the test
		p.PathTests = 0
		p.Selected = ""
		m := tree.New(d.Features, d.Grow(p, 1))
		m.Label = tree.Label{Column: "y", Classes: []string{"0", "1"}}
		demands := make(map[string]int8)
		for f, c := range d.Columns {
			if c.Monotone != 0 {
				demands[d.Features[f].Name] = c.Monotone
			}
		}
		prior := 0.01 + 0.98*r.Float64()
		estimates := []tree.Estimate{tree.Majority, tree.Raw, tree.Smoothed}
		for i, estimate := range slices.Concat(estimates, estimates) {
			m.Algorithm.Monotone, m.Label.Priors = nil, nil
			m.Estimate(estimate, 1)
			free := *m
			free.Nodes = slices.Clone(m.Nodes)
			_, down := sweepFeatures(d, r, &free, demands)
			broken += down
			if m.Algorithm.Monotone = demands; i >= 3 {
				m.Label.Priors = []float64{1 - prior, prior}
			}
			m.Estimate(estimate, 1)
			s := prune.NewSequence(m, []prune.Currency{prune.Leaves, prune.Cost, prune.MaxCost}[r.IntN(3)], split.Entropy)
			trees := []*tree.Tree{s.Tree(0), s.Tree(len(s.Steps) / 2), s.Tree(r.IntN(len(s.Steps))), pruneAnywhere(r, m)}
			for at, pruned := range trees {
				for _, settled := range []bool{false, true} {
					if settled {
						before := *pruned
						before.Nodes = slices.Clone(pruned.Nodes)
						pruned.SettleLeaves(estimate, 1)
						if at == 0 && i < 3 && isNearer(t, seed, &before, pruned, &free) { // same nodes and priors
							nearer++
						}
					}
					up, down := sweepFeatures(d, r, pruned, demands)
					if moved += up; down > 0 {
						t.Fatalf("seed %d, %s, %s, tree %d, settled %v, %+v: %d predictions go the wrong way",
							seed, algorithm, estimate, at, settled, p, down)
					}
				}
			}
		}
	}
	if moved < 10000 || broken < 100 || nearer < 50 {
		t.Errorf("%d predictions moved, %d the wrong way without demands, %d trees nearer: the data put nothing to the test",
			moved, broken, nearer)
	}
}

// pruneAnywhere makes leaves of random inner nodes.
func pruneAnywhere(r *rand.Rand, m *tree.Tree) *tree.Tree {
	pruned, id := *m, []int{0}
	pruned.Nodes = nil
	for at := 0; at < len(id); at++ {
		n := m.Nodes[id[at]]
		if r.IntN(5) == 0 {
			n.Test, n.Branches = nil, nil
		}
		n.Branches = slices.Clone(n.Branches)
		for j := range n.Branches {
			id = append(id, n.Branches[j].Child)
			n.Branches[j].Child = len(id) - 1
		}
		pruned.Nodes = append(pruned.Nodes, n)
	}
	return &pruned
}

// isNearer reports whether settling moved the leaves much nearer to the leaves of a tree without
// demands. The test fails if it moved them away.
func isNearer(t *testing.T, seed uint64, before, settled, free *tree.Tree) bool {
	t.Helper()
	far, near := distance(before, free), distance(settled, free)
	if near > far*1.001+1e-6 {
		t.Fatalf("seed %d, %s, %s: leaves are moved by %v, and by %v before", seed, free.Algorithm.Name, free.Algorithm.LeafEstimate, near, far)
	}
	return near < far*.9
}

// distance returns the weighted sum of the squares by which the leaves of two trees with the same
// nodes differ.
func distance(a, b *tree.Tree) (sum float64) {
	for i := range a.Nodes {
		if x := a.Nodes[i].Probabilities[1] - b.Nodes[i].Probabilities[1]; a.Nodes[i].Leaf() {
			sum += x * x * float64(a.Nodes[i].Weight)
		}
	}
	return sum
}

// sweepFeatures moves each feature with a demand through its values, in random rows. It returns
// how often the probability of the second class moved as demanded, and how often the other way.
func sweepFeatures(d *growtest.Data, r *rand.Rand, m *tree.Tree, demands map[string]int8) (along, against int) {
	router := m.Router()
	for f := range d.Features {
		demand := float64(demands[d.Features[f].Name])
		if demand == 0 {
			continue
		}
		for range 10 {
			codes := make([]int, len(d.Columns))
			for g := range codes {
				codes[g] = r.IntN(d.Columns[g].Codes)
			}
			o := dataset.NewObjects(dataset.NewLayout(d.Features), 2, false, 0)
			last := m.Nodes[0].Probabilities
			for code := range d.Features[f].Bins() {
				codes[f] = code
				o.Append(codes, []dataset.ClassWeight{{Class: 0, Weight: 1}}, 1)
				n := &m.Nodes[router.Leaf(o, code)]
				if code > 0 {
					second, first := demand*(n.Probabilities[1]-last[1]), demand*(n.Probabilities[0]-last[0])
					switch {
					case second < 0 || first > 0:
						against++
					case second > 0:
						along++
					}
				}
				last = n.Probabilities
			}
		}
	}
	return along, against
}

// TestMonotoneOneValue: of a number that has one value beside nulls, and so
// became a category, only the test on missing values is left.
func TestMonotoneOneValue(t *testing.T) {
	for _, family := range growtest.Families() {
		r := rand.New(rand.NewPCG(4, uint64(family)))
		d := growtest.New(r, []dataset.Feature{growtest.Categorical("one", 1, 1), growtest.Numeric("x", 5, 1)}, 2, 60, false)
		d.Columns[0].Monotone = 1
		kinds := make(map[split.Kind]bool)
		for _, n := range d.Grow(induce.Params{Algorithm: split.C45, Family: family}, 1) {
			if n.Test != nil && n.Test.Feature == 0 {
				kinds[n.Test.Kind] = true
			}
		}
		if fmt.Sprint(kinds) != fmt.Sprint(map[split.Kind]bool{split.Missing: true}) {
			t.Errorf("tests %s: kinds %v, want missing alone", family, kinds)
		}
	}
}

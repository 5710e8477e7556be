package memory_test

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

// TestGrowConstrained compares trees with those of the naive grower.
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
				got.Walk(func(n *induce.Node, _ int) {
					if n.Test != nil && n.Test.Kind == split.Threshold && d.Columns[n.Test.Feature].Monotone != 0 {
						thresholds++
					}
				})
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
		root := d.Grow(induce.Params{Algorithm: split.C45, Family: split.Thresholds}, 1)
		inner := slices.IndexFunc(root.Children, func(n *induce.Node) bool { return n.Test != nil })
		if got := []int{root.Test.Feature, root.Children[inner].Test.Feature}; !slices.Equal(got, test.want) {
			t.Errorf("first %v: features %v, want %v", test.first, got, test.want)
		}
	}
}

// TestMonotone: as a constrained feature grows and all else stays, predictions
// move one way only: of the tree and of all its prunings, by any estimate,
// without priors and with them.
func TestMonotone(t *testing.T) {
	moved, broken := 0, 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(17, seed))
		d := growtest.New(r, growtest.SomeFeatures(), 2, 20+r.IntN(200), r.IntN(2) == 0).Constrained(r)
		algorithm := growtest.Algorithms()[r.IntN(9)]
		p := growtest.RandomParams(r, algorithm, []split.Family{split.Thresholds, split.Both, split.Multiways}[r.IntN(3)])
		m, _ := induce.Model(d.Grow(p, 1), d.Features)
		m.Label = tree.Label{Column: "y", Classes: []string{"0", "1"}}
		m.Algorithm.Monotone = make(map[string]int8)
		for f, c := range d.Columns {
			if c.Monotone != 0 {
				m.Algorithm.Monotone[d.Features[f].Name] = c.Monotone
			}
		}
		prior := 0.01 + 0.98*r.Float64()
		estimates := []tree.Estimate{tree.Majority, tree.Raw, tree.Smoothed}
		for i, estimate := range slices.Concat(estimates, estimates) {
			if m.Label.Priors = nil; i >= 3 {
				m.Label.Priors = []float64{1 - prior, prior}
			}
			m.Estimate(estimate, 1)
			s := prune.NewSequence(m, prune.Leaves, false)
			for _, step := range []int{0, len(s.Steps) / 2} {
				up, down := sweepFeatures(t, d, r, s.Tree(step))
				moved += up
				if down > 0 {
					t.Fatalf("seed %d, %s, step %d, %+v: %d predictions go the wrong way", seed, estimate, step, p, down)
				}
			}
		}
		free := *m
		free.Label.Priors = nil
		free.Algorithm.Monotone, free.Nodes = nil, slices.Clone(m.Nodes)
		free.Estimate(tree.Smoothed, 1)
		_, down := sweepFeatures(t, d, r, &free)
		broken += down
	}
	if moved < 1000 || broken == 0 {
		t.Errorf("%d predictions moved, %d the wrong way without bounds: the data put nothing to the test", moved, broken)
	}
}

// sweepFeatures moves each constrained feature of random rows through its values.
// It returns how often the probability of the second class moved with the
// constraint, and how often against it.
func sweepFeatures(t *testing.T, d *growtest.Data, r *rand.Rand, m *tree.Tree) (along, against int) {
	t.Helper()
	router := m.Router()
	for f, c := range d.Columns {
		if c.Monotone == 0 {
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
					second, first := float64(c.Monotone)*(n.Probabilities[1]-last[1]), float64(c.Monotone)*(n.Probabilities[0]-last[0])
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
		d.Grow(induce.Params{Algorithm: split.C45, Family: family}, 1).Walk(func(n *induce.Node, _ int) {
			if n.Test != nil && n.Test.Feature == 0 {
				kinds[n.Test.Kind] = true
			}
		})
		if fmt.Sprint(kinds) != fmt.Sprint(map[split.Kind]bool{split.Missing: true}) {
			t.Errorf("tests %s: kinds %v, want missing alone", family, kinds)
		}
	}
}

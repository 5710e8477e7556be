package tree_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

func TestParseEstimate(t *testing.T) {
	for name, want := range map[string]tree.Estimate{"majority": tree.Majority, "raw": tree.Raw, "smoothed": tree.Smoothed} {
		if e, err := tree.ParseEstimate(name); err != nil || e != want || e.String() != name {
			t.Errorf("parse %q: %v, %v", name, e, err)
		}
	}
	if _, err := tree.ParseEstimate(""); err == nil {
		t.Error(`parse "": no error`)
	}
}

// TestScale: other units of the weights, smaller and greater than the mean weight of a row, change
// no estimate. Smooth takes the scale that the tree notes.
func TestScale(t *testing.T) {
	for _, units := range []int64{1, 2, 64} { // in each unit of smallTree
		want := smallTree()
		want.Algorithm.LeafEstimate = "smoothed"
		want.Estimate(tree.Smoothed, 0.5)
		got := smallTree()
		got.Algorithm.LeafEstimate = "smoothed"
		got.Training.SetScale(0.5 * float64(units))
		for i := range got.Nodes {
			for k := range got.Nodes[i].RawClassWeights {
				got.Nodes[i].RawClassWeights[k] *= units
			}
		}
		got.Smooth(tree.Smoothing{Rows: tree.UsualSmoothing})
		for i := range got.Nodes {
			if diff := cmp.Diff(want.Nodes[i].Probabilities, got.Nodes[i].Probabilities); diff != "" {
				t.Errorf("node %d, %d units (-want +got):\n%s", i, units, diff)
			}
		}
	}
	training := tree.Training{}
	if training.SetScale(1); training.WeightScale != 0 || training.Scale() != 1 {
		t.Errorf("a scale of 1 is noted as %v and read as %v", training.WeightScale, training.Scale())
	}
}

// TestEstimate: smallTree by hand. Smoothed is (raw + m parent)/(total + m),
// m = 10 rows, from the root's raw frequencies on.
func TestEstimate(t *testing.T) {
	third := []float64{(4 + 10*0.6) / 22, (8 + 10*0.4) / 22} // node 2, below the root
	for _, test := range []struct {
		estimate tree.Estimate
		scale    float64
		want     [][]float64
		classes  []int
	}{
		{tree.Majority, 1, [][]float64{{.65, .35}, {1, 0}, {5. / 12, 7. / 12}, {0, 1}, {.5, .5}}, []int{0, 0, 1, 1, 0}},
		{tree.Raw, 1, [][]float64{{.6, .4}, {1, 0}, {4. / 12, 8. / 12}, {0, 1}, {.4, .6}}, []int{0, 0, 1, 1, 1}},
		{
			tree.Smoothed, 1, [][]float64{
				{.6, .4},
				{(8 + 10*0.6) / 18, 10 * 0.4 / 18},
				third,
				{10 * third[0] / 12, (2 + 10*third[1]) / 12},
				{(4 + 10*third[0]) / 20, (6 + 10*third[1]) / 20},
			}, []int{0, 0, 1, 1, 1},
		},
		{ // a row weighs 2: m is 20
			tree.Smoothed, 2, [][]float64{
				{.6, .4}, {20. / 28, 8. / 28}, {.5, .5}, {10. / 22, 12. / 22}, {14. / 30, 16. / 30},
			}, []int{0, 0, 0, 1, 1},
		},
	} {
		tr := smallTree()
		tr.Estimate(test.estimate, test.scale)
		for i, want := range test.want {
			n := &tr.Nodes[i]
			for k := range want {
				if d := n.Probabilities[k] - want[k]; d > 1e-15 || d < -1e-15 || n.Class != test.classes[i] {
					t.Errorf("%s, scale %v, node %d: class %d, probabilities %v, want %d, %v", test.estimate,
						test.scale, i, n.Class, n.Probabilities, test.classes[i], want)
				}
			}
		}
	}
}

// TestEstimateSets: half of the difference between the outcomes of a test for a set is chance at a trust of .5, in the nodes
// below as well. The shares of class 0 are .6 in the root, 1 and 1/3 in its children, and 0 and .4 below the second child,
// whose test is of another kind. Without smoothing they would be .8, .6 - .4/3 = 7/15, 2/15 and 8/15.
func TestEstimateSets(t *testing.T) {
	tr := smallTree()
	tr.Nodes[0].Test.Kind = split.In
	tr.Nodes[0].Test.Trust = 0.5
	tr.Estimate(tree.Smoothed, 1)
	second := (12*7./15 + 10*.6) / 22
	for i, want := range []float64{.6, (8*.8 + 10*.6) / 18, second, (2*2./15 + 10*second) / 12, (10*8./15 + 10*second) / 20} {
		if got := tr.Nodes[i].Probabilities; math.Abs(got[0]-want) > 1e-15 || math.Abs(got[0]+got[1]-1) > 1e-15 {
			t.Errorf("node %d: probabilities %v, want %v of class 0", i, got, want)
		}
	}
}

// TestSmoothByClasses: the weight of the parent's estimate is 10 rows where two classes have weight, 5 for one and 15 for
// three. smallTree with rows of a third class in nodes 2 and 4, by hand; the root has 12, 8 and 4 rows. With 100 units a
// row, a teacher moves 30 units of node 1 from the first class to each other class: less than half a row, so they do not count.
func TestSmoothByClasses(t *testing.T) {
	taught := smallTree()
	taught.Algorithm.LeafEstimate = tree.Smoothed
	taught.Training.SetScale(100)
	taught.Label.Classes = []string{"n", "p", "q"}
	for i, raw := range [][]int64{{1200, 800, 400}, {740, 30, 30}, {460, 770, 370}, {0, 200, 0}, {460, 570, 370}} {
		taught.Nodes[i].RawClassWeights = raw
	}
	taught.Smooth(tree.Smoothing{Rows: 10, ByClasses: true})
	if got, want := taught.Nodes[1].Probabilities[0], (740+500*.5)/1300; math.Abs(got-want) > 1e-15 {
		t.Errorf("taught: %v, want %v", got, want)
	}
	tr := smallTree()
	tr.Algorithm.LeafEstimate = tree.Smoothed
	tr.Label.Classes = []string{"n", "p", "q"}
	for i, raw := range [][]int64{{12, 8, 4}, {8, 0, 0}, {4, 8, 4}, {0, 2, 0}, {4, 6, 4}} {
		tr.Nodes[i].RawClassWeights = raw
	}
	tr.Smooth(tree.Smoothing{Rows: 10, ByClasses: true})
	if tr.Algorithm.SmoothingBy != "classes" {
		t.Errorf("smoothed by %q", tr.Algorithm.SmoothingBy)
	}
	second := []float64{(4 + 15*.5) / 31, (8 + 15/3.) / 31, (4 + 15/6.) / 31}
	for i, want := range [][]float64{
		{.5, 1 / 3., 1 / 6.},
		{(8 + 5*.5) / 13, 5 / 3. / 13, 5 / 6. / 13},
		second,
		{5 * second[0] / 7, (2 + 5*second[1]) / 7, 5 * second[2] / 7},
		{(4 + 15*second[0]) / 29, (6 + 15*second[1]) / 29, (4 + 15*second[2]) / 29},
	} {
		for k, p := range tr.Nodes[i].Probabilities {
			if math.Abs(p-want[k]) > 1e-15 {
				t.Errorf("node %d: probabilities %v, want %v", i, tr.Nodes[i].Probabilities, want)
			}
		}
	}
}

// TestMeasure: smallTree by hand. All 20 pay 3 for the first test, 12 of them 2
// for the second.
func TestMeasure(t *testing.T) {
	tr := smallTree()
	want := tree.Complexity{
		ExpectedCost: (20*3. + 12*2.) / 20, ExpectedTests: 32. / 20, MaxCost: 5, Nodes: 5,
		Leaves: 3, Depth: 2,
	}
	if diff := cmp.Diff(want, tr.Complexity); diff != "" {
		t.Errorf("complexity (-want +got):\n%s", diff)
	}
	tests, costs := tr.PathCosts()
	if !cmp.Equal(tests, []int{0, 1, 1, 2, 2}) || !cmp.Equal(costs, []float64{0, 3, 3, 5, 5}) {
		t.Errorf("paths: tests %v, costs %v", tests, costs)
	}
	tr.Nodes = tr.Nodes[1:2] // a lone leaf
	tr.Measure()
	if diff := cmp.Diff(tree.Complexity{Nodes: 1, Leaves: 1}, tr.Complexity); diff != "" {
		t.Errorf("complexity of a leaf (-want +got):\n%s", diff)
	}
}

// billedTree is smallTree with both features in a group of price 4, and with a third test:
// a free repeat on age. The path to node 5 is billed at 3 + 4 for the first, 2 for the
// second and 0 for the third test.
func billedTree() *tree.Tree {
	tr := smallTree()
	tr.Algorithm.RepeatCost, tr.Algorithm.CostUnit = tree.RepeatFree, "euros"
	for f := range tr.Features {
		tr.Features[f].Group, tr.Features[f].GroupCost = "visit", 4
	}
	with, nothing := 7., 0.
	tr.Nodes[0].Test.Billed = &with
	tr.Nodes[4].Test = &tree.Test{Test: split.Test{Feature: 0, Kind: split.Missing, Code: 2}, Cost: 3, Billed: &nothing}
	tr.Nodes[4].Branches = []tree.Branch{{Outcome: 1, Child: 5, Missing: true}, {Outcome: 0, Child: 6}}
	for _, weights := range [][]int64{{4, 1}, {0, 5}} {
		tr.Nodes = append(tr.Nodes, tree.Node{
			Rows: 5, Objects: 5, Weight: 5, ClassWeights: weights,
			RawClassWeights: weights,
		})
	}
	tr.Estimate(tree.Raw, 1)
	tr.Measure()
	return tr
}

// TestBilled: billedTree by hand. All 20 rows pay 7, 12 of them also pay 2, and 10 of
// these have a free test of price 3.
func TestBilled(t *testing.T) {
	tr := billedTree()
	want := tree.Complexity{
		ExpectedCost: (20*7. + 12*2.) / 20, ExpectedTests: 42. / 20, MaxCost: 9, Nodes: 7, Leaves: 4, Depth: 3,
	}
	if diff := cmp.Diff(want, tr.Complexity); diff != "" {
		t.Errorf("complexity (-want +got):\n%s", diff)
	}
	if _, costs := tr.PathCosts(); !cmp.Equal(costs, []float64{0, 7, 7, 9, 9, 9, 9}) {
		t.Errorf("billed on the paths: %v", costs)
	}
	if paid := tr.PathPayments(); !cmp.Equal(paid, []int{0, 1, 1, 2, 2, 2, 2}) || tr.PaidTests() != 2 {
		t.Errorf("paid tests on the paths: %v, at most %d", paid, tr.PaidTests())
	}
}

// randomCounts draws counts for the leaves of smallTree, of up to 60 bits.
func randomCounts(r *rand.Rand) *tree.LeafCounts {
	c := smallTree().NewLeafCounts()
	for i, weights := range c.Weights {
		for k := range weights {
			weights[k] = r.Int64N(1 << r.IntN(60))
			c.Rows[i] += weights[k] & 0xff
		}
	}
	return c
}

// TestLeafCounts: encoded counts have the same sum as the counts themselves, added one by
// one or merged first.
func TestLeafCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	want, got, merged := smallTree().NewLeafCounts(), smallTree().NewLeafCounts(), smallTree().NewLeafCounts()
	var list [][]byte
	for range 5 {
		c := randomCounts(r)
		for i, weights := range c.Weights {
			want.Rows[i] += c.Rows[i]
			for k, w := range weights {
				want.Weights[i][k] += w
			}
		}
		list = append(list, c.Encode())
		if err := got.Add(c.Encode()); err != nil {
			t.Fatal(err)
		}
	}
	b, err := tree.MergeLeafCounts(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := merged.Add(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("one by one (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, merged); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if got.Weights[0] != nil || got.Weights[2] != nil {
		t.Error("inner nodes have counts")
	}
}

// TestLeafCountsErrors: Add refuses counts that are cut short or have bytes left over.
func TestLeafCountsErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 20 {
		b := randomCounts(r).Encode()
		for size := range b {
			if err := smallTree().NewLeafCounts().Add(b[:size]); err == nil {
				t.Errorf("cut to %d of %d bytes: no error", size, len(b))
			}
			if _, err := tree.MergeLeafCounts([][]byte{b, b[:size]}); err == nil {
				t.Errorf("merged with itself cut to %d of %d bytes: no error", size, len(b))
			}
		}
		if err := smallTree().NewLeafCounts().Add(append(b, 0)); err == nil {
			t.Error("a byte too many: no error")
		}
	}
}

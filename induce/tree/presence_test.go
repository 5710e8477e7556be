package tree_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// orderedLab returns a tree of 100 rows. The lab, whose value 60 of them lack, costs 30:
//
//	lab     well  ill
//	low       18    2
//	high       5   15
//	absent    50   10
func orderedLab(t *testing.T, unordered bool) *tree.Tree {
	t.Helper()
	features := []dataset.Feature{{
		Name: "lab", Kind: dataset.Numeric, Cuts: []float64{1.5}, Missing: 60, Cost: 20, Group: "blood", GroupCost: 10, Unordered: unordered,
	}}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, true, 3)
	for code, weights := range [][2]int64{{18, 2}, {5, 15}, {50, 10}} {
		o.Append([]int{code}, []dataset.ClassWeight{{Class: 0, Weight: weights[0]}, {Class: 1, Weight: weights[1]}}, weights[0]+weights[1])
	}
	p := induce.Params{Algorithm: split.C45, Family: split.Thresholds, Classes: split.OfRows}
	made := tree.New(features, inmemory.Grow(o, split.Columns(features), p, 100, inmemory.Options{}))
	made.Label = tree.Label{Column: "class", Classes: []string{"well", "ill"}}
	made.Algorithm = tree.Algorithm{
		Name: "c45", Tests: "threshold", Bins: 2, Binning: "quantile", LeafEstimate: tree.Raw, Prune: "none", Classes: tree.ClassesOfRows,
		RepeatCost: tree.RepeatFree,
	}
	made.Training = tree.Training{Rows: 100, Objects: 3, Weight: 100}
	made.Bill()
	made.Estimate(tree.Raw, 1)
	made.Measure()
	return made
}

// TestUnfounded: by hand. If no ill row has the lab, nothing tells where the ill rows would go.
func TestUnfounded(t *testing.T) {
	for _, c := range []struct {
		low, high, absent []int64 // weights of well and ill rows
		want              float64
	}{
		{[]int64{18, 2}, []int64{5, 15}, []int64{50, 10}, 0},
		{[]int64{18, 0}, []int64{5, 0}, []int64{50, 27}, 0.27},
		{[]int64{0, 0}, []int64{0, 0}, []int64{50, 50}, 1},
		{[]int64{0, 0}, []int64{0, 0}, []int64{0, 0}, 0},
	} {
		made := orderedLab(t, true)
		counts := made.NewLeafCounts()
		counts.Weights[1], counts.Weights[3], counts.Weights[4] = c.absent, c.high, c.low
		if got, feature := made.Unfounded(counts); math.Abs(got-c.want) > 1e-12 || feature != 0 {
			t.Errorf("%v: a share of %v for feature %d, want %v", c, got, feature, c.want)
		}
	}
}

// TestPresence: by hand. Each class is divided below the presence test as the rows that have the value.
func TestPresence(t *testing.T) {
	made := orderedLab(t, true)
	type node struct {
		Rows    int64
		Weights []int64
	}
	var got []node
	for i := range made.Nodes {
		got = append(got, node{made.Nodes[i].Rows, made.Nodes[i].RawClassWeights})
	}
	want := []node{
		{100, []int64{73, 27}}, {60, []int64{0, 0}}, {40, []int64{73, 27}}, // the presence test, and its branches
		{20, []int64{16, 24}}, {20, []int64{57, 3}}, // 73 * 5 / 23 and 27 * 15 / 17, rounded
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("nodes (-want +got):\n%s", diff)
	}
	if c := made.Complexity; c.ExpectedCost != 30 || c.MaxCost != 30 || c.ExpectedTests != 1 || c.Depth != 1 {
		t.Errorf("complexity %+v, want a test for 30 of all rows", c)
	}
	if p := made.Nodes[1].Probabilities; !slices.Equal(p, made.Nodes[0].Probabilities) {
		t.Errorf("probabilities %v without a value, want those of the presence test, %v", p, made.Nodes[0].Probabilities)
	}
	again, err := tree.Decode(made.Encode())
	if err != nil || !bytes.Equal(again.Encode(), made.Encode()) || !again.Presence(&again.Nodes[0]) || again.Presence(&again.Nodes[2]) {
		t.Errorf("error %v, or another tree:\n%s", err, made.Encode())
	}
}

// TestPresenceRefused: a presence test without a test of its feature below.
func TestPresenceRefused(t *testing.T) {
	made := orderedLab(t, true)
	nodes := slices.Clone(made.Nodes)
	nodes[2].Test = nil
	nodes[2].Branches = nil
	made.Nodes = tree.Ordered(nodes)
	made.Measure()
	if _, err := tree.Decode(made.Encode()); err == nil || !strings.Contains(err.Error(), `node 0: the test for missing values of "lab"`) {
		t.Errorf("error %v", err)
	}
}

// TestPresenceInUse: a row without the value ends at the presence test, for nothing.
func TestPresenceInUse(t *testing.T) {
	made := orderedLab(t, true)
	questions := made.Questions()
	for _, c := range []struct {
		value tree.Value
		leaf  int
		tests int
		cost  float64
	}{
		{tree.Value{}, 1, 0, 0}, {tree.Number(2), 3, 1, 30}, {tree.Number(1), 4, 1, 30},
	} {
		p, err := made.Scorer().Predict([]tree.Value{c.value})
		if err != nil || p.Leaf != c.leaf || p.Tests != c.tests || p.Cost != c.cost {
			t.Errorf("%v: error %v, %+v, want leaf %d, %d tests, cost %v", c.value, err, p, c.leaf, c.tests, c.cost)
		}
		i := questions.Start(0)
		q := i.Next()
		if q == nil || q.Feature != "lab" || q.Cost != 30 {
			t.Fatalf("the question %+v, want lab for 30", q)
		}
		if before := i.Standing(); before.Expected != 30 || before.Worst != 30 || before.Tests != 0 {
			t.Errorf("%+v before the answer, want 30 to come", before)
		}
		if err := i.Answer(c.value); err != nil {
			t.Fatal(err)
		}
		s := i.Standing()
		if bill := i.Bill("lab"); s.Node != c.leaf || s.Tests != c.tests || s.Paid != c.cost || bill.Paid != c.cost || bill.Tests != c.tests {
			t.Errorf("%v: %+v, bill %+v, want node %d, %d tests, paid %v", c.value, s, bill, c.leaf, c.tests, c.cost)
		}
		if c.leaf == 1 && s.AtLeast != made.LowerBounds()[0] {
			t.Errorf("at least %v without a value, want that of the presence test, %v", s.AtLeast, made.LowerBounds()[0])
		}
	}
}

// TestKnownCounts: by hand. Rows without the value count by the rows of their class that have it; no other row of the class lab
// decides how ill rows are divided, so that the training rows do.
func TestKnownCounts(t *testing.T) {
	made := orderedLab(t, true)
	counts := made.NewLeafCounts()
	counts.Weights[1], counts.Rows[1] = []int64{30, 9}, 39
	counts.Weights[3], counts.Rows[3] = []int64{2, 0}, 2
	counts.Weights[4], counts.Rows[4] = []int64{8, 0}, 8
	known := made.KnownCounts(counts)
	want := [][]int64{nil, {0, 0}, nil, {8, 8}, {32, 1}}
	if diff := cmp.Diff(want, known.Weights); diff != "" {
		t.Errorf("known weights (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(known.Weights, made.KnownCounts(known).Weights); diff != "" {
		t.Errorf("known weights of known weights (-want +got):\n%s", diff)
	}
	if plain := orderedLab(t, false); plain.KnownCounts(plain.TrainingCounts()).Weights[1] == nil || plain.HasPresenceTests() {
		t.Error("a tree without unordered features has other counts")
	}
}

// TestPresenceOfNew: a first test on a path gets a presence test where no training row lacks the value; a presence test without a test of its feature
// below becomes a leaf.
func TestPresenceOfNew(t *testing.T) {
	features := []dataset.Feature{{Name: "lab", Kind: dataset.Numeric, Cuts: []float64{1, 2}, Cost: 1, Unordered: true}}
	leaf := func(weight int64) tree.Node {
		w := []int64{weight, 0}
		return tree.Node{Rows: weight, Objects: 1, Weight: weight, ClassWeights: w, RawClassWeights: w}
	}
	inner := func(kind split.Kind, code, yes, no int) tree.Node {
		return tree.Node{
			Test:     &tree.Test{Test: split.Test{Kind: kind, Code: code}, Cost: 1},
			Branches: []tree.Branch{{Outcome: 1, Child: yes}, {Outcome: 0, Child: no}},
		}
	}
	for name, c := range map[string]struct {
		nodes []tree.Node
		want  []string
	}{
		"put":  {[]tree.Node{inner(split.Threshold, 1, 1, 2), inner(split.Threshold, 2, 3, 4), leaf(1), leaf(2), leaf(4)}, []string{"missing", "", "threshold", "threshold", "", "", ""}},
		"kept": {[]tree.Node{inner(split.Missing, 3, 1, 2), leaf(1), inner(split.Threshold, 1, 3, 4), leaf(2), leaf(4)}, []string{"missing", "", "threshold", "", ""}},
		"cut":  {[]tree.Node{inner(split.Missing, 3, 1, 2), leaf(1), leaf(6)}, []string{""}},
	} {
		made := tree.New(features, c.nodes)
		var got []string
		for i := range made.Nodes {
			kind := ""
			if n := &made.Nodes[i]; !n.Leaf() {
				kind = n.Test.Kind.String()
			}
			got = append(got, kind)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if n := &made.Nodes[0]; n.Rows != 7 || n.Weight != 7 {
			t.Errorf("%s: %d rows of weight %d, want 7", name, n.Rows, n.Weight)
		}
	}
}

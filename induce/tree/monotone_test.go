package tree_test

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestSeparated: by hand. The probability of p must not rise with age. Node 1 (at least 30.5) has
// none of 8 objects, the leaves below node 2 have 2 of 2 and 5 of 10: nothing is moved. If 4 of 8
// rows of node 1 are p, and 2 of 10 of node 4, then the separator moves these two leaves the least
// at their mean, (4 + 2) / (8 + 10).
func TestSeparated(t *testing.T) {
	tr := wishfulTree()
	tr.Estimate(tree.Majority, 1)
	check := func(name string, want map[int]float64) {
		t.Helper()
		for i, p := range want {
			if got := tr.Nodes[i].Probabilities; math.Abs(got[1]-p) > 1e-12 || got[0] != 1-got[1] {
				t.Errorf("%s, node %d: probabilities %v, want %v for the second", name, i, got, p)
			}
		}
	}
	check("in order", map[int]float64{0: 7. / 20, 1: 0, 2: 7. / 12, 3: 1, 4: 5. / 10})
	tr.Nodes[1].RawClassWeights = []int64{4, 4}
	tr.Nodes[4].RawClassWeights = []int64{8, 2}
	tr.Estimate(tree.Raw, 1)
	check("apart", map[int]float64{0: 8. / 20, 1: 1. / 3, 2: 8. / 12, 3: 1, 4: 1. / 3})
}

// gridTree tests x, and on both sides y: its leaves are, with the rows and the rows of the second
// class, (x low, y low) 10, 6; (x low, y high) 10, 2; (x high, y low) 30, 12; (x high, y high) 10, 3.
func gridTree(cutAbove int) *tree.Tree {
	node := func(rows, second int64) tree.Node {
		w := []int64{rows - second, second}
		return tree.Node{Rows: rows, Objects: rows, Weight: rows, ClassWeights: w, RawClassWeights: w}
	}
	tr := &tree.Tree{
		Label: tree.Label{Column: "c", Classes: []string{"n", "p"}},
		Features: []dataset.Feature{
			{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1.5}, Cost: 1},
			{Name: "y", Kind: dataset.Numeric, Cuts: []float64{1.5, 2.5, 3.5}, Cost: 1},
		},
		Nodes: []tree.Node{
			node(60, 23), node(40, 15), node(20, 8), node(10, 3), node(30, 12), node(10, 2), node(10, 6),
		},
	}
	ask := func(node, feature, code int) {
		tr.Nodes[node].Test = &tree.Test{Test: split.Test{Feature: feature, Kind: split.Threshold, Code: code}, Cost: 1}
		tr.Nodes[node].Branches = []tree.Branch{{Outcome: 1, Child: 2*node + 1}, {Outcome: 0, Child: 2*node + 2, Missing: true}}
	}
	ask(0, 0, 1)
	ask(1, 1, cutAbove)
	ask(2, 1, 2)
	tr.Algorithm.Monotone = map[string]int8{"x": 1}
	return tr
}

// TestSettleLeaves: by hand. Rows with a low y reach leaves of .6 of 10 rows and .4 of 30: both get
// the mean, .45. Rows with a high y reach leaves of .2 and .3, which stay, as no rows reach a leaf
// with .45 that differ from theirs in x alone. If the upper side asks for y >= 1.5, then rows with y in
// [1.5, 2.5) lead from the leaf of .6 to that of .3, so these two and the leaf of .4 get
// (6 + 3 + 12) / 50, and the leaf of .2 stays.
func TestSettleLeaves(t *testing.T) {
	for cut, want := range map[int]map[int]float64{
		2: {3: .3, 4: .45, 5: .2, 6: .45},
		1: {3: .42, 4: .42, 5: .2, 6: .42},
	} {
		tr := gridTree(cut)
		tr.SettleLeaves(tree.Raw, 1)
		for i, p := range want {
			if got := tr.Nodes[i].Probabilities; math.Abs(got[1]-p) > 1e-6 || got[0] != 1-got[1] {
				t.Errorf("threshold %d, node %d: probabilities %v, want %v for the second", cut, i, got, p)
			}
		}
		if tr.Nodes[6].Probabilities[1] > tr.Nodes[4].Probabilities[1] {
			t.Errorf("threshold %d: %v above %v", cut, tr.Nodes[6].Probabilities, tr.Nodes[4].Probabilities)
		}
		free := gridTree(cut)
		free.Algorithm.Monotone = nil
		free.SettleLeaves(tree.Raw, 1)
		if free.Nodes[6].Probabilities != nil {
			t.Error("SettleLeaves estimates a tree without monotone features")
		}
	}
}

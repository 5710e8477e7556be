package metric_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestLeaves: by hand. The test at node 2 repeats the feature of the root, and is billed
// at nothing.
func TestLeaves(t *testing.T) {
	free := 0.0
	m := &tree.Tree{
		Label: tree.Label{Classes: []string{"a", "b"}}, Features: []dataset.Feature{{Name: "x", Cost: 3}},
		Nodes: []tree.Node{
			{Test: &tree.Test{Cost: 3}, Branches: []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2}}},
			{Class: 1, Probabilities: []float64{.1, .9}},
			{
				Test:     &tree.Test{Cost: 3, Billed: &free},
				Branches: []tree.Branch{{Outcome: 1, Child: 3}, {Outcome: 0, Child: 4}},
			},
			{Class: 0, Probabilities: []float64{.8, .2}},
			{Class: 1, Probabilities: []float64{.4, .6}},
		},
	}
	counts := m.NewLeafCounts()
	for leaf, weights := range map[int][]int64{1: {1, 5}, 3: {4, 0}} {
		counts.Weights[leaf], counts.Rows[leaf] = weights, 10*(weights[0]+weights[1])
	}
	want := []metric.Leaf{
		{Probabilities: []float64{.1, .9}, Class: 1, Weights: []int64{1, 5}, Rows: 60, Cost: 3, Billed: 3, Tests: 1},
		{Probabilities: []float64{.8, .2}, Class: 0, Weights: []int64{4, 0}, Rows: 40, Cost: 6, Billed: 3, Tests: 2},
		{Probabilities: []float64{.4, .6}, Class: 1, Weights: []int64{0, 0}, Rows: 0, Cost: 6, Billed: 3, Tests: 2},
	}
	if diff := cmp.Diff(want, metric.Leaves(m, counts)); diff != "" {
		t.Errorf("leaves (-want +got):\n%s", diff)
	}
}

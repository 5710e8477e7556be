package metric_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
		{Probabilities: []float64{.1, .9}, Class: 1, Weights: []int64{1, 5}, Rows: 60, Cost: 3, Tests: 1},
		{Probabilities: []float64{.8, .2}, Class: 0, Weights: []int64{4, 0}, Rows: 40, Cost: 3, Tests: 2},
		{Probabilities: []float64{.4, .6}, Class: 1, Weights: []int64{0, 0}, Rows: 0, Cost: 3, Tests: 2},
	}
	if diff := cmp.Diff(want, metric.Leaves(m, counts)); diff != "" {
		t.Errorf("leaves (-want +got):\n%s", diff)
	}
}

// TestScores: the metrics by distinct predictions equal the metrics of a table of single rows, and
// the metrics of Leaves for a tree without models.
func TestScores(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(51, seed))
		classes := []string{"a", "b", "c"}[:2+seed%2]
		m := &tree.Tree{
			Label: tree.Label{Classes: classes}, Features: []dataset.Feature{{Name: "x", Cost: 3}},
			Nodes: []tree.Node{
				{Test: &tree.Test{Cost: 3}, Branches: []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2}}},
				{Model: new(tree.LeafModel)},
				{},
			},
		}
		if seed%5 == 0 {
			m.Nodes[1].Model = nil
		}
		draw := func() []float64 {
			p, sum := make([]float64, len(classes)), 0.0
			for k := range p {
				p[k] = float64(1 + r.IntN(4))
				sum += p[k]
			}
			for k := range p {
				p[k] /= sum
			}
			return p
		}
		for i := 1; i < 3; i++ {
			m.Nodes[i].Probabilities = draw()
			m.Nodes[i].Class = m.Label.Decide(m.Nodes[i].Probabilities)
		}
		counts, leaves := m.NewScoreCounts(), m.NewLeafCounts()
		var single []metric.Leaf
		for range 200 {
			leaf, class, weight, p := 1+r.IntN(2), r.IntN(len(classes)), int64(r.IntN(5)), draw()
			if m.Nodes[leaf].Model == nil {
				p = m.Nodes[leaf].Probabilities
			}
			counts.Add(leaf, m.Label.Decide(p), p, class, weight, 1)
			leaves.Rows[leaf]++
			leaves.Weights[leaf][class] += weight
			one := metric.Leaf{
				Probabilities: p, Class: m.Label.Decide(p), Weights: make([]int64, len(classes)), Rows: 1, Cost: 3, Tests: 1,
			}
			one.Weights[class] = weight
			single = append(single, one)
		}
		got, want := metric.Evaluate(metric.Scores(m, counts), classes, 1), metric.Evaluate(single, classes, 1)
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("seed %d: metrics (-rows +table):\n%s", seed, diff)
		}
		if !m.Modelled() {
			if diff := cmp.Diff(metric.Leaves(m, leaves), metric.Scores(m, counts)); diff != "" {
				t.Errorf("seed %d: table (-Leaves +Scores):\n%s", seed, diff)
			}
		}
	}
}

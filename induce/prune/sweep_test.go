package prune_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// errorCost returns the mean cost of the predictions; nil without costs.
func errorCost(costs [][]float64, m *metric.Metrics) *float64 {
	if costs == nil {
		return nil
	}
	sum := 0.0
	for actual, row := range m.Confusion {
		for predicted, w := range row {
			sum += float64(float64(w) * costs[actual][predicted])
		}
	}
	return new(sum / float64(m.Weight))
}

// evaluate measures a tree on rows counted by its leaves.
func evaluate(t *tree.Tree, counts *tree.LeafCounts) metric.Metrics {
	tests, costs := t.PathCosts()
	var leaves []metric.Leaf
	for v := range t.Nodes {
		if n := &t.Nodes[v]; n.Leaf() {
			leaves = append(leaves, metric.Leaf{
				Probabilities: n.Probabilities, Class: n.Class, Weights: counts.Weights[v], Rows: counts.Rows[v],
				Cost: costs[v], Tests: tests[v],
			})
		}
	}
	return metric.Evaluate(leaves, t.Label.Classes, 1)
}

// TestSweep compares every step with the evaluation of its pruned tree. A third of
// the trees has rows of one class only, another third has no rows of the last class.
func TestSweep(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 3))
	undefined := 0
	for i := range 300 {
		grown := randomTree(r, r.IntN(30), 2+r.IntN(4), []int64{3, 50}[i%2])
		if i%4 == 0 {
			drawErrorCosts(r, &grown.Label)
			grown.Estimate(tree.Smoothed, 1) // decides by the costs
		}
		if i%3 > 0 {
			grown.Estimate(tree.Raw, 1) // many equal probabilities
		}
		counts := randomCounts(r, grown, []int64{2, 100, 1 << 40}[i%3])
		for _, weights := range counts.Weights {
			for c := range weights {
				if i%3 == 1 && c == len(weights)-1 || i%30 == 2 && c > 0 {
					weights[c] = 0
				}
			}
		}
		for _, currency := range currencies() {
			s := prune.NewSequence(grown, currency, split.Impurity(i%2))
			scores := s.Sweep(counts)
			for k := range scores {
				pruned := s.Tree(k)
				m := evaluate(pruned, s.Counts(pruned, k, prune.NewRows(grown, counts, nil)))
				m.ExpectedErrorCost = errorCost(grown.Label.ErrorCosts, &m)
				if !reflect.DeepEqual(m.AUCOvRMacro, scores[k].AUC) ||
					!reflect.DeepEqual(m.Accuracy, scores[k].Accuracy) {
					t.Fatalf("tree %d, step %d: area and accuracy (-want +got):\n%s%s", i, k,
						cmp.Diff(m.AUCOvRMacro, scores[k].AUC), cmp.Diff(m.Accuracy, scores[k].Accuracy))
				}
				if m.AUCOvRMacro == nil {
					undefined++
				}
				want := prune.Score{ExpectedCost: m.ExpectedCost}
				want.Judgement = metric.Judgement{
					AUC: m.AUCOvRMacro, LogLoss: m.LogLoss, Accuracy: m.Accuracy, ErrorCost: m.ExpectedErrorCost,
				}
				want.AddUp()
				if diff := cmp.Diff(want, scores[k], within()); diff != "" {
					t.Fatalf("tree %d, step %d (-want +got):\n%s", i, k, diff)
				}
			}
		}
	}
	if undefined < 50 {
		t.Errorf("%d steps without an area: the rows try too little", undefined)
	}
}

// drawErrorCosts draws error costs, some of them 0. Right predictions may cost, too.
func drawErrorCosts(r *rand.Rand, l *tree.Label) {
	for range l.Classes {
		row := make([]float64, len(l.Classes))
		for k := range row {
			row[k] = float64(r.IntN(5)) * 7.5
		}
		l.ErrorCosts = append(l.ErrorCosts, row)
	}
}

// TestTotalCost: by hand. Without either figure there is no sum.
func TestTotalCost(t *testing.T) {
	for _, c := range []struct{ paid, wrong, want *float64 }{
		{ptr(1.5), nil, nil},
		{nil, ptr(7.5), nil},
		{ptr(1.5), ptr(7.5), ptr(9.0)},
	} {
		score := prune.Score{Judgement: metric.Judgement{ErrorCost: c.wrong}, ExpectedCost: c.paid}
		score.AddUp()
		if diff := cmp.Diff(c.want, score.TotalCost); diff != "" {
			t.Error(diff)
		}
	}
}

func ptr(x float64) *float64 { return &x }

func TestSweepWithoutRows(t *testing.T) {
	grown := handTree()
	for _, score := range prune.NewSequence(grown, prune.Cost, split.Entropy).Sweep(grown.NewLeafCounts()) {
		if diff := cmp.Diff(prune.Score{}, score); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSweepOfAnotherTree(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	prune.NewSequence(handTree(), prune.Cost, split.Entropy).Sweep(chain(5).NewLeafCounts())
}

// TestCounts: merging counts keeps the number of rows, and only leaves have rows.
func TestCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	grown := randomTree(r, 30, 3, 20)
	counts := randomCounts(r, grown, 100)
	s := prune.NewSequence(grown, prune.Leaves, split.Entropy)
	all := prune.NewRows(grown, counts, nil)
	if got := s.Counts(s.Tree(0), 0, all); !reflect.DeepEqual(got, counts) {
		t.Errorf("counts of the un-pruned tree differ:\n%s", cmp.Diff(counts, got))
	}
	for k := range s.Steps {
		pruned := s.Tree(k)
		merged := s.Counts(pruned, k, all)
		if merged.TotalRows() != counts.TotalRows() {
			t.Errorf("step %d: %d rows, want %d", k, merged.TotalRows(), counts.TotalRows())
		}
		for v := range pruned.Nodes {
			if leaf := merged.Weights[v] != nil; leaf != pruned.Nodes[v].Leaf() {
				t.Errorf("step %d: counts of node %d: %v", k, v, leaf)
			}
		}
	}
}

package metric_test

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestJudgedByPriors: a case-control sample, 100 of 200 rows ill, of a tree with two leaves that is judged where 2 % are
// ill. By hand: 80 of 100 ill rows and 10 of 100 healthy rows reach the leaf that predicts ill. The share of right
// predictions is .02 * .8 + .98 * .9, a missed case costs 20 and a false alarm 1, and the area is the area of the sample.
func TestJudgedByPriors(t *testing.T) {
	stump := &tree.Tree{
		Label: tree.Label{
			Column: "class", Classes: []string{"ill", "well"}, Priors: []float64{.02, .98}, ErrorCosts: [][]float64{{0, 20}, {1, 0}},
		},
		Nodes: []tree.Node{
			{
				Test: &tree.Test{Cost: 1}, Branches: []tree.Branch{{Child: 1}, {Child: 2}},
				Probabilities: []float64{.02, .98}, Class: 1, RawClassWeights: []int64{100, 100},
			},
			{Probabilities: []float64{.14, .86}, Class: 0},
			{Probabilities: []float64{.004, .996}, Class: 1},
		},
	}
	counts := &tree.LeafCounts{Weights: [][]int64{nil, {80, 10}, {20, 90}}, Rows: []int64{0, 90, 110}}
	m := metric.OfLeaves(stump, counts, 1)
	for name, c := range map[string]struct {
		got  *float64
		want float64
	}{
		"accuracy":   {m.Accuracy, .02*.8 + .98*.9},
		"error cost": {m.ExpectedErrorCost, .02*.2*20 + .98*.1},
		"recall":     {m.PerClass[0].Recall, .8},
		"prevalence": {m.PerClass[0].Prevalence, .02},
		"area":       {m.AUCOvRMacro, .8*.9 + (.8*.1+.2*.9)/2},
	} {
		if c.got == nil || math.Abs(*c.got-c.want) > 1e-9 {
			t.Errorf("%s %v, want %v", name, *c.got, c.want)
		}
	}
	if m.Rows != 200 || m.Weights != metric.WeightsByPriors || math.Abs(float64(m.Weight)/m.WeightScale-200) > 1e-6 {
		t.Errorf("%d rows, weight %d in units of %v, by %q", m.Rows, m.Weight, m.WeightScale, m.Weights)
	}
	// The variance of the accuracy is the sum over the classes of prior^2 times the variance of the recall: 100 rows of each.
	spread := math.Sqrt(.02*.02*.8*.2/100 + .98*.98*.9*.1/100)
	if got := m.Intervals.Accuracy.StandardError; got < spread*.9 || got > spread*1.2 {
		t.Errorf("standard error of the accuracy %v, want about %v", got, spread)
	}
	stump.Label.Priors = nil
	plain := metric.OfLeaves(stump, counts, 1)
	if *plain.AUCOvRMacro != *m.AUCOvRMacro || plain.Weights != "" || math.Abs(*plain.Accuracy-.85) > 1e-12 {
		t.Errorf("without priors: area %v, accuracy %v", *plain.AUCOvRMacro, *plain.Accuracy)
	}
}

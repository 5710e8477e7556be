package gate_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/gate"
	"github.com/espalier-ml/espalier/induce/metric"
)

// TestCompare: a metric refuses a tree only if all of its interval is beyond the tolerance. The direction is the
// metric's own.
func TestCompare(t *testing.T) {
	difference := func(low, high float64) *metric.Difference {
		return &metric.Difference{A: 1, B: 1 + (low+high)/2, Difference: (low + high) / 2, Interval: &metric.Interval{Low: low, High: high}}
	}
	limits := gate.Default()
	limits.MaxFlips, limits.MaxCostRatio = 0.5, 1.5
	cost := difference(0.2, 0.6) // ratio 1.4
	for name, c := range map[string]struct {
		auc, loss *metric.Difference
		cost      *metric.Difference
		flips     float64
		refused   int
	}{
		"better":                {difference(0.1, 0.2), difference(-0.2, -0.1), cost, 0.1, 0},
		"AUC is worse":          {difference(-0.2, -0.1), difference(-0.2, -0.1), cost, 0.1, 1},
		"AUC may be equal":      {difference(-0.2, 0), difference(-0.2, -0.1), cost, 0.1, 0},
		"AUC within tolerance":  {difference(-0.2, -0.001), difference(-0.2, -0.1), cost, 0.1, 0},
		"loss is worse":         {difference(0.1, 0.2), difference(0.1, 0.2), cost, 0.1, 1},
		"loss within tolerance": {difference(0.1, 0.2), difference(0.001, 0.2), cost, 0.1, 0},
		"undefined":             {nil, &metric.Difference{Difference: 9}, cost, 0.1, 0},
		"flips and cost":        {nil, nil, difference(0.5, 0.7), 0.6, 2},
	} {
		m := &metric.Paired{AUCOvRMacro: c.auc, LogLoss: c.loss, ExpectedCost: c.cost}
		if got := gate.Refusals(limits.Compare(m, c.flips)); len(got) != c.refused {
			t.Errorf("%s: refused for %q, want %d reasons", name, got, c.refused)
		}
	}
}

// TestAlone: the AUC of a new tree is checked against a limit and against its fall.
func TestAlone(t *testing.T) {
	limits := gate.Default()
	limits.MinAUC = 0.7
	low, high := 0.6, 0.8
	for _, c := range []struct {
		check  gate.Check
		passed bool
	}{
		{limits.CheckAUC(nil), false},
		{limits.CheckAUC(&low), false},
		{limits.CheckAUC(&high), true},
	} {
		if c.check.Passed != c.passed || c.passed == slices.Contains(gate.Refusals([]gate.Check{c.check}), c.check.Text) {
			t.Errorf("%+v, want passed %v", c.check, c.passed)
		}
	}
}

// TestFall: a fall of the AUC beyond the limit of .05 refuses a tree if its whole interval is above 0.
func TestFall(t *testing.T) {
	area := func(x, half float64) *metric.Estimate {
		return &metric.Estimate{Value: x, Interval: metric.Interval{Low: x - half, High: x + half}}
	}
	limits := gate.Default()
	for _, c := range []struct {
		auc, before *metric.Estimate
		refused     int
	}{
		{area(0.8, 0.001), area(0.84, 0.001), 0},
		{area(0.8, 0.001), area(0.86, 0.001), 1},
		{area(0.8, 0.03), area(0.86, 0.04), 1}, // by hand: .06 less .05 is above 0
		{area(0.8, 0.03), area(0.86, 0.06), 0}, // .06 less .067 is not
		{area(0.8, 0.001), area(0.7, 0.001), 0},
		{area(0.8, 0.001), nil, 0},
		{nil, area(0.8, 0.001), 0},
	} {
		if got := gate.Refusals(limits.CheckFall(c.auc, c.before)); len(got) != c.refused {
			t.Errorf("%+v after %+v: refused for %q, want %d reasons", c.auc, c.before, got, c.refused)
		}
	}
}

// TestEqualNights: of nights with equal trees and 200 test rows each, hardly any is refused; of nights whose labels are
// wrong in half of the rows, nearly all are. The true AUC is 3/4: the score of a row is uniform, and the class is likelier the higher it is.
func TestEqualNights(t *testing.T) {
	r := rand.New(rand.NewPCG(56, 14))
	const scores = 20
	night := func(wrong float64) *metric.Estimate {
		leaves := make([]metric.Leaf, scores)
		for i := range leaves {
			p := float64(i) / scores
			leaves[i] = metric.Leaf{Probabilities: []float64{1 - p, p}, Weights: make([]int64, 2)}
		}
		for range 200 {
			at, class := r.IntN(scores), 0
			if r.Float64() < .1+.8*float64(at)/scores != (r.Float64() < wrong) {
				class = 1
			}
			leaves[at].Weights[class]++
			leaves[at].Rows++
		}
		return metric.Area(leaves)
	}
	limits, equal, bad := gate.Default(), 0, 0
	for range 300 {
		before := night(0)
		equal += len(gate.Refusals(limits.CheckFall(night(0), before)))
		bad += len(gate.Refusals(limits.CheckFall(night(.5), before)))
	}
	if equal > 9 || bad < 270 {
		t.Errorf("of 300 nights %d equal ones are refused, and %d with wrong labels; want at most 3 %%, and at least 90 %%", equal, bad)
	}
}

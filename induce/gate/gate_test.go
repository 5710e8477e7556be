package gate_test

import (
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
		{limits.CheckFall(0.8, 0.84), true},
		{limits.CheckFall(0.8, 0.86), false},
		{limits.CheckFall(0.8, 0.7), true},
	} {
		if c.check.Passed != c.passed || c.passed == slices.Contains(gate.Refusals([]gate.Check{c.check}), c.check.Text) {
			t.Errorf("%+v, want passed %v", c.check, c.passed)
		}
	}
}

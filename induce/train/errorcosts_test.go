package train_test

import (
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/train"
)

// exclusive returns rows whose class is whether exactly one of two values is yes, with a few errors: neither of the two
// tells anything alone. A third value tells a little.
func exclusive(n int) []map[string]any {
	r := rand.New(rand.NewPCG(60, 5)) //nolint:gosec // data of a test
	rows := make([]map[string]any, n)
	for i := range rows {
		a, b, wrong := r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(20) == 0
		class := "no"
		if (a != b) != wrong {
			class = "yes"
		}
		rows[i] = map[string]any{"a": a, "b": b, "c": (class == "yes") == (r.IntN(5) < 3), "class": class}
	}
	return rows
}

// TestTotalCost: with error costs, the tree of the least total asks for two values that only tell something together. Its
// validation rows and folds agree that it costs about two tests and an error in twenty rows. Trees of an order that nodes
// have to keep are grown by impurity.
func TestTotalCost(t *testing.T) {
	rows := exclusive(3000)
	s := settings.Default()
	s.Label, s.Certificate, s.Select, s.FreeRepeats = "class", false, frontier.Total, true
	s.Costs = map[string]float64{"a": 0.05, "b": 0.05, "c": 0.05}
	s.ErrorCosts = []settings.ErrorCost{{Actual: "yes", Predicted: "no", Cost: 2}}
	for _, folds := range []int{0, 3} {
		s.Folds.Auto, s.Folds.Number = false, folds
		grown, report, err := train.Train(t.Context(), rows, s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range report.Frontier {
			p := &report.Frontier[i]
			if p.Chosen && (p.Judged.TotalCost == nil || *p.Judged.TotalCost > 0.2) {
				t.Errorf("%d folds: the chosen tree of %d leaves costs more than 0.2 in total: %v", folds, p.Leaves, p.Judged.TotalCost)
			}
		}
		if !grown.Algorithm.ByTotal() {
			t.Errorf("%d folds: the chosen tree is grown by %s", folds, grown.Algorithm.Name)
		}
	}
	s.First = []string{"c"}
	grown, _, err := train.Train(t.Context(), rows, s)
	if err != nil {
		t.Fatal(err)
	}
	if grown.Algorithm.Objective != "" {
		t.Error("a tree whose root has to test a feature is grown by the total")
	}
}

// TestTotalCostWithoutFeatures: if all features are constant, the tree is a single leaf.
func TestTotalCostWithoutFeatures(t *testing.T) {
	rows := exclusive(300)
	for i := range rows {
		rows[i] = map[string]any{"a": true, "class": rows[i]["class"]}
	}
	s := settings.Default()
	s.Label = "class"
	s.ErrorCosts = []settings.ErrorCost{{Actual: "yes", Predicted: "no", Cost: 2}}
	grown, _, err := train.Train(t.Context(), rows, s)
	if err != nil || len(grown.Nodes) != 1 {
		t.Errorf("%v: want a single leaf", err)
	}
}

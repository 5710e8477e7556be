package metric_test

import (
	"testing"

	"github.com/espalier-ml/espalier/induce/metric"
)

// TestPlus: sums of figures and changes stay in the range of the figure.
func TestPlus(t *testing.T) {
	judged := metric.Judgement{AUC: new(0.9), LogLoss: new(0.1), Accuracy: new(0.5)}
	got := judged.Plus(metric.Judgement{AUC: new(0.2), LogLoss: new(-0.2), ErrorCost: new(1.)})
	if *got.AUC != 1 || *got.LogLoss != 0 || *got.Accuracy != 0.5 || got.ErrorCost != nil {
		t.Errorf("AUC %v, log loss %v, accuracy %v, cost %v; want 1, 0, 0.5, nil", *got.AUC, *got.LogLoss, *got.Accuracy, got.ErrorCost)
	}
}

package textview_test

import (
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
)

// TestCostsOnFolds: without test and validation rows, the costs of errors are costs on the folds, with the optimism of the
// choice, and not costs on the rows that grew the tree. Without folds the rows are named. By hand: 1.2 + .1 and 1.25 + .1.
func TestCostsOnFolds(t *testing.T) {
	m := metric.Metrics{
		Rows: 1000, Weight: 1000, ExpectedCost: new(.05), ExpectedErrorCost: new(.9),
		PerClass: []metric.Class{{Class: "no", Support: 333}, {Class: "yes", Support: 667}},
	}
	run := &runfolder.Run{Tree: every(), Metrics: &runfolder.Metrics{Train: &m}}
	run.Tree.Label.ErrorCosts = [][]float64{{0, 1}, {20, 0}}
	said := func() string {
		return strings.Join((&textview.Overview{Run: run}).Quality(), " ")
	}
	if text := said(); !strings.Contains(text, "errors cost 0.9 per row in training") {
		t.Errorf("without folds: %s", text)
	}
	run.Frontier = &runfolder.Frontier{Folds: 5, Points: []runfolder.Point{{
		Selected: true, ExpectedErrorCost: new(1.2), ExpectedTotalCost: new(1.25), TotalOptimism: new(.1),
	}}}
	run.Frontier.Points[0].Leaves = 4
	text := said()
	for _, want := range []string{"errors cost 1.3 per row on the folds", "together cost 1.35 per row on the folds"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

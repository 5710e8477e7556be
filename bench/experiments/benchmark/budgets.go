package benchmark

import (
	"context"
	"crypto/rand"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// FrontierPoint is a tree of the frontier of a preset.
type FrontierPoint struct {
	Cost  float64 `json:"cost"`  // expected, of the training rows
	Merit float64 `json:"merit"` // that trees are chosen by: no test row takes part in it
	AUC   float64 `json:"auc"`   // on the test rows
}

// frontier trains with the preset of the budgets, where each test costs 1.
func (w *work) frontier(ctx context.Context, s *Split) error {
	if w.config.Budgets == BudgetsNone {
		return nil
	}
	t, err := presetConfig(w.config, w.set, s, w.config.Budgets)
	if err != nil {
		return err
	}
	scratch := "mem://espalier-" + rand.Text()
	defer w.files.Store.RemoveAll(context.WithoutCancel(ctx), scratch) //nolint:errcheck // scratch in memory
	t.Output = objectstore.Join(scratch, "run")
	t.Report = config.ReportNone
	t.Certificate = false
	t.FrontierStep = 0.0002 // the answers of --max_expected_cost, without a training for each budget
	r, err := train.Train(ctx, t, engine.Silent{})
	if err != nil || r.Frontier == nil {
		return err
	}
	for i := range r.Frontier.Points {
		p := &r.Frontier.Points[i]
		if p.Test.AUC != nil {
			s.Frontier = append(s.Frontier, FrontierPoint{Cost: p.ExpectedCost, Merit: p.Merit, AUC: *p.Test.AUC})
		}
	}
	return nil
}

// answer returns the point of the highest merit within a budget, of equals the cheapest. Without
// any it is a leaf, whose AUC is 0.5. The points ascend in cost.
func answer(points []FrontierPoint, budget float64) FrontierPoint {
	best := FrontierPoint{Merit: 0.5, AUC: 0.5}
	for _, p := range points {
		if p.Cost <= budget && p.Merit > best.Merit {
			best = p
		}
	}
	return best
}

package pipelines

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// foldsWanted returns the number of folds. If the data decide against folds, a note
// says why.
func (c *choosing) foldsWanted(validation *tree.LeafCounts) int {
	rare, objects := crossvalidate.Rarest(validation, c.classes), c.train.Objects
	d := c.selection.Folds.Decide(rare, float64(objects))
	switch d.Reason {
	case crossvalidate.Enough:
		c.driver.Reporter.Note(fmt.Sprintf("--folds auto: no cross-validation, as the validation rows have %.0f of "+
			"the rarest class, and %d are enough", rare, crossvalidate.EnoughRows))
	case crossvalidate.TooMany:
		c.driver.Reporter.Note(fmt.Sprintf("--folds auto: no cross-validation, as %d training objects are more "+
			"than %d, though the validation rows have only %.0f of the rarest class: "+
			"--folds %d cross-validates all the same",
			objects, crossvalidate.MostAuto, rare, crossvalidate.AutoFolds))
	case crossvalidate.Asked, crossvalidate.RareRows:
	}
	bytes := objects * int64(dataset.NewLayout(c.features).Stride)
	if d.Folds > 0 && bytes > crossvalidate.MaxBytes {
		c.driver.Reporter.Note(fmt.Sprintf("--folds %s: no cross-validation, as it takes all training objects in "+
			"memory, %d MiB, and at most %d MiB are allowed", c.config.Folds, bytes>>20, int64(crossvalidate.MaxBytes)>>20))
		return 0
	}
	return d.Folds
}

// crossValidate grows the trees of the folds, and sets the mean areas of the pool's
// points.
func (c *choosing) crossValidate(ctx context.Context, pool *frontier.Pool, number int) ([]crossvalidate.Fold, error) {
	if number == 0 {
		return nil, nil
	}
	weight := crossvalidate.Weight(c.train.Weight, pool, number)
	work := func(s *parallel.Steps) ([]crossvalidate.Fold, error) {
		g, err := c.growth(ctx, number)
		if err != nil {
			return nil, err
		}
		return g.Grow(ctx, pool, &s.Done)
	}
	folds, err := engine.Compute(ctx, c.driver, "folds", weight, "weight settled", work)
	if err != nil {
		return nil, err
	}
	crossvalidate.SetAreas(folds, pool)
	return folds, nil
}

// growth returns from what the trees of the folds are grown.
func (c *choosing) growth(ctx context.Context, folds int) (*crossvalidate.Growth, error) {
	objects, err := c.rows.objects(ctx)
	if err != nil {
		return nil, err
	}
	return &crossvalidate.Growth{
		Objects: objects, Columns: c.columns, Folds: folds, Seed: c.config.Seed, Model: c.model, Memory: c.memory,
		Transfer: c.transfer,
	}, nil
}

// foldsReport compares the chosen tree with its counterparts of the folds; nil without
// counterparts.
func foldsReport(t *tree.Tree, counterparts []crossvalidate.Counterpart) *runfolder.Folds {
	if len(counterparts) == 0 {
		return nil
	}
	r := &runfolder.Folds{Count: len(counterparts), Stability: crossvalidate.Stability(t, counterparts)}
	for _, p := range counterparts {
		r.Each = append(r.Each, runfolder.FoldFigures{
			Rows: p.Rows, AUCOvRMacro: p.Score.AUC, Accuracy: p.Score.Accuracy, ExpectedCost: p.Score.ExpectedCost,
			ExpectedBilledCost: p.Score.ExpectedBilledCost, Leaves: p.Tree.Complexity.Leaves,
		})
	}
	r.FillMeans()
	return r
}

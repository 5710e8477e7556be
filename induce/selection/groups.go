package selection

import (
	"context"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// MostMeasured is the number of objects of a part up to which intervals by group are computed, as all
// objects must be in memory. Larger parts have no intervals.
const MostMeasured = 1 << 22

// EffectsOf returns the design effects of a tree on grouped objects. The result is empty for objects
// without groups.
func EffectsOf(t *tree.Tree, o *dataset.Objects) *metric.Effects {
	if !o.Grouped() {
		return new(metric.Effects)
	}
	return metric.NewEffects(t, t.CountGroups(o))
}

// setEffects makes the pool compute intervals by group, if rows have keys.
func (c *Chooser) setEffects(ctx context.Context, pool *frontier.Pool) error {
	if c.Grouped == nil {
		return nil
	}
	var objects [dataset.Parts]*dataset.Objects
	for _, part := range []dataset.Part{dataset.Validation, dataset.Test} {
		var err error
		if objects[part], err = c.Grouped(ctx, part); err != nil {
			return err
		}
	}
	if objects[dataset.Validation].Len() == 0 { // then the design effect on the training rows is used
		var err error
		if objects[dataset.Validation], err = c.Objects(ctx); err != nil {
			return err
		}
	}
	pool.Effects = func(t *tree.Tree, part dataset.Part) *metric.Effects { return EffectsOf(t, objects[part]) }
	return nil
}

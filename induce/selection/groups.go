package selection

import (
	"context"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/tree"
)

// MostMeasured is the number of objects of a part up to which intervals follow from the groups of rows, as all
// objects must be in memory. Larger parts have no intervals if rows have keys.
const MostMeasured = 1 << 22

// Grouping reads the objects of parts with the groups of their rows, or the classes of their weights.
type Grouping struct {
	Keyed        bool    // whether rows have keys
	WeightEffect float64 // design effect of the weights, for objects without the classes of their weights
	// Objects returns the objects of a part, without groups if they are not known. It is called several times.
	Objects func(ctx context.Context, part dataset.Part) (*dataset.Objects, error)
}

// Counts returns how far the rows of objects are independent, counted by the leaves of a tree. Without groups,
// intervals of rows with keys are not defined.
func (g *Grouping) Counts(t *tree.Tree, o *dataset.Objects) *tree.GroupCounts {
	if o == nil || !o.Grouped() {
		return &tree.GroupCounts{Keyed: g.Keyed, WeightEffect: g.WeightEffect}
	}
	return t.CountGroups(o, g.Keyed)
}

// setGroups makes the pool compute intervals of rows in groups, or with weights.
func (c *Chooser) setGroups(ctx context.Context, pool *frontier.Pool) error {
	if c.Grouped == nil {
		return nil
	}
	var objects [dataset.Parts]*dataset.Objects
	for _, part := range []dataset.Part{dataset.Validation, dataset.Test} {
		var err error
		if objects[part], err = c.Grouped.Objects(ctx, part); err != nil {
			return err
		}
	}
	if c.Grouped.Keyed && objects[dataset.Validation].Len() == 0 { // then the design effect on the training rows is used
		var err error
		if objects[dataset.Validation], err = c.Objects(ctx); err != nil {
			return err
		}
	}
	pool.Groups = func(t *tree.Tree, part dataset.Part) *tree.GroupCounts { return c.Grouped.Counts(t, objects[part]) }
	return nil
}

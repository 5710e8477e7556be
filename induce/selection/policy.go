package selection

import (
	"context"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// deepest is the depth up to which policies are also grown with the errors of the training rows as they are.
const deepest = 3

// growPolicy grows trees of the grid again, by the total cost of tests and errors: see package policy. The result is empty
// if errors have no costs, if nothing is to be chosen, if the rule compares trees of one method only, if there are too many
// training objects to have them in memory, if nodes have to test given features or to keep an order, if
// values are unordered, or
// if no member has tests of thresholds. The theta is the least of the grid.
func (c *Chooser) growPolicy(ctx context.Context, members []grid.Member, o inmemory.Options) (*Regrown, error) {
	cuts := func(m grid.Member) bool { return m.Params.Family != split.OneHot }
	bound := func(f split.Column) bool { return f.First > 0 || f.Monotone != 0 || f.Unordered }
	if c.Losses.ErrorCosts == nil || !c.Settings.Undecided(2) || c.Settings.Rule == frontier.Paper ||
		c.Training.Objects > mostTaught || slices.ContainsFunc(c.Columns, bound) || !slices.ContainsFunc(members, cuts) {
		return new(Regrown), nil
	}
	least := 1.0 // theta
	for i := range members {
		least = min(least, members[i].Params.Theta)
	}
	whole := members[0].Policy(c.Losses.Losses(), least)
	policies := []grid.Member{whole}
	for depth := 1; depth <= deepest && (whole.Params.MaxDepth == 0 || depth <= whole.Params.MaxDepth); depth++ {
		policies = append(policies, whole.Shallow(depth))
	}
	return compute(ctx, c.Host, "policy", int64(len(policies)), "trees", func(s *parallel.Steps) (*Regrown, error) {
		objects, err := c.Objects(ctx)
		if err != nil {
			return nil, err
		}
		t := &Regrown{Members: policies}
		for i := range policies {
			t.Trees = append(t.Trees, inmemory.Grow(objects, c.Columns, policies[i].Params, c.Training.Weight, o))
			s.Done.Add(1)
		}
		return t, context.Cause(ctx)
	})
}

// LossesOf returns what errors cost, for Chooser.
func LossesOf(l *tree.Label) induce.LossTable {
	return induce.LossTable{ErrorCosts: l.ErrorCosts, Priors: l.Priors}
}

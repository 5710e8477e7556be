package selection

import (
	"context"
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// mostTaught is the number of training objects up to which the data decide for a teacher, which needs all of them in
// memory. Trees gain the most from it if there are few objects.
const mostTaught = crossvalidate.MostAuto

// toTeach returns the members of the grid that are also to be grown from a teacher's transfer set; none if
// no teacher is wanted. soft reports whether the training objects are soft. If the settings ask for a
// teacher but none is wanted, a note gives the reason.
//
// If the data decide and leaves have no models, no tree is taught: trees without models keep the class shares of their
// rows and the guarantee of the paper.
func (c *Chooser) toTeach(members []grid.Member, soft bool) []grid.Member {
	t := &c.Settings.Teacher
	chosen := c.Settings.Undecided(2)
	switch {
	case t.Kind == distill.None, len(c.Features) == 0, c.Classes < 2:
		return nil
	case t.Kind == distill.Boosted && !chosen:
		c.Host.Warn(c.Host.Setting("teacher") + " " + string(t.Kind) +
			": no tree is taught, as there are no validation rows and no folds to judge it by")
		return nil
	case t.Kind == distill.Boosted:
		return c.distinct(members)
	case soft, !chosen, c.Settings.LeafModel == None, c.Training.Objects > mostTaught:
		return nil
	case c.Settings.Constrained:
		c.leftOut("teacher", "no tree is taught, as a teacher")
		return nil
	default:
		return c.distinct(members)
	}
}

// distinct returns the members that are taught, of those that may be. Beyond fewObjects training objects, they
// differ in more than theta and the family of tests: the first member of each kind is taught.
func (c *Chooser) distinct(members []grid.Member) []grid.Member {
	if c.Training.Objects <= fewObjects {
		return members
	}
	var list []grid.Member
	for _, m := range members {
		alike := func(other grid.Member) bool {
			p := other.Params
			p.Theta = m.Params.Theta
			p.Family = m.Params.Family
			return p == m.Params
		}
		if !slices.ContainsFunc(list, alike) {
			list = append(list, m)
		}
	}
	return list
}

// Regrown has trees of the grid that were grown again.
type Regrown struct {
	Members  []grid.Member // the members of the grid, with their features and their teacher
	Trees    [][]tree.Node // their nodes
	Training *dataset.Objects
	Transfer *distill.TransferSet // nil without a teacher
}

// Regrow grows trees of the grid again: first from selected features, see growConfined, and by the total cost, see
// growPolicy; then these and the first ones from the transfer set of a teacher, if one is wanted. soft reports whether
// the training objects are soft.
func (c *Chooser) Regrow(ctx context.Context, members []grid.Member, soft bool, o inmemory.Options) (*Regrown, error) {
	confined, err := c.growConfined(ctx, members, o)
	if err != nil {
		return nil, err
	}
	taught := c.toTeach(slices.Concat(members, confined.Members), soft)
	policy, err := c.growPolicy(ctx, members, o)
	if err != nil {
		return nil, err
	}
	r := new(Regrown)
	if len(taught) > 0 {
		if r, err = c.teach(ctx, slices.Concat(taught, policy.Members), o); err != nil {
			return nil, err
		}
	}
	r.Members = slices.Concat(confined.Members, policy.Members, r.Members)
	r.Trees = slices.Concat(confined.Trees, policy.Trees, r.Trees)
	return r, nil
}

// teach grows trees of the grid again, from the transfer set of a teacher: see toTeach. The growth ends
// early if the options' Stop returns true. The result is nil if the context ends first.
func (c *Chooser) teach(ctx context.Context, members []grid.Member, o inmemory.Options) (*Regrown, error) {
	what := int64(len(members))
	return compute(ctx, c.Host, "teacher", what, "trees", func(s *parallel.Steps) (*Regrown, error) {
		training, err := c.Objects(ctx)
		if err != nil {
			return nil, err
		}
		t := &Regrown{Training: training}
		teacher := c.teacher()
		teacher.Stop = func() bool { return ctx.Err() != nil }
		if t.Transfer = teacher.NewTransferSet(training); t.Transfer == nil {
			return nil, context.Cause(ctx)
		}
		params := make([]induce.Params, len(members))
		for i, m := range members {
			params[i] = m.Params
			m.Algorithm.Teacher = string(distill.Boosted)
			t.Members = append(t.Members, m)
		}
		t.Trees = t.Transfer.Grow(c.Columns, params, o)
		s.Done.Store(what)
		return t, context.Cause(ctx)
	})
}

// teacher returns the settings of the teacher.
func (c *Chooser) teacher() distill.Config {
	t := &c.Settings.Teacher
	config := distill.Config{
		Features: c.Features, Share: t.Weight, Seed: c.Settings.Seed, Scale: c.Training.Scale,
		Workers: runtime.GOMAXPROCS(0),
	}
	if t.MadeUp != nil {
		config.MadeUp = int(*t.MadeUp)
	} else {
		const each, most = 5, 50_000
		config.MadeUp = int(min(each*c.Training.Objects, most))
	}
	return config
}

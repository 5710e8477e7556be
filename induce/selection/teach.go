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
	"github.com/espalier-ml/espalier/induce/memory"
	"github.com/espalier-ml/espalier/induce/parallel"
)

// mostTaught is the number of training objects up to which a teacher is used by default: it needs
// all objects in memory, and trees gain the most from it if there are few objects.
const mostTaught = crossvalidate.MostAuto

// WantsTeacher reports whether trees are also to be grown from a teacher's transfer set. soft reports
// whether the training objects are soft. If the settings ask for a teacher but none is wanted, a note
// gives the reason.
func (c *Chooser) WantsTeacher(soft bool) bool {
	t := &c.Settings.Teacher
	chosen := c.Settings.Undecided(2)
	switch {
	case t.Kind == distill.None, len(c.Features) == 0, c.Classes < 2:
		return false
	case t.Kind == distill.Boosted && !chosen:
		c.Host.Note(c.Host.Setting("teacher") + " " + string(t.Kind) +
			": no tree is taught, as there are no validation rows to judge it by")
		return false
	case t.Kind == distill.Boosted:
		return true
	case !chosen || c.Training.Objects > mostTaught || soft:
		return false
	case c.Settings.Constrained:
		c.leftOut("teacher", "no tree is taught, as a teacher")
		return false
	default:
		return true
	}
}

// Taught has trees that were grown from a transfer set.
type Taught struct {
	Training *dataset.Objects
	Transfer *distill.TransferSet
	Members  []grid.Member // the members of the grid that were taught, with their teacher
	Roots    []*induce.Node
}

// taught returns the members of the grid that are grown from a transfer set as well. Beyond fewObjects training
// objects, they differ in more than theta and the family of tests: the first member of each kind is taught.
func (c *Chooser) taught(members []grid.Member) []grid.Member {
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

// Teach grows trees of the grid again, from the transfer set of a teacher. The growth ends early
// if the options' Stop returns true. The result is nil if the context ends first.
func (c *Chooser) Teach(ctx context.Context, members []grid.Member, o memory.Options) (*Taught, error) {
	members = c.taught(members)
	what := int64(len(members))
	return compute(ctx, c.Host, "teacher", what, "trees", func(s *parallel.Steps) (*Taught, error) {
		training, err := c.Objects(ctx)
		if err != nil {
			return nil, err
		}
		t := &Taught{Training: training}
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
		t.Roots = t.Transfer.Grow(c.Columns, params, o)
		s.Done.Store(what)
		return t, context.Cause(ctx)
	})
}

// teacher returns the settings of the teacher.
func (c *Chooser) teacher() distill.Config {
	t := &c.Settings.Teacher
	config := distill.Config{
		Features: c.Features, Share: t.Weight, Seed: c.Settings.Seed, Scale: c.Training.Scale,
		MadeUp: int(t.MadeUp), Workers: runtime.GOMAXPROCS(0),
	}
	if t.MadeUp < 0 {
		const each, most = 5, 50_000
		config.MadeUp = int(min(each*c.Training.Objects, most))
	}
	return config
}

package pipelines

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// grown are the trees of the grid, or as many of them as there was time for.
type grown struct {
	*objects

	members []config.Member // of the grid
	roots   []*induce.Node  // their trees
	passes  int64           // times that jobs have read all training objects
}

// progress is how far the trees of the grid have been grown.
type progress struct {
	roots []*induce.Node // the finished trees, in the order of the grid
	next  *levels.Growth // of the next tree; nil: all trees are finished
}

// grower grows the trees of the grid, all in one job if each fits the memory budget, else
// one after the other.
type grower struct {
	*run
	*objects

	members   []config.Member // of the grid; fewer if the deadline came first
	progress  progress
	passes    int64         // times that jobs have read all training objects
	levelTook time.Duration // by the last level
}

// grow grows the trees of the grid on from a progress. It saves the progress after each level
// and each tree.
func (r *run) grow(ctx context.Context, o *objects, from progress) (*grown, error) {
	g := &grower{run: r, objects: o, members: r.parsed.Grid, progress: from}
	for g.progress.next != nil {
		if err := g.finishNext(ctx); err != nil {
			return nil, err
		}
		if err := r.journal.save(ctx, o, g.progress); err != nil {
			return nil, err
		}
	}
	return &grown{objects: o, members: g.members, roots: g.progress.roots, passes: g.passes}, nil
}

// begin returns the progress before any tree is grown.
func (r *run) begin(o *objects) progress {
	train := o.train()
	return progress{next: levels.NewGrowth(train.ClassObjects, train.ClassWeight, r.config.MemoryObjects)}
}

// finishNext finishes the next tree, and all trees after it if one job can grow them together.
func (g *grower) finishNext(ctx context.Context) error {
	if err := g.settleLarge(ctx); err != nil {
		return err
	}
	next := g.progress.next
	roots := []*induce.Node{next.Root}
	if len(next.Small) > 0 {
		var err error
		if roots, err = g.growSmall(ctx); err != nil {
			return err
		}
	}
	done := slices.Concat(g.progress.roots, roots)
	g.progress = progress{roots: done}
	switch {
	case len(done) == len(g.members):
	case g.late():
		g.driver.Reporter.Warn(fmt.Sprintf(
			"--deadline came first: %d of %d trees were grown", len(done), len(g.members)))
		g.members = g.members[:len(done)]
	default:
		g.progress.next = g.begin(g.objects).next
	}
	return nil
}

// columns returns the features as the scan for tests needs them, with their constraints.
func (p *plan) columns(features []dataset.Feature) []split.Column {
	columns := split.Columns(features)
	for i := range columns {
		name := features[i].Name
		columns[i].FreeRepeats = p.config.RepeatCost == tree.RepeatFree
		columns[i].First = slices.Index(p.config.First, name) + 1
		columns[i].Monotone = p.parsed.Monotone[name]
	}
	return columns
}

// growConfig returns the settings that all jobs share in growing a member of the grid.
func (r *run) growConfig(o *objects, m config.Member) jobs.GrowConfig {
	train := o.train()
	return jobs.GrowConfig{
		Setting: levels.Setting{
			Params: m.Params, Columns: r.columns(o.features), Classes: len(o.label.Classes),
			Total: train.Weight, Heaviest: train.Heaviest,
		},
		Weighted: o.spec.Weighted(), Widths: o.layout().Widths, Workers: r.driver.Workers(), Run: r.files.Run.Name(),
	}
}

// next returns the settings of the jobs that grow the next tree; if all trees are finished,
// of the jobs that grew the last one.
func (g *grower) next() jobs.GrowConfig {
	return g.growConfig(g.objects, g.members[min(len(g.progress.roots), len(g.members)-1)])
}

func (g *grower) smallConfig() jobs.SmallConfig {
	c := jobs.SmallConfig{GrowConfig: g.next(), Spill: g.spill("grow"), Deadline: g.growUntil()}
	for _, m := range g.members[len(g.progress.roots):] {
		c.Trees = append(c.Trees, m.Params)
	}
	if !g.driver.Local() { // an engine has workers for each tree
		c.Together = 1
	}
	c.Out = g.newFolder("grow")
	return c
}

// growSmall gathers the objects of each small open node in one worker, which grows the node to
// the end. If the root itself is small, the job grows all trees that are left. growSmall
// returns the roots of the trees.
func (g *grower) growSmall(ctx context.Context) ([]*induce.Node, error) {
	small, next := g.smallConfig(), g.progress.next
	if next.Root.Test != nil {
		small.Trees = small.Trees[:1]
	}
	defer g.removeAll(context.WithoutCancel(ctx), small.Out, small.Spill) //nolint:errcheck // scratch
	if err := jobs.WriteSmall(ctx, &small, next, max(jobs.PartitionObjects, g.config.MemoryObjects)); err != nil {
		return nil, err
	}
	total := int64(len(small.Trees)) * next.Weight()
	settled := func(p *jobs.Progress) (int64, string) {
		return p.Weight.Load(), fmt.Sprintf("%d leaves", p.Nodes.Load())
	}
	what := engine.Job{Name: "induce", Total: total, Unit: "weight settled", Done: settled}
	err := g.driver.Run(ctx, what, g.tasks(dataset.Train), func(s beam.Scope, tasks beam.PCollection) {
		jobs.Grow(s, tasks, small)
	})
	if err != nil {
		return nil, err
	}
	g.passes++
	var roots []*induce.Node
	err = g.driver.Phase(ctx, "collect", 1, "trees", func(*parallel.Steps) (err error) {
		roots, err = jobs.ReadGrown(ctx, &small)
		return err
	})
	if err != nil {
		return nil, err
	}
	if next.Root.Test == nil {
		return roots, nil
	}
	for i, o := range next.Small {
		*o.Node = *roots[i]
	}
	return []*induce.Node{next.Root}, nil
}

package pipelines

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// induce grows the trees of the grid, all in one job if each fits the memory
// budget, else one after the other. It goes on from a checkpoint, or from the
// root if there is none.
func (t *training) induce(ctx context.Context, c *checkpoint) error {
	g, err := t.start(ctx, c)
	for err == nil && g != nil {
		if g, err = t.growNext(ctx, g); err == nil {
			err = t.save(ctx, g)
		}
	}
	return err
}

// growNext finishes a growth, and with it as many trees as one job can grow. It
// returns the growth of the next tree, nil after the last.
func (t *training) growNext(ctx context.Context, g *levels.Growth) (*levels.Growth, error) {
	g, err := t.settle(ctx, g)
	if err != nil {
		return nil, err
	}
	roots := []*induce.Node{g.Root}
	if len(g.Small) > 0 {
		if roots, err = t.grow(ctx, g); err != nil {
			return nil, err
		}
	}
	if t.roots = append(t.roots, roots...); len(t.roots) == len(t.grid) {
		return nil, nil //nolint:nilnil // all trees are grown
	}
	if t.late() {
		t.driver.Reporter.Warn(fmt.Sprintf("--deadline came first: %d of %d trees were grown", len(t.roots), len(t.grid)))
		t.grid = t.grid[:len(t.roots)]
		return nil, nil //nolint:nilnil // no time for more
	}
	return t.root(), nil
}

// settle grows levels of jobs while nodes exceed the memory budget.
func (t *training) settle(ctx context.Context, g *levels.Growth) (*levels.Growth, error) {
	grower := levels.NewGrower(t.growConfig().Setting)
	for len(g.Large) > 0 {
		if t.late() {
			return g, t.closeLarge(ctx, g, grower)
		}
		start := time.Now()
		var err error
		if g, err = t.advance(ctx, g, grower); err != nil {
			return nil, err
		}
		t.levelTook = time.Since(start)
		if err := t.save(ctx, g); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// root returns the growth of a tree of which nothing is grown.
func (t *training) root() *levels.Growth {
	train := &t.objects[dataset.Train]
	return levels.NewGrowth(train.ClassObjects, train.ClassWeight, t.config.MemoryObjects)
}

// start returns the growth to go on with, nil if all trees are grown.
func (t *training) start(ctx context.Context, c *checkpoint) (*levels.Growth, error) {
	if c == nil {
		g := t.root()
		return g, t.save(ctx, g)
	}
	t.roots = c.Grown
	if c.Growth != nil {
		c.Growth.Redeal(t.config.MemoryObjects) // by the budget of this run
	}
	return c.Growth, nil
}

// advance grows the large nodes by a level, or by several if one job is to do so
// and a single pass counts the first.
func (t *training) advance(ctx context.Context, g *levels.Growth, grower *levels.Grower) (*levels.Growth, error) {
	memory := t.config.HistogramMemory
	passes := grower.Passes(g, memory)
	if t.config.LevelsPerJob > 1 && len(passes) == 1 {
		return t.unroll(ctx, g, &passes[0], grower)
	}
	name, keep := fmt.Sprintf("level %d", g.Large[0].Depth), memory
	if t.config.LevelsPerJob > 1 { // its workers do not see the driver's histograms
		keep = 0
	}
	children, err := grower.Expand(g, passes, keep, runtime.GOMAXPROCS(0), func(p *levels.Pass) (*levels.Counts, error) {
		return t.count(ctx, g, p, grower, name)
	})
	if err != nil {
		return nil, err
	}
	g.Next(children, t.config.MemoryObjects)
	return g, nil
}

// count runs a job that counts all objects for one pass.
func (t *training) count(ctx context.Context, g *levels.Growth, p *levels.Pass, grower *levels.Grower, name string) (*levels.Counts, error) {
	config := t.levelConfig(1)
	defer t.files.Store.RemoveAll(context.WithoutCancel(ctx), config.Out) //nolint:errcheck // scratch
	if err := t.level(ctx, &config, &jobs.LevelState{Growth: g, Pass: p}, name); err != nil {
		return nil, err
	}
	t.objectPasses++
	return jobs.ReadCounts(ctx, grower, p, config.Out, 0)
}

// unroll runs a job of several levels.
func (t *training) unroll(ctx context.Context, g *levels.Growth, p *levels.Pass, grower *levels.Grower) (*levels.Growth, error) {
	config := t.levelConfig(t.config.LevelsPerJob)
	defer t.files.Store.RemoveAll(context.WithoutCancel(ctx), config.Out) //nolint:errcheck // scratch
	depth := g.Large[0].Depth
	name := fmt.Sprintf("levels %d to %d", depth, depth+config.Levels-1)
	if err := t.level(ctx, &config, &jobs.LevelState{Growth: g, Pass: p}, name); err != nil {
		return nil, err
	}
	state, level, err := jobs.ReadLevel(ctx, &config)
	t.objectPasses += int64(level)
	if err != nil || state.Pass == nil {
		return state.Growth, err
	}
	t.objectPasses++
	g = state.Growth
	children, err := grower.Expand(g, grower.Passes(g, config.Memory), 0, runtime.GOMAXPROCS(0), func(p *levels.Pass) (*levels.Counts, error) {
		return jobs.ReadCounts(ctx, grower, p, config.Out, level)
	})
	if err != nil {
		return nil, err
	}
	g.Next(children, config.Budget)
	return g, nil
}

func (t *training) levelConfig(levels int) jobs.LevelConfig {
	c := jobs.LevelConfig{
		GrowConfig: t.growConfig(), Levels: levels, Budget: t.config.MemoryObjects, Memory: t.config.HistogramMemory,
	}
	c.Out = t.newFolder("level")
	return c
}

// level runs one job of levels.
func (t *training) level(ctx context.Context, config *jobs.LevelConfig, state *jobs.LevelState, name string) error {
	tasks := t.blockTasks(dataset.Train)
	if err := jobs.WriteLevel(ctx, config, state, tasks); err != nil {
		return err
	}
	what := engine.Job{Name: name, Total: int64(len(tasks) * config.Levels), Unit: fmt.Sprintf("blocks, %d open nodes", len(state.Growth.Large)), Done: engine.TasksDone}
	return t.driver.Run(ctx, what, tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.Level(s, tasks, *config)
	})
}

// partitionObjects is the number of objects that one worker has at least, so
// that small nodes do not each get a file of their own.
const partitionObjects = 1 << 16

func (t *training) smallConfig() jobs.SmallConfig {
	c := jobs.SmallConfig{GrowConfig: t.growConfig(), Spill: t.spill("grow"), Deadline: t.growUntil()}
	for _, m := range t.grid[len(t.roots):] {
		c.Trees = append(c.Trees, m.params)
	}
	if !t.driver.Local() { // which has workers for each
		c.Together = 1
	}
	c.Out = t.newFolder("grow")
	return c
}

// grow gathers the objects of small open nodes and grows each in one worker, and
// with the root all trees that are left. It returns their roots.
func (t *training) grow(ctx context.Context, g *levels.Growth) ([]*induce.Node, error) {
	config := t.smallConfig()
	if g.Root.Test != nil {
		config.Trees = config.Trees[:1]
	}
	defer t.removeAll(context.WithoutCancel(ctx), config.Out, config.Spill) //nolint:errcheck // scratch
	if err := jobs.WriteSmall(ctx, &config, g, max(partitionObjects, t.config.MemoryObjects)); err != nil {
		return nil, err
	}
	what := engine.Job{Name: "induce", Total: int64(len(config.Trees)) * g.Weight(), Unit: "weight settled", Done: func(p *jobs.Progress) (int64, string) {
		return p.Weight.Load(), fmt.Sprintf("%d leaves", p.Nodes.Load())
	}}
	err := t.driver.Run(ctx, what, t.blockTasks(dataset.Train), func(s beam.Scope, tasks beam.PCollection) {
		jobs.Grow(s, tasks, config)
	})
	if err != nil {
		return nil, err
	}
	t.objectPasses++
	var grown []*induce.Node
	err = t.driver.Phase(ctx, "collect", 1, "trees", func(*parallel.Steps) (err error) {
		grown, err = jobs.ReadGrown(ctx, &config)
		return err
	})
	if err != nil {
		return nil, err
	}
	if g.Root.Test == nil {
		return grown, nil
	}
	for i, o := range g.Small {
		*o.Node = *grown[i]
	}
	return []*induce.Node{g.Root}, nil
}

// newFolder returns a scratch folder that no job has written to.
func (t *training) newFolder(name string) string {
	return fmt.Sprintf("%s/%s-%d", t.scratch, name, len(t.driver.Timings))
}

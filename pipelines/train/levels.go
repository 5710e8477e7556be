package train

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/bylevel"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// settleLarge grows levels by jobs while nodes exceed the memory budget.
func (g *grower) settleLarge(ctx context.Context) error {
	level := bylevel.NewGrower(g.growSetting())
	for len(g.growth.Large) > 0 {
		if g.late() {
			return g.closeLarge(ctx, level)
		}
		start := time.Now()
		if err := g.advance(ctx, level); err != nil {
			return err
		}
		g.levelTook = time.Since(start)
		if err := g.journal.saveSoon(ctx, g.objects, g.growth); err != nil {
			return err
		}
	}
	return nil
}

// advance grows the large nodes by one level, or by several levels in one job if --levels_per_job
// is above 1 and one pass counts the first of these levels.
func (g *grower) advance(ctx context.Context, level *bylevel.Grower) error {
	memory := g.histogramMemory()
	passes := level.Passes(g.growth, memory)
	if g.levelsPerJob() > 1 && len(passes) == 1 {
		return g.unroll(ctx, &passes[0], level)
	}
	name := fmt.Sprintf("level %d", g.growth.Large[0].Depth)
	keep := memory
	if g.levelsPerJob() > 1 { // its workers do not see the driver's histograms
		keep = 0
	}
	count := func(p *bylevel.Pass) (*bylevel.Counts, error) { return g.count(ctx, p, level, name) }
	children, err := level.Expand(g.growth, passes, keep, runtime.GOMAXPROCS(0), count)
	if err != nil {
		return err
	}
	g.growth.Next(children, g.budget)
	return nil
}

// count runs a job that counts all objects for one pass.
func (g *grower) count(ctx context.Context, p *bylevel.Pass, level *bylevel.Grower, name string) (*bylevel.Counts, error) {
	wanted := g.levelConfig(1)
	defer g.files.Store.RemoveAll(context.WithoutCancel(ctx), wanted.Out) //nolint:errcheck // scratch
	if err := g.runLevels(ctx, &wanted, &jobs.LevelState{Pass: p}, name); err != nil {
		return nil, err
	}
	g.passes++
	return jobs.ReadCounts(ctx, &wanted, level, p, 0)
}

// unroll runs one job that grows several levels.
func (g *grower) unroll(ctx context.Context, p *bylevel.Pass, level *bylevel.Grower) error {
	wanted := g.levelConfig(g.levelsPerJob())
	defer g.files.Store.RemoveAll(context.WithoutCancel(ctx), wanted.Out) //nolint:errcheck // scratch
	depth := g.growth.Large[0].Depth
	name := fmt.Sprintf("levels %d to %d", depth, depth+wanted.Levels-1)
	if err := g.runLevels(ctx, &wanted, &jobs.LevelState{Growth: g.growth, Pass: p}, name); err != nil {
		return err
	}
	state, last, err := jobs.ReadLevel(ctx, &wanted)
	g.passes += int64(last)
	if err != nil {
		return err
	}
	g.growth = state.Growth
	if state.Pass == nil {
		return nil
	}
	g.passes++
	passes := level.Passes(g.growth, wanted.Memory)
	counted := func(p *bylevel.Pass) (*bylevel.Counts, error) { return jobs.ReadCounts(ctx, &wanted, level, p, last) }
	children, err := level.Expand(g.growth, passes, 0, runtime.GOMAXPROCS(0), counted)
	if err != nil {
		return err
	}
	g.growth.Next(children, wanted.Budget)
	return nil
}

// levelsPerJob returns the number of levels that a job grows. The deadline is checked between jobs only, so that by default
// it makes each level a job.
func (g *grower) levelsPerJob() int {
	if g.config.LevelsPerJob == 0 && g.config.Deadline > 0 {
		return 1
	}
	return cmp.Or(g.config.LevelsPerJob, g.driver.Engine.Traits().Levels)
}

// histogramMemory returns the bytes of the histograms of a level.
func (g *grower) histogramMemory() int64 {
	return g.room().Histograms(g.config.HistogramMemory)
}

func (g *grower) levelConfig(depth int) jobs.LevelConfig {
	c := jobs.LevelConfig{
		GrowConfig: g.growConfig("level"), Levels: depth, Budget: g.budget,
		Memory: g.histogramMemory(),
	}
	if depth > 1 { // its workers read the counts of a level in files
		c.Handover = nil
		return c
	}
	c.Cache = g.cache
	return c
}

// runLevels runs one job that counts or grows levels.
func (g *grower) runLevels(ctx context.Context, wanted *jobs.LevelConfig, state *jobs.LevelState, name string) error {
	tasks := g.tasks(dataset.Train)
	if err := jobs.WriteLevel(ctx, wanted, state, tasks); err != nil {
		return err
	}
	what := engine.Job{
		Name: name, Total: int64(len(tasks) * wanted.Levels),
		Unit: fmt.Sprintf("blocks, %d open nodes", len(state.Pass.Nodes)), Done: engine.TasksDone,
	}
	return g.driver.Run(ctx, what, tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.Level(s, tasks, *wanted)
	})
}

// closeLarge makes the large open nodes leaves, because the deadline is near.
func (g *grower) closeLarge(ctx context.Context, level *bylevel.Grower) error {
	p := level.Close(g.growth)
	counts, err := g.count(ctx, p, level, "closing")
	if err != nil {
		return err
	}
	level.Fill(p, counts)
	return nil
}

// deadline returns the time when a run that began at start should be over; zero without a deadline.
func deadline(c *config.Train, start time.Time) time.Time {
	if c.Deadline == 0 {
		return time.Time{}
	}
	return start.Add(time.Duration(c.Deadline * float64(time.Second)))
}

// levelsAhead is the time that must be left before another level begins, in multiples of the
// time of the last level: one for the level, one for counting the nodes that it leaves open,
// and one for the evaluation.
const levelsAhead = 3

// late reports whether another level would not be over in time.
func (g *grower) late() bool {
	return !g.deadline.IsZero() && time.Now().Add(levelsAhead*g.levelTook).After(g.deadline)
}

// growUntil returns the Unix time, in ms, by which small nodes must be grown; 0 without a
// deadline. It leaves the evaluation as much time as the last level took.
func (g *grower) growUntil() int64 {
	if g.deadline.IsZero() {
		return 0
	}
	return g.deadline.Add(-g.levelTook).UnixMilli()
}

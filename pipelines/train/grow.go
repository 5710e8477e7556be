package train

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/grow/bylevel"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/memlimit"
	"github.com/espalier-ml/espalier/transforms/elements"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// grown are the trees of the grid.
type grown struct {
	*objects

	members []grid.Member // members of the grid
	trees   [][]tree.Node // by member: the nodes of its tree
	passes  int64         // number of times that jobs have read all training objects

	training *dataset.Objects     // nil: not read
	transfer *distill.TransferSet // transfer set of the taught trees, which come last; may be nil
}

// grower grows the trees of the grid together: nodes that exceed the memory budget level by
// level, then all small nodes in one job.
type grower struct {
	stage
	*objects

	journal   *journal
	deadline  time.Time // see run
	growth    *bylevel.Growth
	budget    int64            // number of objects up to which a node is grown in memory; -1: any number
	cache     *jobs.BlockCache // decoded blocks of the levels; may be nil
	passes    int64            // number of times that jobs have read all training objects
	levelTook time.Duration    // time of the last level
}

// grower returns the grower of trees from objects.
func (r *run) grower(o *objects) *grower {
	g := &grower{stage: r.stage, objects: o, journal: r.journal, deadline: r.deadline}
	g.budget = g.memoryObjects()
	return g
}

// grow continues a growth until the trees of the grid are grown. It saves the growth after each level
// and in the end.
func (g *grower) grow(ctx context.Context, from *bylevel.Growth) (*grown, error) {
	g.growth = from
	g.growth.Redeal(g.budget) // a resumed run may have another memory
	if g.driver.Local() {
		g.cache = jobs.NewBlockCache(g.memory / cachedShare)
	}
	if err := g.settleLarge(ctx); err != nil {
		return nil, err
	}
	g.cache = nil // frees its memory for the small nodes
	for len(g.growth.Small) > 0 {
		if err := g.growSmall(ctx); err != nil {
			return nil, err
		}
		if err := g.journal.save(ctx, g.objects, g.growth); err != nil {
			return nil, err
		}
	}
	return &grown{objects: g.objects, members: g.members(), trees: g.growth.Nodes.Trees(), passes: g.passes}, nil
}

// regrow grows trees of the grid again, see selection.Chooser.Regrow, and adds them to plain.
func (g *grower) regrow(ctx context.Context, plain *grown) (*grown, error) {
	c := g.chooser(g.objects)
	options := inmemory.Options{
		Workers: runtime.GOMAXPROCS(0), Memory: g.room().Usable(),
		Stop: func() bool { return ctx.Err() != nil || !g.deadline.IsZero() && time.Now().After(g.deadline) },
	}
	again, err := c.Regrow(ctx, plain.members, g.soft(), options)
	if err != nil {
		return nil, err
	}
	all := *plain
	all.training = again.Training
	all.transfer = again.Transfer
	all.trees = slices.Concat(plain.trees, again.Trees)
	all.members = slices.Concat(plain.members, again.Members)
	return &all, nil
}

// cachedShare is the inverse of the share of the memory for blocks that the levels have
// decoded.
const cachedShare = 4

// begin returns the growth before any node is split.
func (g *grower) begin() *bylevel.Growth {
	train := g.train()
	weight := train.ClassWeight
	if g.parsed.Grid[0].Params.Classes == split.OfRows {
		weight = train.RawWeight
	}
	return bylevel.NewGrowth(len(g.parsed.Grid), train.ClassObjects, weight, g.memoryObjects())
}

// room returns the memory of a process while the trees grow.
func (g *grower) room() *memlimit.Room {
	room := &memlimit.Room{
		Memory: g.memory, Stride: g.layout().Stride, Columns: split.Columns(g.features),
		Classes: len(g.label.Classes), Soft: g.soft(), Trees: len(g.parsed.Grid), Workers: g.driver.Workers(),
	}
	if !g.place.spills { // the blocks are also in memory
		for part := range g.parts {
			room.Memory -= g.parts[part].Objects * g.blockBytes(dataset.Part(part))
		}
	}
	return room
}

// memoryObjects returns the number of objects up to which a node is grown in memory; -1: any
// number.
func (g *grower) memoryObjects() int64 {
	if g.config.MemoryObjects >= 0 {
		return g.config.MemoryObjects
	}
	return g.room().Objects(g.train().Objects)
}

// growSetting returns the settings of the growth.
func (g *grower) growSetting() bylevel.Setting {
	train := g.train()
	s := bylevel.Setting{
		Columns: g.config.SplitColumns(g.features), Classes: len(g.label.Classes), Total: train.Weight, Heaviest: train.Heaviest, Soft: g.soft(),
	}
	for _, m := range g.members() {
		s.Trees = append(s.Trees, m.Params)
	}
	return s
}

// members returns the trees of the grid.
func (g *grower) members() []grid.Member {
	return g.parsed.GridFor(len(g.label.Classes), float64(g.spec.GrowthScale()*max(1, g.spec.WeightEffect())))
}

// growConfig returns the configuration that the jobs of growth share. Their results go to a new folder.
func (g *grower) growConfig(name string) jobs.GrowConfig {
	return jobs.GrowConfig{
		Config: g.driver.JobConfig(g.newFolder(name)), Setting: g.growSetting(),
		Weighted: g.spec.Weighted(), Widths: g.layout().Widths,
	}
}

// unknownWorkers is the number of shares of the grid if --parallelism is not set.
const unknownWorkers = 4

func (g *grower) smallConfig() jobs.SmallConfig {
	c := jobs.SmallConfig{
		GrowConfig: g.growConfig("grow"), Spill: g.spill("grow"), Deadline: g.growUntil(),
		Memory: g.room().Usable(),
	}
	if !g.driver.Local() { // each worker of the engine grows a share of the trees
		workers := g.driver.Processes()
		if workers <= 1 { // --parallelism is not set
			workers = unknownWorkers
		}
		c.Together = (len(c.Trees) + workers - 1) / workers
	}
	return c
}

// gatherBytes limits the size of the files of one job in this process that gathers the objects of small
// nodes. An object is gathered once for each of the different small nodes that it reaches in the trees.
const gatherBytes = 16 << 30

// takeSmall removes small nodes from the growth and returns them as a growth: all of them, or as many
// as one job gathers.
func (g *grower) takeSmall() *bylevel.Growth {
	n := 0
	bytes := int64(0)
	for _, o := range g.growth.Small {
		bytes += o.Count * g.blockBytes(dataset.Train)
		if n > 0 && bytes > gatherBytes && g.driver.Local() {
			break
		}
		n++
	}
	taken := &bylevel.Growth{Nodes: g.growth.Nodes, Small: g.growth.Small[:n]}
	g.growth.Small = g.growth.Small[n:]
	return taken
}

// growSmall gathers the objects of each small open node in one worker, which grows the whole subtrees
// below the node in all trees that share it.
func (g *grower) growSmall(ctx context.Context) error {
	small := g.smallConfig()
	objects := max(jobs.PartitionObjects, g.budget)
	taken := g.takeSmall()
	defer g.removeAll(context.WithoutCancel(ctx), small.Out, small.Spill) //nolint:errcheck // scratch
	if err := jobs.WriteSmall(ctx, &small, taken, objects); err != nil {
		return err
	}
	settled := func(p *elements.Progress) (int64, string) {
		return p.Weight.Load(), fmt.Sprintf("%d leaves", p.Nodes.Load())
	}
	what := engine.Job{Name: "induce", Total: taken.Weight(), Unit: "units of weight", Done: settled}
	err := g.driver.Run(ctx, what, g.tasks(dataset.Train), func(s beam.Scope, tasks beam.PCollection) {
		jobs.Grow(s, tasks, small)
	})
	if err != nil {
		return err
	}
	g.passes++
	return g.driver.Phase(ctx, "collect", 1, "trees", func(*parallel.Steps) error {
		return jobs.ReadGrown(ctx, &small, taken, objects)
	})
}

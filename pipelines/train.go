package pipelines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/uuid"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/tables"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Result is what a training run has made.
type Result struct {
	Tree    *tree.Tree
	Metrics *runfolder.Metrics
	Files   []string // written, in order, but for the trees of the frontier

	Frontier *runfolder.Frontier // nil: there was nothing to choose

	Estimate   *runfolder.Estimate // of what the run takes; nil where it was not wanted. A dry run has nothing else,
	Translated []string            // but for the jobs that the engine has translated
}

// Train trains a tree and writes its run folder.
func Train(ctx context.Context, c TrainConfig, reporter engine.Reporter) (r *Result, err error) {
	defer func() { err = engine.OrInterrupted(ctx, err) }()
	start := time.Now()
	reporter = engine.OneAtATime(reporter)
	p, err := c.parse()
	if err != nil {
		return nil, err
	}
	if c.DryRun {
		return dryRun(ctx, &c, p, reporter)
	}
	e, err := engine.Settle(ctx, c.Runner, &c.Input, &c.Output)
	if err != nil {
		return nil, err
	}
	f := source.Begin(c.StorageConfig)
	defer f.End()
	ctx = f.Run.Context(ctx)
	j := &engine.Driver{Engine: e, Reporter: reporter, Files: f, Config: c.EngineConfig}
	o, locked, err := open(ctx, j, &c)
	if err != nil {
		return nil, err
	}
	defer o.lock.Release(ctx)
	r, err = o.train(locked, j, &c, p, start)
	return r, engine.OrInterrupted(locked, err)
}

// train trains on what was opened.
func (o *opened) train(ctx context.Context, j *engine.Driver, c *TrainConfig, p *parsed, start time.Time) (*Result, error) {
	if o.output.Finished() && c.Resume {
		return o.finishedRun(ctx, j.Files, c)
	}
	t, err := newTraining(ctx, j, c, p, o.input)
	if err != nil {
		return nil, err
	}
	t.output, t.deadline, t.driver.RunID = o.output, c.deadline(start), o.lock.Run
	if err := t.output.ProtectInputs(c.reads(o.input)); err != nil {
		return nil, err
	}
	t.scratch = "mem://espalier-" + uuid.NewString()
	defer func() { _ = t.files.Store.RemoveAll(context.WithoutCancel(ctx), t.scratch) }() // scratch
	err = t.train(ctx, o.unfinished)
	var r *Result
	if err == nil {
		r, err = t.write(ctx, start)
	}
	if err != nil {
		return nil, t.giveUp(ctx, err)
	}
	if err := t.discard(context.WithoutCancel(ctx)); err != nil {
		j.Reporter.Warn(fmt.Sprintf("the checkpoints of the finished run stay: %v", err))
	}
	return r, nil
}

// giveUp ends a run that has failed: what it keeps is left only if it can go on from
// there.
func (t *training) giveUp(ctx context.Context, err error) error {
	switch {
	case !t.resumable:
		soon, cancel := context.WithoutCancel(ctx), context.CancelFunc(func() {})
		if ctx.Err() != nil {
			soon, cancel = context.WithTimeout(soon, engine.PatienceAfterEnd)
		}
		defer cancel()
		_ = t.discard(soon) // the first error says more
	case errors.Is(context.Cause(ctx), context.Canceled):
		return &engine.InterruptedError{Checkpoints: t.checkpointURL(), Err: context.Cause(ctx)}
	}
	return err
}

// reads lists the files that a run reads, by flag.
func (c *TrainConfig) reads(in *source.Input) []runfolder.Reading {
	list := in.Reads()
	for _, url := range c.AlsoRead {
		list = append(list, runfolder.Reading{Flag: "config", URL: url})
	}
	return append(list, runfolder.Reading{Flag: "costs", URL: c.Costs}, runfolder.Reading{Flag: "class_weights", URL: c.ClassWeights}, runfolder.Reading{Flag: "priors", URL: c.Priors}, runfolder.Reading{Flag: "error_costs", URL: c.ErrorCosts})
}

// newTraining resolves a configuration against the columns of its input.
func newTraining(ctx context.Context, j *engine.Driver, c *TrainConfig, p *parsed, in *source.Input) (*training, error) {
	s, err := resolve(in, c, p)
	if err != nil {
		return nil, err
	}
	prices, err := tables.ReadCosts(ctx, j.Files, c.Costs, in.Names())
	if err != nil {
		return nil, err
	}
	perClass, err := tables.ReadClasses(ctx, j.Files, c.ClassWeights, c.Priors, c.ErrorCosts)
	if err != nil {
		return nil, err
	}
	p.settleBins(in.Rows)
	if err := p.settleSetUps(prices); err != nil {
		return nil, err
	}
	return &training{
		config: c, costs: prices, perClass: perClass, parsed: p, grid: p.grid, input: in, schema: s, files: j.Files,
		driver: j, rehearsalRows: rehearsalRows,
	}, nil
}

// opened is what a run finds when it begins.
type opened struct {
	input      *source.Input
	output     *runfolder.Folder
	unfinished *checkpoint // of a run before it; nil: none
	lock       *runfolder.Lock
}

// open reads the footers of the input, locks the output folder, looks at it and
// reads the checkpoint in it, if any, as far as possible at the same time: object
// stores take a while for each.
// The context that it returns ends when the lock is lost.
func open(ctx context.Context, j *engine.Driver, c *TrainConfig) (o *opened, locked context.Context, err error) {
	// The work notices the end of the context itself: a lock must not be left behind.
	err = j.Phase(context.WithoutCancel(ctx), footersPhase, 0, "files", func(s *parallel.Steps) (err error) {
		o, locked, err = openAll(ctx, j, c, s)
		return err
	})
	return o, locked, err
}

func openAll(ctx context.Context, j *engine.Driver, c *TrainConfig, s *parallel.Steps) (o *opened, locked context.Context, err error) {
	f := j.Files
	o = new(opened)
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	var inputErr, checkpointErr error
	var wg parallel.Group
	wg.Go(func() { o.input, inputErr = source.OpenInput(reading, f, c.Input, s) })
	if o.lock, locked, err = lockFolder(ctx, f, c.Output, j.Engine, j.Reporter); err == nil {
		wg.Go(func() { o.unfinished, checkpointErr = readCheckpoint(reading, f, c) })
		o.output, err = runfolder.Open(reading, f.Store, c.Output, runfolder.Training, c.Overwrite || c.Resume)
	}
	if err != nil {
		cancel() // the others are of no interest then
	}
	wg.Wait()
	if err = cmp.Or(err, inputErr, checkpointErr); err != nil && o.lock != nil {
		o.lock.Release(ctx)
	}
	return o, locked, err
}

// finishedRun returns the result of a run that has nothing left to do.
func (o *opened) finishedRun(ctx context.Context, f *source.Files, c *TrainConfig) (*Result, error) {
	there, err := runfolder.Read(ctx, f.Store, c.Output, runfolder.Training,
		runfolder.TreeName, runfolder.MetricsName, runfolder.FrontierName)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Tree: there.Tree, Metrics: there.Metrics, Frontier: there.Frontier,
		Files: runfolder.Training.Files(c.Output, there),
	}
	if o.unfinished == nil {
		return r, nil
	}
	return r, o.unfinished.remove(ctx, f.Store, c.Output) // which the run had no time for
}

// training is one training run.
type training struct {
	config  *TrainConfig
	parsed  *parsed
	input   *source.Input
	schema  *schema
	costs   *tables.Costs
	files   *source.Files
	output  *runfolder.Folder
	driver  *engine.Driver
	scratch string // folder of intermediate files

	checkpoints bool   // the run leaves checkpoints
	resumable   bool   // there is one
	state       string // generation of state.json; empty: there is none
	blocks      string // folder of object blocks

	rowStats *jobs.RowStats
	spec     jobs.RowSpec // of the features that have tests
	features []dataset.Feature
	classes  []string
	perClass tables.Classes // what the data owner says about the classes
	label    tree.Label     // see describeLabel
	objects  *[dataset.Parts]jobs.ObjectStats

	deadline  time.Time     // zero: none
	levelTook time.Duration // by the last level

	rehearsalRows int64               // see rehearse
	rehearsed     *rehearsal          // of a sample; nil: this is no rehearsal
	estimate      *runfolder.Estimate // nil: none was made
	objectPasses  int64               // over the training objects, so far

	grid    []member       // the trees to grow
	roots   []*induce.Node // those grown, in the order of the grid
	tree    *tree.Tree     // the one chosen
	metrics *runfolder.Metrics

	frontier      *runfolder.Frontier // nil: there was nothing to choose
	frontierTrees []*tree.Tree        // of its points
}

func (t *training) train(ctx context.Context, unfinished *checkpoint) error {
	if err := t.begin(ctx, unfinished); err != nil {
		return err
	}
	if !t.config.Resume || unfinished != nil && !unfinished.resumable() {
		unfinished = nil
	}
	t.restrict()
	if unfinished == nil {
		if err := t.foretell(ctx); err != nil {
			return err
		}
		if err := t.prepare(ctx); err != nil {
			return err
		}
	}
	t.restrict()
	if err := t.induce(ctx, unfinished); err != nil {
		return err
	}
	return t.evaluate(ctx)
}

// prepare makes objects of the rows, which is the first thing to be saved.
func (t *training) prepare(ctx context.Context) error {
	if err := t.summarise(ctx); err != nil {
		return err
	}
	return t.coalesce(ctx)
}

func (t *training) summariseConfig() jobs.SummariseConfig {
	workers := t.driver.Workers()
	return jobs.SummariseConfig{
		Rows: t.schema.rows.Encode(), Workers: workers, Out: t.scratch + "/summarise", Classes: tables.WeighsClasses(t.config.ClassWeights),
		Limits: binning.Limits{Values: t.config.MaxValues, Categories: binning.DefaultLimits().Categories},
		Pieces: pieces(4*workers, len(t.input.Tasks)), // more than workers, which so end at about the same time
		Run:    t.files.Run.Name(),
	}
}

// summarise fits the features and the classes.
func (t *training) summarise(ctx context.Context) error {
	config := t.summariseConfig()
	if len(t.input.Tasks) == 0 {
		return t.noRows("no input file has a row")
	}
	what := engine.Job{Name: "summarise", Total: int64(len(t.input.Tasks)), Unit: "row groups", Done: engine.TasksDone}
	err := t.driver.Run(ctx, what, t.input.Tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.Summarise(s, tasks, config)
	})
	if err != nil {
		return err
	}
	stats, encoded, err := jobs.ReadSummaries(ctx, config.Out, config.Columns(len(t.schema.rows.Features)))
	if err != nil {
		return err
	}
	t.rowStats = stats
	if err := t.files.Store.RemoveAll(ctx, config.Out); err != nil { // frees the memory
		return err
	}
	if stats.Train == 0 {
		return t.noRows("no row is left for training")
	}
	if stats.Weight >= jobs.MaxTotalWeight {
		return &dataset.DataError{Column: t.config.Weight, Problem: "the weights of all rows add up to more than can be counted, 2^60 / 1e6 of fractional and 2^60 of whole ones", Hint: "divide them by their mean"}
	}
	scale, label := t.schema.rows.WeightScale, len(t.schema.rows.Features)
	if !stats.Fractional {
		t.schema.rows.WeightScale = 1
	}
	if err := t.fitLabel(encoded[label]); err != nil {
		return err
	}
	if err := t.checkMonotoneLabel(); err != nil {
		return err
	}
	if t.rehearsed == nil { // a sample need not have all classes
		if err := t.describeLabel(); err != nil {
			return err
		}
	}
	if tables.WeighsClasses(t.config.ClassWeights) {
		err := t.perClass.Weigh(&t.schema.rows, encoded[len(encoded)-1], t.classes, scale, t.rehearsed != nil)
		if err != nil {
			return err
		}
	}
	return t.fitFeatures(ctx, encoded[:label])
}

// pieces returns into how many pieces row groups are cut so that all workers
// have work.
func pieces(workers, rowGroups int) int { return (workers + rowGroups - 1) / max(1, rowGroups) }

func (t *training) noRows(problem string) error {
	return &dataset.DataError{File: strings.Join(t.config.Input, ","), Problem: problem, Hint: "check --input, --split and --weight; of few rows --split 100/0/0 trains on all"}
}

func (t *training) fitLabel(encoded []byte) error {
	label := t.config.Label
	s, _, err := binning.Decode(encoded)
	if err != nil {
		return err
	}
	values, err := binning.FitClasses(label, s, t.config.MaxClasses)
	if err != nil {
		return dataset.WithHint(err, "raise --max_classes, or name a column of classes with --label")
	}
	t.classes = values
	if len(values) == 1 {
		t.driver.Reporter.Warn(fmt.Sprintf("the label %q has one class, %q: the tree is a single leaf", label, values[0]))
	}
	return nil
}

// fitFeatures fits each feature to its summary and leaves out those with one
// code, and those that are forbidden.
func (t *training) fitFeatures(ctx context.Context, encoded [][]byte) error {
	fitted := make([]dataset.Feature, len(encoded))
	faults := make([]error, len(encoded))
	fit := func(i int) {
		if column := t.schema.rows.Features[i]; !slices.Contains(t.config.Forbid, column.Name) {
			fitted[i], faults[i] = t.fit(column, encoded[i])
		}
		encoded[i] = nil
	}
	err := t.driver.Phase(ctx, "bins", int64(len(encoded)), "features", func(s *parallel.Steps) error {
		return parallel.EachUntil(ctx, len(encoded), &s.Done, fit)
	})
	if err != nil {
		return err
	}
	if err := errors.Join(faults...); err != nil {
		return parallel.First(faults)
	}
	t.spec = t.schema.rows
	t.spec.Features = nil
	var constant []string
	for i := range fitted {
		if fitted[i].Kind == 0 { // forbidden
			continue
		}
		if fitted[i].Other > 0 {
			t.driver.Reporter.Warn(fmt.Sprintf("column %q has more than %d values: the rarest are put together as \"other\"", fitted[i].Name, t.config.MaxCategories))
		}
		if fitted[i].CodesSeen() < 2 {
			constant = append(constant, fitted[i].Name)
			continue
		}
		t.features = append(t.features, fitted[i])
		t.spec.Features = append(t.spec.Features, t.schema.rows.Features[i])
	}
	t.schema.markConstant(constant)
	if len(t.features) == 0 {
		t.driver.Reporter.Warn("all features are constant among the training rows: the tree is a single leaf")
	}
	return t.costs.Apply(t.features)
}

func (t *training) fit(column jobs.FeatureColumn, encoded []byte) (dataset.Feature, error) {
	s, _, err := binning.Decode(encoded)
	if err != nil {
		return dataset.Feature{}, err
	}
	f, err := binning.FitFeature(column.Name, s, binning.FeatureConfig{
		Method: t.parsed.method, Bins: t.parsed.bins, SingleBins: t.parsed.singleBins(), Categories: t.config.MaxCategories, Unit: column.Unit,
	})
	return f, dataset.WithHint(err, "leave it out with --ignore "+column.Name)
}

// singleBins reports whether some trees of the grid have tests for single bins.
func (p *parsed) singleBins() bool {
	return slices.ContainsFunc(p.grid, func(m member) bool { return m.params.Family == split.OneHot || m.params.Family == split.Both })
}

// shards returns the number of shards of objects: enough for each to fit in a
// worker's memory several times.
func shards(rows int64, stride int) int {
	const least, most, bytes = 64, 4096, 64 << 20
	return int(min(max(least, rows*int64(stride+8)/bytes), most))
}

// spill returns a new folder for what is too much for a job's shuffle; empty if
// all is to stay in memory.
func (t *training) spill(name string) string {
	if !t.checkpoints {
		return ""
	}
	return objectstore.Join(t.blocks, scratchFolder, name+"-"+uuid.NewString())
}

// removeAll removes folders, of which a name may be empty.
func (t *training) removeAll(ctx context.Context, folders ...string) error {
	for _, url := range folders {
		if url == "" {
			continue
		}
		if err := t.files.Store.RemoveAll(ctx, url); err != nil {
			return err
		}
	}
	return nil
}

func (t *training) coalesceConfig() jobs.CoalesceConfig {
	return jobs.CoalesceConfig{
		Rows: t.spec.Encode(), Features: dataset.EncodeFeatures(t.features), Classes: t.classes,
		Workers: t.driver.Workers(), Pieces: pieces(t.driver.Workers(), len(t.input.Tasks)), Out: t.scratch + "/coalesce", Blocks: t.blocks,
		Shards: shards(t.rowStats.Rows, dataset.NewLayout(t.features).Stride), Spill: t.spill("coalesce"), Run: t.files.Run.Name(),
	}
}

// coalesce makes objects of the rows.
func (t *training) coalesce(ctx context.Context) error {
	config := t.coalesceConfig()
	what := engine.Job{Name: "coalesce", Total: int64(len(t.input.Tasks)), Unit: "row groups", Done: engine.TasksDone}
	err := t.driver.Run(ctx, what, t.input.Tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.Coalesce(s, tasks, config)
	})
	if err != nil {
		return err
	}
	t.files.Parquet.Forget()
	t.objects, err = jobs.ReadObjectStats(ctx, &config)
	if err != nil {
		return err
	}
	if err := t.removeAll(ctx, config.Out, config.Spill); err != nil {
		return err
	}
	train := &t.objects[dataset.Train]
	if train.Objects == 0 {
		return t.noRows("no training row has a weight left")
	}
	for i := range train.Missing { // rows are weighted: the summaries have their weight, not their number
		t.features[i].Missing, t.features[i].Other = train.Missing[i], train.Other[i]
	}
	return nil
}

// model makes a tree of the grown nodes of a member of the grid.
func (t *training) model(root *induce.Node, m member) *tree.Tree {
	train := &t.objects[dataset.Train]
	root.SumUp()
	if t.parsed.selection.Rule == frontier.First {
		root.BestFirst(t.config.MaxLeaves)
	}
	model, _ := induce.Model(root, t.features)
	model.Label = t.label
	model.Algorithm = m.algorithm
	if t.parsed.selection.Rule == frontier.First {
		model.Algorithm.MaxLeaves = t.config.MaxLeaves
	}
	model.Training = tree.Training{
		Rows: train.Rows, Objects: train.Objects, Weight: train.Weight, RelabelledRows: train.RelabelledRows(&t.spec), DroppedNullLabel: t.rowStats.Dropped,
		CutLeaves: cutLeaves(root),
	}
	t.describeWeights(&model.Training)
	scale := t.spec.ScaleOf(dataset.Train)
	if scale > 1 {
		model.Training.WeightScale = scale
	}
	model.Estimate(t.parsed.estimate, scale)
	model.Measure()
	return model
}

// columns returns the features as the scan for tests sees them, with the wishes
// about them.
func (t *training) columns() []split.Column {
	columns := split.Columns(t.features)
	for i := range columns {
		name := t.features[i].Name
		columns[i].FreeRepeats = t.config.RepeatCost == tree.RepeatFree
		columns[i].First = slices.Index(t.config.First, name) + 1
		columns[i].Monotone = t.parsed.monotone[name]
	}
	return columns
}

// growConfig is what the jobs of the induction share.
func (t *training) growConfig() jobs.GrowConfig {
	train := &t.objects[dataset.Train]
	return jobs.GrowConfig{
		Setting: levels.Setting{
			Params: t.grid[min(len(t.roots), len(t.grid)-1)].params, Columns: t.columns(), Classes: len(t.classes),
			Total: train.Weight, Heaviest: train.Heaviest,
		},
		Weighted: t.spec.Weighted(), Widths: dataset.NewLayout(t.features).Widths, Workers: t.driver.Workers(), Run: t.files.Run.Name(),
	}
}

// blockTasks returns a task per object block of a part.
func (t *training) blockTasks(part dataset.Part) []jobs.Task {
	tasks := make([]jobs.Task, len(t.objects[part].Blocks))
	for i, url := range t.objects[part].Blocks {
		tasks[i] = jobs.Task{File: url, Part: part}
	}
	return tasks
}

package train

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Sizes are the sizes of a run that are known before its rows are read.
type Sizes struct {
	Files, RowGroups int
	Rows             int64 // also the greatest number of objects
	Columns          int   // number of columns to read
	ColumnBytes      int64 // bytes of these columns in the files
	Features         int
	Bins             int   // greatest number of bins of a numeric feature, for a label of up to 8 classes
	Trees            int   // number of trees that grow together
	BlockBytes       int64 // approximate size of all object blocks if no rows are equal
	Checkpoints      bool  // whether the blocks are in files below the run folder, otherwise in memory
}

// dryRun checks the settings of a run against the columns of its input, and lets the engine translate
// its jobs. It reads no row.
func dryRun(ctx context.Context, s *session.Session, c *config.Train, p *config.Parsed) (*Result, error) {
	d := s.Driver
	var err error
	if d.Engine, err = engine.Named(c.Runner); err != nil {
		return nil, err
	}
	if err := d.CheckTranslation(ctx); err != nil {
		return nil, err
	}
	for _, url := range append([]string{c.Output}, c.Input...) {
		if err := d.Files.Store.Check(url); err != nil {
			return nil, usage.Errorf("%v", err)
		}
	}
	// Jobs can be translated for files that the workers cannot see, and then need no credentials.
	if err := d.CheckTranslation(ctx, append([]string{c.Output}, c.Input...)...); err != nil {
		d.Reporter.Warn(fmt.Sprintf("a run would end with: %v; the jobs are translated all the same", err))
	}
	in, err := d.OpenInput(ctx, c.Input)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(ctx, d.Files, c, p, in)
	if err != nil {
		return nil, err
	}
	plan.settleBins(math.MaxInt64) // as many bins as any counts can give
	if len(in.Tasks) == 0 {
		return nil, plan.noRows("no input file has a row")
	}
	r := &run{stage: stage{plan, d, d.Files, place{
		scratch: checkpointURL(c.Output, scratchFolder, "dry-run"), blocks: checkpointURL(c.Output, "dry-run"),
		spills: true,
	}}}
	r.narrow(r.mayValidate())
	result := &Result{Sizes: r.sizes()}
	if !d.Translates() {
		return result, nil
	}
	result.Translated, err = r.translate(ctx)
	return result, err
}

// sizes returns the sizes of a run.
func (p *plan) sizes() *Sizes {
	columns := p.schema.rows.Columns()
	return &Sizes{
		Files: len(p.input.Files), RowGroups: len(p.input.Tasks), Rows: p.input.Rows,
		Columns: len(columns), Features: len(p.schema.featureNames()),
		Bins: p.parsed.BinsFor(len(p.schema.rows.Soft.Columns)), Trees: len(p.parsed.Grid),
		ColumnBytes: p.columnBytes(columns), BlockBytes: p.mostBlockBytes(), Checkpoints: p.leavesCheckpoints(),
	}
}

// unread returns the objects of a run before its rows are read: no objects, and no features.
func (s *stage) unread() *objects {
	f := &fitted{label: tree.Label{Column: s.labelColumn()}, spec: s.schema.rows, stats: new(jobs.RowStats)}
	return &objects{f, new([dataset.Parts]jobs.ObjectStats), s.files}
}

// graph is a job as it is built for an engine.
type graph struct {
	name  string
	build func(s beam.Scope, tasks beam.PCollection)
}

// graphs returns one job of each kind that a run over these objects has.
func (r *run) graphs(o *objects) []graph {
	g := r.grower(o)
	fitter := fitter{r.stage}
	coalescer := coalescer{r.stage}
	scorer := scorer{r.stage}
	summarise := fitter.summariseConfig(&r.schema.rows)
	coalesce := coalescer.coalesceConfig(o.fitted)
	level := g.levelConfig(g.levelsPerJob())
	small := g.smallConfig()
	evaluate := scorer.evaluateConfig(o)
	return []graph{
		{"summarise", func(s beam.Scope, tasks beam.PCollection) { jobs.Summarise(s, tasks, summarise) }},
		{"coalesce", func(s beam.Scope, tasks beam.PCollection) { jobs.Coalesce(s, tasks, coalesce) }},
		{"level", func(s beam.Scope, tasks beam.PCollection) { jobs.Level(s, tasks, level) }},
		{"grow", func(s beam.Scope, tasks beam.PCollection) { jobs.Grow(s, tasks, small) }},
		{"evaluate", func(s beam.Scope, tasks beam.PCollection) { jobs.Evaluate(s, tasks, evaluate) }},
	}
}

// translate lets the engine translate one job of each kind without submitting it, and returns
// the names of the jobs. The steps of a job do not depend on its rows.
func (r *run) translate(ctx context.Context) ([]string, error) {
	var names []string
	for _, g := range r.graphs(r.unread()) {
		if err := r.driver.Translate(ctx, g.name, r.input.Tasks, g.build); err != nil {
			return nil, err
		}
		names = append(names, g.name)
	}
	return names, nil
}

package pipelines

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// dryRun estimates the time and memory that a run would take, and lets the engine translate
// its jobs.
func dryRun(ctx context.Context, s *session.Session, c *TrainConfig, p *config.Parsed) (*Result, error) {
	d := s.Driver
	var err error
	if d.Engine, err = engine.Named(c.Runner); err != nil {
		return nil, err
	}
	if err := d.CheckTranslation(ctx, append([]string{c.Output}, c.Input...)...); err != nil {
		return nil, err
	}
	in, err := d.OpenInput(ctx, c.Input)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(ctx, d.Files, c, p, in)
	if err != nil {
		return nil, err
	}
	plan = plan.narrowed(plan.mayValidate(), host{d})
	estimate, g, err := plan.foresee(ctx, d, plan.rehearsed())
	if err != nil || !d.Translates() {
		return &Result{Estimate: estimate}, err
	}
	there := place{
		scratch: checkpointURL(c.Output, scratchFolder, "dry-run"), blocks: checkpointURL(c.Output, "dry-run"),
		spills: true,
	}
	names, err := (&run{stage: stage{plan, d, d.Files, there}}).translate(ctx, g)
	return &Result{Estimate: estimate, Translated: names}, err
}

// graph is a job as it is built for an engine.
type graph struct {
	name  string
	tasks []jobs.Task
	build func(s beam.Scope, tasks beam.PCollection)
}

// graphs returns one job of each kind, with the settings of a run after growth. done are the trees of
// the run or of its rehearsal.
func (r *run) graphs(done *grown) []graph {
	g := r.grower(done.objects)
	fitter, coalescer, scorer := fitter{r.stage}, coalescer{r.stage}, scorer{r.stage}
	summarise, coalesce := fitter.summariseConfig(&r.schema.rows), coalescer.coalesceConfig(done.fitted)
	level, small := g.levelConfig(r.config.LevelsPerJob), g.smallConfig()
	evaluate := scorer.evaluateConfig(done.objects)
	rows, train, test := r.input.Tasks, done.tasks(dataset.Train), done.tasks(dataset.Test)
	return []graph{
		{"summarise", rows, func(s beam.Scope, tasks beam.PCollection) { jobs.Summarise(s, tasks, summarise) }},
		{"coalesce", rows, func(s beam.Scope, tasks beam.PCollection) { jobs.Coalesce(s, tasks, coalesce) }},
		{"level", train, func(s beam.Scope, tasks beam.PCollection) { jobs.Level(s, tasks, level) }},
		{"grow", train, func(s beam.Scope, tasks beam.PCollection) { jobs.Grow(s, tasks, small) }},
		{"evaluate", test, func(s beam.Scope, tasks beam.PCollection) { jobs.Evaluate(s, tasks, evaluate) }},
	}
}

// translate lets the engine translate one job of each kind without submitting it, and returns
// the names of the jobs. done are the trees of the run, or of its rehearsal.
func (r *run) translate(ctx context.Context, done *grown) ([]string, error) {
	var names []string
	for _, g := range r.graphs(done) {
		if err := r.driver.Translate(ctx, g.name, g.tasks, g.build); err != nil {
			return nil, err
		}
		names = append(names, g.name)
	}
	return names, nil
}

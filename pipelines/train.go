package pipelines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/forecast"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// Result is what a training run has made. A dry run makes only Estimate and Translated.
type Result struct {
	Tree    *tree.Tree
	Metrics *runfolder.Metrics
	Schema  *tree.Schema
	Files   []string // URLs in the order of writing, without the trees of the frontier

	Frontier   *runfolder.Frontier   // nil: there was nothing to choose
	Importance *runfolder.Importance // nil: a version without it has trained

	Estimate   *runfolder.Estimate // time and memory, estimated before the run; nil: not estimated
	Translated []string            // jobs that the engine has translated in a dry run
}

// Train trains a tree and writes its run folder.
func Train(ctx context.Context, c TrainConfig, reporter engine.Reporter) (r *Result, err error) {
	start := time.Now()
	var p *config.Parsed
	setup := session.Setup{Storage: c.StorageConfig, Engine: c.EngineConfig, Check: func() (err error) {
		if err = contracts.ReadAndObey(ctx, &c); err == nil {
			p, err = c.Parse()
		}
		return err
	}}
	work := func(ctx context.Context, s *session.Session) error {
		r, err = dryRun(ctx, s, &c, p)
		return err
	}
	if !c.DryRun {
		setup.Runner, setup.Input, setup.Others = c.Runner, &c.Input, []*string{&c.Output}
		work = func(ctx context.Context, s *session.Session) error {
			o, locked, err := open(ctx, s.Driver, &c)
			if err != nil {
				return err
			}
			defer o.lock.Release(ctx)
			r, err = o.train(locked, s, &c, p, start)
			return engine.OrInterrupted(locked, err)
		}
	}
	err = session.Run(ctx, &setup, reporter, work)
	return r, err
}

// train trains on the opened input, or returns the result of a finished run.
func (o *opened) train(
	ctx context.Context, s *session.Session, c *TrainConfig, p *config.Parsed, start time.Time,
) (*Result, error) {
	d := s.Driver
	if o.output.Finished() && c.Resume && !o.refused(true) {
		return o.finishedRun(ctx, d.Files, c)
	}
	plan, err := newPlan(ctx, d.Files, c, p, o.input)
	if err != nil {
		return nil, err
	}
	for _, note := range c.Deprecated() {
		d.Reporter.Warn(note)
	}
	if note := plan.schema.noteIndex(c); note != "" {
		d.Reporter.Warn(note)
	}
	if o.refused(c.Resume && !c.Overwrite || plan.leavesCheckpoints()) {
		return nil, o.unfinished.refused
	}
	if err := o.output.ProtectInputs(plan.reads()); err != nil {
		return nil, err
	}
	if c.Overwrite && !c.Resume { // retrain goes on with its own run
		if url := latest.InUse(ctx, d.Files.Store, c.Output); url != "" {
			return nil, usage.Errorf("--output %s is in use: %s names it: choose another folder", c.Output, url)
		}
	}
	d.RunID = o.lock.Run
	journal, saved, err := openJournal(ctx, d, plan, o.unfinished, s.Temporary)
	var result *Result
	if err == nil {
		there := journal.place(s.Temporary, d.Local())
		if there.scratch != s.Temporary {
			d.Scratch = there.scratch
		}
		r := &run{plan: plan, driver: d, files: d.Files, place: there, journal: journal, deadline: deadline(c, start)}
		train := func() (err error) {
			result, err = r.train(ctx, saved, o.output, start)
			return err
		}
		if saved == nil {
			err = train()
		} else {
			err = readsFile(checkpointURL(c.Output, checkpointFile), train)
		}
	}
	if err != nil {
		return nil, journal.giveUp(ctx, err)
	}
	if err := journal.discard(context.WithoutCancel(ctx)); err != nil {
		d.Reporter.Warn(fmt.Sprintf("the checkpoints of the finished run stay: %v", err))
	}
	return result, nil
}

// train takes a run through its stages. It begins with the saved stages if from is not nil.
func (r *run) train(ctx context.Context, from *saved, output *runfolder.Folder, start time.Time) (*Result, error) {
	r, err := r.narrowed(r.mayValidate()).checked(ctx)
	if err != nil {
		return nil, err
	}
	var estimate *runfolder.Estimate
	if from == nil {
		if estimate, err = r.foretell(ctx); err != nil {
			return nil, err
		}
	}
	if from, r, err = r.prepare(ctx, from); err != nil {
		return nil, err
	}
	slicer, err := r.slicer(ctx, from.objects.fitted)
	if err != nil {
		return nil, err
	}
	s, chooser, err := r.candidates(ctx, from)
	if err != nil {
		return nil, err
	}
	g := s.grown
	c, err := chooser.choose(ctx, s, slicer)
	if err != nil {
		return nil, err
	}
	return r.write(ctx, g, c, output, estimate, start)
}

// candidates grows trees and scores them, or refits the tree of an earlier run. It also returns the run
// with the settings of the choice.
func (r *run) candidates(ctx context.Context, from *saved) (*scored, *run, error) {
	if r.kept != nil {
		return r.refit(ctx, from.objects)
	}
	g, err := r.grow(ctx, from.objects, from.growth)
	if err != nil {
		return nil, nil, err
	}
	if g, err = r.teach(ctx, g); err != nil {
		return nil, nil, err
	}
	s, err := r.score(ctx, g)
	return s, r, err
}

// prepare makes objects of the rows, and saves them with the growth before any node is split; from is nil,
// or the saved stages of a resumed run. It also returns the run without the trees that cannot be chosen, now
// that the rows of each part are known.
func (r *run) prepare(ctx context.Context, from *saved) (*saved, *run, error) {
	if from != nil {
		return from, r.narrowed(from.objects.validates()), nil
	}
	o, err := r.objects(ctx)
	if err != nil {
		return nil, nil, err
	}
	r = r.narrowed(o.validates())
	at := r.begin(o)
	return &saved{o, at}, r, r.journal.save(ctx, o, at)
}

// giveUp ends a run that has failed, and returns its error. It removes what the run keeps,
// unless a resumed run can go on from that.
func (j *journal) giveUp(ctx context.Context, err error) error {
	switch {
	case !j.resumable:
		soon, cancel := context.WithoutCancel(ctx), context.CancelFunc(func() {})
		if ctx.Err() != nil {
			soon, cancel = context.WithTimeout(soon, engine.PatienceAfterEnd)
		}
		defer cancel()
		_ = j.discard(soon) // the first error says more
	case errors.Is(context.Cause(ctx), context.Canceled):
		return &engine.InterruptedError{Checkpoints: checkpointURL(j.plan.config.Output), Err: context.Cause(ctx)}
	}
	return err
}

// opened is what a run finds when it begins.
type opened struct {
	input      *source.Input
	output     *runfolder.Folder
	unfinished *checkpoint // checkpoint of an earlier run; nil: there is none
	lock       *runfolder.Lock
}

// open reads the footers of the input, locks and opens the output folder, and reads the
// checkpoint in that folder, if any. It does so at the same time as far as possible, since
// object stores answer slowly. The context that it returns ends when the lock is lost.
func open(ctx context.Context, j *engine.Driver, c *TrainConfig) (*opened, context.Context, error) {
	type both struct {
		*opened

		locked context.Context
	}
	// Compute waits even if ctx has ended: the work itself watches ctx, and leaves no lock.
	waits := context.WithoutCancel(ctx)
	found, err := engine.Compute(waits, j, forecast.Footers, 0, "files", func(s *parallel.Steps) (both, error) {
		o, locked, err := openAll(ctx, j, c, s)
		return both{o, locked}, err
	})
	if err == nil {
		j.WarnOfInput(found.input)
	}
	return found.opened, found.locked, err
}

func openAll(
	ctx context.Context, j *engine.Driver, c *TrainConfig, s *parallel.Steps,
) (o *opened, locked context.Context, err error) {
	f := j.Files
	o = new(opened)
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	var inputErr, checkpointErr error
	var wg parallel.Group
	wg.Go(func() { o.input, inputErr = source.OpenInput(reading, f, c.Input, s) })
	if o.lock, locked, err = engine.LockFolder(ctx, f, c.Output, j.Engine, j.Reporter); err == nil {
		wg.Go(func() { o.unfinished, checkpointErr = readCheckpoint(reading, f, c) })
		o.output, err = runfolder.Open(reading, f.Store, c.Output, runfolder.Training, c.Overwrite || c.Resume)
	}
	if err != nil {
		cancel() // the other results are not needed
	}
	wg.Wait()
	if err = cmp.Or(err, inputErr, checkpointErr); err != nil && o.lock != nil {
		o.lock.Release(ctx)
	}
	return o, locked, err
}

// refused reports whether a run that writes checkpoints must not begin, for a file that is not
// Espalier's. Other runs ignore the file.
func (o *opened) refused(writes bool) bool {
	if o.unfinished == nil || o.unfinished.refused == nil {
		return false
	}
	if !writes {
		o.unfinished = nil
	}
	return writes
}

// finishedRun returns the result of a run that has nothing left to do.
func (o *opened) finishedRun(ctx context.Context, f *source.Files, c *TrainConfig) (*Result, error) {
	there, err := runfolder.Read(ctx, f.Store, c.Output, runfolder.Training,
		runfolder.TreeName, runfolder.MetricsName, runfolder.SchemaName, runfolder.FrontierName, runfolder.ImportanceName, runfolder.ReportName,
		runfolder.DistributionName)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Tree: there.Tree, Metrics: there.Metrics, Frontier: there.Frontier, Importance: there.Importance,
		Schema: there.Schema, Files: runfolder.Training.Files(c.Output, there),
	}
	if o.unfinished == nil {
		return r, nil
	}
	return r, o.unfinished.remove(ctx, f.Store, c.Output) // the run ended before it could
}

// GrownTrees are the trees of one algorithm at one set of costs, before one of them is chosen.
type GrownTrees struct {
	Algorithm  string
	Costs      string // URL of the costs; empty: each test costs 1
	Candidates []frontier.Candidate
	Seconds    float64 // to grow the trees and count rows at their leaves
}

// GrowAll grows the trees of a configuration, those of each algorithm apart, once for each file
// of costs. They are the trees that Train would choose from. The rows are read once for
// all of them, and nothing is written.
func GrowAll(
	ctx context.Context, c TrainConfig, costs []string, reporter engine.Reporter,
) (grown []GrownTrees, err error) {
	var p *config.Parsed
	setup := session.Setup{Storage: c.StorageConfig, Engine: c.EngineConfig, Check: func() (err error) {
		p, err = c.Parse()
		return err
	}}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		in, err := s.OpenInput(ctx, c.Input)
		if err != nil {
			return err
		}
		plan, err := newPlan(ctx, s.Files, &c, p, in)
		if err != nil {
			return err
		}
		r := &run{
			plan: plan, driver: s.Driver, files: s.Files, place: placeInMemory(s.Temporary), journal: new(journal),
		}
		from, _, err := r.prepare(ctx, nil)
		if err != nil {
			return err
		}
		for _, url := range costs {
			more, err := r.growAt(ctx, from.objects, url)
			if err != nil {
				return err
			}
			grown = append(grown, more...)
		}
		return nil
	})
	return grown, err
}

// growAt grows the trees of each algorithm at the costs of a file.
func (r *run) growAt(ctx context.Context, o *objects, url string) ([]GrownTrees, error) {
	costs, err := tables.ReadCosts(ctx, r.files, r.config.Prices, url, r.input.Names())
	if err != nil {
		return nil, err
	}
	priced := *o.fitted
	priced.features = slices.Clone(o.features)
	if err := costs.Apply(priced.features); err != nil {
		return nil, err
	}
	var grown []GrownTrees
	for _, algorithm := range r.config.Algorithm {
		start := time.Now()
		one := r.changed(func(p *plan) {
			p.costs = costs
			p.parsed.Grid = slices.DeleteFunc(slices.Clone(p.parsed.Grid), func(m grid.Member) bool {
				return m.Params.Algorithm != algorithm
			})
		})
		at := &objects{&priced, o.parts}
		g, err := one.grow(ctx, at, one.begin(at))
		if err != nil {
			return nil, err
		}
		s, err := one.score(ctx, g)
		if err != nil {
			return nil, err
		}
		grown = append(grown, GrownTrees{
			Algorithm: algorithm.String(), Costs: url, Candidates: s.candidates, Seconds: time.Since(start).Seconds(),
		})
	}
	return grown, nil
}

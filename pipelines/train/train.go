package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/session"
)

// Result is the result of a training run. A dry run only sets Sizes and Translated.
type Result struct {
	Tree    *tree.Tree
	Metrics *runfolder.Metrics
	Schema  *tree.Schema
	Files   []string // URLs of the files in the order of writing, without the trees of the frontier

	Frontier   *runfolder.Frontier   // nil: there was only one tree
	Importance *runfolder.Importance // nil: an earlier version without it has trained the run
	Manifest   *runfolder.Manifest

	Sizes      *Sizes   // sizes of a dry run's training
	Translated []string // jobs that the engine has translated in a dry run
}

// Train trains a tree and writes its run folder.
func Train(ctx context.Context, c config.Train, reporter engine.Reporter) (r *Result, err error) {
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
		setup.Runner = c.Runner
		setup.Input = &c.Input
		setup.Others = []*string{&c.Output}
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
	ctx context.Context, s *session.Session, c *config.Train, p *config.Parsed, start time.Time,
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
	for _, note := range plan.input.Texts {
		d.Reporter.Warn(note)
	}
	features := plan.schema.featureNames()
	if note := plan.input.WarnTexts(func(name string) bool { return slices.Contains(features, name) && !plan.wanted(name) }); note != "" {
		d.Reporter.Warn(note)
	}
	for _, note := range plan.input.NoteTwice(features) {
		d.Reporter.Warn(note)
	}
	for _, note := range []string{plan.input.NoteTexts(), plan.input.NoteFolders(features)} {
		if note != "" {
			d.Reporter.Note(note)
		}
	}
	if o.refused(c.Resume && !c.Overwrite || plan.leavesCheckpoints()) {
		return nil, o.unfinished.refused
	}
	if err := o.output.ProtectInputs(plan.reads()); err != nil {
		return nil, err
	}
	if c.Overwrite && !c.Resume { // retrain continues its own run
		if err := refuseInUse(ctx, d.Files.Store, c.Output); err != nil {
			return nil, err
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
		r := &run{stage{plan, d, d.Files, there}, journal, deadline(c, start)}
		train := func() (err error) {
			result, err = r.train(ctx, saved, o.output, start)
			return err
		}
		if saved == nil {
			err = train()
		} else {
			err = readsFile(checkpointURL(c.Output, checkpointFile), "start again with --overwrite, without --resume", train)
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

// refuseInUse returns an error if a LATEST.json names the output folder.
func refuseInUse(ctx context.Context, s *objectstore.Store, output string) error {
	if url := latest.InUse(ctx, s, output); url != "" {
		return usage.Errorf("--output %s is in use: %s names it: choose another folder", output, url)
	}
	return nil
}

// train runs the stages of a run. It begins with the saved stages if from is not nil.
func (r *run) train(ctx context.Context, from *saved, output *runfolder.Folder, start time.Time) (*Result, error) {
	r.narrow(r.mayValidate())
	err := r.check(ctx)
	if err != nil {
		return nil, err
	}
	if from, err = r.prepare(ctx, from); err != nil {
		return nil, err
	}
	slicer, err := r.slicer(ctx, from.objects.fitted)
	if err != nil {
		return nil, err
	}
	s, err := r.candidates(ctx, from)
	if err != nil {
		return nil, err
	}
	g := s.grown
	c, err := choose(ctx, r.stage, s, slicer)
	if err != nil {
		return nil, err
	}
	return (&writer{r.stage, output, start}).write(ctx, g, c)
}

// candidates grows trees and scores them, or refits the tree of an earlier run.
func (r *run) candidates(ctx context.Context, from *saved) (*scored, error) {
	if r.kept != nil {
		s, err := (&scorer{r.stage}).refit(ctx, from.objects)
		// The leaves have their models, and the tree was not grown from these rows.
		r.parsed.Selection.LeafModel = selection.None
		r.parsed.Selection.Certificate = false
		return s, err
	}
	grower := r.grower(from.objects)
	g, err := grower.grow(ctx, from.growth)
	if err != nil {
		return nil, err
	}
	if g, err = grower.regrow(ctx, g); err != nil {
		return nil, err
	}
	return (&scorer{r.stage}).score(ctx, g)
}

// settleMembers leaves out members, and adds some, as features and classes are known.
func (r *run) settleMembers(o *objects) {
	r.parsed.SettleTests(o.features)
	r.parsed.Grid = r.config.Deepened(r.parsed.Grid, len(o.label.Classes))
}

// prepare makes objects of the rows, and saves them with the growth before any node is split. from has the
// saved stages of a resumed run, or is nil. It leaves out the trees that cannot be chosen, since the number of rows of each
// part is now known.
func (r *run) prepare(ctx context.Context, from *saved) (*saved, error) {
	if from != nil {
		r.settleBins(from.objects.stats.Rows)
		r.schema.leaveOut(r.keysOf(from.objects.fitted))
		r.narrow(from.objects.validates())
		r.settleMembers(from.objects)
		return from, nil
	}
	o, err := newObjects(ctx, r.stage)
	if err != nil {
		return nil, err
	}
	r.narrow(o.validates())
	r.settleMembers(o)
	at := r.grower(o).begin()
	return &saved{o, at}, r.journal.save(ctx, o, at)
}

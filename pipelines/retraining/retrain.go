package retraining

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/openmetrics"
	"github.com/espalier-ml/espalier/pipelines/output"
	"github.com/espalier-ml/espalier/pipelines/session"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// work is a single attempt.
type work struct {
	config   *config.Retrain
	files    *source.Files
	reporter engine.Reporter
	day      time.Time
	window   *source.Window
	before   *latest.Pointer // nil if no run is in use
	inUse    *tree.Tree      // nil if no run is in use, or if its tree cannot be read
	broken   bool            // whether the run in use has a tree other than the one that LATEST.json names, or no tree
	apart    bool            // whether the tree in use predicts another label, or cannot be read
	later    bool            // whether the run in use is of a later day
	attempt  *Attempt
}

// Retrain trains a tree for a day, and moves LATEST.json to it if the gate accepts it. If an
// attempt with the same day, input and settings has already come to an end, it is returned
// unchanged, and repeated is true. A refusal is a *RefusedError, in addition to the attempt.
func Retrain(
	ctx context.Context, c config.Retrain, reporter engine.Reporter,
) (a *Attempt, repeated bool, err error) {
	check := func() error {
		if err := contracts.ReadAndObey(ctx, &c.Train); err != nil {
			return err
		}
		return c.Validate()
	}
	setup := session.Setup{Check: check, Storage: c.Train.StorageConfig}
	err = session.Run(ctx, &setup, reporter, func(ctx context.Context, s *session.Session) error {
		w := &work{config: &c, files: s.Files, reporter: s.Reporter, day: c.Day(time.Now())}
		a, repeated, err = w.locked(ctx)
		return err
	})
	return a, repeated, err
}

// locked carries out an attempt, and removes old runs.
func (w *work) locked(ctx context.Context) (*Attempt, bool, error) {
	store := w.files.Store
	lock, locked, _, err := runfolder.Acquire(ctx, store, w.config.Destination, w.reporter.Warn)
	if err != nil {
		return nil, false, ofDestination(err)
	}
	defer lock.Release(ctx)
	if _, err := openmetrics.Open(ctx, store, w.config.OpenMetrics, verb); errors.As(err, new(*output.ForeignError)) {
		return nil, false, err
	}
	a, repeated, err := w.run(locked)
	if a != nil {
		w.attempt = a
		w.tell(context.WithoutCancel(ctx))
	}
	if err == nil || errors.As(err, new(*RefusedError)) {
		if kept := Retain(locked, store, w.config.Destination, w.config.KeepRuns); kept != nil {
			w.reporter.Warn(fmt.Sprintf("old runs stay: %v", kept))
		}
	}
	return a, repeated, engine.OrInterrupted(locked, err)
}

// ofDestination names the setting in an error of the destination.
func ofDestination(err error) error { return usage.Renamed(err, "output", "destination") }

// url returns the URL of a run.
func (w *work) url(run string) string { return objectstore.Join(w.config.Destination, run) }

// rejectsOf returns the URL of the rows that a run has refused.
func rejectsOf(destination, run string) string {
	return objectstore.Join(destination, "rejects", path.Base(run)+".parquet")
}

// run carries out an attempt, and writes its document.
func (w *work) run(ctx context.Context) (*Attempt, bool, error) {
	history, err := OpenHistory(ctx, w.files.Store, w.config.Destination, w.reporter.Warn)
	if err != nil {
		return nil, false, err
	}
	if w.before, err = latest.Read(ctx, w.files.Store, w.config.Destination); err != nil {
		return nil, false, err
	}
	started := time.Now()
	date := w.day.Format(time.DateOnly)
	w.attempt = newAttempt(w.config.Destination, runfolder.Version(), date, started)
	if w.before != nil {
		w.attempt.Before = w.before.Run
	}
	if err = w.readInUse(ctx, history); err == nil {
		err = w.find(ctx, history)
	}
	if err == nil {
		if done := w.repeats(history); done != nil {
			return done, true, done.refusal()
		}
		if err = w.attempt.write(ctx, w.files.Store); err == nil {
			w.tell(ctx)
			err = w.train(ctx)
		}
	}
	w.attempt.Seconds = time.Since(started).Seconds()
	w.end(ctx, err)
	if failed := w.attempt.write(context.WithoutCancel(ctx), w.files.Store); err == nil && failed != nil {
		err = failed
		w.end(ctx, err)
	}
	return w.attempt, false, err
}

// readInUse reads the tree in use. A tree that predicts another label is refused before any work is
// done.
func (w *work) readInUse(ctx context.Context, history []*Attempt) error {
	if w.before == nil {
		return nil
	}
	w.later = DateOf(history, w.before.Run).After(w.day)
	var lost, err error
	if w.inUse, w.broken, lost, err = w.replaced().Tree(ctx, w.reporter.Warn); err != nil {
		return err
	}
	label := w.config.Train.Label
	w.apart = lost != nil || label != "" && label != w.inUse.Label.Column
	switch {
	case w.config.Replace:
		return nil
	case lost != nil:
		return usage.Errorf("--destination %s: the tree in use is lost: %v; put the run before it in use (espalier retrain use %s "+
			"previous), or let the new tree take its place by --replace: then no gate compares the two trees",
			w.config.Destination, lost, w.config.Destination)
	case w.apart:
		return usage.Errorf("--destination %s: the tree in use, of %s, predicts %q, and --label is %s: choose another destination; "+
			"--replace lets the new tree take its place", w.config.Destination, w.before.Run, w.inUse.Label.Column, label)
	}
	return nil
}

// repeats returns the newest attempt of the day that the gate has judged on the same input and
// settings; nil if absent, or if it would now have another outcome.
func (w *work) repeats(history []*Attempt) *Attempt {
	for _, a := range slices.Backward(history) {
		if a.Date != w.attempt.Date || a.Key != w.attempt.Key || a.refusedAtOwnPrices() || a.unchecked {
			continue
		}
		used := w.before != nil && w.before.Run == a.Run
		switch {
		case used && w.broken, !used && w.config.Replace:
		case used && a.Outcome != Promoted && slices.Contains(judged(), a.Outcome):
			return inUseByPerson(history, a)
		case a.Outcome == Backfilled && w.later, a.Outcome == Held && w.before.HeldAt(time.Now()), a.Outcome == Refused:
			return a
		case a.Outcome == Promoted:
			if !used && w.before != nil {
				w.reporter.Warn(fmt.Sprintf("%s names %s, not the run of this day: --replace puts this one in use", latest.Name,
					w.before.Run))
			}
			return a
		}
	}
	return nil
}

// inUseByPerson returns the attempt by which a person has put the run of a in use, whatever the gate has said.
func inUseByPerson(history []*Attempt, a *Attempt) *Attempt {
	for _, use := range slices.Backward(history) {
		if use.Mode == config.ModeUse && use.Run == a.Run && use.Outcome == Promoted {
			return use
		}
	}
	used := *a // the history lacks it
	used.Mode, used.Outcome = config.ModeUse, Promoted
	return &used
}

// refusal returns the error of a refused attempt.
func (a *Attempt) refusal() error {
	if a.Outcome != Refused {
		return nil
	}
	return &RefusedError{Run: a.Run, Reasons: a.Refusals()}
}

// end records how the attempt has ended.
func (w *work) end(ctx context.Context, err error) {
	a := w.attempt
	switch {
	case err == nil:
		if a.Outcome == Running {
			a.Outcome = Promoted
		}
		return
	case errors.Is(err, latest.ErrOvertaken):
		a.Outcome = Overtaken
	case errors.As(err, new(*RefusedError)):
		a.Outcome = Refused
		return
	case ctx.Err() != nil:
		a.Outcome = Interrupted
	default:
		a.Outcome = Failed
	}
	a.Error = err.Error()
}

// find lists the files of the input, determines the mode, and names the run after the day, the files and
// the settings. The name of a refit also depends on the run whose tests it keeps.
func (w *work) find(ctx context.Context, history []*Attempt) error {
	var err error
	in := source.Days{Patterns: w.config.Train.Input, MaxLag: w.config.MaxLag}
	if w.config.Train.DropNullLabels {
		in.Label = w.config.Train.Label
	}
	if w.window, err = in.Open(ctx, w.files, w.day); err != nil {
		return err
	}
	if len(w.window.Missing) > 0 {
		w.attempt.Missing = w.window.Missing
		w.reporter.Warn("days without rows: " + strings.Join(w.window.Missing, ", "))
	}
	w.attempt.Files = len(w.window.Files)
	if w.attempt.Key, err = w.key(ctx); err != nil {
		return err
	}
	w.attempt.Continue(history)
	a := w.attempt
	name := a.Key
	if w.config.Mode == config.ModeRefit && a.Before != "" && !w.apart {
		a.Mode = config.ModeRefit
		name = digestOf([]byte(name + a.Before))
	}
	a.Run = objectstore.Join(runsFolder, a.Date+"-"+name)
	return nil
}

// newFeatures returns the new columns that no setting names.
func newFeatures(c *config.Train, columns []string) []string {
	others := append([]string{c.Label, c.Weight, c.Count, c.Group, c.SplitColumn, c.SplitTime}, c.Ignore...)
	return slices.DeleteFunc(slices.Clone(columns), func(name string) bool {
		return c.Names(name) || slices.Contains(others, name)
	})
}

// train trains, judges and promotes the run.
func (w *work) train(ctx context.Context) error {
	c := w.config.Train
	c.Input, c.Output = w.window.Patterns, w.url(w.attempt.Run)
	c.Resume, c.Overwrite = true, true // a killed attempt may have left anything
	if w.attempt.Mode == config.ModeRefit {
		c.Refit = w.url(w.attempt.Before)
	}
	if c.ContractFile != "" { // which says what happens to new columns
		c.Rejects = rejectsOf(w.config.Destination, w.attempt.Run)
	} else if c.NewColumns = newFeatures(&c, w.window.New); len(c.NewColumns) > 0 {
		w.reporter.Warn(fmt.Sprintf("the columns %q are only in the files of the newest days: they are left out until all files have "+
			"them; --ignore says so for good", c.NewColumns))
	}
	r, err := train.Train(ctx, c, w.reporter)
	if err != nil {
		return ofDestination(err)
	}
	if m := r.Metrics.Test; m != nil {
		w.attempt.AUC = m.AUCOvRMacro
		w.attempt.Cost = m.ExpectedCost
	}
	if err := w.record(ctx, r.Tree); err != nil {
		return err
	}
	if err := w.window.Unchanged(ctx, w.files); err != nil {
		return err
	}
	if w.before != nil && w.before.Run == w.attempt.Run && !w.broken { // killed after it was promoted
		return nil
	}
	if err := w.judge(ctx, r); err != nil {
		return err
	}
	if reasons := w.attempt.Refusals(); len(reasons) > 0 {
		return &RefusedError{Run: w.attempt.Run, Reasons: reasons}
	}
	if w.later && !w.config.Replace {
		w.attempt.Outcome = Backfilled
		w.reporter.Warn(w.before.Run + ", of a later day, stays in use: --replace puts this run in use")
		return nil
	}
	if w.before.HeldAt(time.Now()) {
		w.attempt.Outcome = Held
		w.reporter.Warn(fmt.Sprintf("%s is held in use%s: this run has passed the gate, and is not promoted", w.before.Run,
			holdText(w.before)))
		return nil
	}
	next := latest.Pointer{Run: w.attempt.Run, Digest: w.attempt.Digest, Promoted: time.Now()}
	_, err = latest.Promote(ctx, w.files.Store, w.config.Destination, next, w.before)
	return err
}

// record names the tree in the history and keeps the manifest of its run, before the tree can be used.
func (w *work) record(ctx context.Context, t *tree.Tree) error {
	if err := register(ctx, w.files.Store, w.config.Destination, w.attempt.Run); err != nil {
		return err
	}
	m, err := readManifest(ctx, w.files.Store, registered(w.config.Destination, w.attempt.Run))
	if err != nil {
		return err
	}
	w.attempt.Rows = 0
	for part := range dataset.Part(dataset.Parts) {
		w.attempt.Rows += m.Counters["rows_"+part.String()]
	}
	w.attempt.Digest = tree.Digest(t.Encode())
	return w.attempt.write(ctx, w.files.Store)
}

// History returns the attempts in a destination, the oldest first, and the run in use; nil if absent.
func History(ctx context.Context, c config.Retrain, reporter engine.Reporter) ([]*Attempt, *latest.Pointer, error) {
	f := source.New(c.Train.StorageConfig)
	list, err := readHistoryAndWarn(ctx, f.Store, c.Destination, reporter.Warn)
	if err != nil {
		return nil, nil, err
	}
	now, err := latest.Read(ctx, f.Store, c.Destination)
	return list, now, err
}

package retraining

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/window"
)

// Cuts describes where the cuts of a run come from.
type Cuts struct {
	Run     string   `json:"run"`     // run that found them: the folder of the attempt, or of an earlier run
	Date    string   `json:"date"`    // date of that run
	Renewed string   `json:"renewed"` // why --keep_cuts found new cuts; empty if they were kept, or if there were no earlier cuts
	Column  string   `json:"column"`  // column that has moved most since the earlier cuts were found; empty if not measured
	PSI     *float64 `json:"psi"`     // PSI of this column; null if not measured
}

// chooseCuts decides whether the run keeps the cuts of the run in use, or finds its own. The
// decision only depends on the history and on documents of runs, so that another attempt for the
// same day decides the same.
func (w *work) chooseCuts(ctx context.Context, history []*Attempt) error {
	a := w.attempt
	if w.config.Train.CutsFrom != "" {
		return nil
	}
	if a.Before != "" && a.Mode == config.ModeRefit {
		kept := cutsOf(history, a.Before)
		kept.Renewed, kept.Column, kept.PSI = "", "", nil
		a.Cuts = kept
		return nil
	}
	a.Cuts = &Cuts{Date: a.Date}
	if a.Before == "" || w.apart || w.config.KeepCuts == 0 {
		return nil
	}
	kept := cutsOf(history, a.Before)
	why, err := w.outdated(ctx, history, kept)
	if err != nil {
		return err
	}
	if why == "" {
		kept.Renewed = ""
		a.Cuts = kept
		return nil
	}
	a.Cuts.Renewed, a.Cuts.Column, a.Cuts.PSI = why, kept.Column, kept.PSI
	w.reporter.Warn("cuts are renewed, and all days of the input are read: " + why)
	return nil
}

// keepsCuts reports whether a training takes over the cuts of an earlier run because of
// --keep_cuts.
func (w *work) keepsCuts() bool {
	c := w.attempt.Cuts
	return c != nil && c.Run != "" && c.Run != w.attempt.Run
}

// cutsOf returns the cuts of a run, as recorded in the history. A run without a record has found
// its own cuts.
func cutsOf(history []*Attempt, run string) *Cuts {
	for i := len(history) - 1; i >= 0; i-- {
		if a := history[i]; a.Run == run && a.Cuts != nil {
			return &Cuts{Run: a.Cuts.Run, Date: a.Cuts.Date}
		}
	}
	name := path.Base(run) // begins with the date
	return &Cuts{Run: run, Date: name[:min(len(name), len(config.DateFormat))]}
}

// outdated returns why cuts must be renewed; empty if they need not be. It records in the cuts how
// far rows have moved from the rows on which the cuts were found.
func (w *work) outdated(ctx context.Context, history []*Attempt, c *Cuts) (why string, err error) {
	found, err := time.Parse(config.DateFormat, c.Date)
	if err != nil {
		return fmt.Sprintf("the day of %s is not known", c.Run), nil //nolint:nilerr // the cuts are renewed
	}
	if age := int(w.day.Sub(found) / window.Day); age >= w.config.KeepCuts {
		why = fmt.Sprintf("they are %d days old, of %s (--keep_cuts %d)", age, c.Date, w.config.KeepCuts)
	}
	there, err := w.finished(ctx, c.Run)
	if err != nil || !there {
		return c.Run + ", which has found them, is gone", err
	}
	last, err := w.lastWith(ctx, history, c)
	if err != nil || last == "" {
		return why, err
	}
	moved, err := w.movedSince(ctx, c, last)
	if err != nil || why != "" {
		return why, err
	}
	return moved, nil
}

// finished reports whether a run exists and is complete.
func (w *work) finished(ctx context.Context, run string) (bool, error) {
	_, err := w.files.Store.Stat(ctx, objectstore.Join(w.url(run), runfolder.SuccessName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// lastWith returns the newest run of an earlier day that kept the cuts; empty if absent. The gate
// may have refused it: outdated cuts make poor trees, so that no run would pass until they are
// renewed.
func (w *work) lastWith(ctx context.Context, history []*Attempt, c *Cuts) (run string, err error) {
	for i := len(history) - 1; i >= 0; i-- {
		a := history[i]
		if a.Cuts == nil || a.Cuts.Run != c.Run || a.Run == c.Run || a.Date >= w.attempt.Date || a.Outcome == Running {
			continue
		}
		if there, err := w.finished(ctx, a.Run); there || err != nil {
			return a.Run, err
		}
	}
	return "", nil
}

// movedSince compares the training rows of a run with the training rows of the run that found the
// cuts, using only documents. It returns why a column has drifted too far; empty if none has.
func (w *work) movedSince(ctx context.Context, c *Cuts, run string) (why string, err error) {
	d := pipelines.DefaultDriftConfig()
	d.Model, d.Against, d.DriftLimits = w.url(c.Run), w.url(run), w.config.Drift
	d.StorageConfig = w.config.Train.StorageConfig
	found, err := pipelines.Drift(ctx, d, w.reporter)
	if err != nil && unfit(err) && ctx.Err() == nil {
		return fmt.Sprintf("drift since %s cannot be measured: %v", c.Date, err), nil
	}
	if err != nil {
		return "", err
	}
	for _, column := range found.Columns {
		if column.LeftOut != "" {
			continue
		}
		psi, limit := column.PSI, w.config.KeepCutsPSI
		if c.PSI == nil || psi > *c.PSI {
			c.Column, c.PSI = column.Column, &psi
		}
		if limit > 0 && column.Alarm && psi > limit && why == "" {
			why = fmt.Sprintf("%s has drifted since %s: its PSI is %.4g (--keep_cuts_psi %.4g)", column.Column, c.Date, psi, limit)
		}
	}
	return why, nil
}

// byKept adds to an error of a column that cuts and classes were kept, and how to find new cuts.
func (w *work) byKept(err error) error {
	var e *dataset.DataError
	if w.keepsCuts() && errors.As(err, &e) && e.Column != "" {
		e.Hint = fmt.Sprintf("cuts, categories and classes come from %s: if the rows are right, --keep_cuts 0 "+
			"--keep_cuts_psi 0 finds new ones, and later runs keep these", w.attempt.Cuts.Run)
	}
	return err
}

// objectCache returns the folder of --object_cache for the cuts of the run. Each set of cuts has
// its own folder, so that retention can find it.
func (w *work) objectCache() string {
	folder := w.config.Train.ObjectCache
	if folder == "" || w.attempt.Cuts == nil {
		return folder
	}
	return objectstore.Join(folder, path.Base(w.attempt.Cuts.Run))
}

// retainCaches removes cached objects of old cuts: those named in the history, except the cuts of
// the run in use.
func (w *work) retainCaches(ctx context.Context, history []*Attempt, now *latest.Pointer) error {
	folder := w.config.Train.ObjectCache
	if folder == "" || now == nil || w.config.Train.CutsFrom != "" {
		return nil
	}
	const depth = 4 // kinds of objects, blocks of an entry
	there, err := w.foldersBelow(ctx, folder, depth)
	if err != nil {
		return err
	}
	used := path.Base(cutsOf(history, now.Run).Run)
	for _, a := range history {
		if a.Cuts == nil || a.Cuts.Run == "" {
			continue
		}
		name := path.Base(a.Cuts.Run)
		if name == used || !there[name] {
			continue
		}
		delete(there, name) // removed once
		if err := w.files.Store.RemoveAll(ctx, objectstore.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

package retraining

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/gate"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// RefusedError is the error if the gate has refused a run. LATEST.json is unchanged.
type RefusedError struct {
	Run     string
	Reasons []string
}

// Error returns the reasons.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the gate refuses %s, and LATEST.json stays as it was: %s. Look at its report.html, and at "+
		"`espalier evaluate RUN --against LATEST.json --input FILES`", e.Run, strings.Join(e.Reasons, "; "))
}

// Nature implements usage.Natured.
func (e *RefusedError) Nature() usage.Nature { return usage.Refused }

// judge checks the tree of a new run, both alone and against the tree in use.
func (w *work) judge(ctx context.Context, r *train.Result) error {
	t := r.Tree
	area := r.Metrics.Test.Area()
	auc := w.attempt.AUC
	limits := &w.config.Gate
	w.add(limits.CheckAUC(auc))
	if auc == nil {
		return nil
	}
	other := w.apart || w.inUse != nil && (w.inUse.Label.Column != t.Label.Column || !comparison.SameClasses(w.inUse, t))
	if w.attempt.Before == "" {
		return nil
	}
	if other && w.config.Replace {
		return w.replace(ctx, t, area)
	}
	if other {
		w.fault("replace", fmt.Sprintf("the tree in use predicts %q with the classes %s, and the new one %q with the classes %s: "+
			"--replace lets it take the place", w.inUse.Label.Column, naming.First(w.inUse.Label.Classes, 10), t.Label.Column,
			naming.First(t.Label.Classes, 10)))
		return nil
	}
	before, err := w.read(ctx, w.attempt.Before)
	if err != nil {
		return err
	}
	w.add(limits.CheckFall(area, before.Metrics.Test.Area())...)
	if err := w.compare(ctx, r); err != nil {
		return err
	}
	return w.drift(ctx)
}

// replace checks a tree that takes the place of the tree in use by --replace, where the two cannot be compared on the
// same rows.
func (w *work) replace(ctx context.Context, t *tree.Tree, area *metric.Estimate) error {
	if len(t.Nodes) == 1 {
		w.fault("replace", "the new tree is a single leaf, without a test, and cannot be compared with the tree in use")
	}
	record := "they have other labels or classes"
	if w.inUse == nil {
		before, err := w.read(ctx, w.attempt.Before)
		switch {
		case err == nil:
			w.add(w.config.Gate.CheckFall(area, before.Metrics.Test.Area())...)
			record = "only the AUC on record of the tree in use was"
		case usage.NatureOf(err) != usage.TryAgain:
			record = "the tree in use and its metrics cannot be read"
		default:
			return err
		}
	}
	w.reporter.Warn("--replace: the trees are not compared on the same rows: " + record)
	return nil
}

// add records checks.
func (w *work) add(checks ...gate.Check) { w.attempt.Checks = append(w.attempt.Checks, checks...) }

// fault records a condition that could not be checked.
func (w *work) fault(name, text string) { w.add(gate.Check{Check: name, Text: text}) }

// compare checks the new tree against the tree in use, on the test rows.
func (w *work) compare(ctx context.Context, r *train.Result) error {
	held, err := w.config.Train.HeldOut()
	if err != nil {
		return err
	}
	if r.Manifest.Counters[runfolder.RowsOfCopies] > 0 {
		held.Content = r.Schema.Read()
	}
	c := config.DefaultEvaluate()
	c.Model = w.url(w.attempt.Before)
	c.Against = w.url(w.attempt.Run)
	c.Input = w.window.Patterns
	c.Held = held
	c.Label = w.config.Train.Label
	c.Weight = w.config.Train.Weight
	c.DropNullLabels = w.config.Train.DropNullLabels
	c.Count = cmp.Or(w.config.Train.Count, config.ColumnNone)
	c.StorageConfig = w.config.Train.StorageConfig
	c.Contract = w.config.Train.Contract
	c.Rejects = "" // training has listed them
	c.Titles = [2]string{"the tree in use", "the new tree"}
	found, err := pipelines.Compare(ctx, c, w.reporter)
	if usage.NatureOf(err) == usage.Data { // the rows do not fit the tree in use
		w.fault("gate_metrics", "the new tree cannot be compared with the one in use: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	share := found.Flips.Share
	if w.config.Gate.MaxFlips == 1 && share > manyFlips {
		w.reporter.Warn(fmt.Sprintf("%s of the test rows get another class than by the tree in use: look for a change of the "+
			"label or of the rows; --max_flips would refuse such a tree", textview.Percent(share)))
	}
	w.add(w.config.Gate.Compare(found.Metrics, share)...)
	return nil
}

// manyFlips is the share of rows with another class from which a person should look, whether or not the gate has a
// limit.
const manyFlips = 0.25

// drift checks how far the input has moved from the training rows of the run in use.
func (w *work) drift(ctx context.Context) error {
	c := config.DefaultDrift()
	c.Model = w.url(w.attempt.Before)
	c.Input = w.window.Patterns
	c.DriftLimits = w.config.Drift
	c.StorageConfig = w.config.Train.StorageConfig
	c.Contract = w.config.Train.Contract
	c.Rejects = "" // training has listed them
	found, err := pipelines.Drift(ctx, c, w.reporter)
	if usage.NatureOf(err) == usage.Data { // the rows do not fit the tree in use
		w.fault("max_psi", "drift cannot be measured: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if left := found.LeftOut(); found.Tested() == 0 && len(left) > 0 {
		w.reporter.Warn("drift from the run in use is unknown, as all columns are left out: " + strings.Join(left, "; "))
	}
	limit := w.config.Gate.MaxPSI
	for _, column := range found.All() {
		if column.Alarm {
			w.add(gate.NewCheck("max_psi", column.PSI, limit, limit == 0 || column.PSI <= limit,
				column.Column+" has drifted: its PSI is %.4g, want at most %.4g (0: any)"))
		}
	}
	return nil
}

// read reads the metrics and the manifest of a run.
func (w *work) read(ctx context.Context, run string) (*runfolder.Run, error) {
	return runfolder.Read(ctx, w.files.Store, w.url(run), runfolder.Training, runfolder.MetricsName,
		runfolder.ManifestName)
}

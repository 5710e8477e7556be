package retraining

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
)

// RefusedError is the error if the gate has refused a run. LATEST.json is unchanged.
type RefusedError struct {
	Run     string
	Reasons []string
}

// Error returns the reasons.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the gate refuses %s, and LATEST.json stays as it was: %s. Look at its report.html, and at what "+
		"`espalier compare` says of LATEST.json and the run", e.Run, strings.Join(e.Reasons, "; "))
}

// judge checks the new tree, both alone and against the tree in use.
func (w *work) judge(ctx context.Context, t *tree.Tree) error {
	auc := w.attempt.AUC
	if auc == nil {
		w.fault("min_auc", "the test rows of the new run have no AUC: they are of one class, or the part is empty")
		return nil
	}
	gate := &w.config.Gate
	w.check("min_auc", *auc, gate.MinAUC, *auc >= gate.MinAUC, "AUC on test rows is %.4f, want at least %.4g")
	other := w.apart || w.inUse != nil && (w.inUse.Label.Column != t.Label.Column || !comparison.SameClasses(w.inUse, t))
	if w.attempt.Before == "" || other && w.config.Replace {
		return nil
	}
	if other {
		w.fault("replace", fmt.Sprintf("the tree in use predicts %q with the classes %s, and the new one %q with the classes %s: "+
			"--replace lets it take the place", w.inUse.Label.Column, listed(w.inUse), t.Label.Column, listed(t)))
		return nil
	}
	before, err := w.read(ctx, w.attempt.Before)
	if err != nil {
		return err
	}
	if before.Metrics.Test != nil && before.Metrics.Test.AUCOvRMacro != nil {
		fall := *before.Metrics.Test.AUCOvRMacro - *auc
		w.check("max_auc_fall", fall, gate.MaxAUCFall, fall <= gate.MaxAUCFall,
			"AUC on the run's own test rows has fallen by %.4f, want at most %.4g")
	}
	if err := w.compare(ctx); err != nil {
		return err
	}
	return w.drift(ctx)
}

// listed lists the classes of a tree or, if there are many, the first ones.
func listed(t *tree.Tree) string {
	const most = 10
	names, more := t.Label.Classes, ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ") + more
}

// check records a condition. text has verbs for the value and the limit.
func (w *work) check(name string, value, limit float64, passed bool, text string) {
	w.attempt.Checks = append(w.attempt.Checks, Check{name, value, limit, passed, fmt.Sprintf(text, value, limit)})
}

// fault records a condition that could not be checked.
func (w *work) fault(name, text string) {
	w.attempt.Checks = append(w.attempt.Checks, Check{Check: name, Text: text})
}

// unfit reports whether the rows or trees of both runs are incompatible, which people must
// investigate.
func unfit(err error) bool {
	return errors.As(err, new(*usage.Error)) || errors.As(err, new(*dataset.DataError))
}

// compare checks the new tree against the tree in use, on the test rows.
func (w *work) compare(ctx context.Context) error {
	held, err := w.config.Train.HeldOut()
	if err != nil {
		return err
	}
	c := pipelines.DefaultCompareConfig()
	c.A, c.B, c.Input, c.Held = w.url(w.attempt.Before), w.url(w.attempt.Run), w.window.Patterns, held
	c.Label, c.Weight, c.DropNullLabels = w.config.Train.Label, w.config.Train.Weight, w.config.Train.DropNullLabels
	c.StorageConfig, c.Contract = w.config.Train.StorageConfig, w.config.Train.Contract
	c.Rejects = "" // training has listed them
	c.Titles = [2]string{"the tree in use", "the new tree"}
	found, err := pipelines.Compare(ctx, c, w.reporter)
	if err != nil && unfit(err) && ctx.Err() == nil {
		w.fault("gate_metrics", "the new tree cannot be compared with the one in use: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	gate := &w.config.Gate
	qualities := found.Metrics.Qualities()
	for _, name := range gate.Metrics {
		q := qualities[slices.IndexFunc(qualities, func(q metric.Quality) bool { return q.Name == name })]
		if q.Difference == nil || q.Interval == nil { // too few rows, or no error costs
			continue
		}
		worst := q.Interval.High
		if q.Lossy {
			worst = -q.Interval.Low
		}
		w.check("gate_metrics", q.Difference.Difference, gate.Tolerance, worst >= -gate.Tolerance,
			name+" differs by %.5f from the tree in use; want none worse, by its interval, than %.4g")
	}
	if cost := found.Metrics.ExpectedCost; gate.MaxCostRatio > 0 && cost.A > 0 {
		ratio := cost.B / cost.A
		w.check("max_cost_ratio", ratio, gate.MaxCostRatio, ratio <= gate.MaxCostRatio,
			"expected cost is %.4g times the cost of the tree in use, want at most %.4g")
	}
	share := found.Flips.Share
	if gate.MaxFlips == 1 && share > manyFlips {
		w.reporter.Warn(fmt.Sprintf("%.1f %% of the test rows get another class than by the tree in use: look for a change of the "+
			"label or of the rows; --max_flips would refuse such a tree", 100*share))
	}
	w.check("max_flips", share, gate.MaxFlips, share <= gate.MaxFlips,
		"a share of %.4f of the test rows gets another class, want at most %.4g")
	return nil
}

// manyFlips is the share of rows with another class from which a person should look, whether or not the gate has a
// limit.
const manyFlips = 0.25

// drift checks how far the input has moved from the training rows of the run in use.
func (w *work) drift(ctx context.Context) error {
	c := pipelines.DefaultDriftConfig()
	c.Model, c.Input, c.DriftLimits = w.url(w.attempt.Before), w.window.Patterns, w.config.Drift
	c.StorageConfig, c.Contract = w.config.Train.StorageConfig, w.config.Train.Contract
	c.Rejects = "" // training has listed them
	found, err := pipelines.Drift(ctx, c, w.reporter)
	if err != nil && unfit(err) && ctx.Err() == nil {
		w.fault("max_psi", "drift cannot be measured: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	limit := w.config.Gate.MaxPSI
	for _, column := range found.All() {
		if column.Alarm {
			w.check("max_psi", column.PSI, limit, limit == 0 || column.PSI <= limit,
				column.Column+" has drifted: its PSI is %.4g, want at most %.4g (0: any)")
		}
	}
	return nil
}

// read reads the metrics and the manifest of a run.
func (w *work) read(ctx context.Context, run string) (*runfolder.Run, error) {
	return runfolder.Read(ctx, w.files.Store, w.url(run), runfolder.Training, runfolder.MetricsName,
		runfolder.ManifestName)
}

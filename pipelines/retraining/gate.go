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

// Judged is a new tree that may take the place of the tree in use.
type Judged struct {
	Gate    *config.Gate
	Replace bool // whether the new tree may take the place of a tree with which it cannot be compared
	Warn    func(string)

	Leaf bool             // whether the new tree is a single leaf
	AUC  *float64         // the AUC of the new tree on its test rows; nil if unknown
	Area *metric.Estimate // likewise, with its interval

	InUse bool   // whether a tree is in use
	Apart string // why the two trees cannot be compared on the same rows; empty: they can
	Lost  bool   // whether this is because the tree in use cannot be read

	// Before returns the AUC of the tree in use on its own test rows. why says why it is unknown.
	Before  func() (area *metric.Estimate, why string, err error)
	Compare func() ([]gate.Check, error) // compares both trees on the test rows
	// Drift measures the drift from the training rows of the tree in use. why says why it cannot be measured; with d, for
	// which columns.
	Drift func() (d *runfolder.Drift, why string, err error)
}

// Judge checks the new tree, both alone and against the tree in use.
func (j *Judged) Judge() ([]gate.Check, error) {
	checks := []gate.Check{j.Gate.CheckAUC(j.AUC)}
	if j.AUC == nil || !j.InUse {
		return checks, nil
	}
	if j.Apart != "" && !j.Replace {
		return append(checks, gate.Check{Check: "replace", Text: j.Apart}), nil
	}
	if j.Apart != "" {
		replaced, err := j.replaces()
		return append(checks, replaced...), err
	}
	before, why, err := j.Before()
	switch {
	case err != nil:
		return checks, err
	case why != "" && !j.Replace:
		checks = append(checks, gate.Check{
			Check: "max_auc_fall", Text: "the fall of the AUC cannot be checked: " + why + "; --replace lets the new tree take its place",
		})
	case why != "":
		j.Warn("--replace: the fall of the AUC is not checked: " + why)
	default:
		checks = append(checks, j.Gate.CheckFall(j.Area, before)...)
	}
	compared, err := j.Compare()
	checks = append(checks, compared...)
	if err != nil {
		return checks, err
	}
	drifted, err := j.drifted()
	return append(checks, drifted...), err
}

// replaces checks a tree that takes the place of the tree in use by --replace, where the two cannot be compared on the
// same rows.
func (j *Judged) replaces() (checks []gate.Check, err error) {
	if j.Leaf {
		checks = append(checks, gate.Check{
			Check: "replace", Text: "the new tree is a single leaf, without a test, and cannot be compared with the tree in use",
		})
	}
	record := "they have other labels or classes"
	if j.Lost {
		before, why, err := j.Before()
		switch {
		case err != nil:
			return checks, err
		case why != "":
			record = "the tree in use and its metrics cannot be read"
		default:
			checks = append(checks, j.Gate.CheckFall(j.Area, before)...)
			record = "only the AUC on record of the tree in use was"
		}
	}
	j.Warn("--replace: the trees are not compared on the same rows: " + record)
	return checks, nil
}

// drifted checks how far the rows have moved from the training rows of the run in use.
func (j *Judged) drifted() (checks []gate.Check, err error) {
	found, why, err := j.Drift()
	if err != nil {
		return nil, err
	}
	limit := j.Gate.MaxPSI
	if why != "" {
		text := "drift cannot be measured: " + why
		if found != nil {
			text = "drift of some columns cannot be measured: " + why
		}
		if limit == 0 || j.Replace {
			j.Warn(text)
		} else {
			checks = append(checks, gate.Check{Check: maxPSI, Text: text + "; --replace lets the new tree take its place"})
		}
	}
	if found == nil {
		return checks, nil
	}
	if left := found.LeftOut(); found.Tested() == 0 && len(left) > 0 {
		j.Warn("drift from the run in use is unknown, as all columns are left out: " + strings.Join(left, "; "))
	}
	for _, column := range found.All() {
		if column.Alarm {
			checks = append(checks, gate.NewCheck(maxPSI, column.PSI, limit, limit == 0 || column.PSI <= limit,
				column.Column+" has drifted: its PSI is %.4g, want at most %.4g (0: any)"))
		}
	}
	return checks, nil
}

const maxPSI = "max_psi"

// Compared checks two trees by their figures on the same rows, and warns if many rows get another class, whether or not
// there is a limit.
func (j *Judged) Compared(m *metric.Paired, flips float64) []gate.Check {
	const many = 0.25 // from which a person should look
	if j.Gate.MaxFlips == 1 && flips > many {
		j.Warn(fmt.Sprintf("%s of the test rows get another class than by the tree in use: look for a change of the "+
			"label or of the rows; --max_flips would refuse such a tree", textview.Percent(flips)))
	}
	return j.Gate.Compare(m, flips)
}

// judge checks the tree of a new run.
func (w *work) judge(ctx context.Context, r *train.Result) error {
	t := r.Tree
	j := &Judged{
		Gate: &w.config.Gate, Replace: w.config.Replace, Warn: w.reporter.Warn, Leaf: len(t.Nodes) == 1, AUC: w.attempt.AUC,
		Area: r.Metrics.Test.Area(), InUse: w.attempt.Before != "", Lost: w.inUse == nil,
	}
	j.Before = func() (*metric.Estimate, string, error) { return w.replaced().Area(ctx) }
	j.Compare = func() ([]gate.Check, error) { return w.compare(ctx, r, j) }
	j.Drift = func() (*runfolder.Drift, string, error) { return w.drift(ctx) }
	if w.apart || w.inUse != nil && (w.inUse.Label.Column != t.Label.Column || !comparison.SameClasses(w.inUse, t)) {
		j.Apart = "the tree in use cannot be read"
		if w.inUse != nil {
			j.Apart = fmt.Sprintf("the tree in use predicts %q with the classes %s, and the new one %q with the classes %s: "+
				"--replace lets it take the place", w.inUse.Label.Column, naming.First(w.inUse.Label.Classes, 10), t.Label.Column,
				naming.First(t.Label.Classes, 10))
		}
	}
	checks, err := j.Judge()
	w.attempt.Checks = append(w.attempt.Checks, checks...)
	return err
}

// compare checks the new tree against the tree in use, on the test rows.
func (w *work) compare(ctx context.Context, r *train.Result, j *Judged) ([]gate.Check, error) {
	held, err := w.config.Train.HeldOut()
	if err != nil {
		return nil, err
	}
	held.Content = r.Manifest.CopiesBy
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
		return []gate.Check{{
			Check: "gate_metrics", Text: "the new tree cannot be compared with the one in use: " + err.Error(),
		}}, nil
	}
	if err != nil {
		return nil, err
	}
	return j.Compared(found.Metrics, found.Flips.Share), nil
}

// drift measures how far the input has moved from the training rows of the run in use. why says why it cannot.
func (w *work) drift(ctx context.Context) (found *runfolder.Drift, why string, err error) {
	if _, why, err := w.replaced().Distribution(ctx); why != "" || err != nil {
		return nil, why, err
	}
	c := config.DefaultDrift()
	c.Model = w.url(w.attempt.Before)
	c.Input = w.window.Patterns
	c.DriftLimits = w.config.Drift
	c.StorageConfig = w.config.Train.StorageConfig
	c.Contract = w.config.Train.Contract
	c.Rejects = "" // training has listed them
	found, err = pipelines.Drift(ctx, c, w.reporter)
	if usage.NatureOf(err) == usage.Data { // the rows do not fit the tree in use
		return nil, err.Error(), nil
	}
	return found, "", err
}

// replaced returns the run whose place the new run may take.
func (w *work) replaced() *InUse {
	return &InUse{Store: w.files.Store, Destination: w.config.Destination, Run: w.attempt.Before, Replace: w.config.Replace}
}

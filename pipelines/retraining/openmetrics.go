package retraining

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/pages"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// metricsHead is the beginning of a file of figures.
const metricsHead = "# TYPE espalier_retrain_outcome"

// figures writes an attempt in the text format of OpenMetrics.
type figures struct{ lines []string }

// gauge writes a figure with its help.
func (f *figures) gauge(name, help string, value float64) {
	f.head(name, help)
	f.lines = append(f.lines, name+" "+strconv.FormatFloat(value, 'g', -1, 64))
}

func (f *figures) head(name, help string) {
	f.lines = append(f.lines, "# TYPE "+name+" gauge", "# HELP "+name+" "+help)
}

// optional is gauge for a figure that may be unknown.
func (f *figures) optional(name, help string, value *float64) {
	if value != nil {
		f.gauge(name, help, *value)
	}
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// openMetrics returns the figures of an attempt. p is LATEST.json; nil if absent.
func (a *Attempt) openMetrics(p *latest.Pointer) []byte {
	f := new(figures)
	f.head("espalier_retrain_outcome", "1 for the outcome of the last attempt.")
	for _, outcome := range outcomes() {
		value := 0
		if outcome == a.Outcome {
			value = 1
		}
		f.lines = append(f.lines, fmt.Sprintf("espalier_retrain_outcome{outcome=%q} %d", outcome, value))
	}
	f.gauge("espalier_retrain_started_timestamp_seconds", "When the last attempt began.", seconds(a.Started))
	f.gauge("espalier_retrain_duration_seconds", "Time that the last attempt took.", a.Seconds)
	f.gauge("espalier_retrain_files", "Input files of the last attempt.", float64(a.Files))
	f.gauge("espalier_retrain_missing_days", "Days of the input without files.", float64(len(a.Missing)))
	f.gauge("espalier_retrain_rows", "Training and test rows.", float64(a.Rows))
	f.gauge("espalier_retrain_refusals", "Checks of the gate that the last run has not passed.", float64(len(a.Refusals())))
	f.optional("espalier_retrain_auc", "AUC of the new tree on its test rows.", a.AUC)
	f.optional("espalier_retrain_expected_cost", "Expected cost of the new tree on its test rows.", a.Cost)
	a.Cuts.openMetrics(f)
	if p != nil {
		f.gauge("espalier_model_promoted_timestamp_seconds", "When the run in use was promoted.", seconds(p.Promoted))
	}
	return []byte(strings.Join(append(f.lines, "# EOF\n"), "\n"))
}

// openMetrics writes the figures of cuts; c is nil if nothing is known about them.
func (c *Cuts) openMetrics(f *figures) {
	if c == nil {
		return
	}
	if found, err := time.Parse(config.DateFormat, c.Date); err == nil {
		f.gauge("espalier_retrain_cuts_timestamp_seconds", "Day for which the cuts of the last run were found.", seconds(found))
	}
	renewed := 0.0
	if c.Renewed != "" {
		renewed = 1
	}
	f.gauge("espalier_retrain_cuts_renewed", "1 if the last attempt was to renew cuts that were kept, else 0.", renewed)
	f.optional("espalier_retrain_cuts_psi", "Greatest PSI of a column since the kept cuts were found, at the last attempt.", c.PSI)
}

// openMetricsFile returns the file of --open_metrics. Only figures of a retraining are replaced.
func openMetricsFile(ctx context.Context, s *objectstore.Store, url string) (*pages.File, error) {
	kind := pages.Kind{
		Own:     func(head []byte) bool { return bytes.HasPrefix(head, []byte(metricsHead)) },
		Is:      "file of figures of a retraining",
		Another: "figures",
	}
	file, err := pages.OpenFile(ctx, s, url, url != "", kind)
	if err != nil {
		return nil, usage.Renamed(err, "output", "open_metrics")
	}
	return file, nil
}

// tell writes the figures of the attempt.
func (w *work) tell(ctx context.Context) {
	err := w.attempt.tell(ctx, w.files.Store, w.config.OpenMetrics, w.config.Destination)
	if err != nil {
		w.reporter.Warn(fmt.Sprintf("the figures of --open_metrics are old: %v", err))
	}
}

// tell writes the figures of an attempt to the file url; empty: to no file.
func (a *Attempt) tell(ctx context.Context, s *objectstore.Store, url, destination string) error {
	if url == "" {
		return nil
	}
	file, err := openMetricsFile(ctx, s, url)
	if err != nil {
		return err
	}
	p, _ := latest.Read(ctx, s, destination) // figures without it are better than outdated figures
	return usage.Renamed(file.Write(ctx, a.openMetrics(p)), "output", "open_metrics")
}

// TellFailure writes the figures of an attempt that failed before it had a document, because its
// settings are wrong or another attempt is active. url is the file of --open_metrics; optional.
func TellFailure(ctx context.Context, url, destination string, started time.Time) error {
	a := newAttempt(destination, "", "", "", started)
	a.Outcome, a.Seconds = Failed, time.Since(started).Seconds()
	return a.tell(context.WithoutCancel(ctx), source.Process.Store, url, destination)
}

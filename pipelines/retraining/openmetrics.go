package retraining

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/pipelines/openmetrics"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// verb is the verb in the names of figures.
const verb = "retrain"

// openMetrics returns the figures of an attempt. p is LATEST.json; nil if absent.
func (a *Attempt) openMetrics(p *latest.Pointer) *openmetrics.Figures {
	common := openmetrics.Attempt{
		Verb: verb, Outcome: a.Outcome, Outcomes: outcomes(), Started: a.Started, Seconds: a.Seconds,
		Success: slices.Contains([]string{Promoted, Backfilled, Held}, a.Outcome),
	}
	f := common.Figures()
	f.Gauge("espalier_retrain_files", "Input files of the last attempt.", float64(a.Files))
	f.Gauge("espalier_retrain_missing_days", "Days of the input without files.", float64(len(a.Missing)))
	f.Gauge("espalier_retrain_rows", "Training, validation and test rows.", float64(a.Rows))
	f.Gauge("espalier_retrain_refusals", "Checks of the gate that the last run has not passed.", float64(len(a.Refusals())))
	f.Optional("espalier_retrain_auc", "AUC of the new tree on its test rows.", a.AUC)
	f.Optional("espalier_retrain_expected_cost", "Expected cost of the new tree on its test rows.", a.Cost)
	if p != nil {
		f.Gauge("espalier_model_promoted_timestamp_seconds", "When the run in use was promoted.", openmetrics.Seconds(p.Promoted))
	}
	return f
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
	soon, cancel := context.WithTimeout(ctx, promotionWithin)
	defer cancel()
	p, _ := latest.Read(soon, s, destination) // figures without it are better than outdated figures
	return a.openMetrics(p).Write(ctx, s, url)
}

// promotionWithin limits how long figures wait for LATEST.json in an outage of its store.
const promotionWithin = 10 * time.Second

// Tell writes the figures of an attempt without a document, because it begins, its settings are wrong, or
// another attempt is active. url is the file of --open_metrics; optional.
func Tell(ctx context.Context, url, destination, outcome string, started time.Time) error {
	a := newAttempt(destination, "", "", started)
	a.Outcome = outcome
	a.Seconds = time.Since(started).Seconds()
	return a.tell(ctx, source.Process.Store, url, destination)
}

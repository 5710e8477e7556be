package pipelines

import (
	"context"
	"time"

	"github.com/espalier-ml/espalier/pipelines/openmetrics"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// The outcomes of an attempt to score rows.
const (
	Published          = "published"
	predictRunning     = "running"
	predictFailed      = "failed"
	predictInterrupted = "interrupted"
)

// TellPrediction writes figures of an attempt to score rows to url, the file of --open_metrics; empty: to no
// file. r is nil unless the attempt has come to its end.
func TellPrediction(ctx context.Context, url, outcome string, started time.Time, r *PredictResult) error {
	attempt := openmetrics.Attempt{
		Verb: "predict", Outcome: outcome, Success: outcome == Published, Started: started, Seconds: time.Since(started).Seconds(),
		Outcomes: []string{predictRunning, Published, predictFailed, predictInterrupted},
	}
	f := attempt.Figures()
	if r != nil {
		r.openMetrics(f)
	}
	return f.Write(ctx, source.Process.Store, url)
}

// openMetrics adds the figures of a scoring.
func (r *PredictResult) openMetrics(f *openmetrics.Figures) {
	if day, err := time.Parse(time.DateOnly, r.Date); err == nil {
		f.Gauge("espalier_predict_day_timestamp_seconds", "Day of the last predictions.", openmetrics.Seconds(day))
	}
	f.Gauge("espalier_predict_rows", "Rows of the last predictions.", float64(r.Rows))
	worst := worstColumn(r.Columns)
	f.Gauge("espalier_predict_unseen_share", "Share of the rows with a new value in the worst column.",
		float64(worst.New())/float64(max(r.Rows, 1)))
	if r.Scores == nil { // predictions by an earlier version
		return
	}
	f.Gauge("espalier_predict_cost", "Mean cost per row.", r.Scores.Cost)
	classes := r.Scores.Classes
	names := make([]string, len(classes))
	for i := range classes {
		names[i] = classes[i].Class
	}
	f.Labelled("espalier_predict_class_share", "Share of the rows with this prediction.", "class", names, func(i int) float64 {
		return classes[i].Share
	})
	f.Labelled("espalier_predict_probability", "Mean probability of the class.", "class", names, func(i int) float64 {
		return classes[i].Probability
	})
}

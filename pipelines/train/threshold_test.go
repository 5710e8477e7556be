package train_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// TestThreshold: with --threshold, predict decides by it on all runners, and evaluate measures these decisions. A tree
// that has the threshold gives the same without the flag.
func TestThreshold(t *testing.T) {
	_, run, input := scored(t, 3, parquetio.WriteOptions{RowsPerGroup: 100})
	model, url := modelled(t, run)
	decision := &tree.Decision{Positive: "low", Threshold: .4}
	decided := filepath.Join(t.TempDir(), "tree.json")
	if err := os.WriteFile(decided, model.WithDecision(decision).Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	before := predictConfig(t, url, input)
	before.Key = []string{"id"}
	want := readPredictions(t, predict(t, before))
	changed := 0
	for i := range want {
		p := &want[i]
		class := "high"
		if p.Low >= decision.Threshold {
			class = "low"
		} else if p.Middle > p.High {
			class = "middle"
		}
		if class != p.Prediction {
			changed++
		}
		p.Prediction = class
	}
	if changed < 20 {
		t.Errorf("the threshold changes %d predictions of %d", changed, len(want))
	}
	by := config.Decided{Threshold: &decision.Threshold, Positive: decision.Positive}
	for name, c := range map[string]config.Predict{
		"direct": {Model: url, Runner: "direct", Decided: by}, "prism": {Model: url, Runner: "prism", Decided: by},
		"tree.json":          {Model: decided, Runner: "direct"},
		"class of tree.json": {Model: decided, Runner: "direct", Decided: config.Decided{Threshold: by.Threshold}},
	} {
		scoring := predictConfig(t, c.Model, input)
		scoring.Key, scoring.Runner, scoring.Decided = []string{"id"}, c.Runner, c.Decided
		r := predict(t, scoring)
		if diff := cmp.Diff(want, readPredictions(t, r)); diff != "" {
			t.Errorf("%s: rows (-by hand +predict):\n%s", name, diff)
		}
		_, metrics, err := pipelines.Evaluate(t.Context(), config.Evaluate{Model: c.Model, Input: scoring.Input, Decided: c.Decided}, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(metrics, r.Metrics); diff != "" || *metrics.Decision != *decision {
			t.Errorf("%s: decision %v, metrics (-evaluate +predict):\n%s", name, metrics.Decision, diff)
		}
		low := int64(0)
		for _, actual := range metrics.Test.Confusion {
			low += actual[1]
		}
		if predictedLow := count(want, "low"); low != predictedLow {
			t.Errorf("%s: %d rows called low are measured, want %d", name, low, predictedLow)
		}
	}
}

func count(rows []predicted, class string) (n int64) {
	for i := range rows {
		if rows[i].Prediction == class {
			n++
		}
	}
	return n
}

// TestThresholdErrors: a threshold needs one of the tree's classes.
func TestThresholdErrors(t *testing.T) {
	_, run, input := scored(t, 1, parquetio.WriteOptions{})
	threshold := .4
	for positive, want := range map[string]string{
		"": "names no class of interest", "lo": `--positive lo: want one of the tree's classes ["high" "low" "middle"]`,
	} {
		_, _, err := pipelines.Evaluate(t.Context(), config.Evaluate{
			Model: run, Input: []string{input}, Decided: config.Decided{Threshold: &threshold, Positive: positive},
		}, &silent{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--positive %q: %v, want %s", positive, err, want)
		}
	}
	_, _, err := pipelines.Evaluate(t.Context(), config.Evaluate{
		Model: run, Input: []string{input}, Decided: config.Decided{Positive: "low"},
	}, &silent{})
	if err == nil || !strings.Contains(err.Error(), "give both") {
		t.Errorf("a class without a threshold: %v", err)
	}
}

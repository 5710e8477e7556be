package train_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
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

// TestPositive: --positive is written to the trees of a run, and to a promoted tree, and changes nothing else of them.
func TestPositive(t *testing.T) {
	c := config.DefaultTrain()
	c.Input, c.Label, c.Ignore = []string{newRows(900).write(t, ascending(900), 2, parquetio.WriteOptions{})}, "class", []string{"id"}
	c.Algorithm, c.Lambda, c.Theta = []split.Algorithm{split.EC45}, []float64{10}, []float64{0.005}
	c.Output = filepath.Join(t.TempDir(), "run")
	if _, err := train.Train(t.Context(), c, &silent{}); err != nil {
		t.Fatal(err)
	}
	plain := content(t, c.Output, "tree.json")
	c.Positive, c.Output = "high", filepath.Join(t.TempDir(), "named")
	r, err := train.Train(t.Context(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	named := content(t, c.Output, "tree.json")
	if want := (tree.Decision{Positive: "high"}); *r.Tree.Label.Decision != want {
		t.Errorf("decision %v, want %v", *r.Tree.Label.Decision, want)
	}
	if got := bytes.Replace(named, []byte(`, "decision": {"positive": "high"}`), nil, 1); !bytes.Equal(got, plain) || bytes.Equal(named, plain) {
		t.Error("tree.json differs by more than the class of interest")
	}
	p := promoteTo(t, c.Output, 1, nil)
	if d := readTree(t, p.Output, "tree.json").Label.Decision; d == nil || d.Positive != "high" {
		t.Errorf("the promoted tree has the decision %v", d)
	}
	c.Positive, c.Output = "hihg", filepath.Join(t.TempDir(), "unknown")
	if _, err := train.Train(t.Context(), c, &silent{}); err == nil || !strings.Contains(err.Error(), `--positive: the label has no class "hihg"; did you mean "high"?`) {
		t.Errorf("an unknown class: %v", err)
	}
}

// TestEvaluateByErrorCosts: evaluate counts the errors of the class with the lowest expected error cost, for leaves and for
// leaf models, as a tree with these error costs does. A threshold still decides, of the flag or of tree.json.
func TestEvaluateByErrorCosts(t *testing.T) {
	_, run, input := scored(t, 3, parquetio.WriteOptions{RowsPerGroup: 100})
	model, url := modelled(t, run)
	file := textFile(t, "errors.csv", "actual,predicted,cost\nhigh,low,7\nmiddle,low,3\n")
	costs := [][]float64{{0, 7, 1}, {1, 0, 1}, {1, 3, 0}} // high, low, middle
	scoring := predictConfig(t, url, input)
	scoring.Key = []string{"id"}
	changed := 0
	predictedLow := int64(0)
	for _, p := range readPredictions(t, predict(t, scoring)) {
		expected := make([]float64, 3)
		for actual, probability := range []float64{p.High, p.Low, p.Middle} {
			for k := range expected {
				expected[k] += probability * costs[actual][k]
			}
		}
		class := []string{"high", "low", "middle"}[slices.Index(expected, slices.Min(expected))]
		if class != p.Prediction {
			changed++
		}
		if class == "low" {
			predictedLow++
		}
	}
	if changed < 20 {
		t.Errorf("the error costs change %d predictions", changed)
	}
	_, byFlag, err := pipelines.Evaluate(t.Context(), config.Evaluate{Model: url, Input: []string{input}, ErrorCostsFile: file}, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	low := int64(0)
	for actual, row := range byFlag.Test.Confusion {
		low += row[1]
		for k, n := range row {
			sum += float64(n) * costs[actual][k]
		}
	}
	if want := sum / 700; low != predictedLow || math.Abs(*byFlag.Test.ExpectedErrorCost-want) > 1e-12 || !cmp.Equal(byFlag.ErrorCosts, costs) {
		t.Errorf("%d rows called low, want %d; error cost %v, want %v by %v", low, predictedLow, *byFlag.Test.ExpectedErrorCost, want, byFlag.ErrorCosts)
	}
	decided := filepath.Join(t.TempDir(), "tree.json")
	if err := os.WriteFile(decided, model.WithErrorCosts(costs).Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, byTree, err := pipelines.Evaluate(t.Context(), config.Evaluate{Model: decided, Input: []string{input}}, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(byTree.Test, byFlag.Test); diff != "" || byTree.ErrorCosts != nil {
		t.Errorf("metrics (-tree.json +flag):\n%s", diff)
	}
	threshold := config.Evaluate{
		Model: url, Input: []string{input}, ErrorCostsFile: file, Decided: config.Decided{Threshold: new(.9), Positive: "low"},
	}
	_, m, err := pipelines.Evaluate(t.Context(), threshold, &silent{})
	if err != nil || m.Decision == nil || m.Test.ExpectedErrorCost == nil || *m.Test.ExpectedErrorCost <= *byFlag.Test.ExpectedErrorCost {
		t.Errorf("%v: a threshold of .9 decides for %v, and errors cost %v", err, m.Decision, m.Test.ExpectedErrorCost)
	}
	own := model.WithDecision(m.Decision)
	if err := os.WriteFile(decided, own.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, byOwn, err := pipelines.Evaluate(t.Context(), config.Evaluate{Model: decided, Input: []string{input}, ErrorCostsFile: file}, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.Test, byOwn.Test); diff != "" || !cmp.Equal(byOwn.Decision, m.Decision) {
		t.Errorf("decision %v, metrics (-threshold of the flag +of tree.json):\n%s", byOwn.Decision, diff)
	}
	threshold.Against = url
	if err := threshold.Validate(); err == nil || !strings.Contains(err.Error(), "--error_costs decides for one tree") {
		t.Errorf("with a second tree: %v", err)
	}
}

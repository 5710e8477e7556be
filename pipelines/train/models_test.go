package train_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// modelled gives two thirds of the leaves of a run's tree random models over the numeric
// features of their paths, and writes the tree to a file of its own.
func modelled(t *testing.T, run string) (m *tree.Tree, url string) {
	t.Helper()
	m = readTree(t, run, "tree.json")
	r := rand.New(rand.NewPCG(61, 62))
	scores := func() []float64 {
		list := make([]float64, portable.Scores(len(m.Label.Classes)))
		for k := range list {
			list[k] = r.NormFloat64()
		}
		return list
	}
	above := make([][]int, len(m.Nodes))
	for i := range m.Nodes {
		n := &m.Nodes[i]
		for _, b := range n.Branches {
			above[b.Child] = above[i]
			if f := n.Test.Feature; m.Features[f].Kind == dataset.Numeric && !slices.Contains(above[i], f) {
				above[b.Child] = append(slices.Clone(above[i]), f)
			}
		}
		if !n.Leaf() || len(above[i]) == 0 || i%3 == 0 {
			continue
		}
		n.Model = &tree.LeafModel{Intercept: scores()}
		for _, f := range above[i] {
			at := r.NormFloat64()
			n.Model.Terms = append(n.Model.Terms, tree.Term{
				Feature: f, At: []float64{at, at + 1, at + 3}, Values: [][]float64{scores(), scores(), scores()}, Missing: scores(),
			})
		}
	}
	url = filepath.Join(t.TempDir(), "tree.json")
	if err := os.WriteFile(url, m.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	return m, url
}

// TestPredictModels: with leaf models each row has the prediction of the scorer, on all runners.
// The metrics of predict equal the metrics of evaluate, and the metrics of a table of single rows.
func TestPredictModels(t *testing.T) {
	data, run, input := scored(t, 3, parquetio.WriteOptions{RowsPerGroup: 100})
	model, url := modelled(t, run)
	scorer := model.Scorer()
	var single []metric.Leaf
	var want []predicted
	for i, class := range data.class {
		p, err := scorer.Predict(data.valuesOf(i, scorer))
		if err != nil {
			t.Fatal(err)
		}
		one := metric.Leaf{
			Probabilities: p.Probabilities, Class: slices.Index(model.Label.Classes, p.Class),
			Weights: make([]int64, len(model.Label.Classes)), Rows: 1, Cost: p.Cost, Tests: p.Tests,
		}
		one.Weights[slices.Index(model.Label.Classes, class)] = 1
		single = append(single, one)
		want = append(want, predicted{
			int64(i), p.Class, p.Probabilities[0], p.Probabilities[1], p.Probabilities[2], int32(p.Leaf), int32(p.Tests), p.Cost,
		})
	}
	naive := metric.Evaluate(single, model.Label.Classes, 1)
	for _, runner := range []string{"direct", "prism"} {
		c := predictConfig(t, url, input)
		c.Key, c.Runner = []string{"id"}, runner
		r := predict(t, c)
		got := readPredictions(t, r)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: rows (-scorer +predict):\n%s", runner, diff)
		}
		_, metrics, err := pipelines.Evaluate(t.Context(), config.Evaluate{Model: url, Input: c.Input}, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(metrics.Test, r.Metrics.Test); diff != "" {
			t.Errorf("%s: metrics (-evaluate +predict):\n%s", runner, diff)
		}
		if diff := cmp.Diff(&naive, metrics.Test, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s: metrics (-single rows +evaluate):\n%s", runner, diff)
		}
		c.Label, c.Output = "none", filepath.Join(t.TempDir(), "unlabelled")
		if r := predict(t, c); r.Rows != 700 || r.Metrics != nil {
			t.Errorf("%s: without a label %d rows, metrics %v", runner, r.Rows, r.Metrics)
		}
	}
	if plain := readTree(t, run, "tree.json"); len(plain.Nodes) != len(model.Nodes) || !model.Modelled() {
		t.Error("the tree has no models")
	}
}

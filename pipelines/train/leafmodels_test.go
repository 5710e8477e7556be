package train_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// trainCurved makes rows, and returns the configuration of a training with models.
func trainCurved(t *testing.T) config.Train {
	t.Helper()
	input := writeCurved(t)
	c, err := config.Preset("accurate")
	if err != nil {
		t.Fatal(err)
	}
	c.Input, c.Label, c.Output = []string{input}, "class", filepath.Join(t.TempDir(), "run")
	c.Certificate, c.Seed = false, 2 // with the folds of seed 1 a plain tree is as good, within chance
	if !longtest.Enabled() {
		c.Lambda, c.Theta = []float64{1, 100}, []float64{0.005}
	}
	return c
}

// writeCurved writes 4,000 rows whose class depends on a sum of values, of which one in twenty is missing.
func writeCurved(t *testing.T) string {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 5))
	numbers := make([][]*float64, 4)
	texts, classes := []*string{}, []string{}
	for range 4000 {
		score := 0.0
		for k := range numbers {
			x := float64(random.IntN(500)) / 8
			score += x - 31
			numbers[k] = append(numbers[k], &x)
			if random.IntN(20) == 0 {
				numbers[k][len(texts)] = nil
			}
		}
		text := []string{"a", "b", "c"}[random.IntN(3)]
		if text == "a" {
			score += 10
		}
		texts = append(texts, &text)
		classes = append(classes, []string{"no", "yes"}[min(1, max(0, int(score+random.NormFloat64()*10+1)))])
	}
	columns := []parquetio.WriteColumn{{Name: "c", Values: texts}, {Name: "class", Values: classes}}
	for k := range numbers {
		columns = append(columns, parquetio.WriteColumn{Name: "x" + strconv.Itoa(k), Values: numbers[k]})
	}
	url := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquetio.Write(t.Context(), objectstore.New(), url, columns, parquetio.WriteOptions{RowsPerGroup: 1000}); err != nil {
		t.Fatal(err)
	}
	return url
}

// curved trains with models on made-up rows.
func curved(t *testing.T, edit func(*config.Train)) *train.Result {
	t.Helper()
	c := trainCurved(t)
	if edit != nil {
		edit(&c)
	}
	r, err := train.Train(t.Context(), c, new(silent))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLeafModels: at every cost of the frontier, trees with models are at least as good as trees
// without, ask the same tests, and the metrics of a run equal the metrics of its predictions. No tree is
// taught, as a taught tree without models may be as good.
func TestLeafModels(t *testing.T) {
	longtest.Skip(t)
	with := curved(t, func(c *config.Train) { c.Teacher = "none" })
	plain := curved(t, func(c *config.Train) {
		c.Teacher = "none"
		c.LeafModel = "none"
	})
	if !with.Tree.Modelled() || plain.Tree.Modelled() {
		t.Fatalf("models: %v with --leaf_model auto, %v without", with.Tree.Modelled(), plain.Tree.Modelled())
	}
	version := `"version": 2`
	if with.Tree.Algorithm.BoosterTrees > 0 {
		version = `"version": 3`
	}
	if !bytes.Contains(with.Tree.Encode(), []byte(version)) || !bytes.Contains(plain.Tree.Encode(), []byte(`"version": 1`)) {
		t.Error("a tree with models is not of version 2, or 3 with boosters, or a tree without is not of version 1")
	}
	for _, p := range plain.Frontier.Points {
		best := math.Inf(-1)
		for _, q := range with.Frontier.Points {
			if q.ExpectedCost <= p.ExpectedCost {
				best = max(best, q.Merit)
			}
		}
		if best < p.Merit-0.001 { // frontier.json leaves out points that differ by less
			t.Errorf("cost %.3f: merit %.4f with models, %.4f without", p.ExpectedCost, best, p.Merit)
		}
	}
}

// TestLeafModelMetrics: metrics.json of a tree with models has the metrics that evaluate
// finds on the same rows.
func TestLeafModelMetrics(t *testing.T) {
	for _, kind := range []selection.Kind{selection.Linear, selection.Boosted} {
		t.Run(string(kind), func(t *testing.T) {
			c := trainCurved(t)
			c.LeafModel, c.Select, c.Split = kind, frontier.First, dataset.Shares{100, 0, 0}
			r, err := train.Train(t.Context(), c, new(silent))
			if err != nil {
				t.Fatal(err)
			}
			if !r.Tree.Modelled() || (r.Tree.Algorithm.BoosterTrees > 0) != (kind == selection.Boosted) {
				t.Fatalf("models: %t, boosters of %d trees", r.Tree.Modelled(), r.Tree.Algorithm.BoosterTrees)
			}
			_, m, err := pipelines.Evaluate(t.Context(), config.Evaluate{
				Model: c.Output, Input: c.Input, StorageConfig: config.DefaultStorageConfig(),
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, want := m.Test, r.Metrics.Train
			if *got.AUCOvRMacro != *want.AUCOvRMacro || *got.LogLoss != *want.LogLoss || got.Rows != want.Rows {
				t.Errorf("AUC %v, log loss %v of %d rows; want %v, %v of %d",
					*got.AUCOvRMacro, *got.LogLoss, got.Rows, *want.AUCOvRMacro, *want.LogLoss, want.Rows)
			}
		})
	}
}

// TestBoosted: boosters are added to linear models if they gain, and the frontier's figures are the
// figures of the trees that it names.
func TestBoosted(t *testing.T) {
	longtest.Skip(t)
	r := curved(t, func(c *config.Train) {
		c.LeafModel, c.MadeUpRows, c.Folds = "boosted", new(int64(1000)), crossvalidate.Setting{Number: 2}
	})
	boosted, both := 0, 0
	for _, p := range r.Frontier.Points {
		if p.Algorithm.BoosterTrees > 0 {
			boosted++
			if p.Algorithm.Ridge > 0 {
				both++
			}
		}
	}
	if boosted == 0 || both == 0 {
		t.Errorf("%d of %d trees have boosters, %d of them linear models, too", boosted, len(r.Frontier.Points), both)
	}
	if !bytes.Contains(r.Tree.Encode(), []byte(`"version": 3`)) {
		t.Error("a tree with boosters is not of version 3")
	}
	// The frontier measures by bins, metrics.json by values: a part of the bins' ends differ.
	for _, p := range r.Frontier.Points {
		if p.Selected && math.Abs(*p.Test.AUC-*r.Metrics.Test.AUCOvRMacro) > 0.01 {
			t.Errorf("test AUC %.4f in frontier.json, %.4f in metrics.json", *p.Test.AUC, *r.Metrics.Test.AUCOvRMacro)
		}
	}
}

package train_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// taughtTrees returns the configuration of a training with a teacher, without leaf models. The
// classes follow the sum of two numbers, but for noise: trees of few rows are rough there, and
// a teacher is smooth.
func taughtTrees(t *testing.T) config.Train {
	t.Helper()
	const n = 1200
	random := rand.New(rand.NewPCG(5, 8))
	var x, y []float64
	var class []string
	for range n {
		x, y = append(x, random.NormFloat64()), append(y, random.NormFloat64())
		class = append(class, map[bool]string{true: "above", false: "below"}[x[len(x)-1]+y[len(y)-1]+random.NormFloat64() > 0])
	}
	url := filepath.Join(t.TempDir(), "rows.parquet")
	columns := []parquetio.WriteColumn{
		{Name: "x", Values: x}, {Name: "y", Values: y}, {Name: "class", Values: class},
	}
	if err := parquetio.Write(t.Context(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	c, err := config.Preset("accurate")
	if err != nil {
		t.Fatal(err)
	}
	c.Input, c.Label, c.Output, c.Certificate = []string{url}, "class", filepath.Join(t.TempDir(), "run"), false
	c.LeafModel, c.Teacher, c.FrontierStep, c.MadeUpRows = "none", "boosted", 0, new(int64(1000))
	c.Lambda, c.Theta = []float64{10}, []float64{0.005}
	return c
}

// TestTeacher: taught and untaught trees are on the frontier; rows and weights of a taught tree are
// the rows and weights of the training data.
func TestTeacher(t *testing.T) {
	c := taughtTrees(t)
	r, err := train.Train(t.Context(), c, new(silent))
	if err != nil {
		t.Fatal(err)
	}
	taught, one := 0, ""
	for _, p := range r.Frontier.Points {
		if p.Algorithm.Teacher == "" {
			continue
		}
		if taught++; p.Leaves > 3 && one == "" {
			one = p.Tree
		}
	}
	if n := len(r.Frontier.Points); taught == 0 || taught == n || one == "" {
		t.Fatalf("%d of %d trees were taught", taught, n)
	}
	b, err := os.ReadFile(filepath.Join(c.Output, one))
	if err != nil {
		t.Fatal(err)
	}
	model, err := tree.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	root := &model.Nodes[0]
	if root.Rows != r.Tree.Training.Rows || float64(root.Weight) != float64(root.Rows)*model.Training.WeightScale {
		t.Errorf("the root has %d rows of weight %d in units of 1/%v: want %d rows of weight 1", root.Rows, root.Weight,
			model.Training.WeightScale, r.Tree.Training.Rows)
	}
}

// TestTaughtMetrics: the figures of a taught tree on the training rows are the figures by their
// labels, the same as evaluate finds.
func TestTaughtMetrics(t *testing.T) {
	c := taughtTrees(t)
	c.Split, c.Folds, c.TeacherWeight = dataset.Shares{100, 0, 0}, crossvalidate.Setting{Number: 3}, 1
	r, err := train.Train(t.Context(), c, new(silent))
	if err != nil {
		t.Fatal(err)
	}
	if r.Tree.Algorithm.Teacher != "boosted" {
		t.Fatal("the chosen tree was not taught: the test tests nothing")
	}
	_, m, err := pipelines.Evaluate(t.Context(), config.Evaluate{
		Model: c.Output, Input: c.Input, StorageConfig: config.DefaultStorageConfig(),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, want := m.Test, r.Metrics.Train
	if *got.AUCOvRMacro != *want.AUCOvRMacro || *got.LogLoss != *want.LogLoss || *got.ExpectedCost != *want.ExpectedCost {
		t.Errorf("AUC %v, log loss %v, cost %v; want %v, %v, %v", *got.AUCOvRMacro, *got.LogLoss, *got.ExpectedCost,
			*want.AUCOvRMacro, *want.LogLoss, *want.ExpectedCost)
	}
	if cost := r.Tree.Complexity.ExpectedCost; math.Abs(cost-*got.ExpectedCost) > 1e-9*cost {
		t.Errorf("tree.json has the expected cost %v, its rows %v", cost, *got.ExpectedCost)
	}
}

// TestWishes: what does not go with a teacher or with leaf models is refused, or leaves them out.
func TestWishes(t *testing.T) {
	for _, c := range []struct {
		edit func(*config.Train)
		want string // in the error; empty: none
	}{
		{func(c *config.Train) { c.Teacher, c.Monotone = "boosted", map[string]int8{"x": 1} }, "--monotone"},
		{func(c *config.Train) { c.Teacher, c.LabelProbabilities = "boosted", []string{"p_*"} }, "two teachers"},
		{func(c *config.Train) { c.Teacher, c.Select = "boosted", frontier.First }, "--select first"},
		{func(c *config.Train) { c.Teacher, c.Monotone = "boosted", map[string]int8{"x": 1} }, "--teacher boosted"},
		{func(c *config.Train) { c.Teacher, c.MadeUpRows = "none", new(int64(10)) }, "--made_up_rows"},
		{func(c *config.Train) { c.Teacher, c.TeacherWeight = "none", 0.25 }, "--teacher_weight"},
		{func(c *config.Train) { c.Teacher = "oracle" }, "boosted"},
		{func(c *config.Train) { c.Teacher = "forest" }, "write boosted"},
		{func(c *config.Train) { c.MadeUpRows = new(int64(-2)) }, "made_up_rows"},
		{func(c *config.Train) { c.Teacher, c.Monotone = "auto", map[string]int8{"x": 1} }, ""},
		{func(c *config.Train) {
			c.Teacher, c.TeacherWeight, c.MadeUpRows = "boosted", 0.25, new(int64(0))
		}, ""},
		{func(c *config.Train) { c.LeafModel, c.Monotone = "linear", map[string]int8{"x": 1} }, "--monotone"},
		{func(c *config.Train) { c.LeafModel, c.Monotone = "auto", map[string]int8{"x": 1} }, ""},
		{func(c *config.Train) { c.LeafModel = "cubic" }, "linear"},
	} {
		settings, err := config.Preset("accurate")
		if err != nil {
			t.Fatal(err)
		}
		settings.Input, settings.Label, settings.Output = []string{"rows.parquet"}, "class", "run"
		c.edit(&settings)
		if err := settings.Validate(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want %q", err, c.want)
		}
	}
}

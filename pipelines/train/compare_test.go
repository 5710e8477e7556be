package train_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// compare compares two trees.
func compare(t *testing.T, c config.Evaluate) *runfolder.Comparison {
	t.Helper()
	r, err := pipelines.Compare(t.Context(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// twoTrees trains a plain tree, and one with leaf models of other features.
func twoTrees(t *testing.T, data *rows) (a, b string) {
	t.Helper()
	c := oneTree()
	c.FreeRepeats = false // then the trees test all features
	c.Input, c.Label = []string{data.write(t, ascending(len(data.id)), 2, parquetio.WriteOptions{})}, "class"
	c.Ignore, c.MaxLeaves, c.Output = []string{"id", "weight", "twin"}, 9, filepath.Join(t.TempDir(), "a")
	trained(t, c)
	a = c.Output
	c.Ignore, c.MaxLeaves, c.LeafModel, c.Output = []string{"id", "weight", "b"}, 12, "linear", filepath.Join(t.TempDir(), "b")
	if r := trained(t, c); !r.Tree.Modelled() {
		t.Fatal("the tree has no leaf models")
	}
	return a, c.Output
}

func compareConfig(a, b, input string) config.Evaluate {
	c := config.DefaultEvaluate()
	c.Model = a
	c.Against = b
	c.Input = []string{input}
	return c
}

// TestCompareHeldOut: the test rows of a training are compared as if there were no others, and new values are
// told of all rows.
func TestCompareHeldOut(t *testing.T) {
	const n, seed = 900, 3
	data := newRows(n)
	a, b := twoTrees(t, data)
	shares := dataset.Shares{70, 10, 20}
	var tested []int
	for i, id := range data.id {
		if shares.Of(dataset.HashNumber(seed, float64(id))) == dataset.Test {
			tested = append(tested, i)
		} else {
			data.color[i] = new("violet")
		}
	}
	all := compareConfig(a, b, data.write(t, ascending(n), 3, parquetio.WriteOptions{RowsPerGroup: 70}))
	all.Held = &dataset.Parting{Shares: shares, Seed: seed, Key: "id"}
	var told silent
	r, err := pipelines.Compare(t.Context(), all, &told)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(told.warnings, func(text string) bool { return strings.Contains(text, "color") }) {
		t.Errorf("warnings %q, want those of the new value of other rows", told.warnings)
	}
	got, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	alone := compareConfig(a, b, data.write(t, tested, 1, parquetio.WriteOptions{}))
	alone.Held = &dataset.Parting{Shares: dataset.Shares{dataset.Test: 100}, Seed: seed, Key: "id"} // the same buckets of keys
	want, err := compare(t, alone).Encode()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("other bytes than those of %d test rows: %s", len(tested), gocmp.Diff(string(want), string(got)))
	}
}

// TestCompare: the figures of each tree are those of evaluate, and the flips those of predict. The
// bytes do not depend on runners, files, orders and workers.
func TestCompare(t *testing.T) {
	const n = 900
	data := newRows(n)
	a, b := twoTrees(t, data)
	input := data.write(t, ascending(n), 1, parquetio.WriteOptions{})
	for _, weight := range []string{"", "weight"} {
		c := compareConfig(a, b, input)
		c.Weight = weight
		r := compare(t, c)
		for side, model := range []string{a, b} {
			e := config.DefaultEvaluate()
			e.Model, e.Input, e.Weight = model, c.Input, weight
			_, m, err := pipelines.Evaluate(t.Context(), e, nil)
			if err != nil {
				t.Fatal(err)
			}
			checkFigures(t, r, m.Test, side)
		}
		want, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		same := func(what string, c config.Evaluate) {
			if got, err := compare(t, c).Encode(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("weight %q, %s: other bytes:\n%s", weight, what, gocmp.Diff(string(want), string(got)))
			}
		}
		shuffled := rand.New(rand.NewPCG(9, 4)).Perm(n)
		for what, input := range map[string]string{
			"shuffled": data.write(t, shuffled, 1, parquetio.WriteOptions{}),
			"5 files":  data.write(t, shuffled, 5, parquetio.WriteOptions{RowsPerGroup: 30, Codec: parquetio.Zstd, PageVersion: 2}),
		} {
			c := c
			c.Input = []string{input}
			same(what, c)
			before := runtime.GOMAXPROCS(7)
			same(what+" with 7 workers", c)
			runtime.GOMAXPROCS(before)
		}
	}
	checkPredicted(t, compare(t, compareConfig(a, b, input)), data, a, b)
}

// checkFigures compares the figures of one tree with the figures of its evaluation.
func checkFigures(t *testing.T, r *runfolder.Comparison, m *metric.Metrics, side int) {
	t.Helper()
	of := func(d *metric.Difference) float64 { return []float64{d.A, d.B}[side] }
	if r.Metrics.Rows != m.Rows || r.Metrics.Weight != m.Weight || r.Metrics.WeightScale != m.WeightScale {
		t.Errorf("rows and weight %+v, evaluated %d, %d", r.Metrics, m.Rows, m.Weight)
	}
	for name, pair := range map[string][2]float64{
		"AUC":      {of(r.Metrics.AUCOvRMacro), *m.AUCOvRMacro},
		"accuracy": {of(r.Metrics.Accuracy), *m.Accuracy},
		"balanced": {of(r.Metrics.BalancedAccuracy), *m.BalancedAccuracy},
		"log loss": {of(r.Metrics.LogLoss), *m.LogLoss},
		"Brier":    {of(r.Metrics.Brier), *m.Brier},
		"cost":     {of(r.Metrics.ExpectedCost), *m.ExpectedCost},
		"tests":    {of(r.Metrics.ExpectedTests), *m.ExpectedTests},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-12 {
			t.Errorf("%s of tree %d: %v, evaluated %v", name, side, pair[0], pair[1])
		}
	}
}

// checkPredicted compares flips and leaves with the predictions of single rows.
func checkPredicted(t *testing.T, r *runfolder.Comparison, data *rows, a, b string) {
	t.Helper()
	var scorers [2]*tree.Scorer
	for i, model := range []string{a, b} {
		scorers[i] = readTree(t, model, "tree.json").Scorer()
	}
	flips, right, wrong := make(map[[2]string]int64), int64(0), int64(0)
	var leaves [2]map[int]int64
	for i := range leaves {
		leaves[i] = make(map[int]int64)
	}
	for row := range data.id {
		var class [2]string
		for i, s := range scorers {
			p, err := s.Predict(data.valuesOf(row, s))
			if err != nil {
				t.Fatal(err)
			}
			class[i] = p.Class
			leaves[i][p.Leaf]++
		}
		if class[0] == class[1] {
			continue
		}
		flips[class]++
		switch data.class[row] {
		case class[0]:
			wrong++
		case class[1]:
			right++
		}
	}
	got := make(map[[2]string]int64)
	for _, f := range r.Flips.ByClasses {
		got[[2]string{f.From, f.To}] = f.Rows
	}
	if diff := gocmp.Diff(flips, got); diff != "" || len(flips) == 0 {
		t.Errorf("flips (-rows +compare):\n%s", diff)
	}
	if *r.Flips.BecameRight != right || *r.Flips.BecameWrong != wrong {
		t.Errorf("became right %d and wrong %d, want %d, %d", *r.Flips.BecameRight, *r.Flips.BecameWrong, right, wrong)
	}
	for i, side := range []*[]int64{new([]int64), new([]int64)} {
		list := r.A.Leaves
		if i == 1 {
			list = r.B.Leaves
		}
		for _, leaf := range list {
			if leaf.Rows != leaves[i][leaf.Leaf] {
				t.Errorf("tree %d: leaf %d has %d rows, want %d", i, leaf.Leaf, leaf.Rows, leaves[i][leaf.Leaf])
			}
			*side = append(*side, leaf.Rows)
		}
		total := int64(0)
		for _, rows := range *side {
			total += rows
		}
		if total != int64(len(data.id)) {
			t.Errorf("tree %d: the leaves have %d rows", i, total)
		}
	}
}

// TestCompareWithItself: a tree has no difference from itself.
func TestCompareWithItself(t *testing.T) {
	data := newRows(400)
	_, b := twoTrees(t, data)
	r := compare(t, compareConfig(b, filepath.Join(b, "tree.json"), data.write(t, ascending(400), 1, parquetio.WriteOptions{})))
	if r.Flips.Rows != 0 || len(r.Nodes.Differences) != 0 || r.Nodes.Unchanged != r.A.Nodes || r.Nodes.Estimates.Leaves != 0 {
		t.Errorf("%+v, %+v", r.Flips, r.Nodes)
	}
	for _, d := range []*metric.Difference{
		r.Metrics.AUCOvRMacro, r.Metrics.Accuracy, r.Metrics.BalancedAccuracy, r.Metrics.LogLoss, r.Metrics.Brier,
		r.Metrics.ExpectedCost, r.Metrics.ExpectedTests,
	} {
		if d.Difference != 0 || *d.Interval != (metric.Interval{}) {
			t.Errorf("%+v %+v", d, d.Interval)
		}
	}
}

// TestCompareWithoutLabels: without a label there are flips, costs and leaves, and with null labels an
// error or fewer rows.
func TestCompareWithoutLabels(t *testing.T) {
	data := newRows(300)
	a, b := twoTrees(t, data)
	c := compareConfig(a, b, data.write(t, ascending(300), 1, parquetio.WriteOptions{}))
	labelled := compare(t, c)
	c.Label = "none"
	r := compare(t, c)
	if r.Label != "" || r.Metrics.AUCOvRMacro != nil || r.Metrics.Accuracy != nil || r.Flips.BecameRight != nil {
		t.Errorf("%+v, %+v", r.Metrics, r.Flips)
	}
	near := gocmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-12 }) // sums in another order
	if r.Flips.Rows != labelled.Flips.Rows ||
		gocmp.Diff(r.Metrics.ExpectedCost, labelled.Metrics.ExpectedCost, near) != "" ||
		gocmp.Diff(r.A, labelled.A) != "" || gocmp.Diff(r.Nodes, labelled.Nodes) != "" {
		t.Errorf("without labels:\n%s", gocmp.Diff(labelled, r))
	}
	c.Weight = "weight"
	if r := compare(t, c); r.Metrics.Weight == r.Metrics.Rows || r.Weight != "weight" || r.Metrics.WeightScale == 0 {
		t.Errorf("with weights: %+v", r.Metrics)
	}
}

// TestCompareOtherClasses: trees of other classes are compared without metrics, unless a label was
// asked for.
func TestCompareOtherClasses(t *testing.T) {
	data := newRows(300)
	a, b := twoTrees(t, data)
	m := readTree(t, b, "tree.json")
	m.Label.Classes = []string{"high", "low", "none"}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, m.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := compareConfig(a, other, data.write(t, ascending(300), 1, parquetio.WriteOptions{}))
	reporter := &silent{}
	r, err := pipelines.Compare(t.Context(), c, reporter)
	if err != nil {
		t.Fatal(err)
	}
	if r.Metrics.Accuracy != nil || !strings.Contains(r.Note, `A alone has ["middle"]; B alone has ["none"]`) ||
		!slices.Contains(reporter.warnings, r.Note) {
		t.Errorf("%+v, note %q, warnings %q", r.Metrics, r.Note, reporter.warnings)
	}
	if classes := len(r.Predicted); classes != 4 || r.Predicted[3].Class != "none" || r.Predicted[3].A != 0 {
		t.Errorf("predicted %+v", r.Predicted)
	}
	c.Label = "class"
	var wrong *usage.Error
	if _, err := pipelines.Compare(t.Context(), c, reporter); !errors.As(err, &wrong) {
		t.Errorf("got %v, want a usage error", err)
	}
}

// TestCompareFaults: what cannot be compared is a usage error or an error of the data, in one
// sentence; a file of --output is replaced only if it is a comparison.
func TestCompareFaults(t *testing.T) {
	data := newRows(200)
	a, b := twoTrees(t, data)
	input := data.write(t, ascending(200), 1, parquetio.WriteOptions{})
	for name, c := range map[string]struct {
		change func(*config.Evaluate)
		words  string
		data   bool
	}{
		"one tree":       {func(c *config.Evaluate) { c.Against = "" }, "--against is required", false},
		"no tree there":  {func(c *config.Evaluate) { c.Against = "nowhere" }, "nowhere", false},
		"no input":       {func(c *config.Evaluate) { c.Input = nil }, "--input", false},
		"unknown label":  {func(c *config.Evaluate) { c.Label = "classs" }, `did you mean "class"`, false},
		"unknown weight": {func(c *config.Evaluate) { c.Weight = "wait" }, "--weight", false},
		"overwrite":      {func(c *config.Evaluate) { c.Overwrite = true }, "--output", false},
		"another file": {
			func(c *config.Evaluate) { c.Output, c.Overwrite = filepath.Join(a, "metrics.json"), true },
			"no comparison", false,
		},
		"other labels": {func(c *config.Evaluate) { c.Label = "flag" }, "none of the labels is one of the tree's classes", true},
	} {
		cc := compareConfig(a, b, input)
		c.change(&cc)
		_, err := pipelines.Compare(t.Context(), cc, nil)
		var wrong *usage.Error
		var broken *dataset.DataError
		if err == nil || !strings.Contains(err.Error(), c.words) || errors.As(err, &wrong) == c.data ||
			errors.As(err, &broken) != c.data {
			t.Errorf("%s: got %v, want %q", name, err, c.words)
		}
	}
	cc := compareConfig(a, b, input)
	cc.Output = filepath.Join(t.TempDir(), "comparison.json")
	r := compare(t, cc)
	want, _ := r.Encode()
	if got, err := os.ReadFile(cc.Output); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file differs from the result (%v)", err)
	}
	if _, err := pipelines.Compare(t.Context(), cc, nil); err == nil || !strings.Contains(err.Error(), "--overwrite") {
		t.Errorf("a comparison is replaced unasked: %v", err)
	}
	cc.Overwrite = true
	compare(t, cc)
}

// TestOtherClasses: a label that is no class of the trees stops neither verb: its row is not measured, with a warning. Without any
// label of the trees, the error says so.
func TestOtherClasses(t *testing.T) {
	data := newRows(400)
	a, b := twoTrees(t, data)
	write := func(class ...string) string {
		copy(data.class, class)
		return data.write(t, ascending(len(data.id)), 2, parquetio.WriteOptions{})
	}
	for _, against := range []string{"", b} {
		measure := func(input string) (rows int64, told string, err error) {
			said := &silent{}
			c := compareConfig(a, against, input)
			if against == "" {
				_, m, err := pipelines.Evaluate(t.Context(), c, said)
				if err == nil {
					rows = m.Test.Rows
				}
				return rows, strings.Join(said.warnings, "\n"), err
			}
			r, err := pipelines.Compare(t.Context(), c, said)
			if err == nil {
				rows = r.Metrics.Rows
			}
			return rows, strings.Join(said.warnings, "\n"), err
		}
		rows, told, err := measure(write("maybe", "?", ""))
		if err != nil || rows != 397 || !strings.Contains(told, `3 of 400 labels in column "class" are none of the tree's classes`) {
			t.Errorf("against %q: %d rows, %q, %v", against, rows, told, err)
		}
		var fault *dataset.DataError
		if _, _, err = measure(write(slices.Repeat([]string{"maybe"}, 400)...)); !errors.As(err, &fault) ||
			!strings.Contains(fault.Problem, "none of the labels") {
			t.Errorf("against %q: %v", against, err)
		}
		data = newRows(400)
	}
}

package train_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// write writes one Parquet file and returns its name.
func write(t *testing.T, folder, name string, columns ...parquetio.WriteColumn) string {
	t.Helper()
	url := filepath.Join(folder, name)
	if err := parquetio.Write(context.Background(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return url
}

// fruit is eight rows of which color tells the class but for one.
func fruit(t *testing.T, folder, name string) string {
	t.Helper()
	return write(t, folder, name,
		parquetio.WriteColumn{Name: "color", Values: []string{"red", "red", "red", "red", "green", "green", "green", "green"}},
		parquetio.WriteColumn{Name: "size", Values: []float64{1, 2, 3, 4, 1, 2, 3, 9}},
		parquetio.WriteColumn{Name: "shop", Values: []string{"s", "s", "s", "s", "s", "s", "s", "s"}},
		parquetio.WriteColumn{Name: "kind", Values: []string{"cherry", "cherry", "cherry", "cherry", "lime", "lime", "lime", "melon"}},
	)
}

func fruitConfig(t *testing.T) config.Train {
	t.Helper()
	c := config.DefaultTrain()
	c.Input, c.Label, c.Output, c.Split = []string{fruit(t, t.TempDir(), "fruit.parquet")}, "kind", filepath.Join(t.TempDir(), "run"), dataset.Shares{100, 0, 0}
	c.Select = frontier.First
	return c
}

func TestTrainWritesARunFolder(t *testing.T) {
	c := fruitConfig(t)
	r, err := train.Train(context.Background(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	// By hand: red or not settles four rows, the other four need a second test.
	if got := r.Tree.Complexity; got.ExpectedTests != 1.5 || got.Leaves != 3 || got.Depth != 2 {
		t.Errorf("complexity %+v, want 1.5 expected tests, 3 leaves, depth 2", got)
	}
	names, err := filepath.Glob(filepath.Join(c.Output, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	if diff := cmp.Diff([]string{
		"_SUCCESS", "distribution.json", "importance.json", "manifest.json", "metrics.json", "report.html", "schema.json", "tree.json",
	}, names); diff != "" {
		t.Errorf("run folder (-want +got):\n%s", diff)
	}
	var roles []string
	for _, column := range readSchema(t, c.Output).Columns {
		roles = append(roles, column.Name+": "+column.Role)
	}
	if diff := cmp.Diff([]string{"color: feature", "kind: label", "shop: constant", "size: feature"}, roles); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}

	_, err = train.Train(context.Background(), c, &silent{})
	var refused *usage.Error
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "--overwrite") {
		t.Errorf("second run into the folder: %v, want a usage error that names --overwrite", err)
	}
	c.Overwrite = true
	if _, err := train.Train(context.Background(), c, &silent{}); err != nil {
		t.Errorf("with --overwrite: %v", err)
	}
}

func TestEvaluateRepeatsTheTrainingMetrics(t *testing.T) {
	data := newRows(700)
	c := config.DefaultTrain()
	c.Input, c.Label, c.Ignore = []string{data.write(t, ascending(700), 3, parquetio.WriteOptions{RowsPerGroup: 100})}, "class", []string{"id"}
	c.Output, c.Split, c.Weight = filepath.Join(t.TempDir(), "run"), dataset.Shares{100, 0, 0}, "weight"
	r, err := train.Train(context.Background(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	e := config.Evaluate{Model: c.Output, Input: c.Input, Weight: "weight"}
	_, m, err := pipelines.Evaluate(context.Background(), e, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	// The weights are quarters: evaluate scales them as training did. Training rows have no ROC curves.
	if diff := cmp.Diff(r.Metrics.Train, m.Test, cmpopts.IgnoreFields(metric.Class{}, "ROC")); diff != "" {
		t.Errorf("metrics of the same rows (-train +evaluate):\n%s", diff)
	}
}

func TestColumnOrderDoesNotMatter(t *testing.T) {
	folder := t.TempDir()
	fruit(t, folder, "a.parquet")
	write(t, folder, "b.parquet",
		parquetio.WriteColumn{Name: "kind", Values: []string{"lime", "cherry"}},
		parquetio.WriteColumn{Name: "shop", Values: []string{"s", "s"}},
		parquetio.WriteColumn{Name: "size", Values: []float64{2, 2}},
		parquetio.WriteColumn{Name: "color", Values: []string{"green", "red"}},
	)
	c := fruitConfig(t)
	c.Input = []string{filepath.Join(folder, "*.parquet")}
	r, err := train.Train(context.Background(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Tree.Training.Rows != 10 || r.Tree.Training.RelabelledRows != 0 || r.Tree.Complexity.Leaves != 3 {
		t.Errorf("%+v, %d leaves: want 10 rows, none relabelled, 3 leaves", r.Tree.Training, r.Tree.Complexity.Leaves)
	}
}

// TestConstraints: by hand, size parts the fruit no better than color does.
func TestConstraints(t *testing.T) {
	c := fruitConfig(t)
	c.Overwrite, c.First = true, []string{"size"}
	r, err := train.Train(context.Background(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Tree.Features[r.Tree.Nodes[0].Test.Feature].Name; f != "size" || !slices.Equal(r.Tree.Algorithm.First, c.First) {
		t.Errorf("the root asks %q, first %v", f, r.Tree.Algorithm.First)
	}
	c.First, c.Forbid = nil, []string{"color"}
	if r, err = train.Train(context.Background(), c, &silent{}); err != nil {
		t.Fatal(err)
	}
	if len(r.Tree.Features) != 1 || r.Tree.Features[0].Name != "size" {
		t.Errorf("features %+v, want size alone", r.Tree.Features)
	}
	b, err := os.ReadFile(filepath.Join(c.Output, "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), `"role": "forbidden"`) {
		t.Errorf("no column has the role forbidden:\n%s", b)
	}
	for want, wish := range map[string]func(c *config.Train){
		`--first: no input file has a column "colour"; did you mean "color"`: func(c *config.Train) { c.First = []string{"colour"} },
		`--forbid: no input file has a column "sise"; did you mean "size"`:   func(c *config.Train) { c.Forbid = []string{"sise"} },
		`--monotone: no input file has a column "x"`:                         func(c *config.Train) { c.Monotone = map[string]int8{"x": 1} },
		`"color" is named in both --first and --forbid`:                      func(c *config.Train) { c.First, c.Forbid = []string{"color"}, []string{"color"} },
		`"size" is named in both --monotone and --forbid`:                    func(c *config.Train) { c.Monotone, c.Forbid = map[string]int8{"size": 1}, []string{"size"} },
		`--first: the feature "size" is named twice`:                         func(c *config.Train) { c.First = []string{"size", "size"} },
		`--first: column "kind" is not a feature, its role is label`:         func(c *config.Train) { c.First = []string{"kind"} },
		`--monotone: "size" 2: want +1 or -1`:                                func(c *config.Train) { c.Monotone = map[string]int8{"size": 2} },
		`--monotone: column "color" is categorical`:                          func(c *config.Train) { c.Monotone = map[string]int8{"color": -1} },
		`--monotone: the label "kind" has 3 classes, want two`:               func(c *config.Train) { c.Monotone = map[string]int8{"size": -1} },
		`--monotone needs threshold tests`: func(c *config.Train) {
			c.Monotone, c.Tests = map[string]int8{"size": -1}, []split.Family{split.Thresholds, split.OneHot}
		},
	} {
		c := fruitConfig(t)
		wish(&c)
		_, err := train.Train(context.Background(), c, &silent{})
		var refused *usage.Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want a usage error with %q", err, want)
		}
	}
}

func TestCosts(t *testing.T) {
	c := fruitConfig(t)
	c.Overwrite = true
	folder := t.TempDir()
	file := func(content string) string {
		name := filepath.Join(folder, "costs.csv")
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	c.CostsFile = file("feature,cost\ncolor,4\nshop,2\n")
	r, err := train.Train(context.Background(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Tree.Features[slices.IndexFunc(r.Tree.Features, func(f dataset.Feature) bool { return f.Name == "color" })].Cost; got != 4 {
		t.Errorf("cost of color: %v, want 4", got)
	}
	for content, want := range map[string]string{
		"feature,cost\ncolour,4\n":             `did you mean "color"`,
		"feature,cost\ncolor,-1\n":             "line 2",
		"name,price\n":                         "want feature,cost",
		"feature,value,cost\nsize,3,1\n":       "numeric",
		"feature,cost\ncolor,1,2\n":            "line 2: want 2 fields",
		"feature,value,cost\ncolor,red,nine\n": `cost "nine"`,

		"feature,cost,group\ncolor,1,g\n":                        "want feature,cost",
		"feature,cost,group,group_cost\ncolor,1,g,\n":            `line 2: group_cost "" of the group "g"`,
		"feature,cost,group,group_cost\ncolor,1,g,-1\n":          `line 2: group_cost "-1"`,
		"feature,cost,group,group_cost\ncolor,1,,5\n":            `line 2: group_cost "5" of no group`,
		"feature,cost,group,group_cost\ncolor,1,g,5\nsize,1,g,6": `line 3: group_cost 6: the group "g" costs 5 by line 2`,
	} {
		c.CostsFile = file(content)
		_, err := train.Train(context.Background(), c, &silent{})
		var refused *usage.Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("costs %q: %v, want a usage error with %q", content, err, want)
		}
	}
	c.CostsFile = file("feature,value,cost\ncolor,red,7\n")
	r, err = train.Train(context.Background(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Tree.Nodes[0]; n.Test.Cost == 7 {
		t.Errorf("the root asks the dear test %+v", n.Test)
	}
	c.CostsFile = file("feature,cost,group,group_cost\ncolor,2,look,10\nsize,1,look,10\nshop,1,,\n")
	if r, err = train.Train(context.Background(), c, &silent{}); err != nil {
		t.Fatal(err)
	}
	// By hand: all eight pay 10 for the group and 2 for color, the four that are
	// not red 1 for size.
	want := tree.Complexity{
		ExpectedCost: 12.5, ExpectedTests: 1.5, MaxCost: 13, Nodes: 5, Leaves: 3, Depth: 2,
	}
	if diff := cmp.Diff(want, r.Tree.Complexity); diff != "" {
		t.Errorf("complexity (-want +got):\n%s", diff)
	}
}

func TestDataErrors(t *testing.T) {
	folder := t.TempDir()
	fruit(t, folder, "a.parquet")
	text := write(t, folder, "b.parquet",
		parquetio.WriteColumn{Name: "kind", Values: []string{"lime", "cherry"}},
		parquetio.WriteColumn{Name: "shop", Values: []string{"s", "s"}},
		parquetio.WriteColumn{Name: "size", Values: []string{"2", "large"}},
		parquetio.WriteColumn{Name: "color", Values: []string{"green", "red"}},
	)
	c := fruitConfig(t)
	c.Input = []string{filepath.Join(folder, "*.parquet")}
	for _, step := range []struct{ do, file, column string }{{"type", text, "size"}, {"missing", text, "color"}} {
		_, err := train.Train(context.Background(), c, &silent{})
		var e *dataset.DataError
		if !errors.As(err, &e) || e.File != step.file || e.Column != step.column {
			t.Errorf("%s: %v, want a data error on %s, column %s", step.do, err, step.file, step.column)
		}
		write(t, folder, "b.parquet",
			parquetio.WriteColumn{Name: "kind", Values: []string{"lime"}},
			parquetio.WriteColumn{Name: "shop", Values: []string{"s"}},
			parquetio.WriteColumn{Name: "size", Values: []float64{1}},
		)
	}
}

func TestUnknownColumns(t *testing.T) {
	c := fruitConfig(t)
	c.Label, c.Ignore, c.Categorical, c.Group, c.Weight = "kinds", []string{"colour"}, []string{"sise"}, "shopp", "nothing like it"
	_, err := train.Train(context.Background(), c, &silent{})
	var refused *usage.Error
	if !errors.As(err, &refused) {
		t.Fatalf("%v, want a usage error", err)
	}
	for _, want := range []string{`--label: no input file has a column "kinds"; did you mean "kind"?`, `"color"`, `"size"`, `"shop"`, "nothing like it"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want it to say %s", err, want)
		}
	}
}

func TestValidateNamesAllFaults(t *testing.T) {
	c := config.DefaultTrain()
	c.Algorithm, c.Tests, c.Binning, c.LeafEstimate, c.Theta, c.Bins, c.Runner = []split.Algorithm{55}, []split.Family{44}, 33, "none", []float64{2}, 1, "flunk"
	err := c.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"unknown(55)", "unknown(44)", "--binning", "--leaf_estimate", "--theta", "--bins", "flunk", "--input", "--label", "--output"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want it to name %s", err, want)
		}
	}
}

func TestSplitColumn(t *testing.T) {
	c := fruitConfig(t)
	c.Input = []string{write(t, t.TempDir(), "parts.parquet",
		parquetio.WriteColumn{Name: "x", Values: []float64{1, 2, 3, 4, 5, 6}},
		parquetio.WriteColumn{Name: "part", Values: []string{"train", "train", "train", "train", "test", "validation"}},
		parquetio.WriteColumn{Name: "kind", Values: []string{"a", "a", "b", "b", "b", "a"}},
	)}
	c.SplitColumn, c.Select = "part", frontier.First
	r, err := train.Train(context.Background(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Metrics; m.Train.Rows != 4 || m.Test.Rows != 1 || m.Validation.Rows != 1 {
		t.Errorf("rows %d, %d, %d: want 4, 1, 1", m.Train.Rows, m.Validation.Rows, m.Test.Rows)
	}
	// By hand: the tree asks x >= 2.5, which the validation row (6, a) fails.
	if got := *r.Metrics.Validation.Accuracy; got != 0 {
		t.Errorf("accuracy on validation %v, want 0", got)
	}
	earlier, reporter := c, new(silent)
	earlier.SplitColumn, earlier.Output = "", filepath.Join(t.TempDir(), "run")
	if err := json.Unmarshal([]byte(`{"split": "part"}`), &earlier); err != nil {
		t.Fatal(err)
	}
	again, err := train.Train(t.Context(), earlier, reporter)
	if err != nil || string(again.Tree.Encode()) != string(r.Tree.Encode()) {
		t.Errorf("--split part, as in earlier versions: error %v, or another tree", err)
	}
	if !slices.ContainsFunc(reporter.warnings, func(s string) bool { return strings.Contains(s, "write --split_column part now") }) {
		t.Errorf("--split part gives the warnings %q", reporter.warnings)
	}
}

func TestCancel(t *testing.T) {
	c := fruitConfig(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := train.Train(ctx, c, &silent{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	if names, err := filepath.Glob(filepath.Join(c.Output, "*")); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v (%v)", names, err)
	}
}

// TestWeightsTooFarApart: weights that are too small next to the others to be counted are refused,
// with their place.
func TestWeightsTooFarApart(t *testing.T) {
	const rows = 1200
	weights, x, classes := make([]float64, rows), make([]float64, rows), make([]string, rows)
	for r := range weights {
		weights[r], x[r], classes[r] = math.Sqrt(float64(1+r)), float64(r%7), "ab"[r%2:r%2+1]
	}
	weights[730] = 1e-30
	columns := []parquetio.WriteColumn{{Name: "w", Values: weights}, {Name: "x", Values: x}, {Name: "class", Values: classes}}
	input := filepath.Join(t.TempDir(), "w.parquet")
	if err := parquetio.Write(t.Context(), objectstore.New(), input, columns, parquetio.WriteOptions{RowsPerGroup: 100}); err != nil {
		t.Fatal(err)
	}
	c := config.DefaultTrain()
	c.Input, c.Label, c.Weight, c.Output = []string{input}, "class", "w", filepath.Join(t.TempDir(), "run")
	_, err := train.Train(t.Context(), c, new(silent))
	var e *dataset.DataError
	if !errors.As(err, &e) || e.Column != "w" || e.RowGroup == nil || *e.RowGroup != 7 || e.File == "" || e.Value != "1e-30" ||
		!strings.Contains(e.Problem, "the weight of row 30 is too small to be counted next to the weights of the other rows") {
		t.Errorf("got %v, want a data error about row 30 of row group 7", err)
	}
}

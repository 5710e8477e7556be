package train_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go" //nolint:depguard // judges what this project's own writer has written

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// predicted is a row of predictions of the data set of newRows.
type predicted struct {
	ID         int64   `parquet:"id"`
	Prediction string  `parquet:"prediction"`
	High       float64 `parquet:"probability_high"`
	Low        float64 `parquet:"probability_low"`
	Middle     float64 `parquet:"probability_middle"`
	Leaf       int32   `parquet:"leaf"`
	Tests      int32   `parquet:"tests"`
	Cost       float64 `parquet:"cost"`
}

// scored trains a tree on rows and returns its folder and the glob of the rows.
func scored(t *testing.T, files int, opts parquetio.WriteOptions) (data *rows, run, input string) {
	t.Helper()
	data = newRows(700)
	c := oneTree()
	c.Input, c.Label, c.Ignore = []string{data.write(t, ascending(700), files, opts)}, "class", []string{"id", "weight"}
	c.Output, c.Split = filepath.Join(t.TempDir(), "run"), dataset.Shares{100, 0, 0}
	if _, err := train.Train(t.Context(), c, &silent{}); err != nil {
		t.Fatal(err)
	}
	return data, c.Output, c.Input[0]
}

func predictConfig(t *testing.T, model, input string) config.Predict {
	t.Helper()
	c := config.DefaultPredict()
	c.Model, c.Input, c.Output = model, []string{input}, filepath.Join(t.TempDir(), "scored")
	return c
}

func predict(t *testing.T, c config.Predict) *pipelines.PredictResult {
	t.Helper()
	r, err := pipelines.Predict(t.Context(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// valuesOf returns a row's values as a scorer takes them.
func (r *rows) valuesOf(row int, s *tree.Scorer) []tree.Value {
	var values []tree.Value
	for _, f := range s.Features() {
		var v tree.Value
		number := func(p *float64) {
			if p != nil {
				v = tree.Number(*p)
			}
		}
		switch f.Name {
		case "a", "twin":
			number(r.a[row])
		case "b":
			number(r.b[row])
		case "color":
			if r.color[row] != nil {
				v = tree.Text(*r.color[row])
			}
		case "flag":
			v = tree.Text(map[bool]string{false: "false", true: "true"}[r.flag[row]])
		}
		values = append(values, v)
	}
	return values
}

// readPredictions returns all predictions that a run has written.
func readPredictions(t *testing.T, r *pipelines.PredictResult) []predicted {
	t.Helper()
	var all []predicted
	for _, file := range r.Files {
		rows, err := parquet.ReadFile[predicted](file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rows...)
	}
	return all
}

// TestPredict: a file for a file, rows in their order, each with what the scorer
// says of it, on both runners; with labels, the metrics are those of evaluate.
func TestPredict(t *testing.T) {
	data, run, input := scored(t, 3, parquetio.WriteOptions{RowsPerGroup: 100})
	model := readTree(t, run, "tree.json")
	scorer := model.Scorer()
	for _, runner := range []string{"direct", "prism"} {
		c := predictConfig(t, run, input)
		c.Key, c.Runner = []string{"id"}, runner
		r := predict(t, c)
		got := readPredictions(t, r)
		if len(r.Files) != 3 || len(got) != 700 || r.Rows != 700 {
			t.Fatalf("%s: %d files, %d rows, counted %d", runner, len(r.Files), len(got), r.Rows)
		}
		for i, row := range got {
			p, err := scorer.Predict(data.valuesOf(i, scorer))
			if err != nil {
				t.Fatal(err)
			}
			want := predicted{int64(i), p.Class, p.Probabilities[0], p.Probabilities[1], p.Probabilities[2], int32(p.Leaf), int32(p.Tests), p.Cost}
			if row != want {
				t.Fatalf("%s: row %d is %+v, want %+v", runner, i, row, want)
			}
		}
		_, metrics, err := pipelines.Evaluate(t.Context(), config.Evaluate{Model: run, Input: c.Input}, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(metrics.Test, r.Metrics.Test); diff != "" {
			t.Errorf("%s: metrics (-evaluate +predict):\n%s", runner, diff)
		}
		names, err := filepath.Glob(filepath.Join(c.Output, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range names {
			names[i] = filepath.Base(names[i])
		}
		if diff := cmp.Diff([]string{"_SUCCESS", "_manifest.json", "_metrics.json", "part-00.parquet", "part-01.parquet", "part-02.parquet"}, names); diff != "" {
			t.Errorf("%s: folder (-want +got):\n%s", runner, diff)
		}
	}
}

// TestPredictSameBytes: predictions do not depend on the runner.
func TestPredictSameBytes(t *testing.T) {
	_, run, input := scored(t, 2, parquetio.WriteOptions{RowsPerGroup: 64, PageVersion: 2})
	var first []byte
	for _, runner := range []string{"direct", "prism"} {
		c := predictConfig(t, run, input)
		c.Keep, c.Explain, c.Runner = "all", true, runner
		var all []byte
		for _, file := range predict(t, c).Files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		if first == nil {
			first = all
		}
		if !slices.Equal(all, first) {
			t.Errorf("%s: other bytes than %s", runner, "direct")
		}
	}
}

// TestPredictNovelty: by hand, of four rows one lacks a number, two have numbers
// outside of the range of training and one has a color that training did not have.
func TestPredictNovelty(t *testing.T) {
	_, run, _ := scored(t, 1, parquetio.WriteOptions{})
	number := func(x float64) *float64 { return &x }
	color := func(s string) *string { return &s }
	input := write(t, t.TempDir(), "new.parquet",
		parquetio.WriteColumn{Name: "color", Values: []*string{color("red"), color("mauve"), nil, color("red")}},
		parquetio.WriteColumn{Name: "a", Values: []*float64{number(1), number(99), nil, number(-5)}},
		parquetio.WriteColumn{Name: "twin", Values: []float64{1, 1, 1, 1}},
		parquetio.WriteColumn{Name: "b", Values: []float64{0, 0, 0, 0}},
		parquetio.WriteColumn{Name: "flag", Values: []bool{true, false, true, false}},
	)
	c := predictConfig(t, run, input)
	r := predict(t, c)
	got := make(map[string]runfolder.ColumnNovelty)
	for _, n := range r.Columns {
		got[n.Column] = n
	}
	if got["a"] != (runfolder.ColumnNovelty{Column: "a", Missing: 1, Outside: 2}) || got["color"] != (runfolder.ColumnNovelty{Column: "color", Missing: 1, Unseen: 1}) {
		t.Errorf("novelty %+v", r.Columns)
	}
	if r.Metrics != nil {
		t.Error("metrics of rows without a label")
	}
	var m runfolder.PredictionsManifest
	b, err := os.ReadFile(filepath.Join(c.Output, "_manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Columns, m.Columns); diff != "" || m.Rows != 4 || !slices.Equal(m.Outputs, []string{"new.parquet"}) {
		t.Errorf("manifest of %d rows, outputs %v (-result +manifest):\n%s", m.Rows, m.Outputs, diff)
	}

	c = predictConfig(t, run, input)
	c.MaxUnseen = 0.49
	_, err = pipelines.Predict(t.Context(), c, &silent{})
	var data *dataset.DataError
	if !errors.As(err, &data) || data.Column != "a" || !strings.Contains(err.Error(), "2 of 4 rows") {
		t.Errorf("error %v, want a DataError of column a", err)
	}
	if left, err := filepath.Glob(filepath.Join(c.Output, "*")); err != nil || len(left) > 0 {
		t.Errorf("refused predictions stay: %v, %v", left, err)
	}
	if c.MaxUnseen = 0.5; predict(t, c).Rows != 4 {
		t.Error("a share as large as may be is refused")
	}
}

// TestPredictPartitions: files keep their place below the folder, columns of the
// path can be keys, and finished predictions are replaced as a whole.
func TestPredictPartitions(t *testing.T) {
	root := hive(t)
	r, _, err := trainOn(t, root)
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Dir(r.Files[0])
	c := predictConfig(t, run, root)
	c.Key = []string{"day", "x", "store"}
	all := predict(t, c)
	if len(all.Files) != 4 {
		t.Fatalf("files %v", all.Files)
	}
	type row struct {
		Day   *string `parquet:"day"`
		X     float64 `parquet:"x"`
		Store *string `parquet:"store"` // 7 and 08: codes keep their spelling
	}
	nulls := 0
	for _, file := range all.Files {
		got, err := parquet.ReadFile[row](file)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 50 || got[7].X != 7 {
			t.Errorf("%s: %d rows, the eighth %+v", file, len(got), got[7])
		}
		if got[3].Day == nil && got[3].Store == nil {
			nulls++
		}
	}
	if first, err := parquet.ReadFile[row](filepath.Join(c.Output, "day=2026-11-01/store=7/part-0.snappy.parquet")); err != nil || *first[0].Day != "2026-11-01" || *first[0].Store != "7" || nulls != 1 {
		t.Errorf("first row %+v of the first day, %d files of nulls, error %v", first[0], nulls, err)
	}

	if _, err := pipelines.Predict(t.Context(), c, &silent{}); err == nil || !strings.Contains(err.Error(), "--overwrite") {
		t.Errorf("again: error %v, want one that names --overwrite", err)
	}
	c.Input, c.Overwrite = []string{root + "/day=2026-11-01*/**"}, true
	predict(t, c)
	left, err := filepath.Glob(filepath.Join(c.Output, "*/*/*.parquet"))
	if err != nil || len(left) != 1 {
		t.Errorf("files %v, want one: those of the predictions before are to go; error %v", left, err)
	}
}

func TestPredictErrors(t *testing.T) {
	_, run, input := scored(t, 1, parquetio.WriteOptions{})
	for _, test := range []struct {
		name string
		edit func(c *config.Predict)
		want string
	}{
		{"no output", func(c *config.Predict) { c.Output = "" }, "--output"},
		{"keep", func(c *config.Predict) { c.Keep = "some" }, "--keep some"},
		{"share", func(c *config.Predict) { c.MaxUnseen = 2 }, "--max_unseen 2"},
		{"runner", func(c *config.Predict) { c.Runner = "walker" }, "--runner walker"},
		{"unknown key", func(c *config.Predict) { c.Key = []string{"idd"} }, `did you mean "id"`},
		{"key twice", func(c *config.Predict) { c.Key = []string{"id", "id"} }, "twice"},
		{"unknown label", func(c *config.Predict) { c.Label = "klass" }, "--label"},
		{"into the input", func(c *config.Predict) { c.Output = filepath.Dir(input) }, "would replace it"},
		{"two of a name", func(c *config.Predict) {
			c.Input = append(c.Input, newRows(10).write(t, ascending(10), 1, parquetio.WriteOptions{}))
		}, "would both become"},
		{"a column that the tree tests is missing", func(c *config.Predict) { c.Input = []string{fruit(t, t.TempDir(), "fruit.parquet")} }, `the tree needs the columns ["a" "b" "flag"] and the input lacks them`},
	} {
		c := predictConfig(t, run, input)
		test.edit(&c)
		if _, err := pipelines.Predict(t.Context(), c, &silent{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q in it", test.name, err, test.want)
		}
		if _, err := os.Stat(filepath.Join(c.Output, "_SUCCESS")); c.Output != "" && err == nil {
			t.Errorf("%s: marked as a success", test.name)
		}
	}
	taken := write(t, t.TempDir(), "taken.parquet", parquetio.WriteColumn{Name: "leaf", Values: []string{"oak"}})
	c := predictConfig(t, run, taken)
	c.Key = []string{"leaf"}
	if _, err := pipelines.Predict(t.Context(), c, &silent{}); err == nil {
		t.Error("no error for a key of a prediction's name")
	}
}

// TestPredictNoRows: a day without rows also has predictions.
func TestPredictNoRows(t *testing.T) {
	_, run, _ := scored(t, 1, parquetio.WriteOptions{})
	c := predictConfig(t, run, newRows(1).write(t, nil, 1, parquetio.WriteOptions{}))
	c.Key, c.MaxUnseen = []string{"id"}, 0
	r := predict(t, c)
	rows, err := parquet.ReadFile[predicted](r.Files[0])
	if err != nil || len(rows) != 0 || r.Rows != 0 || r.Metrics != nil {
		t.Errorf("%d rows, counted %d, metrics %v, error %v", len(rows), r.Rows, r.Metrics, err)
	}
	if _, _, err := pipelines.Evaluate(t.Context(), config.Evaluate{Model: run, Input: c.Input}, &silent{}); err == nil || !strings.Contains(err.Error(), "no input file has a row") {
		t.Errorf("evaluate: error %v", err)
	}
}

// TestPredictTaken scores into folders that are not to be touched.
func TestPredictTaken(t *testing.T) {
	_, run, input := scored(t, 1, parquetio.WriteOptions{})
	over := predictConfig(t, run, input)
	over.Output, over.Overwrite = run, true
	before := contents(t, run)
	if _, err := pipelines.Predict(t.Context(), over, &silent{}); err == nil || !strings.Contains(err.Error(), "something else than predictions") {
		t.Errorf("error %v for the folder of a training run", err)
	}
	if diff := cmp.Diff(before, contents(t, run)); diff != "" {
		t.Errorf("the training run has changed (-before +after):\n%s", diff)
	}
	held := predictConfig(t, run, input)
	lock := fmt.Sprintf(`{"format": "espalier/lock", "run": "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "host": "elsewhere", "pid": 7, "beat": %q, "every_s": 10}`, time.Now().UTC().Format(time.RFC3339Nano))
	if err := os.MkdirAll(held.Output, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(held.Output, "_LOCK"), []byte(lock), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := pipelines.Predict(t.Context(), held, &silent{}); err == nil || !strings.Contains(err.Error(), "process 7 on elsewhere, is at work there") {
		t.Errorf("error %v for a folder that another run is at work in", err)
	}
}

// TestPredictClashing: with Keep all, columns of the input that have names of columns of the predictions are left out with a
// warning; a file whose predictions no later run would replace is refused at the start.
func TestPredictClashing(t *testing.T) {
	_, run, _ := scored(t, 1, parquetio.WriteOptions{})
	folder := t.TempDir()
	numbers, texts := []float64{1, 2, 3}, []string{"red", "green", "blue"}
	columns := []parquetio.WriteColumn{
		{Name: "a", Values: numbers},
		{Name: "b", Values: numbers},
		{Name: "twin", Values: numbers},
		{Name: "color", Values: texts},
		{Name: "flag", Values: []bool{true, false, true}},
		{Name: "cost", Values: numbers},
	}
	write(t, folder, "rows.parquet", columns...)
	c := predictConfig(t, run, filepath.Join(folder, "rows.parquet"))
	c.Keep = config.KeepAll
	said := &silent{}
	if _, err := pipelines.Predict(t.Context(), c, said); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(said.warnings, func(s string) bool { return strings.Contains(s, `the columns ["cost"] of the input have names`) }) {
		t.Errorf("warnings %q, want one of cost", said.warnings)
	}
	type row struct {
		Color string  `parquet:"color"`
		Tests int32   `parquet:"tests"`
		Cost  float64 `parquet:"cost"`
	}
	got, err := parquet.ReadFile[row](filepath.Join(c.Output, "rows.parquet"))
	if err != nil || len(got) != 3 || got[1].Color != "green" || got[0].Cost != 2 || got[2].Cost != 3 { // two and three features are paid
		t.Errorf("%v: rows %v", err, got)
	}
	write(t, folder, `a\b.parquet`, columns...)
	c = predictConfig(t, run, filepath.Join(folder, "*"))
	if _, err := pipelines.Predict(t.Context(), c, said); err == nil || !strings.Contains(err.Error(), `expected a name without backslashes`) {
		t.Errorf("%v, want an error of the name", err)
	}
}

package train_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go" //nolint:depguard // writes dates, as this project's own writer does not

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/slicing"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// measured evaluates a tree on rows.
func measured(t *testing.T, model, input string, slice ...string) *metric.Metrics {
	t.Helper()
	c := config.DefaultEvaluate()
	c.Model, c.Input, c.Slice = model, []string{input}, slice
	_, m, err := pipelines.Evaluate(t.Context(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	return m.Test
}

// in reports whether a row is in a slice.
func (r *rows) in(s *metric.SliceRows, row int) bool {
	number := func(x float64, missing bool) bool {
		return !missing && (s.From == nil || x >= *s.From) && (s.To == nil || x < *s.To)
	}
	switch {
	case s.Column == "color":
		return s.Of == metric.SliceOfMissing && r.color[row] == nil || s.Value != nil && r.color[row] != nil && *s.Value == *r.color[row]
	case s.Column == "flag":
		return *s.Value == strconv.FormatBool(r.flag[row])
	case s.Column == "weight": // 8 values
		return *s.Value == dataset.SpellNumber(r.weight[row])
	case s.Column == "a" && s.Of == metric.SliceOfMissing:
		return r.a[row] == nil
	case s.Column == "a":
		return r.a[row] != nil && number(*r.a[row], false)
	default:
		return number(float64(r.id[row]), false)
	}
}

// TestSlices: the figures of a slice equal an evaluation of its rows alone, for features and other
// columns, with and without leaf models. Evaluation and prediction find the same figures.
func TestSlices(t *testing.T) {
	longtest.Skip(t)
	const n = 700
	data, columns := newRows(n), []string{"color", "id", "a", "weight", "flag"}
	input := data.write(t, ascending(n), 3, parquetio.WriteOptions{RowsPerGroup: 100})
	for _, model := range []selection.Kind{selection.None, selection.Linear} {
		c := oneTree()
		c.Input, c.Label, c.Ignore, c.Slice, c.LeafModel = []string{input}, "class", []string{"id", "weight"}, columns, model
		c.Output, c.Split = filepath.Join(t.TempDir(), "run"), dataset.Shares{100, 0, 0}
		r := trained(t, c)
		if r.Tree.Modelled() != (model == selection.Linear) {
			t.Fatalf("leaf model %s: models %v", model, r.Tree.Modelled())
		}
		list := r.Metrics.Train.Slices
		if len(list) != 5+4+5+8+2 {
			t.Fatalf("%d slices: %+v", len(list), list)
		}
		rows, share := make(map[string]int64), make(map[string]float64)
		for i := range list {
			s := &list[i]
			rows[s.Column] += s.Rows
			share[s.Column] += *s.Share
			var own []int
			for row := range n {
				if data.in(&s.SliceRows, row) {
					own = append(own, row)
				}
			}
			alone := measured(t, c.Output, data.write(t, own, 1, parquetio.WriteOptions{}))
			if want := metric.NewSlice(s.SliceRows, alone, n); gocmp.Diff(want, *s) != "" {
				t.Errorf("%s, %+v, (-alone +slice):\n%s", model, s.SliceRows, gocmp.Diff(want, *s))
			}
		}
		for _, name := range columns {
			if rows[name] != n || share[name] < 0.999 || share[name] > 1.001 {
				t.Errorf("%s: the slices have %d rows and %v of the weight", name, rows[name], share[name])
			}
		}
		if got := measured(t, c.Output, input, columns...); gocmp.Diff(list, got.Slices) != "" {
			t.Errorf("%s: evaluate finds others (-train +evaluate):\n%s", model, gocmp.Diff(list, got.Slices))
		}
		for _, runner := range []string{"direct", "prism"} {
			p := predictConfig(t, c.Output, input)
			p.Slice, p.Runner = columns, runner
			if got := predict(t, p); gocmp.Diff(list, got.Metrics.Test.Slices) != "" {
				t.Errorf("%s: predict on %s finds others (-train +predict):\n%s", model, runner, gocmp.Diff(list, got.Metrics.Test.Slices))
			}
		}
	}
}

// TestSlicesOfManyValues: if there are many texts, each of the most frequent texts has a slice,
// with ties broken by their bytes, and the other texts share a slice. Dates have ISO texts, or
// ranges with a unit.
func TestSlicesOfManyValues(t *testing.T) {
	const n = 600
	type row struct {
		Town  string `parquet:"town"`
		Day   int32  `parquet:"day,date"`
		Month int32  `parquet:"month,date"`
		Class string `parquet:"class"`
	}
	var list []row
	for i := range n {
		town := fmt.Sprintf("town %02d", max(i%60, 8)) // 9 times as many of 08
		list = append(list, row{town, int32(20000 + i), int32(20000 + 31*(i%3)), []string{"a", "b"}[i%7%2]})
	}
	input := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquet.WriteFile(input, list); err != nil {
		t.Fatal(err)
	}
	c := oneTree()
	c.Input, c.Label, c.Split, c.Slice = []string{input}, "class", dataset.Shares{100, 0, 0}, []string{"town", "day", "month"}
	c.Output = filepath.Join(t.TempDir(), "run")
	var of []string
	for _, s := range trained(t, c).Metrics.Train.Slices {
		text := s.Of
		switch {
		case s.Value != nil:
			text = *s.Value
		case s.Unit != "":
			text += " of a " + s.Unit
		}
		of = append(of, fmt.Sprintf("%s %d", text, s.Rows))
	}
	var want []string
	for i := range slicing.MostValues {
		want = append(want, fmt.Sprintf("town %02d %d", 8+i, map[bool]int{true: 90, false: 10}[i == 0]))
	}
	want = append(want, "others 20", "range of a date 150", "range of a date 150", "range of a date 150", "range of a date 150",
		"2024-10-04 200", "2024-11-04 200", "2024-12-05 200")
	if diff := gocmp.Diff(want, of); diff != "" {
		t.Errorf("slices (-want +got):\n%s", diff)
	}
}

// TestSlicesOfOnePart: a value that only a part other than the training part has is a slice of its own.
func TestSlicesOfOnePart(t *testing.T) {
	type row struct {
		Clinic string  `parquet:"clinic"`
		Part   string  `parquet:"part"`
		X      float64 `parquet:"x"`
		Class  string  `parquet:"class"`
	}
	var list []row
	for i := range 400 {
		clinic := []string{"north", "south", "east", "west"}[i%4]
		part := map[string]string{"east": "test", "west": "validation"}[clinic]
		list = append(list, row{clinic, cmp.Or(part, "train"), float64(i % 17), []string{"a", "b"}[i%7%2]})
	}
	input := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquet.WriteFile(input, list); err != nil {
		t.Fatal(err)
	}
	c := oneTree()
	c.Input, c.Label, c.Ignore, c.SplitColumn, c.Slice = []string{input}, "class", []string{"clinic"}, "part", []string{"clinic"}
	c.Output = filepath.Join(t.TempDir(), "run")
	m := trained(t, c).Metrics
	for part, want := range map[*metric.Metrics]string{m.Train: "north 100, south 100", m.Validation: "west 100", m.Test: "east 100"} {
		var got []string
		for _, s := range part.Slices {
			if s.Of == metric.SliceOfValue {
				got = append(got, fmt.Sprintf("%s %d", *s.Value, s.Rows))
			}
		}
		if text := strings.Join(got, ", "); text != want || len(got) != len(part.Slices) {
			t.Errorf("slices %s of %d, want %s", text, len(part.Slices), want)
		}
	}
}

// TestSliceErrors: what cannot be a slice is refused before any work, by the column and with
// what to do.
func TestSliceErrors(t *testing.T) {
	_, run, input := scored(t, 1, parquetio.WriteOptions{})
	texts := make([]string, 1<<17)
	for i := range texts {
		texts[i] = strconv.Itoa(i) + "x"
	}
	wide := filepath.Join(t.TempDir(), "wide.parquet")
	err := parquetio.Write(t.Context(), objectstore.New(), wide, []parquetio.WriteColumn{
		{Name: "text", Values: texts},
		{Name: "class", Values: slices.Repeat([]string{"high"}, len(texts))},
		{Name: "x", Values: make([]float64, len(texts))},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		slice string
		want  []string
	}{
		{"colour", []string{"--slice", `"colour"`, `did you mean "color"`}},
		{"class", []string{"--slice", `"class"`, "is the label"}},
		{"flag,flag", []string{"--slice", `"flag" twice`}},
	} {
		training, evaluate, predict := oneTree(), config.DefaultEvaluate(), predictConfig(t, run, input)
		training.Input, training.Label, training.Output = []string{input}, "class", filepath.Join(t.TempDir(), "run")
		evaluate.Model, evaluate.Input = run, []string{input}
		training.Slice = strings.Split(c.slice, ",")
		evaluate.Slice, predict.Slice = training.Slice, training.Slice
		_, trainErr := train.Train(t.Context(), training, &silent{})
		_, _, evaluateErr := pipelines.Evaluate(t.Context(), evaluate, &silent{})
		_, predictErr := pipelines.Predict(t.Context(), predict, &silent{})
		for verb, err := range map[string]error{"train": trainErr, "evaluate": evaluateErr, "predict": predictErr} {
			var fault *usage.Error
			if !errors.As(err, &fault) {
				t.Errorf("%s --slice %s: %v, want a usage error", verb, c.slice, err)
				continue
			}
			for _, words := range c.want {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%s --slice %s: %q lacks %q", verb, c.slice, err, words)
				}
			}
		}
	}
	training := oneTree()
	training.Input, training.Label, training.Output, training.Ignore = []string{wide}, "class", filepath.Join(t.TempDir(), "run"), []string{"text"}
	training.Slice = []string{"text"}
	_, err = train.Train(t.Context(), training, &silent{})
	var fault *dataset.DataError
	if !errors.As(err, &fault) || fault.Column != "text" || !strings.Contains(fault.Hint, "--slice") {
		t.Errorf("too many texts: %v", err)
	}
	p := predictConfig(t, run, input)
	p.Slice, p.Label = []string{"flag"}, "none"
	if _, err := pipelines.Predict(t.Context(), p, &silent{}); err == nil || !strings.Contains(err.Error(), "no label") {
		t.Errorf("predict without a label: %v", err)
	}
}

// TestPromoteSlices: a promoted tree has the slices of its rows. Without the rows it says that it
// has none, and rows that are gone are an error with the remedy.
func TestPromoteSlices(t *testing.T) {
	c := ticTacToe(t)
	c.Slice = []string{"top_left"}
	r := trained(t, c)
	if len(r.Metrics.Test.Slices) != 3 {
		t.Fatalf("slices %+v", r.Metrics.Test.Slices)
	}
	p := promoteTo(t, c.Output, 3, nil)
	whole := int64(0)
	for _, s := range p.Metrics.Validation.Slices {
		whole += s.Rows
	}
	if whole != p.Metrics.Validation.Rows {
		t.Errorf("%d rows in slices, want %d", whole, p.Metrics.Validation.Rows)
	}
	reporter := &noted{}
	without := config.DefaultPromote()
	without.Run, without.Number, without.WithoutRows = c.Output, 2, true
	without.Output = filepath.Join(t.TempDir(), "promoted")
	p, err := train.Promote(t.Context(), without, reporter)
	if err != nil || p.Metrics.Test.Slices != nil || !strings.Contains(strings.Join(reporter.notes, "\n"), "slices") {
		t.Errorf("without rows: %v, notes %q", err, reporter.notes)
	}
	_, err = promoted(t, c.Output, 1, nil, func(c *config.Promote) {
		c.Input = []string{filepath.Join(os.TempDir(), "nowhere", "*.parquet")}
	})
	if err == nil || !strings.Contains(err.Error(), "--without_rows") || !strings.Contains(err.Error(), "--slice") {
		t.Errorf("rows that are gone: %v", err)
	}
}

// noted is a Reporter that keeps the notes.
type noted struct {
	silent

	notes []string
}

func (n *noted) Note(text string) { n.notes = append(n.notes, text) }

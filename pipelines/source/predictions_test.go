package source_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go" //nolint:depguard // judges what this project's own writer has written

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// row is a row of predictions: three columns of the path, one of the file, and what a
// tree of two leaves says.
type row struct {
	Day   *string  `parquet:"day"`
	N     *float64 `parquet:"n"`
	Null  *string  `parquet:"null"`
	X     float64  `parquet:"x"`
	Class string   `parquet:"prediction"`
	Score float64  `parquet:"score"`
	Leaf  int32    `parquet:"leaf"`
}

func predicted() []jobs.PredictionColumn {
	return []jobs.PredictionColumn{
		{Name: "prediction", Values: []string{"no", "no", "yes"}},
		{Name: "score", Values: []float64{.25, .5, .25}},
		{Name: "leaf", Values: []int32{3, 5, 6}},
	}
}

// task returns the storage of a run, and the task of a file of 12 rows in two row groups.
func task(t *testing.T) (*source.Files, jobs.Task) {
	t.Helper()
	f, root := begin(t), t.TempDir()
	numbered(t, filepath.Join(root, "day=mo", "n=2", "null=__HIVE_DEFAULT_PARTITION__", "a.parquet"), 12)
	one := open(t, f, root).Tasks[0]
	one.Output = filepath.Join(t.TempDir(), "out.parquet")
	return f, one
}

// predict writes the predictions of a task: all rows reach the leaves in turn.
func predict(t *testing.T, f *source.Files, one jobs.Task) error {
	t.Helper()
	p, err := f.Predictions(t.Context(), one, []string{"day", "x", "n", "null"}, predicted(), nil)
	if err != nil {
		return err
	}
	for group, leaves := range [][]uint16{{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}, {1, 2}} {
		if err := p.RowGroup(group, &jobs.PredictedRows{Leaves: leaves}); err != nil {
			t.Fatal(err)
		}
	}
	return p.Commit()
}

// TestPredictions: by hand, what stands in the file, by another reader of Parquet.
func TestPredictions(t *testing.T) {
	f, one := task(t)
	if err := predict(t, f, one); err != nil {
		t.Fatal(err)
	}
	day, n := "mo", 2.0
	var want []row
	for r := range 12 {
		want = append(want, row{
			Day: &day, N: &n, X: float64(r), Class: []string{"no", "no", "yes"}[r%3], Score: []float64{.25, .5, .25}[r%3],
			Leaf: []int32{3, 5, 6}[r%3],
		})
	}
	got, err := parquet.ReadFile[row](one.Output)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if _, ok := f.Predicted.Load(one.Output); !ok {
		t.Error("the run does not know of the file")
	}
	one.Repeated = true
	if err := predict(t, f, one); err != nil {
		t.Errorf("the same again: %v", err)
	}
}

// TestPredictionsByRow: by hand, the columns of a tree with leaf models.
func TestPredictionsByRow(t *testing.T) {
	f, one := task(t)
	columns := []jobs.PredictionColumn{
		{Name: "prediction", Values: []string{"no", "yes"}, By: jobs.ByClass},
		{Name: "score", By: jobs.ByRow, Class: 1},
		{Name: "leaf", Values: []int32{3, 5, 6}},
	}
	p, err := f.Predictions(t.Context(), one, nil, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := &tree.Scores{Leaves: make([]int32, 3), Classes: []int32{1, 0, 1}, Probabilities: []float64{.4, .6, .8, .2, 0, 1}}
	second := &tree.Scores{Leaves: make([]int32, 1), Classes: []int32{1}, Probabilities: []float64{.3, .7}}
	if err := p.RowGroup(0, &jobs.PredictedRows{Leaves: []uint16{2, 0, 1}, Scores: first}); err != nil {
		t.Fatal(err)
	}
	if err := p.RowGroup(1, &jobs.PredictedRows{Leaves: []uint16{1}, Scores: second}); err != nil {
		t.Fatal(err)
	}
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	type scored struct {
		Class string  `parquet:"prediction"`
		Score float64 `parquet:"score"`
		Leaf  int32   `parquet:"leaf"`
	}
	got, err := parquet.ReadFile[scored](one.Output)
	if err != nil {
		t.Fatal(err)
	}
	want := []scored{{"yes", .6, 6}, {"no", .2, 3}, {"yes", 1, 5}, {"yes", .7, 5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// TestPredictionsRefused: files of others stay as they are; what cannot be read or
// written is told.
func TestPredictionsRefused(t *testing.T) {
	f, one := task(t)
	if err := f.Store.Put(t.Context(), one.Output, []byte("mine"), objectstore.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := predict(t, f, one); err == nil || !strings.Contains(err.Error(), "nothing is overwritten; choose another folder") {
		t.Errorf("another's file: %v", err)
	}
	if b, err := f.Read(t.Context(), one.Output); err != nil || string(b) != "mine" {
		t.Errorf("another's file has become %.20q, %v", b, err)
	}
	if _, ok := f.Predicted.Load(one.Output); ok {
		t.Error("the run believes to have written another's file")
	}

	lost := one
	lost.File = one.File + "2"
	if _, err := f.Predictions(t.Context(), lost, []string{"x"}, predicted(), nil); err == nil || !strings.Contains(err.Error(), lost.File) {
		t.Errorf("%v, want that the input is gone", err)
	}
	nowhere := one
	nowhere.Output = "fiel://out.parquet"
	if _, err := f.Predictions(t.Context(), nowhere, []string{"x"}, predicted(), nil); err == nil || !strings.Contains(err.Error(), "fiel") {
		t.Errorf("no such store: %v", err)
	}
	odd := []jobs.PredictionColumn{{Name: "odd", Values: []int64{1}}}
	if _, err := f.Predictions(t.Context(), one, nil, odd, nil); err == nil || !strings.Contains(err.Error(), `column "odd": cannot write values of type []int64`) {
		t.Errorf("values of another type: %v", err)
	}
	p, err := f.Predictions(t.Context(), one, []string{"x"}, predicted(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.RowGroup(0, &jobs.PredictedRows{Leaves: []uint16{0}}); err == nil {
		t.Error("no error for a row group of 10 rows with one leaf")
	}
	if err := p.Abort(); err != nil {
		t.Error(err)
	}
}

// TestPredictionsOfEndedRun: a run that has ended makes no file visible.
func TestPredictionsOfEndedRun(t *testing.T) {
	f, one := task(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := f.Predictions(ctx, one, nil, predicted(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.RowGroup(0, &jobs.PredictedRows{Leaves: []uint16{0, 1}}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := p.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the run was interrupted", err)
	}
	if _, err := f.Store.Stat(t.Context(), one.Output); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want no file", err)
	}
	if aborted, err := f.Predictions(t.Context(), one, nil, predicted(), nil); err != nil || aborted.Abort() != nil {
		t.Errorf("nothing is to be left of the first: %v", err)
	}
	if _, err := f.Store.Stat(t.Context(), one.Output); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Abort: %v, want no file", err)
	}
}

package source_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// typesFile has a column of each type that Parquet knows.
const typesFile = "../../io/parquetio/testdata/types.parquet"

// begin returns the storage of a run that ends with the test.
func begin(t *testing.T) *source.Files {
	t.Helper()
	f := source.Begin(source.DefaultConfig())
	t.Cleanup(f.End)
	return f
}

func write(t *testing.T, url string, o parquetio.WriteOptions, columns ...parquetio.WriteColumn) string {
	t.Helper()
	if err := parquetio.Write(t.Context(), source.Process.Store, url, columns, o); err != nil {
		t.Fatal(err)
	}
	return url
}

// numbered writes a file whose column x counts its rows.
func numbered(t *testing.T, url string, rows int) string {
	t.Helper()
	x := make([]float64, rows)
	for r := range x {
		x[r] = float64(r)
	}
	return write(t, url, parquetio.WriteOptions{RowsPerGroup: 10}, parquetio.WriteColumn{Name: "x", Values: x})
}

// mark writes an empty file.
func mark(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

// copied copies a file and returns its new name.
func copied(t *testing.T, from, to string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return to
}

func open(t *testing.T, f *source.Files, patterns ...string) *source.Input {
	t.Helper()
	in, err := source.OpenInput(t.Context(), f, patterns, new(parallel.Steps))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// column returns a column of the input by its name.
func column(t *testing.T, in *source.Input, name string) *parquetio.Column {
	t.Helper()
	for i := range in.Columns {
		if in.Columns[i].Name == name {
			return &in.Columns[i]
		}
	}
	t.Fatalf("no column %q", name)
	return nil
}

// wantUsage checks an error: it must be a usage error with these texts.
func wantUsage(t *testing.T, what string, err error, texts ...string) {
	t.Helper()
	if !errors.As(err, new(*usage.Error)) {
		t.Errorf("%s: %v, want a usage error", what, err)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q in it", what, err, text)
		}
	}
}

// wantData checks that an error names a file, a column, a problem and a remedy.
func wantData(t *testing.T, what string, err error, want dataset.DataError) {
	t.Helper()
	var got *dataset.DataError
	if !errors.As(err, &got) {
		t.Errorf("%s: %v, want a data error", what, err)
		return
	}
	if got.Hint == "" || filepath.Base(got.File) != filepath.Base(want.File) || got.Column != want.Column ||
		!strings.Contains(got.Problem, want.Problem) || !strings.Contains(got.Hint, want.Hint) {
		t.Errorf("%s:\n%v\nwant\n%v", what, err, &want)
	}
}

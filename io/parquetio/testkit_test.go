package parquetio_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// put stores bytes under a mem:// URL of the test.
func put(tb testing.TB, name string, b []byte) (*objectstore.Store, string) {
	tb.Helper()
	store := objectstore.New()
	url := objectstore.Join("mem://"+tb.Name(), name)
	w, err := store.Create(tb.Context(), url, objectstore.WriteOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		tb.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		tb.Fatal(err)
	}
	return store, url
}

// spell returns the column's values as texts, in file order; "" is missing.
func spell(tb testing.TB, store *objectstore.Store, url, column string) []string {
	tb.Helper()
	f, err := parquetio.Open(tb.Context(), store, url)
	if err != nil {
		tb.Fatal(err)
	}
	var all []string
	var v dataset.Vector // reused: old contents of its buffers must not show
	for i := range f.RowGroups() {
		if err := readColumn(tb, f, i, column, &v); err != nil {
			tb.Fatal(err)
		}
		checkVector(tb, &v, int(f.RowGroupRows(i)))
		before := len(all)
		for r := range v.Rows() {
			all = append(all, v.Spell(r))
		}
		checkRows(tb, f, i, column, &v, all[before:])
	}
	return all
}

// checkRows reads a row group in pieces of several sizes, and compares their values with
// the values of the whole row group.
func checkRows(tb testing.TB, f *parquetio.File, group int, column string, v *dataset.Vector, want []string) {
	tb.Helper()
	g, err := f.RowGroup(tb.Context(), group, []string{column})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := g.Close(); err != nil {
			tb.Error(err)
		}
	}()
	if n := g.PageRows(); n > len(want) || n == 0 && len(want) > 0 {
		tb.Errorf("a page of %d rows in a row group of %d", n, len(want))
	}
	for from, size := 0, 1; from < len(want); from, size = from+size, 3*size {
		to := min(from+size, len(want))
		if err := g.ReadRows(0, from, to, v); err != nil {
			tb.Fatal(err)
		}
		checkVector(tb, v, to-from)
		for r := range v.Rows() {
			if v.Spell(r) != want[from+r] {
				tb.Fatalf("column %q: row %d of rows %d to %d is %q, expected %q", column, r, from, to, v.Spell(r), want[from+r])
			}
		}
	}
}

func readColumn(tb testing.TB, f *parquetio.File, group int, column string, v *dataset.Vector) error {
	tb.Helper()
	g, err := f.RowGroup(tb.Context(), group, []string{column})
	if err != nil {
		return err
	}
	defer func() {
		if err := g.Close(); err != nil {
			tb.Error(err)
		}
	}()
	return g.ReadColumn(0, v)
}

// checkVector checks the contract of dataset.Vector.
func checkVector(tb testing.TB, v *dataset.Vector, rows int) {
	tb.Helper()
	if v.Rows() != rows {
		tb.Fatalf("vector of %d rows, expected %d", v.Rows(), rows)
	}
	values := len(v.Texts)
	if v.Type == dataset.Number {
		values = len(v.Numbers)
	} else if v.Index == nil {
		tb.Fatal("texts without an index")
	}
	for _, i := range v.Index {
		if i < -1 || int(i) >= values {
			tb.Fatalf("index %d of %d values", i, values)
		}
	}
	for _, x := range v.Numbers {
		if x == 0 && math.Signbit(x) {
			tb.Fatal("negative zero")
		}
	}
}

// naive reads a column value by value, by parquet-go.
func naive(tb testing.TB, file []byte, column string, spell func(parquet.Value) string) []string {
	tb.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		tb.Fatal(err)
	}
	leaf, ok := f.Schema().Lookup(column)
	if !ok {
		tb.Fatalf("no column %q", column)
	}
	var all []string
	for _, g := range f.RowGroups() {
		pages := g.ColumnChunks()[leaf.ColumnIndex].Pages()
		for {
			p, err := pages.ReadPage()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				tb.Fatal(err)
			}
			values := make([]parquet.Value, p.NumValues())
			if n, err := p.Values().ReadValues(values); n != len(values) {
				tb.Fatalf("%d of %d values: %v", n, len(values), err)
			}
			for _, v := range values {
				if v.IsNull() {
					all = append(all, "")
				} else {
					all = append(all, spell(v))
				}
			}
		}
		if err := pages.Close(); err != nil {
			tb.Error(err)
		}
	}
	return all
}

func spellFloat(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return dataset.SpellNumber(x + 0)
}

func spellAny(v parquet.Value) string {
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case parquet.Int32:
		return spellFloat(float64(v.Int32()))
	case parquet.Int64:
		return spellFloat(float64(v.Int64()))
	case parquet.Float:
		return spellFloat(float64(v.Float()))
	case parquet.Double:
		return spellFloat(v.Double())
	default:
		return string(v.ByteArray())
	}
}

// wantDataError checks that an error is a DataError with its file.
func wantDataError(tb testing.TB, err error, url string) *dataset.DataError {
	tb.Helper()
	var e *dataset.DataError
	if !errors.As(err, &e) {
		tb.Fatalf("expected a DataError, got %T: %v", err, err)
	}
	if e.File != url || e.Problem == "" || e.Hint == "" {
		tb.Errorf("incomplete error: %+v", e)
	}
	return e
}

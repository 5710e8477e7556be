package rowtype_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
)

// TestNilRows: a nil pointer is an error for each type of rows, and a nil map is a row without values.
func TestNilRows(t *testing.T) {
	type row struct{ A float64 }
	for _, nilRow := range []any{(*row)(nil), (*map[string]any)(nil), (*map[string]string)(nil), (*map[string]*int)(nil)} {
		reader := readerOf(t, nilRow)
		_, err := reader.Read(nilRow, nil)
		var e *dataset.DataError
		if want := "a nil row of type " + reflect.TypeOf(nilRow).String() + ", expected a row"; !errors.As(err, &e) || e.Problem != want {
			t.Errorf("%T: %v, want %s", nilRow, err, want)
		}
	}
	for _, nilMap := range []any{map[string]any(nil), map[string]string(nil), map[string]*int(nil), new(map[string]any)} {
		cells, err := readerOf(t, nilMap).Read(nilMap, nil)
		if err != nil || len(cells) != 1 || cells[0] != (rowtype.Cell{Absent: true}) {
			t.Errorf("%T: %+v, %v, want a missing value", nilMap, cells, err)
		}
	}
}

// readerOf returns a reader of the column A of rows.
func readerOf(t *testing.T, row any) *rowtype.Reader {
	t.Helper()
	schema, err := rowtype.SchemaOf(reflect.TypeOf(row))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := schema.Reader([]string{"A"})
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

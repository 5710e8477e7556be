package rowtype

import (
	"database/sql"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// kinds is a row with a field of each kind.
type kinds struct {
	deepest
	timed

	Float  float32
	Whole  *int16
	Count  uint64
	Name   string
	Flag   bool
	Null   sql.NullFloat64
	Date   sql.Null[time.Time] `parquet:"date,date"`
	Any    any
	Absent *bool
}

// TestSetReadsBack: what is read from a row, and set in another one, is the same row.
func TestSetReadsBack(t *testing.T) {
	whole, nanos, day := int16(-7), int64(1_700_000_000_123_456_000), time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC)
	at := day.Add(12*time.Hour + 5*time.Microsecond)
	row := kinds{
		deepest: deepest{Price: 1999, Deep: true},
		timed: timed{
			At: at, Coarse: at.Truncate(time.Millisecond), Day: day, Millis: -5, Nanos: &nanos, Days: 20778, Beam: 5,
			Lasts: 1500 * time.Microsecond, Plain: 7,
		},
		Float: 0.25, Whole: &whole, Count: 1 << 53, Name: "Ada", Flag: true, Any: 2.5,
		Null: sql.NullFloat64{Float64: 1.5, Valid: true}, Date: sql.Null[time.Time]{V: day, Valid: true},
	}
	schema, err := SchemaOf(reflect.TypeFor[kinds]())
	if err != nil {
		t.Fatal(err)
	}
	r, err := schema.Reader(schema.Names())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []kinds{row, {Float: float32(math.NaN())}} {
		cells, err := r.Read(want, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got kinds
		for i := range cells {
			if err := r.Columns[i].Set(reflect.ValueOf(&got).Elem(), cells[i]); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(kinds{}), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("(-row +set):\n%s", diff)
		}
	}
}

// TestSetRefuses: a value that a field cannot hold is refused, by its column.
func TestSetRefuses(t *testing.T) {
	type embedding struct{ *deepest }
	embedded, err := SchemaOf(reflect.TypeFor[embedding]())
	if err != nil {
		t.Fatal(err)
	}
	var row embedding
	if err := embedded.Columns[0].Set(reflect.ValueOf(&row).Elem(), numberCell(1)); err == nil {
		t.Error("a struct that is not exported is made behind its pointer")
	}
	schema, err := SchemaOf(reflect.TypeFor[kinds]())
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]Cell{
		"Whole": numberCell(1 << 15), "Count": numberCell(-1), "Plain": numberCell(0.5), "Name": {},
		"Flag": numberCell(1), "Float": {Type: numberCell(1).Type + 1, Text: "x"},
	} {
		c, err := schema.Column(name)
		if err != nil {
			t.Fatal(err)
		}
		var row kinds
		if err := c.Set(reflect.ValueOf(&row).Elem(), x); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s of %+v: %v, want an error that names it", name, x, err)
		}
	}
}

package rowtype

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// timed is a row of points in time, with tags of parquet-go.
type timed struct {
	At     time.Time     `json:"at"`
	Coarse time.Time     `parquet:"coarse,timestamp(millisecond)"`
	Day    time.Time     `parquet:"day,date"`
	Clock  time.Time     `espalier:"clock,time"`
	Millis int64         `parquet:"millis,timestamp"`
	Nanos  *int64        `parquet:"nanos,timestamp(nanosecond)"`
	Days   int32         `parquet:"days,date"`
	Beam   int64         `parquet:"name=beam, type=INT64, convertedtype=TIME_MICROS"`
	Lasts  time.Duration `parquet:"lasts,time(nanosecond)"`
	Plain  int64
}

// TestTimesOfRows: dates become days, and times and timestamps become microseconds,
// rounded down, whatever unit the field has. The numbers were worked out by hand.
func TestTimesOfRows(t *testing.T) {
	schema, err := SchemaOf(reflect.TypeFor[timed]())
	if err != nil {
		t.Fatal(err)
	}
	names := schema.Names()
	r, err := schema.Reader(names)
	if err != nil {
		t.Fatal(err)
	}
	at, nanos := time.Date(1969, 12, 31, 23, 59, 59, 999_998_500, time.FixedZone("", 0)), int64(-1)
	cells, err := r.Read(timed{at, at, at, at, -1, &nanos, 20778, 5, 1500, 7}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[string]string{
		"at": "timestamp 1969-12-31T23:59:59.999998", "coarse": "timestamp 1969-12-31T23:59:59.999", "day": "date 1969-12-31",
		"clock":  "time 23:59:59.999998",
		"millis": "timestamp 1969-12-31T23:59:59.999", "nanos": "timestamp 1969-12-31T23:59:59.999999",
		"days": "date 2026-11-21", "beam": "time 00:00:00.000005",
		"lasts": "time 00:00:00.000001", "Plain": " 7",
	} {
		c := &cells[indexOf(names, i)]
		if got := c.Unit.String() + " " + c.Unit.Spell(c.Number); got != want {
			t.Errorf("%s: %s, want %s", i, got, want)
		}
	}
	for _, far := range []any{
		timed{Millis: 1 << 62},
		timed{Millis: 253402300799999},
		timed{At: time.Date(300_000, 1, 1, 0, 0, 0, 1000, time.UTC)},
	} {
		if _, err := r.Read(far, nil); err == nil || !strings.Contains(err.Error(), "a timestamp of more microseconds") {
			t.Errorf("%+v: %v, want an error of its unit", far, err)
		}
	}
}

func indexOf(names []string, name string) int {
	for i := range names {
		if names[i] == name {
			return i
		}
	}
	return -1
}

// TestFitOfUnits: a value in a map or in an interface is converted to the feature's unit,
// or refused in one sentence.
func TestFitOfUnits(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		unit dataset.Unit
		row  any
		want string // the spelled value, or part of the error
	}{
		{dataset.Date, at, "2026-11-21"},
		{dataset.Date, "2026-11-21", "2026-11-21"},
		{dataset.Timestamp, at, "2026-11-21T09:30:00"},
		{dataset.Timestamp, "2026-11-21T10:30:00+01:00", "2026-11-21T09:30:00"},
		{dataset.Time, "09:30", "09:30:00"},
		{dataset.Plain, "12.5", "12.5"},
		{dataset.Plain, 7, "7"},
		{dataset.Date, 20778, "the row has one of the numbers, the feature takes dates"},
		{dataset.Date, "20778", "not a date"},
		{dataset.Plain, at, "the row has one of the timestamps, the feature takes numbers"},
		{dataset.Timestamp, "soon", "not a timestamp"},
		{dataset.Timestamp, at.In(time.FixedZone("", 3600)), "2026-11-21T09:30:00"},
	} {
		column := Column{Name: "x", Unit: c.unit}
		x, err := column.read(reflect.ValueOf(c.row))
		if err == nil {
			err = x.Fit("x", dataset.Numeric, c.unit)
		}
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = c.unit.Spell(x.Number)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%v for a feature of %s: %s, want %s", c.row, c.unit.Things(), got, c.want)
		}
	}
}

package dataset_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestSpellUnits: by hand; the days and microseconds are those of `date -d .. +%s`.
func TestSpellUnits(t *testing.T) {
	for _, c := range []struct {
		unit dataset.Unit
		x    float64
		want string
	}{
		{dataset.Plain, 12.5, "12.5"},
		{dataset.Date, 0, "1970-01-01"},
		{dataset.Date, -1, "1969-12-31"},
		{dataset.Date, 20778, "2026-11-21"},
		{dataset.Date, -719528, "0000-01-01"},
		{dataset.Date, -719529, "-00001-12-31"},
		{dataset.Date, 2932897, "+10000-01-01"},
		{dataset.Date, 20778.5, "20778.5"},
		{dataset.Date, math.Inf(1), "+Inf"},
		{dataset.Date, 1e15, "1000000000000000"},
		{dataset.Time, 0, "00:00:00"},
		{dataset.Time, 34200e6 + 250000, "09:30:00.25"},
		{dataset.Time, 86400e6, "86400000000"},
		{dataset.Time, -1, "-1"},
		{dataset.Timestamp, 0, "1970-01-01T00:00:00"},
		{dataset.Timestamp, -1, "1969-12-31T23:59:59.999999"},
		{dataset.Timestamp, 1795253400e6, "2026-11-21T09:30:00"},
		{dataset.Timestamp, 1795253400e6 + 1, "2026-11-21T09:30:00.000001"},
		{dataset.Timestamp, 253402300799e6, "9999-12-31T23:59:59"},
		{dataset.Timestamp, math.MaxFloat64, dataset.SpellNumber(math.MaxFloat64)},
	} {
		if got := c.unit.Spell(c.x); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.unit, c.x, got, c.want)
		}
		if got, ok := c.unit.Parse(c.want); !ok || got != c.x {
			t.Errorf("%s %s is read as %v (%t), want %v", c.unit, c.want, got, ok, c.x)
		}
	}
}

// TestParseUnits reads dates and times as people write them, and refuses other texts.
func TestParseUnits(t *testing.T) {
	for _, c := range []struct {
		unit dataset.Unit
		text string
		want float64
	}{
		{dataset.Time, "09:30", 34200e6},
		{dataset.Time, "23:59:59.9999999", 86400e6 - 1},
		{dataset.Timestamp, "2026-11-21", 1795219200e6},
		{dataset.Timestamp, "2026-11-21 09:30", 1795253400e6},
		{dataset.Timestamp, "2026-11-21T09:30:00Z", 1795253400e6},
		{dataset.Timestamp, "2026-11-21T10:30:00+01:00", 1795253400e6},
		{dataset.Timestamp, "2026-11-21T04:30:00-05", 1795253400e6},
		{dataset.Timestamp, "1795253400000000", 1795253400e6},
		{dataset.Timestamp, "2026-11-21 09:30:00+00", 1795253400e6},                 // PostgreSQL
		{dataset.Timestamp, "2026-11-21 15:00:00.000125+05:30", 1795253400e6 + 125}, // PostgreSQL
		{dataset.Timestamp, "2026-11-21 09:30:00 UTC", 1795253400e6},                // BigQuery
		{dataset.Timestamp, "2026-11-21 09:30:00.5 UTC", 1795253400e6 + 500000},     // BigQuery
		{dataset.Timestamp, "2026-11-21 01:30:00.000 -0800", 1795253400e6},          // Snowflake
		{dataset.Timestamp, "2026-11-21 09:30:00.0000000 +00:00", 1795253400e6},     // SQL Server
		{dataset.Timestamp, "20261121T093000", 1795253400e6},                        // ISO 8601, basic format
		{dataset.Timestamp, "20261121T0930Z", 1795253400e6},
		{dataset.Timestamp, "20261121T103000.25+0100", 1795253400e6 + 250000},
		{dataset.Timestamp, "2026-11-21 9:30", 1795253400e6},
		{dataset.Time, "9:30", 34200e6},
		{dataset.Date, "2024-2-9", 19762},
		{dataset.Date, "20778", 20778},
		{dataset.Date, "2024-02-29", 19782},
	} {
		if got, ok := c.unit.Parse(c.text); !ok || got != c.want {
			t.Errorf("%s %q is read as %v (%t), want %v", c.unit, c.text, got, ok, c.want)
		}
	}
	for unit, texts := range map[dataset.Unit]string{
		dataset.Plain: "2026-11-21,09:30,NaN,x,",
		dataset.Date: "2026-13-01,2026-02-30,2026-11-001,2026-11-,26-11-21,2026-11-21T00:00,--2026-11-21,2026/11/21," +
			"+1234567890-01-01,today,",
		dataset.Time: "24:00,009:30,9:3,09:60,09:30:60,09:30:,09:30.5,09:30:00.,09:30:00.x,09:30:00.123x",
		dataset.Timestamp: "2026-11-21T,2026-11-21T25:00,2026-11-21T09:30X,2026-11-21T09:30+1," +
			"T09:30,2026-11-21T09:30+01:00:00,2026-11-21T09:30+01:,2026-11-21T09:30+1:00,2026-11-21T09:30  UTC," +
			"20261121 093000,20261121T09:30,20261121T0930000,20261121T09300,2026-11-21T0930,2026-11-21T09:30 CET",
	} {
		for _, text := range strings.Split(texts, ",") {
			if x, ok := unit.Parse(text); ok {
				t.Errorf("%s: %q is read as %v", unit, text, x)
			}
		}
	}
}

// TestUnitsRoundTrip spells random times, compares the texts with those of package time,
// and reads them back.
func TestUnitsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		micros := r.Int64N(1<<53) - 1<<52
		at := time.UnixMicro(micros).UTC()
		for unit, want := range map[dataset.Unit]string{
			dataset.Date: at.Format("2006-01-02"), dataset.Time: at.Format("15:04:05.999999"),
			dataset.Timestamp: at.Format("2006-01-02T15:04:05.999999"),
		} {
			n, ok := unit.Of(at.Add(time.Duration(r.IntN(1000))))
			x, exact := unit.Exact(n)
			if got := unit.Spell(x); !ok || !exact || got != want {
				t.Fatalf("%s of %d: %s (%t, %t), want %s", unit, micros, got, ok, exact, want)
			}
			if back, ok := unit.Parse(want); !ok || back != x {
				t.Fatalf("%s %s is read as %v (%t), want %v", unit, want, back, ok, x)
			}
		}
	}
}

func FuzzParseUnit(f *testing.F) {
	for _, s := range []string{
		"2026-11-21T09:30:00.5+01:00", "-00001-12-31", "09:30", "1e300",
		"+9999999-12-31T23:59", "10000000000100000000.",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for unit := dataset.Plain; unit <= dataset.Timestamp; unit++ {
			x, ok := unit.Parse(s)
			if !ok {
				continue
			}
			if again, ok := unit.Parse(unit.Spell(x)); !ok || again != x {
				t.Errorf("%s: %q is %v, spelled %s and read as %v (%t)", unit, s, x, unit.Spell(x), again, ok)
			}
		}
	})
}

// TestNumbersOfCategories: a number belongs to its canonical spelling, and booleans are 0
// and 1.
func TestNumbersOfCategories(t *testing.T) {
	for _, c := range []struct {
		values []string
		x      float64
		want   int // code
	}{
		{[]string{"01", "1", "1.0"}, 1, 1},
		{[]string{"01", "1.0"}, 1, 0},
		{[]string{"false", "true"}, 0, 0},
		{[]string{"false", "true"}, 1, 1},
		{[]string{"true"}, 1, 0},
		{[]string{"true"}, 0, 1}, // other
		{[]string{"false", "maybe", "true"}, 1, 3},
		{[]string{"a"}, 0, 1},
	} {
		f := &dataset.Feature{Kind: dataset.Categorical, Values: c.values}
		key := make([]byte, 1)
		dataset.NewEncoder(f).Encode(&dataset.Vector{Type: dataset.Number, Numbers: []float64{c.x}}, key, 0, 1, nil)
		if int(key[0]) != c.want {
			t.Errorf("%v among %q has the code %d, want %d", c.x, c.values, key[0], c.want)
		}
	}
}

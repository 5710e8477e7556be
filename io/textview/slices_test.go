package textview_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/textview"
)

// slice is a slice of a value with the given AUC, whose interval has the given width.
func slice(value string, auc *float64, width float64) metric.Slice {
	share, accuracy := 0.25, 0.8
	s := metric.Slice{
		SliceRows: metric.SliceRows{Column: "town", Of: metric.SliceOfValue, Value: &value},
		Rows:      25, Share: &share, AUCOvRMacro: auc, Accuracy: &accuracy, Intervals: &metric.Intervals{},
	}
	if auc != nil {
		s.Intervals.AUCOvRMacro = &metric.Interval{Low: *auc - width/2, High: *auc + width/2}
	}
	return s
}

// sliced is a part of 100 rows with an AUC of 0.8, from 0.75 to 0.85.
func sliced(list ...metric.Slice) *metric.Metrics {
	auc := 0.8
	return &metric.Metrics{
		Rows: 100, Weight: 100, AUCOvRMacro: &auc, Slices: list,
		Intervals: &metric.Intervals{AUCOvRMacro: &metric.Interval{Low: 0.75, High: 0.85}},
	}
}

func number(x float64) *float64 { return &x }

func slicesTable(t *testing.T, m *metric.Metrics, width int) []string {
	t.Helper()
	var b strings.Builder
	if err := textview.Slices(&b, m, width); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

// TestSlices: the worst slice comes first, and slices without an AUC come last. The table tells
// of an interval apart from that of all rows, unless the interval has no width.
func TestSlices(t *testing.T) {
	lines := slicesTable(t, sliced(slice("high", number(0.95), 0.1), slice("none", nil, 0), slice("low", number(0.6), 0.1),
		slice("touches", number(0.7), 0.1), slice("point", number(0.5), 0)), 0)
	for at, want := range []string{"slice", "(all)", "town = point", "town = low", "town = touches", "town = high", "town = none"} {
		if !strings.HasPrefix(lines[at], want) {
			t.Errorf("line %d is %q, want %q", at, lines[at], want)
		}
	}
	if !strings.Contains(lines[3], "AUC below") || !strings.Contains(lines[5], "AUC above") || len(lines) != 8 ||
		strings.Contains(lines[2]+lines[4]+lines[6], "AUC ") {
		t.Errorf("intervals apart:\n%s", strings.Join(lines, "\n"))
	}
	if lines := slicesTable(t, sliced(slice("a", number(0.8), 0.1)), 0); strings.Contains(lines[0], "against") ||
		!strings.HasPrefix(lines[3], "in no slice") {
		t.Errorf("nothing lies apart:\n%s", strings.Join(lines, "\n"))
	}
	if lines := slicesTable(t, sliced(), 0); len(lines) != 1 || lines[0] != "" {
		t.Errorf("no slices: %q", lines)
	}
}

// TestSlicesMany: if there are many slices, the slices whose intervals are apart are shown,
// whatever their AUC.
func TestSlicesMany(t *testing.T) {
	var list []metric.Slice
	for i := range 40 {
		list = append(list, slice(strconv.Itoa(i), number(0.7+float64(i)/1000), 0.2))
	}
	list[39] = slice("39", number(0.99), 0.01)
	lines := slicesTable(t, sliced(list...), 80)
	if len(lines) != 1+1+12+1+1 || !strings.HasPrefix(lines[14], "(28 others)") {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	if at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "town = 39 ") }); at != 13 {
		t.Errorf("the slice above stands in line %d", at)
	}
	for _, line := range lines {
		if len(line) > 80 {
			t.Errorf("%d characters: %q", len(line), line)
		}
	}
}

// TestSliceName: slices are named as conditions are, on one line whatever the names.
func TestSliceName(t *testing.T) {
	for want, rows := range map[string]metric.SliceRows{
		"age < 30.5":                      {Column: "age", Of: metric.SliceOfRange, To: number(30.5)},
		"age in [30.5, 45.5)":             {Column: "age", Of: metric.SliceOfRange, From: number(30.5), To: number(45.5)},
		"age >= 45.5":                     {Column: "age", Of: metric.SliceOfRange, From: number(45.5)},
		"age is not missing":              {Column: "age", Of: metric.SliceOfRange},
		"day in [2024-10-04, 2024-11-04)": {Column: "day", Of: metric.SliceOfRange, From: number(20000), To: number(20031), Unit: dataset.Date.String()},
		"age is missing":                  {Column: "age", Of: metric.SliceOfMissing},
		"age is other":                    {Column: "age", Of: metric.SliceOfOthers},
		`a\nb = \u202e` + strings.Repeat("x", 39) + "...": func() metric.SliceRows {
			value := "\u202e" + strings.Repeat("x", 9000)
			return metric.SliceRows{Column: "a\nb", Of: metric.SliceOfValue, Value: &value}
		}(),
	} {
		if got := textview.SliceName(&rows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

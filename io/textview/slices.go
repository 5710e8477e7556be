package textview

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
)

// maxSlices is the greatest number of slices listed one by one.
const maxSlices = 12

// Slices writes the table and the note of SlicesTable. Lines have at most width characters; 0:
// unlimited.
func Slices(w io.Writer, m *metric.Metrics, width int) error {
	t, note := SlicesTable(m)
	if t == nil {
		return nil
	}
	if err := t.Write(w, width); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, Wrapped(note, width, "  "))
	return err
}

// SlicesTable returns a table of the slices of a part, the least AUC first, below a row for all
// rows of the part. It marks figures whose 95 % interval does not overlap the interval of all rows.
// The note explains the marks. If there are many slices, it lists slices with marks first, then the
// slices with the least AUC. The table is nil for a part without slices.
func SlicesTable(m *metric.Metrics) (table *Table, note string) {
	if len(m.Slices) == 0 {
		return nil, ""
	}
	list := WorstSlices(m)
	apart := slices.IndexFunc(list, func(s metric.Slice) bool { return len(Apart(m, &s)) > 0 }) >= 0
	t := NewTable(Column{Head: "slice", Left: true}, Column{Head: "rows"}, Column{Head: "share", Rank: 4},
		Column{Head: "AUC"}, Column{Head: "95 %", Rank: 3}, Column{Head: "accuracy", Rank: 1},
		Column{Head: "balanced", Rank: 6}, Column{Head: "log loss", Rank: 7}, Column{Head: "cost", Rank: 2},
		Column{Head: "tests", Rank: 5})
	if apart {
		t.Columns = append(t.Columns, Column{Head: "against all", Left: true})
	}
	t.Add("(all)", strconv.FormatInt(m.Rows, 10), "", Figure(m.AUCOvRMacro), areaInterval(m.Intervals), Figure(m.Accuracy),
		Figure(m.BalancedAccuracy), Figure(m.LogLoss), Figure(m.ExpectedCost), Figure(m.ExpectedTests))
	shown := list
	most, others := Visible(len(list), maxSlices)
	if most < len(list) {
		first := slices.Clone(list)
		slices.SortStableFunc(first, func(a, b metric.Slice) int {
			return cmp.Compare(min(1, len(Apart(m, &b))), min(1, len(Apart(m, &a))))
		})
		shown = WorstSlices(&metric.Metrics{Slices: first[:most]})
	}
	for i := range shown {
		s := &shown[i]
		t.Add(SliceName(&s.SliceRows), strconv.FormatInt(s.Rows, 10), PercentOf(s.Share), Figure(s.AUCOvRMacro),
			areaInterval(s.Intervals), Figure(s.Accuracy), Figure(s.BalancedAccuracy), Figure(s.LogLoss),
			Figure(s.ExpectedCost), Figure(s.ExpectedTests), strings.Join(Apart(m, s), ", "))
	}
	t.others(others)
	note = "below, above: the 95 % interval does not overlap the interval of all rows"
	if !apart {
		note = "in no slice the 95 % interval of AUC, accuracy or cost is apart from the interval of all rows"
	}
	return t, note
}

// WorstSlices returns the slices of a part, the least AUC first. Slices without an AUC come last,
// ordered by accuracy.
func WorstSlices(m *metric.Metrics) []metric.Slice {
	return slices.SortedStableFunc(slices.Values(m.Slices), func(a, b metric.Slice) int {
		return cmp.Or(cmp.Compare(orAbove(a.AUCOvRMacro), orAbove(b.AUCOvRMacro)),
			cmp.Compare(orAbove(a.Accuracy), orAbove(b.Accuracy)))
	})
}

// orAbove returns a share, or a number above all shares if it is nil.
func orAbove(x *float64) float64 {
	if x == nil {
		return 2
	}
	return *x
}

// Apart names the figures of a slice whose 95 % intervals do not touch the intervals of all rows of
// the part: AUC, accuracy and billed cost, with "below" or "above".
func Apart(m *metric.Metrics, s *metric.Slice) []string {
	if m.Intervals == nil || s.Intervals == nil {
		return nil
	}
	var list []string
	for _, x := range []struct {
		name       string
		whole, one *metric.Interval
	}{
		{"AUC", m.Intervals.AUCOvRMacro, s.Intervals.AUCOvRMacro},
		{"accuracy", m.Intervals.Accuracy, s.Intervals.Accuracy},
		{"cost", m.Intervals.ExpectedCost, s.Intervals.ExpectedCost},
	} {
		switch {
		case x.whole == nil || x.one == nil || x.one.Low == x.one.High: // an interval without width says nothing about other rows
		case x.one.High < x.whole.Low:
			list = append(list, x.name+" below")
		case x.one.Low > x.whole.High:
			list = append(list, x.name+" above")
		}
	}
	return list
}

// SliceName describes the rows of a slice as a condition: "age in [30.5, 45.5)".
func SliceName(s *metric.SliceRows) string {
	column := name(s.Column)
	switch s.Of {
	case metric.SliceOfValue:
		return column + " = " + name(*s.Value)
	case metric.SliceOfRange:
		return rangeName(s, column)
	default:
		return column + " is " + strings.TrimSuffix(s.Of, "s")
	}
}

func rangeName(s *metric.SliceRows, column string) string {
	unit, _ := dataset.ParseUnit(s.Unit) // written by another version: plain numbers
	f := dataset.Feature{Unit: unit}
	for _, cut := range []*float64{s.From, s.To} {
		if cut != nil {
			f.Cuts = append(f.Cuts, *cut)
		}
	}
	switch {
	case s.From == nil && s.To == nil:
		return column + " is not missing"
	case s.From == nil:
		return column + " < " + Shortened(&f, *s.To)
	case s.To == nil:
		return column + " >= " + Shortened(&f, *s.From)
	default:
		return column + " in [" + Shortened(&f, *s.From) + ", " + Shortened(&f, *s.To) + ")"
	}
}

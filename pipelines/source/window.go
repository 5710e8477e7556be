package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// Day is the length of a day in UTC.
const Day = 24 * time.Hour

// Days are the days of the input of an attempt.
type Days struct {
	Patterns []string // may have templates of dates
	Label    string   // column in which some row of a day must have a value; empty: any rows will do
	MaxLag   int      // days by which the newest day with rows may be late
}

// Window is the days of an input that have rows.
type Window struct {
	Patterns []string // patterns with rows
	Missing  []string // days of a range without rows
	Files    []objectstore.Object
	New      []string // columns that the files of the newest days have, and the files of earlier days lack

	days map[time.Time]*dayColumns // days of ranges, with rows
}

// dayColumns are the columns of the files of a day.
type dayColumns struct {
	all map[string]bool // columns that the files of each pattern have
	any map[string]bool // columns that the files of some pattern have
}

// addColumns adds the columns of the files of a pattern.
func (w *Window) addColumns(day time.Time, columns map[string]bool) {
	if w.days == nil {
		w.days = make(map[time.Time]*dayColumns)
	}
	d := w.days[day]
	if d == nil {
		w.days[day] = &dayColumns{all: maps.Clone(columns), any: maps.Clone(columns)}
		return
	}
	maps.DeleteFunc(d.all, func(name string, _ bool) bool { return !columns[name] })
	maps.Copy(d.any, columns)
}

// sortColumns sets New.
func (w *Window) sortColumns() {
	days := slices.SortedFunc(maps.Keys(w.days), time.Time.Compare)
	if len(days) == 0 {
		return
	}
	newest := len(days) - 1
	for name := range w.days[days[newest]].all {
		since := newest
		for since > 0 && w.days[days[since-1]].all[name] {
			since--
		}
		if since > 0 && !slices.ContainsFunc(days[:since], func(day time.Time) bool { return w.days[day].any[name] }) {
			w.New = append(w.New, name)
		}
	}
	slices.Sort(w.New)
}

// Open finds the days that have rows. The newest day must be fresh.
func (in *Days) Open(ctx context.Context, f *Files, day time.Time) (*Window, error) {
	w := new(Window)
	var wanted, newest time.Time
	for _, pattern := range in.Patterns {
		days, err := ExpandDates(pattern, day)
		if err != nil {
			return nil, err
		}
		for _, d := range days {
			columns, there, err := hasRows(ctx, f, d.Pattern, in.Label)
			if err != nil {
				return nil, err
			}
			if there && d.Ranged {
				w.addColumns(d.Day, columns)
			}
			if d.Day.After(wanted) {
				wanted = d.Day
			}
			switch {
			case there:
				w.Patterns = append(w.Patterns, d.Pattern)
				if d.Day.After(newest) {
					newest = d.Day
				}
			case d.Ranged:
				w.Missing = append(w.Missing, d.Day.Format(time.DateOnly))
			default:
				return nil, lacking(d.Pattern)
			}
		}
	}
	if len(w.Patterns) == 0 {
		return nil, lacking(strings.Join(in.Patterns, ","))
	}
	if lag := int(wanted.Sub(newest) / Day); !wanted.IsZero() && lag > in.MaxLag {
		days := "a day"
		if lag > 1 {
			days = fmt.Sprintf("%d days", lag)
		}
		return nil, &dataset.DataError{
			File: strings.Join(in.Patterns, ","),
			Problem: fmt.Sprintf("the newest day with rows is %s, %s before %s; expected at most %d (--max_lag)",
				newest.Format(time.DateOnly), days, wanted.Format(time.DateOnly), in.MaxLag),
			Hint: "run again when the files have come, or raise --max_lag",
		}
	}
	w.sortColumns()
	var err error
	w.Files, err = List(ctx, f, w.Patterns)
	return w, err
}

// Unchanged returns an error if files have come or changed since the window was opened.
func (w *Window) Unchanged(ctx context.Context, f *Files) error {
	now, err := List(ctx, f, w.Patterns)
	if err != nil || slices.Equal(now, w.Files) {
		return err
	}
	return &dataset.DataError{
		File: strings.Join(w.Patterns, ","), Problem: "files have changed or come during the attempt",
		Hint: "nothing was promoted or published: run again",
	}
}

// lacking returns the error for input that has not arrived.
func lacking(pattern string) error {
	return &dataset.DataError{
		File: pattern, Problem: "no file with rows is there, expected some", Hint: "run again when the files have come",
	}
}

// hasRows reports whether the files of a pattern have rows, according to their footers, and the names of their columns.
// If label is set, some row must have a label.
func hasRows(ctx context.Context, f *Files, pattern, label string) (columns map[string]bool, there bool, err error) {
	there, err = HasFiles(ctx, f.Store, pattern)
	if err != nil || !there {
		return nil, false, err
	}
	in, err := OpenInput(ctx, f, []string{pattern}, new(parallel.Steps))
	if err != nil {
		return nil, false, err
	}
	columns = make(map[string]bool)
	for _, name := range in.Names() {
		columns[name] = true
	}
	there, err = in.labelled(ctx, f, label)
	return columns, there, err
}

// labelled reports whether some row has a label, or whether there are rows if label is empty or no column.
func (in *Input) labelled(ctx context.Context, f *Files, label string) (bool, error) {
	if label == "" || !slices.Contains(in.Names(), label) {
		return len(in.Tasks) > 0, nil
	}
	var labels dataset.Vector
	for _, task := range in.Tasks {
		rows, err := f.RowGroup(ctx, task, []string{label})
		if err == nil {
			err = errors.Join(rows.ReadColumn(0, &labels), rows.Close())
		}
		if err != nil {
			return true, ctx.Err() // training reports what is wrong with the file
		}
		for r := range labels.Rows() {
			if !labels.Missing(r) {
				return true, nil
			}
		}
	}
	return false, nil
}

package retraining

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
)

const oneDay = 24 * time.Hour

// window is the input of an attempt.
type window struct {
	patterns []string // patterns with rows
	missing  []string // days of a range without rows
}

// openWindow finds the days that have rows. The newest day must be fresh.
func openWindow(ctx context.Context, f *source.Files, c *config.Retrain, day time.Time) (*window, error) {
	w, label := new(window), ""
	if c.Train.DropNullLabels {
		label = c.Train.Label
	}
	var wanted, newest time.Time
	for _, pattern := range c.Train.Input {
		days, err := source.ExpandDates(pattern, day)
		if err != nil {
			return nil, err
		}
		for _, d := range days {
			there, err := hasRows(ctx, f, d.Pattern, label)
			if err != nil {
				return nil, err
			}
			if d.Day.After(wanted) {
				wanted = d.Day
			}
			switch {
			case there:
				w.patterns = append(w.patterns, d.Pattern)
				if d.Day.After(newest) {
					newest = d.Day
				}
			case d.Ranged:
				w.missing = append(w.missing, d.Day.Format(config.DateFormat))
			default:
				return nil, lacking(d.Pattern)
			}
		}
	}
	if len(w.patterns) == 0 {
		return nil, lacking(strings.Join(c.Train.Input, ","))
	}
	if lag := int(wanted.Sub(newest) / oneDay); !wanted.IsZero() && lag > c.MaxLag {
		return nil, &dataset.DataError{
			File: strings.Join(c.Train.Input, ","),
			Problem: fmt.Sprintf("the newest day with rows is %s, %d days before %s; expected at most %d (--max_lag)",
				newest.Format(config.DateFormat), lag, wanted.Format(config.DateFormat), c.MaxLag),
			Hint: "run again when the files have come, or raise --max_lag",
		}
	}
	return w, nil
}

// lacking returns the error for input that has not arrived.
func lacking(pattern string) error {
	return &dataset.DataError{
		File: pattern, Problem: "no file with rows is there, expected some", Hint: "run again when the files have come",
	}
}

// hasRows reports whether the files of a pattern have rows, according to their footers. If label is
// set, some row must have a label.
func hasRows(ctx context.Context, f *source.Files, pattern, label string) (bool, error) {
	there, err := source.HasFiles(ctx, f.Store, pattern)
	if err != nil || !there {
		return false, err
	}
	in, err := source.OpenInput(ctx, f, []string{pattern}, new(parallel.Steps))
	if err != nil {
		return false, err
	}
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

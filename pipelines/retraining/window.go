package retraining

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// dated is a pattern of input files, with a day replacing the template.
type dated struct {
	pattern string
	day     time.Time // zero if the pattern has no template
	ranged  bool      // whether it belongs to a range of days, so that files may be missing
}

const (
	oneDay  = 24 * time.Hour
	maxDays = 10_000 // greatest number of days of a template
)

// expand replaces the template of a date in a pattern: {date}, {date-1}, or the range
// {date-29..date}, which becomes a pattern for each day.
func expand(pattern string, day time.Time) ([]dated, error) {
	template := regexp.MustCompile(`\{date([+-]\d+)?(\.\.date([+-]\d+)?)?\}`)
	found := template.FindAllStringSubmatch(pattern, -1)
	if len(found) == 0 {
		if strings.Contains(pattern, "{date") {
			return nil, usage.Errorf("--input %s: want {date}, {date-1} or {date-29..date}", pattern)
		}
		return []dated{{pattern: pattern}}, nil
	}
	for _, other := range found {
		if other[0] != found[0][0] {
			return nil, usage.Errorf("--input %s: has two templates, %s and %s: want the same one", pattern, found[0][0], other[0])
		}
	}
	first, last := offset(found[0][1]), offset(found[0][1])
	if found[0][2] != "" {
		last = offset(found[0][3])
	}
	if first > last || last-first > maxDays {
		return nil, usage.Errorf("--input %s: %s has %d days: want from 1 to %d", pattern, found[0][0], last-first+1, maxDays)
	}
	var list []dated
	for n := first; n <= last; n++ {
		at := day.AddDate(0, 0, n)
		text := strings.ReplaceAll(pattern, found[0][0], at.Format(config.DateFormat))
		list = append(list, dated{text, at, first < last})
	}
	return list, nil
}

// offset returns a number of days; 0 if the text is empty.
func offset(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

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
		days, err := expand(pattern, day)
		if err != nil {
			return nil, err
		}
		for _, d := range days {
			there, err := hasRows(ctx, f, d.pattern, label)
			if err != nil {
				return nil, err
			}
			if d.day.After(wanted) {
				wanted = d.day
			}
			switch {
			case there:
				w.patterns = append(w.patterns, d.pattern)
				if d.day.After(newest) {
					newest = d.day
				}
			case d.ranged:
				w.missing = append(w.missing, d.day.Format(config.DateFormat))
			default:
				return nil, lacking(d.pattern)
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
	there, err := hasFiles(ctx, f.Store, pattern)
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

// hasFiles reports whether a pattern, a folder or a file has anything to read.
func hasFiles(ctx context.Context, s *objectstore.Store, pattern string) (bool, error) {
	objects, err := s.List(ctx, pattern)
	if errors.Is(err, objectstore.ErrFolder) {
		objects, err = s.List(ctx, strings.TrimRight(pattern, "/")+"/**/*.parquet")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, usage.Errorf("--input: %v", err)
	}
	for _, o := range objects {
		if o.Size > 0 || o.URL == pattern {
			return true, nil
		}
	}
	return false, nil
}

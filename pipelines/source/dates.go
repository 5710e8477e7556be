package source

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
)

// Dated is a pattern of input files, with a day replacing the template.
type Dated struct {
	Pattern string
	Day     time.Time // zero if the pattern has no template
	Ranged  bool      // whether it belongs to a range of days, so that files may be missing
}

const maxDays = 10_000 // greatest number of days of a template

// ExpandDates replaces the template of a date in a pattern: {date}, {date-1}, or the range
// {date-29..date}, which becomes a pattern for each day.
func ExpandDates(pattern string, day time.Time) ([]Dated, error) {
	template := regexp.MustCompile(`\{date([+-]\d+)?(\.\.date([+-]\d+)?)?\}`)
	found := template.FindAllStringSubmatch(pattern, -1)
	if len(found) == 0 {
		if strings.Contains(pattern, "{date") {
			return nil, usage.Errorf("--input %s: want {date}, {date-1} or {date-29..date}", pattern)
		}
		return []Dated{{Pattern: pattern}}, nil
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
	var list []Dated
	for n := first; n <= last; n++ {
		at := day.AddDate(0, 0, n)
		text := strings.ReplaceAll(pattern, found[0][0], at.Format(time.DateOnly))
		list = append(list, Dated{text, at, first < last})
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

// HasFiles reports whether a pattern, a folder or a file has anything to read.
func HasFiles(ctx context.Context, s *objectstore.Store, pattern string) (bool, error) {
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

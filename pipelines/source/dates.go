package source

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"slices"
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

// ExpandDates replaces the templates of a date in a pattern: {date}, {date-1}, or the range
// {date-29..date}, which becomes a pattern for each day. {date:%Y/%m/%d} spells the day in another form.
func ExpandDates(pattern string, day time.Time) ([]Dated, error) {
	template := regexp.MustCompile(`\{date([+-]\d+)?(\.\.date([+-]\d+)?)?(:[^{}]*)?\}`)
	found := template.FindAllStringSubmatch(pattern, -1)
	if len(found) == 0 {
		if strings.Contains(pattern, "{date") || regexp.MustCompile(`\{[A-Za-z]+([-+.:][^{}]*)?\}`).MatchString(pattern) { // {dat}
			return nil, usage.Errorf("--input %s: want {date}, {date-1} or {date-29..date}, or a form such as {date:%%Y/%%m/%%d}", pattern)
		}
		return []Dated{{Pattern: pattern}}, nil
	}
	for _, other := range found {
		if other[1] != found[0][1] || other[2] != found[0][2] {
			return nil, usage.Errorf("--input %s: has two templates, %s and %s: want the same days", pattern, found[0][0], other[0])
		}
		if form := spelled(day, other[4]); strings.Contains(form, "%") {
			return nil, usage.Errorf("--input %s: want %%Y, %%m and %%d in the form of a day, got %s", pattern, other[0])
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
		text := pattern
		for _, one := range found {
			text = strings.ReplaceAll(text, one[0], spelled(at, one[4]))
		}
		list = append(list, Dated{text, at, first < last})
	}
	return list, nil
}

// spelled writes a day in a form, which begins with a colon; empty: 2006-01-02.
func spelled(day time.Time, form string) string {
	if form == "" {
		return day.Format(time.DateOnly)
	}
	return strings.NewReplacer("%Y", day.Format("2006"), "%m", day.Format("01"), "%d", day.Format("02")).Replace(form[1:])
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
		below, _ := s.List(ctx, strings.TrimRight(pattern, "/")+"/*.parquet")
		if len(below) > 0 {
			return false, usage.Errorf("--input: %s matches folders; add /*.parquet to read the files in them", pattern)
		}
		return false, nil
	}
	if err != nil {
		return false, usage.Errorf("--input: %v", err)
	}
	return slices.ContainsFunc(objects, func(o objectstore.Object) bool { return o.Size > 0 || o.URL == pattern }), nil
}

package source_test

import (
	"slices"
	"testing"
	"time"

	"github.com/espalier-ml/espalier/pipelines/source"
)

// TestExpandDates has the days of templates, by hand.
func TestExpandDates(t *testing.T) {
	day, err := time.Parse(time.DateOnly, "2026-03-01")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pattern string
		want    []string
	}{
		{"data/*.parquet", []string{"data/*.parquet"}},
		{"gs://b/{date}/*", []string{"gs://b/2026-03-01/*"}},
		{"d={date-1}/{date-1}.parquet", []string{"d=2026-02-28/2026-02-28.parquet"}},
		{"{date-2..date}", []string{"2026-02-27", "2026-02-28", "2026-03-01"}},
		{"{date-2..date-1}", []string{"2026-02-27", "2026-02-28"}},
		{"{date:%Y/%m/%d}/*", []string{"2026/03/01/*"}},
		{"y={date:%Y}/m={date:%m}/{date}.parquet", []string{"y=2026/m=03/2026-03-01.parquet"}},
		{"{date-1..date:%Y%m%d}", []string{"20260228", "20260301"}},
		{"{date:%H}", nil},
		{"{date}/{date-1}", nil},
		{"{date..date-1}", nil},
		{"{date-}", nil},
		{"{date-99999..date}", nil},
	} {
		list, err := source.ExpandDates(c.pattern, day)
		var got []string
		for _, d := range list {
			got = append(got, d.Pattern)
		}
		if (err != nil) != (c.want == nil) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.pattern, got, err, c.want)
		}
	}
}

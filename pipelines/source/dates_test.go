package source_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// TestHasFiles: a pattern that matches folders with files is refused, as no file of these names will come. A folder by its
// name has files, and a pattern that matches nothing has none yet.
func TestHasFiles(t *testing.T) {
	folder := t.TempDir()
	day := filepath.Join(folder, "day=1")
	if err := os.Mkdir(day, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(day, "a.parquet"), []byte("rows"), 0o600); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]struct {
		there bool
		fault string
	}{
		"day=1": {true, ""}, "day=*/*.parquet": {true, ""}, "day=2": {false, ""}, "hour=*": {false, ""},
		"day=*": {false, "matches folders; add /*.parquet"},
	} {
		there, err := source.HasFiles(t.Context(), source.Process.Store, filepath.Join(folder, pattern))
		if there != want.there || (err == nil) != (want.fault == "") || err != nil && !strings.Contains(err.Error(), want.fault) {
			t.Errorf("%s: %v, %v; want %+v", pattern, there, err, want)
		}
	}
}

package train_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestCutsFrom: features and classes are the features and classes of the earlier run. Rows that do
// not fit them are refused with a message.
func TestCutsFrom(t *testing.T) {
	const rows = 450
	files, err := filepath.Glob(newRows(rows).write(t, ascending(rows), 3, parquetio.WriteOptions{RowsPerGroup: 64}))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	first := oneTree()
	first.Input, first.Label, first.Ignore, first.Theta = files[:1], "class", []string{"id"}, []float64{0.0005}
	kept := first
	kept.Input, kept.CutsFrom, kept.Bins = files, trainedInto(t, first), 0
	c := kept
	c.Output = trainedInto(t, c)
	earlier, now := readSchema(t, c.CutsFrom), readSchema(t, c.Output)
	for _, f := range earlier.Features() {
		got := featureOf(t, now.Features(), f.Name)
		if !slices.Equal(got.Cuts, f.Cuts) || !slices.Equal(got.Values, f.Values) || !slices.Equal(got.Range, f.Range) {
			t.Errorf("%s: cuts %v, values %q, want %v, %q", f.Name, got.Cuts, got.Values, f.Cuts, f.Values)
		}
	}
	write := func(columns ...parquetio.WriteColumn) []string {
		url := filepath.Join(t.TempDir(), "rows.parquet")
		if err := parquetio.Write(t.Context(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		return []string{url}
	}
	numbers, texts := []float64{1, 2, 3, 4}, []string{"red", "blue", "red", "blue"}
	rest := []parquetio.WriteColumn{
		{Name: "b", Values: numbers},
		{Name: "twin", Values: numbers},
		{Name: "flag", Values: []bool{true, false, true, false}},
		{Name: "weight", Values: numbers},
		{Name: "color", Values: texts},
	}
	low := parquetio.WriteColumn{Name: "class", Values: []string{"low", "high", "low", "high"}}
	for _, bad := range []struct {
		name   string
		change func(*config.Train)
		want   string
		usage  bool
	}{
		{
			"a column less", func(c *config.Train) { c.Ignore, c.Input = nil, write(append(rest, low)...) },
			`column "a"`, false,
		},
		{"a new class", func(c *config.Train) {
			c.Ignore, c.Input = nil, write(append(rest, parquetio.WriteColumn{Name: "a", Values: numbers},
				parquetio.WriteColumn{Name: "class", Values: []string{"low", "new", "low", "new"}})...)
		}, `"new"`, false},
		{"no run", func(c *config.Train) { c.CutsFrom = t.TempDir() }, "--cuts_from", true},
	} {
		c := kept
		c.Output = t.TempDir()
		bad.change(&c)
		_, err := train.Train(t.Context(), c, &silent{})
		var data *dataset.DataError
		if err == nil || !strings.Contains(err.Error(), bad.want) || bad.usage != errors.As(err, new(*usage.Error)) ||
			!bad.usage && !errors.As(err, &data) {
			t.Errorf("%s: %v, want %s", bad.name, err, bad.want)
		}
	}
}

// trainedInto trains into a new folder, and returns it.
func trainedInto(t *testing.T, c config.Train) string {
	t.Helper()
	c.Output = t.TempDir()
	if _, err := train.Train(t.Context(), c, &silent{}); err != nil {
		t.Fatal(err)
	}
	return c.Output
}

package source_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// TestSharedRows reads a row group in several runs. The file is damaged after the first one: kept columns
// are not read again, others are.
func TestSharedRows(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int64
		kept  bool
	}{{"room for both columns", 1 << 20, true}, {"no room", 100, false}} {
		t.Run(c.name, func(t *testing.T) {
			numbers, texts := make([]float64, 100), make([]string, 100)
			for r := range numbers {
				numbers[r], texts[r] = float64(r)/3, string(rune('a'+r%5))
			}
			file := write(t, filepath.Join(t.TempDir(), "rows.parquet"), parquetio.WriteOptions{},
				parquetio.WriteColumn{Name: "x", Values: numbers}, parquetio.WriteColumn{Name: "s", Values: texts})
			ctx := jobs.NewColumnCache(c.bytes).Share(t.Context())
			task := open(t, begin(t), file).Tasks[0]
			read := func(f *source.Files, names ...string) ([]dataset.Vector, error) {
				defer f.End()
				g, err := f.RowGroup(ctx, task, names)
				if err != nil {
					return nil, err
				}
				defer g.Close() //nolint:errcheck // the test reads
				columns := make([]dataset.Vector, len(names))
				for i := range columns {
					if err := g.ReadRows(i, 10, 60, &columns[i]); err != nil {
						return nil, err
					}
				}
				return columns, nil
			}
			want, err := read(source.Begin(source.DefaultConfig()), "x", "s")
			if err != nil {
				t.Fatal(err)
			}
			first, err := read(source.BeginShared(ctx, source.DefaultConfig()), "x", "s")
			if diff := cmp.Diff(want, first); err != nil || diff != "" {
				t.Fatalf("%v; other values: -alone +shared\n%s", err, diff)
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			const pages = 600 // bytes of the file's first pages
			copy(b[4:], bytes.Repeat([]byte{0xff}, pages))
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil { // keeps the generation
				t.Fatal(err)
			}
			again, err := read(source.BeginShared(ctx, source.DefaultConfig()), "s", "x")
			if !c.kept {
				if err == nil {
					t.Error("the damaged file was not read")
				}
				return
			}
			if diff := cmp.Diff([]dataset.Vector{want[1], want[0]}, again); err != nil || diff != "" {
				t.Errorf("%v; other values: -alone +shared\n%s", err, diff)
			}
			if _, err := read(source.Begin(source.DefaultConfig()), "x", "s"); err == nil {
				t.Error("a run of its own did not read the damaged file")
			}
		})
	}
}

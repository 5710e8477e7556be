package source_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// TestLeftOut: by hand. A folder stands for its *.parquet files; all other files in it are named,
// except for the marks of engines.
func TestLeftOut(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{
		"a.parquet", "_year=2020/a.parquet", "b.PARQUET", "c.parq", "d.pq", "000000_0", "_tmp/x.parquet", ".y.parquet",
	} {
		numbered(t, filepath.Join(folder, name), 10)
	}
	for _, name := range []string{"e.parquet", "_SUCCESS", ".a.parquet.crc"} {
		mark(t, filepath.Join(folder, name))
	}
	for link, target := range map[string]string{"link.parquet": "a.parquet", "lost.parquet": "gone.parquet"} {
		if err := os.Symlink(target, filepath.Join(folder, link)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	in := open(t, begin(t), folder)
	want := []string{
		"left out: 4 files with other names (000000_0, b.PARQUET, c.parq, d.pq)",
		"left out: 2 files without content (e.parquet, lost.parquet)",
		"left out: 2 files with hidden names (.y.parquet, _tmp/x.parquet)",
		"left out: 1 file that is listed already (link.parquet is a.parquet)",
	}
	if !slices.Equal(in.Notes, want) || in.Rows != 20 {
		t.Errorf("%d rows, notes %q, want 20 and %q", in.Rows, in.Notes, want)
	}
	for pattern, rows := range map[string]int64{
		"/_tmp*/*": 10, "/_year=*/*": 10, "/*/a.parquet": 10, "/.y*": 10, "/[_]tmp/*": 0, "/*=2020/*": 10,
	} {
		in, err := source.OpenInput(t.Context(), begin(t), []string{folder + pattern}, new(parallel.Steps))
		if got := rowsOf(in); got != rows {
			t.Errorf("%s: %d rows, %v, want %d", pattern, got, err, rows)
		}
	}
}

// TestSpellings: a file counts once, however its path is spelled.
func TestSpellings(t *testing.T) {
	folder := t.TempDir()
	file := numbered(t, filepath.Join(folder, "a.parquet"), 10)
	if in := open(t, begin(t), file, folder+"/./a.parquet", "file://"+file, folder); in.Rows != 10 || len(in.Notes) != 1 {
		t.Errorf("%d rows, notes %q, want 10 and one", in.Rows, in.Notes)
	}
}

// TestOddFolders: a folder's name may have commas and the characters of patterns.
func TestOddFolders(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "[x] a,b ü")
	numbered(t, filepath.Join(folder, "f [1]*.parquet"), 10)
	if in := open(t, begin(t), strings.Split(folder, ",")...); in.Rows != 10 {
		t.Errorf("%d rows, want 10", in.Rows)
	}
}

func rowsOf(in *source.Input) int64 {
	if in == nil {
		return 0
	}
	return in.Rows
}

// TestTables: files of a table are refused, whether a folder, a pattern, a link or a file is
// named, in every store.
func TestTables(t *testing.T) {
	root := t.TempDir()
	for log, format := range map[string]string{
		"_delta_log/00000000000000000000.json": "Delta", ".hoodie/hoodie.properties": "Hudi",
		"metadata/v2.metadata.json": "Iceberg", "metadata/00001-x.gz.metadata.json": "Iceberg", "_spark_metadata/0": "Spark",
	} {
		for _, base := range []string{filepath.Join(root, "lake", format), "mem://tables/" + format} {
			f := begin(t)
			file := numbered(t, base+"/t/day=1/a.parquet", 10)
			if err := f.Store.Put(t.Context(), base+"/t/"+log, []byte("{}"), objectstore.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, input := range []string{base, base + "/t", base + "/t/day=1", base + "/t/*/*.parquet", base + "/**", file} {
				_, err := source.OpenInput(t.Context(), f, []string{input}, new(parallel.Steps))
				wantUsage(t, input, err, "--input: ", base+"/t is ", format, "--live_files")
				if _, err = source.List(t.Context(), f, []string{input}); err == nil {
					t.Errorf("%s is listed", input)
				}
			}
			c := source.DefaultConfig()
			c.LiveFiles = true
			if in := open(t, source.Begin(c), file); in.Rows != 10 {
				t.Errorf("%s: %d rows, want 10", file, in.Rows)
			}
			if _, err := source.OpenInput(t.Context(), source.Begin(c), []string{base}, new(parallel.Steps)); err == nil {
				t.Errorf("%s: a folder has not only live files", base)
			}
		}
	}
	link := filepath.Join(root, "link.parquet")
	if err := os.Symlink(filepath.Join(root, "lake", "Delta", "t", "day=1", "a.parquet"), link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	_, err := source.OpenInput(t.Context(), begin(t), []string{link}, new(parallel.Steps))
	wantUsage(t, "a link into a table", err, "Delta")
	t.Chdir(filepath.Join(root, "lake", "Delta", "t", "day=1"))
	_, err = source.OpenInput(t.Context(), begin(t), []string{"**"}, new(parallel.Steps))
	wantUsage(t, "all files of the working folder", err, "Delta")
	metadata := numbered(t, filepath.Join(root, "plain", "metadata", "a.parquet"), 10)
	if in := open(t, begin(t), metadata); in.Rows != 10 {
		t.Errorf("a folder called metadata: %d rows, want 10", in.Rows)
	}
}

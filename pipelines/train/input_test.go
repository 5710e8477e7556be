package train_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// partition writes rows of which the class depends on x alone.
func partition(t *testing.T, url string, rows, class int) {
	t.Helper()
	x, classes := make([]float64, rows), make([]string, rows)
	for r := range x {
		x[r] = float64(r)
		classes[r] = fmt.Sprintf("c%d", class)
	}
	columns := []parquetio.WriteColumn{{Name: "x", Values: x}, {Name: "class", Values: classes}}
	if err := parquetio.Write(t.Context(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func mark(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

// hive lays out a folder as Hive and Spark do: by day, a date, and store, a
// number, with a null in each; the class depends on the day.
func hive(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "visits")
	for i, folder := range []string{
		"day=2026-11-01/store=7", "day=2026-11-02/store=08", "day=2026%2F11/store=7.5", "day=__HIVE_DEFAULT_PARTITION__/store=",
	} {
		partition(t, filepath.Join(root, folder, "part-0.snappy.parquet"), 50, i%2)
		mark(t, filepath.Join(root, folder, "_SUCCESS"))
		mark(t, filepath.Join(root, folder, "part-1.parquet"))
		partition(t, filepath.Join(root, "_temporary", folder, "part-0.parquet"), 50, 5)
	}
	return root
}

func trainOn(t *testing.T, inputs ...string) (*train.Result, *tree.Schema, error) {
	t.Helper()
	c := oneTree()
	c.Input, c.Label, c.Output = inputs, "class", filepath.Join(t.TempDir(), "run")
	c.Split, c.Tests, c.Theta = dataset.Shares{100, 0, 0}, []split.Family{split.Both}, []float64{0}
	r, err := train.Train(t.Context(), c, new(silent))
	if err != nil {
		return nil, nil, err
	}
	return r, readSchema(t, c.Output), nil
}

func readSchema(t *testing.T, run string) *tree.Schema {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(run, "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := tree.DecodeSchema(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHive: the folders name=value of a path become columns, dates categories
// and numbers numbers; marks and hidden folders are passed over.
func TestHive(t *testing.T) {
	root := hive(t)
	for _, input := range []string{root, root + "/", root + "/**/*.parquet", root + "/day=*/*/*.parquet", "file://" + root + "/*/*/*"} {
		r, s, err := trainOn(t, input)
		if err != nil {
			t.Errorf("%s: %v", input, err)
			continue
		}
		if r.Tree.Training.Rows != 200 {
			t.Errorf("%s: %d rows, want 200", input, r.Tree.Training.Rows)
		}
		types := make(map[string]string)
		for _, c := range s.Columns {
			if c.Feature != nil {
				types[c.Name] = c.Role + " " + c.Feature.Kind.String()
			}
		}
		if types["day"] != "feature categorical" || types["store"] != "feature numeric" {
			t.Errorf("%s: columns %v", input, types)
		}
		day := featureOf(t, s.Features(), "day")
		if want := []string{"2026-11-01", "2026-11-02", "2026/11"}; !slices.Equal(day.Values, want) || day.Missing != 50 {
			t.Errorf("%s: day %+v, want values %v and 50 missing", input, day, want)
		}
		if store := featureOf(t, s.Features(), "store"); store.Missing != 50 || len(store.Cuts) != 2 { // 7, 7.5 and 8
			t.Errorf("%s: store %+v", input, store)
		}
		if m := r.Metrics.Train; m == nil || m.Accuracy == nil || *m.Accuracy != 1 {
			t.Errorf("%s: the class depends on the day, yet the accuracy is not 1", input)
		}
	}
}

func featureOf(t *testing.T, features []dataset.Feature, name string) *dataset.Feature {
	t.Helper()
	for i := range features {
		if features[i].Name == name {
			return &features[i]
		}
	}
	t.Fatalf("no feature %q", name)
	return nil
}

// TestHiveAboveInput: a folder above the input names a column too, of one value here, and a column of the path replaces
// the file's column of the same name.
func TestHiveAboveInput(t *testing.T) {
	root := filepath.Join(t.TempDir(), "run=3")
	partition(t, filepath.Join(root, "x=1", "a.parquet"), 20, 0)
	partition(t, filepath.Join(root, "x=2", "a.parquet"), 20, 1)
	_, s, err := trainOn(t, root)
	if err != nil {
		t.Fatal(err)
	}
	above := ""
	for _, c := range s.Columns {
		if c.Name == "run" {
			above = c.Role
		}
	}
	if above != "constant" {
		t.Errorf("the folder above the input is a column of the role %q, want constant", above)
	}
	if x := featureOf(t, s.Features(), "x"); len(x.Cuts) != 1 || x.Cuts[0] != 2 {
		t.Errorf("x has cuts %v, want that between the folders' values", x.Cuts)
	}
}

package train_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestTreesListWhatTheyTest: tree.json and the trees of the frontier list the
// features that they test, in the order of schema.json, which has them all.
func TestTreesListWhatTheyTest(t *testing.T) {
	data := newRows(600)
	c := config.DefaultTrain()
	c.Input, c.Label, c.Weight = []string{data.write(t, ascending(600), 2, parquetio.WriteOptions{})}, "class", "weight"
	c.Output = filepath.Join(t.TempDir(), "run")
	if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range readSchema(t, c.Output).Features() {
		names = append(names, f.Name)
	}
	if want := []string{"a", "twin", "b", "color", "flag"}; !slices.Equal(names, want) {
		t.Errorf("schema.json has the features %q, want %q", names, want)
	}
	files, err := filepath.Glob(filepath.Join(c.Output, "frontier", "*.json"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d trees of the frontier, %v", len(files), err)
	}
	for _, file := range append(files, filepath.Join(c.Output, "tree.json")) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := tree.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		tested, at := make([]bool, len(m.Features)), -1
		for i := range m.Nodes {
			if n := &m.Nodes[i]; !n.Leaf() {
				tested[n.Test.Feature] = true
			}
		}
		for i := range m.Features {
			next := slices.Index(names, m.Features[i].Name)
			if !tested[i] || next <= at {
				t.Errorf("%s: the feature %q is not tested, or not in the order of schema.json", file, m.Features[i].Name)
			}
			at = next
		}
		if len(m.Features) == len(names) {
			t.Errorf("%s tests all features: the test shows nothing", file)
		}
	}
}

package train_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestColumnWithoutName: a column without a name is a feature, whatever settings name no column.
func TestColumnWithoutName(t *testing.T) {
	const n = 100
	classes := make([]string, n)
	numbers := make([]float64, n)
	texts := make([]string, n)
	flags := make([]bool, n)
	for i := range n {
		flags[i] = i%2 == 1
		numbers[i] = float64(i % 2)
		texts[i] = []string{"u", "v"}[i%2]
		classes[i] = []string{"no", "yes"}[i%2]
	}
	for name, values := range map[string]any{"numbers": numbers, "texts": texts, "booleans": flags} {
		url := filepath.Join(t.TempDir(), "rows.parquet")
		columns := []parquetio.WriteColumn{{Name: "", Values: values}, {Name: "class", Values: classes}}
		if err := parquetio.Write(t.Context(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		c := oneTree()
		c.Input, c.Label, c.Output = []string{url}, "class", t.TempDir()
		r, err := train.Train(t.Context(), c, new(silent))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.ContainsFunc(r.Tree.Features, func(f dataset.Feature) bool { return f.Name == "" }) {
			t.Errorf("%s: features %v", name, r.Tree.Features)
		}
	}
}

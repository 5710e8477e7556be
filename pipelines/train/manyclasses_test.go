package train_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestManyClasses: where whole numbers are the class, a tree with automatic bins has a leaf for each
// of 300 classes and predicts all rows right, as there are more bins than classes. With 128 bins it
// has at most 128 leaves, and a warning names the column.
func TestManyClasses(t *testing.T) {
	longtest.Skip(t)
	const classes = 300
	var x []float64
	var class []string
	for i := range 20 * classes {
		x, class = append(x, float64(i%classes)), append(class, fmt.Sprintf("c%03d", i%classes))
	}
	url := filepath.Join(t.TempDir(), "rows.parquet")
	columns := []parquetio.WriteColumn{{Name: "x", Values: x}, {Name: "class", Values: class}}
	if err := parquetio.Write(context.Background(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	for bins, want := range map[int]struct { // 0: auto
		bins, leaves int
		warned       bool
	}{0: {16 * classes, classes, false}, 128: {128, 128, true}} {
		c := oneTree()
		c.Input, c.Label, c.Split, c.Theta, c.Bins = []string{url}, "class", dataset.Shares{100, 0, 0}, []float64{0.0005}, 0
		if bins > 0 {
			c.Bins = bins
		}
		c.Output = filepath.Join(t.TempDir(), "run")
		reporter := new(silent)
		r, err := train.Train(t.Context(), c, reporter)
		if err != nil {
			t.Fatal(err)
		}
		warned := strings.Contains(strings.Join(reporter.warnings, "\n"), `300 classes, and column "x" has 128 bins`)
		accuracy := *r.Metrics.Train.Accuracy
		if r.Tree.Algorithm.Bins != want.bins || r.Tree.Complexity.Leaves != want.leaves || warned != want.warned ||
			(accuracy == 1) != (want.leaves == classes) {
			t.Errorf("--bins %d: %d bins, %d leaves, accuracy %v, warnings %q", bins, r.Tree.Algorithm.Bins, r.Tree.Complexity.Leaves,
				accuracy, reporter.warnings)
		}
	}
}

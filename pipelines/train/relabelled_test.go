package train_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestRelabelledRows: rows, or their weight next to the mean weight of training rows, whatever their
// classes weigh. By hand: of ten equal rows 7 are of the class a, and 3 of b.
func TestRelabelledRows(t *testing.T) {
	var x, weight []float64
	var class []string
	for i := range 20 {
		x, weight = append(x, float64(i/10)), append(weight, 4)
		class = append(class, map[bool]string{true: "a", false: "b"}[i < 7])
	}
	url := filepath.Join(t.TempDir(), "rows.parquet")
	columns := []parquetio.WriteColumn{{Name: "x", Values: x}, {Name: "weight", Values: weight}, {Name: "class", Values: class}}
	if err := parquetio.Write(context.Background(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, run := range []struct {
		weight, classes string
		want            int64
	}{
		{"", "", 3},
		{"", "balanced", 3},
		{"", textFile(t, "weights.csv", "class,weight\na,1.5\nb,2\n"), 3},
		{"weight", "", 3},
		{"weight", textFile(t, "weights.csv", "class,weight\na,1.5\nb,2.25\n"), 3},
	} {
		c := oneTree()
		c.Input, c.Label, c.Split, c.Weight = []string{url}, "class", dataset.Shares{100, 0, 0}, run.weight
		c.BalanceClasses = run.classes == "balanced"
		if !c.BalanceClasses {
			c.ClassWeightsFile = run.classes
		}
		if run.weight == "" {
			c.Ignore = []string{"weight"}
		}
		if got := mustTrain(t, c).Tree.Training.RelabelledRows; got != run.want {
			t.Errorf("weight %q, class weights %s: %d relabelled, want %d", run.weight, run.classes, got, run.want)
		}
	}
}

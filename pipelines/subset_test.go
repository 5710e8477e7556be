package pipelines_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
)

// TestCoarseBinsBesideFine: a bin of the coarse grid is a test, also where the fine
// grid cuts it: one test parts the classes (by hand: 16 of 512 values a bin, and the
// second bin is the class). By levels the tree is the same.
func TestCoarseBinsBesideFine(t *testing.T) {
	var x []float64
	var class []string
	for i := range 512 {
		x, class = append(x, float64(i)), append(class, strconv.FormatBool(16 <= i && i < 32))
	}
	url := filepath.Join(t.TempDir(), "rows.parquet")
	columns := []parquetio.WriteColumn{{Name: "x", Values: x}, {Name: "class", Values: class}}
	if err := parquetio.Write(context.Background(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, bins := range [][]int{{32}, {32, 512}} {
		var trees [][]byte
		for _, memory := range []int64{1 << 20, 0} {
			c := oneTree()
			c.Input, c.Label, c.Output, c.Split = []string{url}, "class", t.TempDir(), dataset.Shares{100, 0, 0}
			c.Tests, c.Bins, c.Algorithm, c.Certificate, c.MemoryObjects = []split.Family{split.OneHot}, bins, []split.Algorithm{split.C45}, true, memory
			r, err := pipelines.Train(context.Background(), c, &silent{})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Tree.Nodes) != 3 || r.Tree.Nodes[1].ClassWeights[0]+r.Tree.Nodes[2].ClassWeights[1] != 0 {
				t.Errorf("bins %v, %d objects in memory: %d nodes, want a test and two leaves of one class", bins, memory, len(r.Tree.Nodes))
			}
			if cert := r.Tree.Certificate; cert == nil || cert.LowerBound > 1 {
				t.Errorf("bins %v: certificate %+v of a tree that costs 1", bins, cert)
			}
			b, err := os.ReadFile(filepath.Join(c.Output, "tree.json"))
			if err != nil {
				t.Fatal(err)
			}
			trees = append(trees, b)
		}
		if !bytes.Equal(trees[0], trees[1]) {
			t.Errorf("bins %v: another tree by levels", bins)
		}
	}
}

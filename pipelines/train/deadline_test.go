package train_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestDeadline: a deadline that has passed leaves a tree of one leaf, which is
// valid and says so; one that is far off leaves the tree as it is.
func TestDeadline(t *testing.T) {
	data := newRows(500)
	input := data.write(t, ascending(500), 2, parquetio.WriteOptions{RowsPerGroup: 100})
	for _, memory := range []int64{-1, 0} {
		t.Run(fmt.Sprintf("memory_objects=%d", memory), func(t *testing.T) {
			c := oneTree()
			c.Input, c.Label, c.Ignore, c.Split, c.MemoryObjects = []string{input}, "class", []string{"id", "weight"}, dataset.Shares{80, 0, 20}, memory
			c.Output = t.TempDir()
			c.Deadline = 1e-6
			s := new(silent)
			r, err := train.Train(t.Context(), c, s)
			if err != nil {
				t.Fatal(err)
			}
			if r.Tree.Complexity.Nodes != 1 || r.Tree.Training.CutLeaves != 1 {
				t.Errorf("%d nodes, %d leaves cut: want 1 and 1", r.Tree.Complexity.Nodes, r.Tree.Training.CutLeaves)
			}
			if root := r.Tree.Nodes[0]; root.Rows != r.Tree.Training.Rows || sumOf(root.RawClassWeights) != root.Rows {
				t.Errorf("the leaf has %d rows and raw weights %v, want %d rows", root.Rows, root.RawClassWeights, r.Tree.Training.Rows)
			}
			if len(s.warnings) != 1 || !strings.Contains(s.warnings[0], "--deadline") {
				t.Errorf("warnings %q, want one on the deadline", s.warnings)
			}
			if r.Metrics.Test == nil {
				t.Error("the tree was not evaluated")
			}
			c.Deadline, c.Overwrite = 1e6, true
			if r, err = train.Train(t.Context(), c, s); err != nil {
				t.Fatal(err)
			}
			if r.Tree.Complexity.Nodes == 1 || r.Tree.Training.CutLeaves != 0 {
				t.Errorf("%d nodes, %d leaves cut, with all the time there is", r.Tree.Complexity.Nodes, r.Tree.Training.CutLeaves)
			}
		})
	}
}

func sumOf(xs []int64) int64 {
	total := int64(0)
	for _, x := range xs {
		total += x
	}
	return total
}

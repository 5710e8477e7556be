package textview_test

import (
	"fmt"
	"os"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// A tree with one test, as text of at most 80 columns.
func ExampleText() {
	t := &tree.Tree{
		Label:     tree.Label{Column: "health", Classes: []string{"healthy", "ill"}},
		Features:  []dataset.Feature{{Name: "age", Kind: dataset.Numeric, Cuts: []float64{40}, Missing: 1, Cost: 2}},
		Algorithm: tree.Algorithm{Name: "ec45", Lambda: 10},
		Training:  tree.Training{Rows: 10},
		Nodes: []tree.Node{
			{
				Rows: 10, Weight: 10, RawClassWeights: []int64{6, 4},
				Test:     &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 1}, Cost: 2},
				Branches: []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2, Missing: true}},
			},
			{Rows: 5, Weight: 5, RawClassWeights: []int64{1, 4}},
			{Rows: 5, Weight: 5, RawClassWeights: []int64{5, 0}},
		},
	}
	t.Estimate(tree.Raw, 1)
	t.Measure()
	if err := textview.Text(os.Stdout, t, 80); err != nil {
		fmt.Println(err)
	}
	// Output:
	// health by ec45 (lambda 10): 10 rows, expected cost 2 (1 tests), 2 leaves, depth
	// 1
	//
	//                         rows  right   share  paid  class (* leaf)
	// all rows                  10      6  100.0%     0  healthy 0.60
	// ├─ age >= 40               5      4   50.0%     2 *ill 0.80
	// └─ age < 40 or missing     5      5   50.0%     2 *healthy 1.00
}

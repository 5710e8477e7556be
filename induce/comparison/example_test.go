package comparison_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// stump asks whether x is at least a cut.
func stump(cut float64) *tree.Tree {
	return &tree.Tree{
		Label:    tree.Label{Classes: []string{"no", "yes"}},
		Features: []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: []float64{cut}}},
		Nodes: []tree.Node{
			{
				Test:     &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 1}},
				Branches: []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2, Missing: true}},
			},
			{Class: 1, Probabilities: []float64{0.25, 0.75}},
			{Class: 0, Probabilities: []float64{0.75, 0.25}},
		},
	}
}

// Of ten rows, x from 0 to 9, two get another class as the cut moves from 3 to 5.
func ExampleMatch() {
	a, b := stump(3), stump(5)
	counts, err := comparison.NewCounts(a, b, false)
	if err != nil {
		fmt.Println(err)
	}
	for x := range 10 {
		leaf := func(cut int) *tree.Scores {
			if x >= cut {
				return &tree.Scores{Leaves: []int32{1}}
			}
			return &tree.Scores{Leaves: []int32{2}}
		}
		counts.Count(leaf(3), leaf(5), 0, 0, 1, 1, 0)
	}
	m := comparison.Match(a, b, counts.List())
	fmt.Println(m.Unchanged, "nodes unchanged;", m.Differences[0].Kind, "at node", m.Differences[0].A)
	fmt.Println(m.Differences[0].OtherWay, "of", m.Differences[0].Rows, "rows go the other way")
	flip := comparison.NewFlips(a, b, counts.List(), false).ByClasses[0]
	fmt.Println(flip.Rows, "rows from", flip.From, "to", flip.To)
	// Output:
	// 2 nodes unchanged; moved_cut at node 0
	// 2 of 10 rows go the other way
	// 2 rows from yes to no
}

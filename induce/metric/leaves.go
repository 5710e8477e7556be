package metric

import "github.com/espalier-ml/espalier/induce/tree"

// Leaves returns the table of a tree's leaves with the rows counted at each leaf.
func Leaves(t *tree.Tree, counts *tree.LeafCounts) []Leaf {
	tests, costs := t.Path()
	billed := t.Billed()
	var leaves []Leaf
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Leaf() {
			leaves = append(leaves, Leaf{
				Probabilities: n.Probabilities, Class: n.Class, Weights: counts.Weights[i], Rows: counts.Rows[i],
				Cost: costs[i], Billed: billed[i], Tests: tests[i],
			})
		}
	}
	return leaves
}

package metric

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/tree"
)

// Leaves returns the table of a tree's leaves with the rows counted at each leaf.
func Leaves(t *tree.Tree, counts *tree.LeafCounts) []Leaf {
	p := newPaths(t)
	var leaves []Leaf
	for i := range t.Nodes {
		if t.Nodes[i].Leaf() {
			leaves = append(leaves, p.leaf(i, counts))
		}
	}
	return leaves
}

// Scores returns a table of the rows by their predictions, for a tree with leaf models. It
// has an entry for each leaf without a model, and for each distinct prediction of a leaf
// with one, in any order. For a tree without models it is the same as Leaves.
func Scores(t *tree.Tree, counts *tree.ScoreCounts) []Leaf {
	p := newPaths(t)
	var leaves []Leaf
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Leaf() && n.Model == nil {
			leaves = append(leaves, p.leaf(i, counts.Plain()))
		}
	}
	leaves = slices.Grow(leaves, counts.Predictions())
	for s := range counts.Unordered() {
		leaf := p.leaf(s.Leaf, counts.Plain())
		leaf.Probabilities, leaf.Class, leaf.Weights, leaf.Rows = s.Probabilities, s.Class, s.Weights, s.Rows
		leaves = append(leaves, leaf)
	}
	return leaves
}

// paths has by node the tests on its path, and their billed costs.
type paths struct {
	tree  *tree.Tree
	tests []int
	costs []float64
}

func newPaths(t *tree.Tree) *paths {
	tests, costs := t.PathCosts()
	return &paths{t, tests, costs}
}

// leaf returns the entry of a leaf without a model.
func (p *paths) leaf(node int, counts *tree.LeafCounts) Leaf {
	n := &p.tree.Nodes[node]
	return Leaf{
		Probabilities: n.Probabilities, Class: n.Class, Weights: counts.Weights[node], Rows: counts.Rows[node],
		Cost: p.costs[node], Tests: p.tests[node],
	}
}

package tree

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Tested returns the tree with those of its features that some test uses, in
// their order: what tree.json lists. The two trees share what they have in common.
func (t *Tree) Tested() *Tree {
	number := make([]int, len(t.Features)) // of the features that stay, plus 1
	for i := range t.Nodes {
		if n := &t.Nodes[i]; !n.Leaf() {
			number[n.Test.Feature] = 1
		}
	}
	tested := *t
	tested.Features = []dataset.Feature{}
	for i, used := range number {
		if used > 0 {
			tested.Features = append(tested.Features, t.Features[i])
			number[i] = len(tested.Features)
		}
	}
	tested.Nodes = slices.Clone(t.Nodes)
	for i := range tested.Nodes {
		if n := &tested.Nodes[i]; !n.Leaf() {
			test := *n.Test
			test.Feature = number[test.Feature] - 1
			n.Test = &test
		}
	}
	return &tested
}

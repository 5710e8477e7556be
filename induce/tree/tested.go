package tree

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Tested returns the tree with only the features that some test uses, in their order.
// tree.json lists these. The two trees share their nodes' slices.
func (t *Tree) Tested() *Tree {
	number := make([]int, len(t.Features)) // by feature: its new number plus 1; 0: left out
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

package tree

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Tested returns the tree with only the features that some test or leaf model uses, in
// their order.
// tree.json lists these. The two trees share their nodes' slices.
func (t *Tree) Tested() *Tree {
	number := make([]int, len(t.Features)) // by feature: its new number plus 1; 0: left out
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !n.Leaf() {
			number[n.Test.Feature] = 1
		} else if n.Model != nil {
			for k := range n.Model.Terms {
				number[n.Model.Terms[k].Feature] = 1
			}
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
		n := &tested.Nodes[i]
		if !n.Leaf() {
			test := *n.Test
			test.Feature = number[test.Feature] - 1
			n.Test, n.Model = &test, nil
		} else if n.Model != nil {
			n.Model = n.Model.renumbered(func(feature int) int { return number[feature] - 1 })
		}
	}
	return &tested
}

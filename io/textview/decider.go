package textview

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/tree"
)

const (
	leastRight = 0.99 // share of each class that a feature tells if it decides nearly everything
	leastRows  = 100  // training rows below which a feature may do so by chance
)

// OneDecides returns a remark if one feature alone tells the class of nearly all training rows, as a copy of the label or a
// value that follows from the label does; empty otherwise. The feature's tests are the tests of the tree from the root down to
// another feature's tests.
func OneDecides(t *tree.Tree) string {
	root := &t.Nodes[0]
	if root.Leaf() || root.Rows < leastRows {
		return ""
	}
	right := make([]int64, len(t.Label.Classes))
	var count func(n *tree.Node)
	count = func(n *tree.Node) {
		if !n.Leaf() && n.Test.Feature == root.Test.Feature {
			for _, b := range n.Branches {
				count(&t.Nodes[b.Child])
			}
			return
		}
		most := 0
		for k, weight := range n.RawClassWeights {
			if weight > n.RawClassWeights[most] {
				most = k
			}
		}
		right[most] += n.RawClassWeights[most]
	}
	count(root)
	for k, weight := range root.RawClassWeights {
		if float64(right[k]) < leastRight*float64(weight) {
			return ""
		}
	}
	return fmt.Sprintf("%q alone tells the class of nearly all rows: is it known before the class is? If not, --ignore leaves it out",
		Name(t.Features[root.Test.Feature].Name))
}

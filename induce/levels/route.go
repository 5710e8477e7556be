package levels

import (
	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Router finds the leaves of training objects in a tree that is being grown. It is read
// only and may be shared by goroutines.
type Router struct{ nodes []routerNode }

type routerNode struct {
	feature  int
	children []int32 // by code; nil in leaves
}

// NewRouter returns the router of the tree below root, whose nodes it numbers
// breadth-first. It is for the objects that the tree is grown from: at a multiway test,
// codes that no object of the node has lead nowhere.
func NewRouter(root *induce.Node, columns []split.Column) *Router {
	r := &Router{}
	next := int32(1)
	root.Walk(func(n *induce.Node, _ int) {
		var to routerNode
		if n.Test != nil {
			to.feature, to.children = n.Test.Feature, byCode(n, columns[n.Test.Feature].Codes, next)
			next += int32(len(n.Children))
		}
		r.nodes = append(r.nodes, to)
	})
	return r
}

// byCode returns the number of the child for each code of the tested feature, if the
// first child has the number first.
func byCode(n *induce.Node, codes int, first int32) []int32 {
	children := make([]int32, codes)
	if n.Test.Kind == split.Multiway {
		for i := range children {
			children[i] = -1
		}
		for i, code := range n.Outcomes {
			children[code] = first + int32(i)
		}
		return children
	}
	for code := range children {
		children[code] = first + int32(n.Test.Outcome(code, codes-1))
	}
	return children
}

// Leaf returns the number of the leaf that object i reaches, -1 where its code leads
// nowhere.
func (r *Router) Leaf(o *dataset.Objects, i int) int {
	at := 0
	for at >= 0 {
		n := &r.nodes[at]
		if n.children == nil {
			return at
		}
		at = int(n.children[o.Codes[n.feature].At(i)])
	}
	return at
}

// Len returns the number of nodes.
func (r *Router) Len() int { return len(r.nodes) }

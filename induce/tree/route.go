package tree

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Router finds the leaves of rows by their codes. It is read-only, so goroutines may share it.
type Router struct{ nodes []routeNode }

type routeNode struct {
	test     split.Test
	missing  int      // the code of missing
	children [2]int32 // by outcome
	fan      *fan     // for multiway tests
	leaf     bool
}

// Router returns the tree's router.
func (t *Tree) Router() *Router {
	r := &Router{nodes: make([]routeNode, len(t.Nodes))}
	nodes := make([]int32, len(t.Nodes))
	for i := range nodes {
		nodes[i] = int32(i)
	}
	for i := range t.Nodes {
		n, to := &t.Nodes[i], &r.nodes[i]
		if to.leaf = n.Leaf(); to.leaf {
			continue
		}
		f := &t.Features[n.Test.Feature]
		to.test, to.missing = n.Test.Test, f.MissingCode()
		if n.Test.Kind == split.Multiway {
			f := newFan(n.Branches, f, nodes)
			to.fan = &f
			continue
		}
		for _, b := range n.Branches {
			to.children[b.Outcome] = nodes[b.Child]
		}
	}
	return r
}

// child returns the child for a code of the node's feature.
func (n *routeNode) child(code int) int {
	if n.fan != nil {
		return int(n.fan.child(int32(code)))
	}
	return int(n.children[n.test.Outcome(code, n.missing)])
}

// Child returns the child of an inner node for a code of the feature that it tests.
func (r *Router) Child(node, code int) int { return r.nodes[node].child(code) }

// Leaf returns the id of the leaf that object i reaches.
func (r *Router) Leaf(o *dataset.Objects, i int) int {
	at := 0
	for {
		n := &r.nodes[at]
		if n.leaf {
			return at
		}
		at = n.child(o.Codes[n.test.Feature].At(i))
	}
}

// Row returns the id of the leaf that a row reaches, given the key of its codes.
func (r *Router) Row(key []byte, l *dataset.Layout) int {
	at := 0
	for {
		n := &r.nodes[at]
		if n.leaf {
			return at
		}
		offset := l.Offsets[n.test.Feature]
		code := int(key[offset])
		if l.Widths[n.test.Feature] == 2 {
			code |= int(key[offset+1]) << 8
		}
		at = n.child(code)
	}
}

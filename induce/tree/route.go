package tree

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Router sends codes through a tree. It is read only and may be shared.
type Router struct{ nodes []routeNode }

type routeNode struct {
	test     split.Test
	missing  int     // the feature's code of missing
	children []int32 // by outcome; nil in leaves
}

// Router returns the tree's router.
func (t *Tree) Router() *Router {
	r := &Router{nodes: make([]routeNode, len(t.Nodes))}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Leaf() {
			continue
		}
		f := &t.Features[n.Test.Feature]
		to := &r.nodes[i]
		to.test, to.missing = n.Test.Test, f.MissingCode()
		outcomes := 2
		if n.Test.Kind == split.Multiway {
			outcomes = f.Codes()
		}
		to.children = make([]int32, outcomes)
		if n.Test.Kind == split.Multiway { // codes without a branch are unlisted values
			for _, b := range n.Branches {
				if b.Other {
					for k := range to.children {
						to.children[k] = int32(b.Child)
					}
				}
			}
			for _, b := range n.Branches {
				if b.Missing {
					to.children[to.missing] = int32(b.Child)
				}
			}
		}
		for _, b := range n.Branches {
			to.children[b.Outcome] = int32(b.Child)
		}
	}
	return r
}

// Leaf returns the number of the leaf that object i reaches.
func (r *Router) Leaf(o *dataset.Objects, i int) int {
	at := 0
	for {
		n := &r.nodes[at]
		if n.children == nil {
			return at
		}
		at = int(n.children[n.test.Outcome(o.Codes[n.test.Feature].At(i), n.missing)])
	}
}

// Row returns the number of the leaf that a row's key of codes reaches.
func (r *Router) Row(key []byte, l *dataset.Layout) int {
	at := 0
	for {
		n := &r.nodes[at]
		if n.children == nil {
			return at
		}
		offset := l.Offsets[n.test.Feature]
		code := int(key[offset])
		if l.Widths[n.test.Feature] == 2 {
			code |= int(key[offset+1]) << 8
		}
		at = int(n.children[n.test.Outcome(code, n.missing)])
	}
}

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
		to.test, to.missing, to.children = n.Test.Test, f.MissingCode(), make([]int32, 2)
		if n.Test.Kind == split.Multiway {
			to.children = unlisted(n.Branches, f)
		}
		for _, b := range n.Branches {
			to.children[b.Outcome] = int32(b.Child)
		}
	}
	return r
}

// unlisted returns the children that a multiway test's codes lead to when no
// branch names them.
func unlisted(branches []Branch, f *dataset.Feature) []int32 {
	other, missing := 0, 0
	for _, b := range branches {
		if b.Other {
			other = b.Child
		}
		if b.Missing {
			missing = b.Child
		}
	}
	children := make([]int32, f.Codes())
	for code := range children {
		children[code] = int32(other)
	}
	children[f.MissingCode()] = int32(missing)
	return children
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

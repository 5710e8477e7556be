package tree

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Router finds the leaves of rows by their codes. It is read-only, so goroutines may share it.
type Router struct{ nodes []routeNode }

// routeNode is a node. At a two-outcome test, the codes from low to low+span lead to the yes branch.
type routeNode struct {
	leaf      bool
	feature   int32
	low, span uint32
	children  [2]int32 // by outcome
	fan       *fan     // for multiway tests
}

// Router returns the tree's router.
func (t *Tree) Router() *Router {
	r := &Router{nodes: make([]routeNode, len(t.Nodes))}
	nodes := make([]int32, len(t.Nodes))
	for i := range nodes {
		nodes[i] = int32(i)
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		to := &r.nodes[i]
		if to.leaf = n.Leaf(); to.leaf {
			continue
		}
		f := &t.Features[n.Test.Feature]
		to.feature = int32(n.Test.Feature)
		if n.Test.Kind == split.Multiway {
			to.fan = newFan(n.Branches, f, nodes)
			continue
		}
		to.low, to.span = n.Test.Yes(f.MissingCode())
		for _, b := range n.Branches {
			to.children[b.Outcome] = nodes[b.Child]
		}
	}
	return r
}

// child returns the child for a code of the node's feature.
func (n *routeNode) child(code int) int {
	switch {
	case n.fan != nil:
		return int(n.fan.child(code))
	case uint32(code)-n.low <= n.span:
		return int(n.children[1])
	default:
		return int(n.children[0])
	}
}

// Child returns the child of an inner node for a code of the feature that it tests.
func (r *Router) Child(node, code int) int { return r.nodes[node].child(code) }

// Leaf returns the id of the leaf that object i reaches.
func (r *Router) Leaf(o *dataset.Objects, i int) int { return r.leafBelow(0, o, i) }

// leafBelow returns the id of the leaf that object i reaches from a node.
func (r *Router) leafBelow(at int, o *dataset.Objects, i int) int {
	for {
		n := &r.nodes[at]
		if n.leaf {
			return at
		}
		at = n.child(o.Codes[n.feature].At(i))
	}
}

// routed is how many objects pass a tree together, so that their codes of a feature and the lists of them fit into
// the cache. With at most fewRouted objects at a node, each goes on alone.
const (
	routed    = 1 << 15
	fewRouted = 4
)

// Leaves calls visit with leaves and objects that reach them, until each object has reached its leaf.
func (r *Router) Leaves(o *dataset.Objects, visit func(leaf int, ids []int32)) {
	memory := make([]int32, 2*min(o.Len(), routed))
	for from := 0; from < o.Len(); from += routed {
		n := min(routed, o.Len()-from)
		ids := memory[:n]
		for i := range ids {
			ids[i] = int32(from + i)
		}
		r.leaves(0, o, ids, memory[n:][:n], visit)
	}
}

// leaves is Leaves for the objects ids, which have reached a node. It changes ids and spare, which are equally long.
func (r *Router) leaves(at int, o *dataset.Objects, ids, spare []int32, visit func(leaf int, ids []int32)) {
	if r.nodes[at].leaf {
		visit(at, ids)
		return
	}
	if len(ids) <= fewRouted {
		for i, id := range ids {
			visit(r.leafBelow(at, o, int(id)), ids[i:i+1])
		}
		return
	}
	r.Divide(at, o, ids, spare, func(child int, part []int32) {
		r.leaves(child, o, part, ids[:len(part)], visit)
		ids = ids[len(part):]
	})
}

// Divide divides the objects ids, which have reached an inner node: it calls visit for each child with the objects
// of ids that reach it, in their order, in the memory of into. ids and into are equally long.
func (r *Router) Divide(node int, o *dataset.Objects, ids, into []int32, visit func(child int, ids []int32)) {
	n := &r.nodes[node]
	codes := &o.Codes[n.feature]
	if n.fan != nil {
		for i, part := range codes.Deal(ids, into, len(n.fan.targets), n.fan.branch) {
			visit(int(n.fan.targets[i]), part)
		}
		return
	}
	no := codes.Partition(ids, into, n.low, n.span)
	visit(int(n.children[1]), into[no:])
	visit(int(n.children[0]), into[:no])
}

// Row returns the id of the leaf that a row reaches, given the key of its codes.
func (r *Router) Row(key []byte, l *dataset.Layout) int {
	at := 0
	for {
		n := &r.nodes[at]
		if n.leaf {
			return at
		}
		offset := l.Offsets[n.feature]
		code := int(key[offset])
		if l.Widths[n.feature] == 2 {
			code |= int(key[offset+1]) << 8
		}
		at = n.child(code)
	}
}

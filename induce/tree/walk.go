package tree

import (
	"iter"
	"slices"
)

// Walk iterates depth-first over a node and all nodes below it, with their ids. Each node comes
// before its children, which follow in the order of its branches. The root is node 0.
func (t *Tree) Walk(node int) iter.Seq2[int, *Node] {
	return func(yield func(int, *Node) bool) {
		stack := []int{node}
		for len(stack) > 0 {
			id := stack[len(stack)-1]
			if !yield(id, &t.Nodes[id]) {
				return
			}
			stack = stack[:len(stack)-1]
			for _, b := range slices.Backward(t.Nodes[id].Branches) {
				stack = append(stack, b.Child)
			}
		}
	}
}

// AlikeNodes reports whether two nodes are both leaves, or have the same test and send each code to
// the same branch.
func AlikeNodes(a, b *Node) bool {
	if a.Leaf() || b.Leaf() {
		return a.Leaf() && b.Leaf()
	}
	return a.Test.Test == b.Test.Test && slices.EqualFunc(a.Branches, b.Branches, func(x, y Branch) bool {
		return x.Outcome == y.Outcome && x.Missing == y.Missing && x.Other == y.Other
	})
}

// visit walks the tree depth-first, without recursion. It calls enter before the descendants of a
// node are visited, and leave after.
func (t *Tree) visit(enter, leave func(node int)) {
	stack := []int{0}
	for len(stack) > 0 {
		node := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if node < 0 {
			leave(^node)
			continue
		}
		enter(node)
		stack = append(stack, ^node)
		for _, b := range slices.Backward(t.Nodes[node].Branches) {
			stack = append(stack, b.Child)
		}
	}
}

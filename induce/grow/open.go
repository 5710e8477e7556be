package grow

import (
	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Member is the node of one tree.
type Member = tree.Member[*induce.Node]

// Members are the nodes of several trees at the end of the same path.
type Members = tree.Together[*induce.Node]

// Open is an open node of one tree, or of several trees in which the same tests lead to it.
type Open struct {
	induce.Place

	Members Members
	Count   int64   // number of objects
	Objects []int64 // number of objects by majority class
	Weight  []int64 // weight by class, see split.Classes
}

// NewRoot returns the root that all trees have in common; trees is their number. objects and weight are the number
// and the weight of the root's objects by class; the root keeps both slices.
func NewRoot(trees int, at induce.Place, objects, weight []int64) Open {
	o := Open{Place: at, Objects: objects, Weight: weight}
	o.open(tree.Roots(make([]*induce.Node, trees)), func(Member, *induce.Node) {})
	return o
}

// open counts the objects, and makes a node for each of the members. It calls made with each member and its
// node.
func (o *Open) open(members Members, made func(m Member, n *induce.Node)) {
	weight := int64(0)
	for k := range o.Objects {
		o.Count += o.Objects[k]
		weight += o.Weight[k]
	}
	o.Members = members.Below(func(m Member) *induce.Node {
		n := &induce.Node{Objects: o.Count, Weight: weight, Class: o.Weight}
		made(m, n)
		return n
	})
}

// Trees returns the numbers of the trees that share the node.
func (o *Open) Trees() []int {
	trees := make([]int, len(o.Members))
	for i, m := range o.Members {
		trees[i] = m.Tree
	}
	return trees
}

// Choice is a test with the nodes of the trees that have chosen it.
type Choice struct {
	Measured

	Members Members
	Test    split.Test
}

// Measured is what a split by a test needs.
type Measured struct {
	Parts    split.Parts
	Cells    [][]int64 // by outcome: objects and weight of each class
	Outcomes []int32   // for a multiway test: the code of each outcome
}

// Children splits the node by a choice, and returns the open children by outcome.
func (o *Open) Children(by *Choice) []Open {
	children := make([]Open, len(by.Cells))
	for i, cells := range by.Cells {
		child := &children[i]
		child.Place = induce.Place{Depth: o.Depth + 1, Path: o.Path.Below(by.Test, i)}
		child.Objects, child.Weight = make([]int64, len(o.Objects)), make([]int64, len(o.Objects))
		for k := range child.Objects {
			child.Objects[k], child.Weight[k] = cells[2*k], cells[2*k+1]
		}
		child.open(by.Members, func(m Member, n *induce.Node) { m.Node.Children = append(m.Node.Children, n) })
	}
	return children
}

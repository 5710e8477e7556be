package grow

import (
	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Member is the node of one tree.
type Member = tree.Member[*tree.Node]

// Members are the nodes of several trees at the end of the same path.
type Members = tree.Together[*tree.Node]

// Open is an open node of one tree, or of several trees in which the same tests lead to it.
type Open struct {
	induce.Place

	Members Members
	Count   int64   // number of objects
	Objects []int64 // number of objects by majority class
	Weight  []int64 // weight by class, see split.Classes
}

// NewRoot returns the root that all trees have in common. objects and weight are the number and the weight of the
// root's objects by class; the root keeps both slices.
func NewRoot(nodes *Nodes, at induce.Place, objects, weight []int64) Open {
	o := Open{Place: at, Objects: objects, Weight: weight, Members: nodes.Roots()}
	o.count()
	return o
}

// count counts the objects of the node and of its members.
func (o *Open) count() {
	weight := int64(0)
	for k := range o.Objects {
		o.Count += o.Objects[k]
		weight += o.Weight[k]
	}
	for _, m := range o.Members {
		m.Node.Objects = o.Count
		m.Node.Weight = weight
	}
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
func (o *Open) Children(nodes *Nodes, by *Choice, columns []split.Column) []Open {
	children := make([]Open, len(by.Cells))
	for _, m := range by.Members {
		for i, n := range nodes.split(m, by) {
			children[i].Members = append(children[i].Members, Member{Tree: m.Tree, Node: n})
		}
	}
	for i, cells := range by.Cells {
		child := &children[i]
		child.Place = o.Below(by.Test, i, columns)
		child.Objects, child.Weight = make([]int64, len(o.Objects)), make([]int64, len(o.Objects))
		for k := range child.Objects {
			child.Objects[k], child.Weight[k] = cells[2*k], cells[2*k+1]
		}
		child.count()
	}
	return children
}

package induce

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/espalier-ml/espalier/induce/split"
)

// Params are the parameters of growing.
type Params struct {
	Algorithm split.Algorithm
	Family    split.Family
	Lambda    float64       // weight of the discrimination, >= 0
	Theta     float64       // nodes that weigh at most theta of all objects are leaves, 0..1
	Pricing   split.Pricing // how scores count prices
	// Classes selects the class weights of nodes. It must be the same for all trees that grow
	// together.
	Classes   split.Classes
	MaxDepth  int   // tests on the longest path; 0: unlimited
	MinRows   int64 // nodes with fewer rows are leaves
	MaxLeaves int   // leaves of the tree, see Node.BestFirst; 0: unlimited
	// PathFeatures is the greatest number of different features on a path; 0: unlimited. Each of them
	// may be tested any number of times.
	PathFeatures int
	// RootByCodes makes the root test the feature whose codes together gain the most, instead of the
	// feature with the best test, see split.Scanner.Gain.
	RootByCodes bool
}

// Criterion returns the scoring rule of a training in which all objects together weigh total.
func (p *Params) Criterion(total int64) *split.Criterion {
	return split.NewCriterion(p.Algorithm, p.Family, p.Lambda, p.Theta, total).
		Count(p.Pricing).Stop(p.Classes)
}

// Node is a node of a grown tree.
type Node struct {
	Objects int64   `json:"objects"`
	Rows    int64   `json:"rows"`
	Weight  int64   `json:"weight"`
	Class   []int64 `json:"class"` // weight by majority class of the objects; for soft objects the same as Raw
	Raw     []int64 `json:"raw"`   // weight by class of the rows

	Stopped bool `json:"cut,omitempty"` // whether it is a leaf only because time ran out

	Test  *split.Candidate `json:"test,omitempty"` // nil for leaves
	Parts split.Parts      `json:"parts"`
	// RunnerUp is the best test of another feature, with its score in the form of Parts.Total. It
	// is nil for leaves, for light nodes (see split.Criterion.Compares), and if no other feature
	// has a test.
	RunnerUp *split.Candidate `json:"runner_up,omitempty"`
	Outcomes []int32          `json:"outcomes,omitempty"` // for a multiway test: the code of each child
	Children []*Node          `json:"children,omitempty"` // for a two-outcome test: no, yes
}

// SumUp fills in the rows and the class weights of inner nodes from their leaves.
func (n *Node) SumUp() {
	if n.Test == nil {
		return
	}
	n.Rows, n.Raw, n.Class = 0, make([]int64, len(n.Class)), make([]int64, len(n.Class))
	for _, child := range n.Children {
		child.SumUp()
		n.Rows += child.Rows
		for k := range n.Raw {
			n.Raw[k] += child.Raw[k]
			n.Class[k] += child.Class[k]
		}
	}
}

// Leaves returns the number of leaves below the node.
func (n *Node) Leaves() int {
	if n.Test == nil {
		return 1
	}
	leaves := 0
	for _, child := range n.Children {
		leaves += child.Leaves()
	}
	return leaves
}

// Walk calls visit for each node, breadth-first.
func (n *Node) Walk(visit func(n *Node, depth int)) {
	level := []*Node{n}
	for depth := 0; len(level) > 0; depth++ {
		var next []*Node
		for _, n := range level {
			visit(n, depth)
			next = append(next, n.Children...)
		}
		level = next
	}
}

// BestFirst prunes a fully grown tree to the tree that best-first growth to this many leaves would
// make. The two are equal because the score of a node does not depend on which other nodes are
// split. The node with the highest score is split first; ties go to the node nearer to the root,
// then to the first in breadth-first order. A split that would exceed the number of leaves is
// skipped. If leaves is 0 or less, the tree stays as it is.
func (n *Node) BestFirst(leaves int) {
	if leaves <= 0 || n.Leaves() <= leaves {
		return
	}
	rank := make(map[*Node]int)
	n.Walk(func(n *Node, _ int) { rank[n] = len(rank) })
	queue := &byScore{rank: rank}
	queue.offer(n)
	var keep []*Node
	for have := 1; queue.Len() > 0; {
		best := heap.Pop(queue).(*Node) //nolint:errcheck // the heap holds nodes only
		if have+len(best.Children)-1 > leaves {
			continue
		}
		have += len(best.Children) - 1
		keep = append(keep, best)
		for _, child := range best.Children {
			queue.offer(child)
		}
	}
	slices.SortFunc(keep, func(a, b *Node) int { return cmp.Compare(rank[a], rank[b]) })
	n.Walk(func(n *Node, _ int) {
		_, kept := slices.BinarySearchFunc(keep, n, func(a, b *Node) int { return cmp.Compare(rank[a], rank[b]) })
		if !kept {
			n.Test = nil
			n.Parts = split.Parts{}
			n.RunnerUp = nil
			n.Outcomes = nil
			n.Children = nil
		}
	})
}

// byScore is a heap of inner nodes with the highest score on top.
type byScore struct {
	nodes []*Node
	rank  map[*Node]int
}

func (q *byScore) offer(n *Node) {
	if n.Test != nil {
		heap.Push(q, n)
	}
}

func (q *byScore) Len() int { return len(q.nodes) }

func (q *byScore) Less(i, j int) bool {
	a, b := q.nodes[i], q.nodes[j]
	if a.Parts.Total != b.Parts.Total {
		return a.Parts.Total > b.Parts.Total
	}
	return q.rank[a] < q.rank[b]
}

func (q *byScore) Swap(i, j int) { q.nodes[i], q.nodes[j] = q.nodes[j], q.nodes[i] }

func (q *byScore) Push(x any) { q.nodes = append(q.nodes, x.(*Node)) } //nolint:errcheck // the heap holds nodes only

func (q *byScore) Pop() any {
	last := q.nodes[len(q.nodes)-1]
	q.nodes = q.nodes[:len(q.nodes)-1]
	return last
}

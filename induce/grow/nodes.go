package grow

import (
	"sync"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Nodes lists the nodes of trees that grow, by tree, each node after its parent. Goroutines that grow different nodes
// may share it.
type Nodes struct {
	lock  sync.Mutex
	trees [][]*tree.Node
}

// NewNodes returns trees of an open root each.
func NewNodes(trees int) *Nodes {
	l := &Nodes{trees: make([][]*tree.Node, trees)}
	for i := range l.trees {
		l.trees[i] = []*tree.Node{new(tree.Node)}
	}
	return l
}

// Roots returns the roots of the trees.
func (l *Nodes) Roots() Members {
	var roots Members
	for i, nodes := range l.trees {
		roots = append(roots, Member{Tree: i, Node: nodes[0]})
	}
	return roots
}

// Child returns the child of an inner node by outcome. No node may be split at the same time.
func (l *Nodes) Child(m Member, outcome int) *tree.Node {
	return l.trees[m.Tree][m.Node.ByOutcome(outcome).Child]
}

// Follow returns the open node of a tree to which a path leads; nil if there is no such node.
func (l *Nodes) Follow(number int, path []induce.Step) *tree.Node {
	if number < 0 || number >= len(l.trees) {
		return nil
	}
	m := Member{Tree: number, Node: l.trees[number][0]}
	for _, step := range path {
		if step.Outcome < 0 || step.Outcome >= len(m.Node.Branches) {
			return nil
		}
		m.Node = l.Child(m, step.Outcome)
	}
	return m.Node
}

// split splits a node by a choice, and returns the children by outcome.
func (l *Nodes) split(m Member, by *Choice) []*tree.Node {
	n := m.Node
	if n.Branches = []tree.Branch{{Outcome: 1}, {Outcome: 0}}; by.Test.Kind == split.Multiway {
		n.Branches = make([]tree.Branch, len(by.Outcomes))
		for i, code := range by.Outcomes {
			n.Branches[i].Outcome = int(code)
		}
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	nodes := &l.trees[m.Tree]
	first := len(*nodes)
	for outcome := range n.Branches {
		n.ByOutcome(outcome).Child = len(*nodes)
		*nodes = append(*nodes, new(tree.Node))
	}
	return (*nodes)[first:]
}

// Graft replaces an open node by the nodes of a tree that has grown elsewhere.
func (l *Nodes) Graft(m Member, grown []tree.Node) {
	nodes := &l.trees[m.Tree]
	shift := len(*nodes) - 1
	for i := range grown {
		for k := range grown[i].Branches {
			grown[i].Branches[k].Child += shift
		}
		if i > 0 {
			*nodes = append(*nodes, &grown[i])
		}
	}
	*m.Node = grown[0]
}

// Trees returns the nodes by tree, numbered as in a tree. Only leaves have class weights: see tree.New.
func (l *Nodes) Trees() [][]tree.Node {
	trees := make([][]tree.Node, len(l.trees))
	for i, list := range l.trees {
		nodes := make([]tree.Node, len(list))
		for at, n := range list {
			nodes[at] = *n
		}
		trees[i] = tree.Ordered(nodes)
	}
	return trees
}

package induce

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Model returns the grown nodes as a tree over the features, and the nodes in the order of the
// tree: breadth-first, in the order of branches. The caller adds the descriptions of label, algorithm
// and training, and then the bills of the tests, the class estimates and the complexity.
func Model(root *Node, features []dataset.Feature) (*tree.Tree, []*Node) {
	t := &tree.Tree{Features: features}
	nodes := 0
	root.Walk(func(*Node, int) { nodes++ })
	t.Nodes = make([]tree.Node, 0, nodes)
	queue := append(make([]*Node, 0, nodes), root)
	for at := 0; at < len(queue); at++ {
		n := queue[at]
		node := tree.Node{
			Rows: n.Rows, Objects: n.Objects, Weight: n.Weight, ClassWeights: n.Class, RawClassWeights: n.Raw,
		}
		if n.Test != nil {
			node.Test = &tree.Test{Test: n.Test.Test, Cost: n.Test.Own, Score: n.Parts}
			if second := n.RunnerUp; second != nil {
				f := &features[second.Feature]
				node.Test.RunnerUp = tree.NewRunnerUp(f, &second.Test, second.Billed(), second.Score)
			}
			node.Branches = branches(n, &features[n.Test.Feature])
			for i := range node.Branches {
				b := &node.Branches[i]
				b.Child, queue = len(queue), append(queue, n.child(i))
			}
		}
		t.Nodes = append(t.Nodes, node)
	}
	return t, queue
}

// child returns the child at a branch, given its index in branches.
func (n *Node) child(branch int) *Node {
	if n.Test.Kind != split.Multiway {
		branch = 1 - branch
	}
	return n.Children[branch]
}

// branches lists the branches of a node, without their children: yes, then no for a two-outcome
// test; by code for a multiway test. Missing and unlisted values that no training row of the node
// has take the branch of the test's answer; at a multiway test they take the branch with the
// greatest weight.
func branches(n *Node, f *dataset.Feature) []tree.Branch {
	categorical := f.Kind == dataset.Categorical
	if n.Test.Kind != split.Multiway {
		missing := n.Test.Outcome(f.MissingCode(), f.MissingCode())
		other := -1
		if categorical {
			other = n.Test.Outcome(f.OtherCode(), f.MissingCode())
		}
		return []tree.Branch{
			{Outcome: 1, Missing: missing == 1, Other: other == 1},
			{Outcome: 0, Missing: missing == 0, Other: other == 0},
		}
	}
	list := make([]tree.Branch, len(n.Outcomes))
	heaviest := 0
	missing := -1
	other := -1
	for i, code := range n.Outcomes {
		list[i].Outcome = int(code)
		if n.Children[i].Weight > n.Children[heaviest].Weight {
			heaviest = i
		}
		switch int(code) {
		case f.MissingCode():
			missing = i
		case f.OtherCode():
			other = i
		}
	}
	if missing < 0 {
		missing = heaviest
	}
	if other < 0 {
		other = heaviest
	}
	list[missing].Missing, list[other].Other = true, true
	return list
}

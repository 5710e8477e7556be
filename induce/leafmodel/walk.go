package leafmodel

import (
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// walk sends objects down the paths of several trees. Nodes of several trees to which the
// same tests lead are visited once.
type walk struct {
	objects  *dataset.Objects
	features []dataset.Feature
	trees    []*tree.Tree
}

// member is a node of a tree, and members are nodes of several trees, all by their ids.
type (
	member  = tree.Member[int]
	members = tree.Together[int]
)

// roots returns the roots of all trees, and the numbers of all objects.
func (w *walk) roots() (roots members, ids []int32) {
	ids = make([]int32, w.objects.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	return tree.Roots(make([]int, len(w.trees))), ids
}

// byTest returns the nodes with tests, by their test, and the leaves.
func (w *walk) byTest(nodes members) (inner []members, leaves members) {
	for _, alike := range nodes.Groups(func(a, b member) bool { return tree.AlikeNodes(w.node(a), w.node(b)) }) {
		if w.node(alike[0]).Leaf() {
			leaves = alike
		} else {
			inner = append(inner, alike)
		}
	}
	return inner, leaves
}

func (w *walk) node(m member) *tree.Node { return &w.trees[m.Tree].Nodes[m.Node] }

// children calls visit for the children of nodes with the same test, with their part of the objects. It visits no node below a
// presence test, where leaves have no models: the objects there would have other weights than their own, see tree.Tree.Known.
func (w *walk) children(nodes members, ids []int32, visit func(children members, ids []int32)) {
	first := nodes[0]
	if w.trees[first.Tree].Presence(w.node(first)) {
		return
	}
	w.trees[first.Tree].Divide(first.Node, w.objects, ids, make([]int32, len(ids)), func(child int, part []int32) {
		at := slices.IndexFunc(w.node(first).Branches, func(b tree.Branch) bool { return b.Child == child })
		visit(w.below(nodes, at), part)
	})
}

// below returns the children of nodes with the same test, at a branch.
func (w *walk) below(nodes members, branch int) members {
	return nodes.Below(func(m member) int { return w.node(m).Branches[branch].Child })
}

// workerPool is goroutines that take parts of a walk.
type workerPool struct {
	group parallel.Group
	free  chan struct{} // one for each goroutine that may begin
}

// newWorkerPool returns a pool of workers, the caller being the first of them; 0 workers: as many
// as there are processors.
func newWorkerPool(workers int) *workerPool {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &workerPool{free: make(chan struct{}, workers-1)}
}

// handed is the least number of objects of a node that another goroutine may take over.
const handed = 1 << 9

// hand visits a node of some objects, on another goroutine if one is free.
func (c *workerPool) hand(objects int, visit func()) {
	if objects >= handed {
		select {
		case c.free <- struct{}{}:
			c.group.Go(func() {
				defer func() { <-c.free }()
				visit()
			})
			return
		default:
		}
	}
	visit()
}

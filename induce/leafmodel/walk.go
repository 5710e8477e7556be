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
	routers  []*tree.Router // by tree
}

func newWalk(objects *dataset.Objects, features []dataset.Feature, trees []*tree.Tree) walk {
	w := walk{objects: objects, features: features, trees: trees}
	for _, t := range trees {
		w.routers = append(w.routers, t.Router())
	}
	return w
}

// member is a node of a tree.
type member struct{ tree, node int }

// roots returns the roots of all trees, and the numbers of all objects.
func (w *walk) roots() (members []member, ids []int32) {
	for i := range w.trees {
		members = append(members, member{tree: i})
	}
	ids = make([]int32, w.objects.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	return members, ids
}

// sortMembers returns the members with tests, by their test, and the leaves.
func (w *walk) sortMembers(members []member) (inner [][]member, leaves []member) {
	for _, m := range members {
		n := w.node(m)
		if n.Leaf() {
			leaves = append(leaves, m)
			continue
		}
		at := slices.IndexFunc(inner, func(list []member) bool { return tree.AlikeNodes(w.node(list[0]), n) })
		if at < 0 {
			at, inner = len(inner), append(inner, nil)
		}
		inner[at] = append(inner[at], m)
	}
	return inner, leaves
}

func (w *walk) node(m member) *tree.Node { return &w.trees[m.tree].Nodes[m.node] }

// children calls visit for each child of members with the same test, with the child's part of
// the objects.
func (w *walk) children(members []member, ids []int32, visit func(members []member, ids []int32)) {
	first := members[0]
	w.routers[first.tree].Divide(first.node, w.objects, ids, make([]int32, len(ids)), func(child int, part []int32) {
		at := slices.IndexFunc(w.node(first).Branches, func(b tree.Branch) bool { return b.Child == child })
		visit(w.below(members, at), part)
	})
}

// below returns the children of members with the same test, at a branch.
func (w *walk) below(members []member, branch int) []member {
	children := make([]member, len(members))
	for i, m := range members {
		children[i] = member{m.tree, w.node(m).Branches[branch].Child}
	}
	return children
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

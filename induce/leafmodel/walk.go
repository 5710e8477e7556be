package leafmodel

import (
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// walk sends objects down the paths of several trees. Nodes of several trees to which the
// same tests lead are visited once.
type walk struct {
	objects  *dataset.Objects
	features []dataset.Feature
	trees    []*tree.Tree
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
	n := w.node(members[0])
	branch := branches(n, &w.features[n.Test.Feature])
	codes := &w.objects.Codes[n.Test.Feature]
	ends := make([]int, len(n.Branches)+1) // of the parts, after a part for no branch
	for _, id := range ids {
		ends[branch[codes.At(int(id))]+1]++
	}
	for at := range n.Branches {
		ends[at+1] += ends[at]
	}
	sorted, begin := make([]int32, len(ids)), ends[0]
	next := append([]int{0}, ends[:len(n.Branches)]...)
	for _, id := range ids {
		at := &next[branch[codes.At(int(id))]+1]
		sorted[*at] = id
		*at++
	}
	for at := range n.Branches {
		child := make([]member, len(members))
		for i, m := range members {
			child[i] = member{m.tree, w.node(m).Branches[at].Child}
		}
		visit(child, sorted[begin:ends[at+1]])
		begin = ends[at+1]
	}
}

// branches returns the index of the branch for each code of the node's feature, -1 for none.
func branches(n *tree.Node, f *dataset.Feature) []int16 {
	to := make([]int16, f.Codes())
	for code := range to {
		to[code] = -1
		for at, b := range n.Branches {
			outcome := code
			if n.Test.Kind != split.Multiway {
				outcome = n.Test.Outcome(code, f.MissingCode())
			} else if code == f.MissingCode() && b.Missing || code == f.OtherCode() && b.Other {
				outcome = b.Outcome
			}
			if outcome == b.Outcome {
				to[code] = int16(at)
			}
		}
	}
	return to
}

// crew are goroutines that take parts of a walk.
type crew struct {
	group parallel.Group
	free  chan struct{} // one for each goroutine that may begin
}

// newCrew returns a crew of workers, the caller being the first of them; 0 workers: as many
// as there are processors.
func newCrew(workers int) *crew {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &crew{free: make(chan struct{}, workers-1)}
}

// handed is the number of objects of a node from which on another goroutine may take it.
const handed = 1 << 9

// hand visits a node of some objects, on another goroutine if one is free.
func (c *crew) hand(objects int, visit func()) {
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

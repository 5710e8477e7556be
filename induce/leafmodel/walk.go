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
	for at, part := range w.parts(n, ids) {
		child := make([]member, len(members))
		for i, m := range members {
			child[i] = member{m.tree, w.node(m).Branches[at].Child}
		}
		visit(child, part)
	}
}

// parts returns the objects of each branch of a node, in the order that they have.
func (w *walk) parts(n *tree.Node, ids []int32) [][]int32 {
	f, codes := &w.features[n.Test.Feature], &w.objects.Codes[n.Test.Feature]
	if n.Test.Kind == split.Multiway {
		return partsByCode(n, f, codes, ids)
	}
	first, last := n.Test.Code, n.Test.Code+n.Test.Span // the codes of the yes branch
	if n.Test.Kind == split.Threshold {
		last = f.MissingCode() - 1
	}
	sorted, yes := make([]int32, len(ids)), 0
	if codes.U8 != nil {
		yes = partition(codes.U8, ids, uint8(first), uint8(last), sorted)
	} else {
		yes = partition(codes.U16, ids, uint16(first), uint16(last), sorted)
	}
	if n.Branches[0].Outcome == 1 {
		return [][]int32{sorted[:yes], sorted[yes:]}
	}
	return [][]int32{sorted[yes:], sorted[:yes]}
}

// partition moves the objects whose codes are in [first, last] to the front of sorted, followed by
// the remaining objects, and returns how many are at the front.
func partition[C uint8 | uint16](codes []C, ids []int32, first, last C, sorted []int32) int {
	sorted = sorted[:len(ids)]
	front, back := 0, len(ids)-1
	for _, id := range ids { // both places are free: a branch would be foreseen by no processor
		sorted[front], sorted[back] = id, id
		if codes[id]-first <= last-first {
			front++
		} else {
			back--
		}
	}
	slices.Reverse(sorted[front:])
	return front
}

// partsByCode is parts for a multiway test.
func partsByCode(n *tree.Node, f *dataset.Feature, codes *dataset.Codes, ids []int32) [][]int32 {
	parts, branch := make([][]int32, len(n.Branches)), branches(n, f)
	for _, id := range ids {
		if at := branch[codes.At(int(id))]; at >= 0 {
			parts[at] = append(parts[at], id)
		}
	}
	return parts
}

// branches returns the index of the branch for each code of the feature of a multiway test, -1 for
// none.
func branches(n *tree.Node, f *dataset.Feature) []int16 {
	to := make([]int16, f.Codes())
	for code := range to {
		to[code] = -1
		for at, b := range n.Branches {
			if code == b.Outcome || code == f.MissingCode() && b.Missing || code == f.OtherCode() && b.Other {
				to[code] = int16(at)
			}
		}
	}
	return to
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

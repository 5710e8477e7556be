package distill

import (
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// recounter counts the nodes of a grown tree again.
type recounter struct {
	objects *dataset.Objects
	columns []split.Column
	scale   int64 // units of the nodes' weights in a unit of the objects' weights

	grown, made []tree.Node
}

// Recount returns the nodes of a tree with the counts of the given objects, which must not be empty.
// Each node counts the objects that reach it; its weights are the objects' weights times scale. A
// test with one outcome is left out; tree.Tree.Bill bills the tests below it as if it had not been
// asked. The raw class weights of a leaf keep their proportions and add up to its new weight.
func Recount(grown []tree.Node, objects *dataset.Objects, columns []split.Column, scale int64) []tree.Node {
	ids := make([]int32, objects.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	r := &recounter{objects: objects, columns: columns, scale: scale, grown: grown, made: make([]tree.Node, 1)}
	r.node(0, 0, ids)
	return tree.Ordered(r.made)
}

// node recounts the subtree of a grown node as node made, from the node's objects, whose numbers are ids.
func (r *recounter) node(grown, made int, ids []int32) {
	n := &r.grown[grown]
	if n.Leaf() {
		r.made[made] = r.counted(n, ids)
		return
	}
	missing := r.columns[n.Test.Feature].Codes - 1
	parts := n.Test.Partition(&r.objects.Codes[n.Test.Feature], missing, n.Outcomes(), ids, make([]int32, len(ids)))
	if n.Test.Kind != split.Multiway {
		slices.Reverse(parts) // in the order of branches
	}
	var branches []tree.Branch // that objects take; the child is first the number of the branch
	for i, b := range n.Branches {
		if len(parts[i]) > 0 {
			branches = append(branches, tree.Branch{Outcome: b.Outcome, Child: i})
		}
	}
	if len(branches) == 1 {
		i := branches[0].Child
		r.node(n.Branches[i].Child, made, parts[i])
		return
	}
	r.made[made] = tree.Node{Test: n.Test, Branches: branches}
	for k := range branches {
		i := branches[k].Child
		branches[k].Child = len(r.made)
		r.made = append(r.made, tree.Node{})
		r.node(n.Branches[i].Child, branches[k].Child, parts[i])
	}
}

// counted returns a leaf with the counts of the objects.
func (r *recounter) counted(leaf *tree.Node, ids []int32) tree.Node {
	made := tree.Node{Objects: int64(len(ids)), Stopped: leaf.Stopped, ClassWeights: make([]int64, r.objects.Classes)}
	for _, id := range ids {
		weight := r.scale * r.objects.Weight[id]
		made.Rows += r.objects.RowsOf(int(id))
		made.Weight += weight
		made.ClassWeights[r.objects.Class[id]] += weight
	}
	made.RawClassWeights = apportion(leaf.RawClassWeights, made.Weight)
	return made
}

// apportion divides a total in proportion to weights, at least one of which must be above 0, by the
// largest remainder method. If remainders are equal, the first is rounded up first.
func apportion(weights []int64, total int64) []int64 {
	sum := uint64(0)
	for _, w := range weights {
		sum += uint64(w)
	}
	dealt := make([]int64, len(weights))
	remainders := make([]uint64, len(weights))
	rest := total
	for k, w := range weights {
		high, low := bits.Mul64(uint64(w), uint64(total))
		whole, remainder := bits.Div64(high, low, sum)
		dealt[k] = int64(whole)
		remainders[k] = remainder
		rest -= int64(whole)
	}
	for ; rest > 0; rest-- {
		k := slices.Index(remainders, slices.Max(remainders))
		dealt[k]++
		remainders[k] = 0
	}
	return dealt
}

package distill

import (
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// recounter counts the nodes of a grown tree again.
type recounter struct {
	objects *dataset.Objects
	columns []split.Column
	scale   int64 // units of the nodes' weights in a unit of the objects' weights
}

// Recount returns a copy of a tree with the counts of the given objects, which must not be empty.
// Each node counts the objects that reach it; its weights are the objects' weights times scale. A
// test with one outcome is left out; tree.Tree.Bill bills the tests below it as if it had not been
// asked. The raw class weights of a leaf keep their proportions and add up to its new weight. The
// raw class weights of inner nodes are not set, see induce.Node.SumUp.
func Recount(root *induce.Node, objects *dataset.Objects, columns []split.Column, scale int64) *induce.Node {
	ids := make([]int32, objects.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	r := &recounter{objects, columns, scale}
	return r.node(root, r.counted(ids), ids)
}

// node recounts the subtree of a node. made has the counts of the node's objects,
// whose numbers are ids.
func (r *recounter) node(n, made *induce.Node, ids []int32) *induce.Node {
	if n.Test == nil {
		made.Stopped, made.Raw = n.Stopped, apportion(n.Raw, made.Weight)
		return made
	}
	parts := n.Test.Partition(
		&r.objects.Codes[n.Test.Feature], r.columns[n.Test.Feature].Codes-1, n.Outcomes, ids, make([]int32, len(ids)),
	)
	var reached []int
	for child, part := range parts {
		if len(part) > 0 {
			reached = append(reached, child)
		}
	}
	if len(reached) == 1 {
		return r.node(n.Children[reached[0]], made, ids)
	}
	made.Stopped, made.Parts, made.RunnerUp, made.Test = n.Stopped, n.Parts, n.RunnerUp, n.Test
	made.Children = make([]*induce.Node, len(reached))
	for i, child := range reached {
		made.Children[i] = r.counted(parts[child])
	}
	for i, child := range reached {
		if n.Outcomes != nil {
			made.Outcomes = append(made.Outcomes, n.Outcomes[child])
		}
		made.Children[i] = r.node(n.Children[child], made.Children[i], parts[child])
	}
	return made
}

// counted returns a node with the counts of the objects, and nothing else set.
func (r *recounter) counted(ids []int32) *induce.Node {
	made := &induce.Node{Objects: int64(len(ids)), Class: make([]int64, r.objects.Classes)}
	for _, id := range ids {
		weight := r.scale * r.objects.Weight[id]
		made.Rows += r.objects.RowsOf(int(id))
		made.Weight += weight
		made.Class[r.objects.Class[id]] += weight
	}
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
		dealt[k], remainders[k] = int64(whole), remainder
		rest -= int64(whole)
	}
	for ; rest > 0; rest-- {
		k := slices.Index(remainders, slices.Max(remainders))
		dealt[k]++
		remainders[k] = 0
	}
	return dealt
}

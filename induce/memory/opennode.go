package memory

import (
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// openNode is a node that is being grown: of one tree, or of several trees whose
// tests on the way to it are the same. Its objects are [from, to) of its extent.
type openNode struct {
	*extent
	induce.Place

	members  []member
	from, to int
	n, m     []int64 // number and weight of objects by class
	cells    []int64 // histogram of all features; nil: not kept
}

// member is the node of one tree.
type member struct {
	tree int
	node *induce.Node
}

// selection returns the node's objects for counting, with all classes.
func (o *openNode) selection() induce.Selection {
	return induce.Selection{
		Order: o.order[o.from:o.to], Class: o.class[o.from:o.to], Weight: o.weight[o.from:o.to], N: o.n, M: o.m,
	}
}

// rows returns the number of rows of the node's objects.
func (o *openNode) rows() int64 {
	rows := int64(0)
	for _, id := range o.order[o.from:o.to] {
		rows += o.objects.RowsOf(int(id))
	}
	return rows
}

// work estimates the time to grow the subtrees below the node.
func (o *openNode) work() int { return (o.to - o.from) * len(o.members) }

// fork returns a node with copies of the objects' numbers and of the histogram.
func (o *openNode) fork() *openNode {
	f := *o
	f.extent = &extent{
		objects: o.objects, counters: o.counters,
		order:  slices.Clone(o.order[o.from:o.to]),
		class:  slices.Clone(o.class[o.from:o.to]),
		weight: slices.Clone(o.weight[o.from:o.to]),
	}
	f.from, f.to, f.cells = 0, o.to-o.from, slices.Clone(o.cells)
	return &f
}

// gather copies the codes of the node's objects side by side where these objects
// are few of all: their codes lie in distinct cache lines else. It reports whether
// it did.
func (o *openNode) gather() bool {
	n := o.to - o.from
	if sparse*n > o.objects.Len() {
		return false
	}
	e := newExtent(o.objects.Select(o.order[o.from:o.to]))
	for f := range o.counters {
		e.counters = append(e.counters, induce.ColumnCounter{Codes: &e.objects.Codes[f], Common: o.counters[f].Common})
	}
	o.extent, o.from, o.to = e, 0, n
	return true
}

const (
	// sparse: a node gathers its objects if they are at most one in so many of its
	// extent's.
	sparse = 4

	// gatheredLarge is how many bytes of codes all large nodes together may gather.
	// Small nodes have no limit: each worker gathers one at a time.
	gatheredLarge = 256 << 20
)

// extent holds the objects of open nodes, those of one node side by side and in
// ascending order.
type extent struct {
	objects  *dataset.Objects
	counters []induce.ColumnCounter // per feature
	order    []int32                // numbers of objects
	class    []uint16
	weight   []int64
}

func newExtent(o *dataset.Objects) *extent {
	e := &extent{
		objects: o, order: make([]int32, o.Len()), class: slices.Clone(o.Class), weight: slices.Clone(o.Weight),
	}
	for i := range e.order {
		e.order[i] = int32(i)
	}
	return e
}

// newExtent returns the extent of all objects, with its counters.
func (g *grower) newExtent(o *dataset.Objects) *extent {
	e := newExtent(o)
	e.counters = make([]induce.ColumnCounter, len(g.columns))
	var next atomic.Int64
	inParallel(max(1, g.opts.Workers), func(int) {
		var seen []int32
		for f := int(next.Add(1) - 1); f < len(g.columns); f = int(next.Add(1) - 1) {
			if len(seen) < g.columns[f].Codes {
				seen = make([]int32, g.columns[f].Codes)
			}
			codes := &o.Codes[f]
			e.counters[f] = induce.ColumnCounter{Codes: codes, Common: induce.CommonCode(codes, o.Len(), seen)}
		}
	})
	return e
}

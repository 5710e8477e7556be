package inmemory

import (
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow"
)

// openNode is a node that is being grown, with its objects.
type openNode struct {
	grow.Open

	table  *codeTable
	order  []int32 // numbers of its objects in the code table, ascending; nil: all objects
	block  *block  // holds order
	varied *varied // the features that may have tests in the node and below
	cells  []int64 // histogram of the features that may vary; nil: not kept
}

// objects returns the number of objects.
func (o *openNode) objects() int { return int(o.Count) }

// work estimates the time to grow the subtrees below the node.
func (g *grower) work(o *openNode) int { return o.objects() * len(o.varied.features) }

// block is memory for the numbers of the objects of siblings, which share it.
type block struct {
	order []int32
	users atomic.Int32 // siblings that are not released
}

// release releases the memory of the node.
func (g *grower) release(o *openNode) {
	g.held.Add(-8 * int64(len(o.cells)))
	o.cells = nil
	g.releaseOrder(o)
	g.releaseCodeTable(o)
}

// releaseOrder releases the block of the node's objects, if no sibling uses it any more.
func (g *grower) releaseOrder(o *openNode) {
	if b := o.block; b != nil && b.users.Add(-1) == 0 {
		g.held.Add(-4 * int64(len(b.order)))
	}
	o.order = nil
	o.block = nil
}

// codeTable has the codes of all objects, or the gathered codes of the objects of one node. The open
// nodes below this node refer to objects by their numbers in the table.
type codeTable struct {
	counters []induce.ColumnCounter // per feature; without codes if the feature does not vary in the node
	class    []uint16               // per object
	weight   []int64                // per object; nil: each weighs 1
	ids      []int32                // per object: its number among all objects; nil: its number in the table

	users atomic.Int32 // open nodes that use the table
	u8    []uint8      // memory of the codes
	u16   []uint16     // memory of the codes and of class
}

// newCodeTable returns the code table of all objects, with its counters.
func (g *grower) newCodeTable(o *dataset.Objects, w *workspace) *codeTable {
	e := &codeTable{class: o.Class, weight: o.Weight, counters: make([]induce.ColumnCounter, len(g.Columns))}
	if g.unit {
		e.weight = nil
	}
	g.pool.share(w, len(g.Columns), func(_ *workspace, next func() int) {
		var seen []int32
		for f := next(); f >= 0; f = next() {
			if len(seen) < g.Columns[f].Codes {
				seen = make([]int32, g.Columns[f].Codes)
			}
			codes := &o.Codes[f]
			e.counters[f] = induce.ColumnCounter{Codes: codes, Common: induce.CommonCode(codes, o.Len(), seen)}
		}
	})
	e.users.Store(1)
	return e
}

const (
	// sparse bounds the objects of a node that are gathered: the node has at most 1/sparse of the
	// objects of its code table. Codes of objects that are farther apart are in different cache
	// lines.
	sparse = 4

	// cached is the number of bytes of codes up to which a code table stays in the cache, so that
	// gathering does not pay.
	cached = 1 << 18
)

// gather copies the codes of the node's objects to a code table of their own, if these are a small
// part of the objects of the node's table. Idle workers help with a large node.
func (g *grower) gather(o *openNode, w *workspace) {
	from := o.table
	n := o.objects()
	bytes := int64(n) * g.objectBytes
	dense := o.order == nil || sparse*n > len(from.class)
	if dense || len(from.class)*len(o.varied.features) <= cached || !g.reserve(bytes) {
		return
	}
	e := &codeTable{counters: make([]induce.ColumnCounter, len(g.Columns)), ids: make([]int32, n)}
	e.users.Store(1)
	e.u8, e.u16 = make([]uint8, n*g.narrow), make([]uint16, n*(len(g.Columns)-g.narrow+1))
	e.class = e.u16[:n:n]
	if from.weight != nil {
		e.weight = make([]int64, n)
	}
	at8 := 0
	at16 := n
	codes := make([]dataset.Codes, len(g.Columns))
	for _, f := range o.varied.features {
		if from.counters[f].Codes.U8 != nil {
			codes[f].U8 = e.u8[at8 : at8+n : at8+n]
			at8 += n
		} else {
			codes[f].U16 = e.u16[at16 : at16+n : at16+n]
			at16 += n
		}
		e.counters[f] = induce.ColumnCounter{Codes: &codes[f], Common: from.counters[f].Common}
	}
	g.shareIfLarge(o, w, func(_ *workspace, next func() int) {
		for at := next(); at >= 0; at = next() {
			f := o.varied.features[at]
			pick(codes[f].U8, from.counters[f].Codes.U8, o.order)
			pick(codes[f].U16, from.counters[f].Codes.U16, o.order)
		}
	})
	for i, id := range o.order {
		e.ids[i], e.class[i] = from.id(id), from.class[id]
		if e.weight != nil {
			e.weight[i] = from.weight[id]
		}
	}
	g.releaseOrder(o)
	g.releaseCodeTable(o)
	o.table = e
}

// reserve adds bytes to the bytes held and returns true, unless the sum exceeds three quarters of
// the budget. The last quarter is for the object numbers and histograms of the nodes below.
func (g *grower) reserve(bytes int64) bool {
	if g.held.Add(bytes) <= g.budget-g.budget/4 {
		return true
	}
	g.held.Add(-bytes)
	return false
}

// pick copies the codes of the objects numbered order. It does nothing if from is nil, because the
// feature has codes of the other width.
func pick[T uint8 | uint16](to, from []T, order []int32) {
	if from == nil {
		return
	}
	to = to[:len(order)]
	for i, id := range order {
		to[i] = from[id]
	}
}

// id returns the number, among all objects, of object i of the code table.
func (e *codeTable) id(i int32) int32 {
	if e.ids == nil {
		return i
	}
	return e.ids[i]
}

// releaseCodeTable releases the node's code table, if no other node uses it and it is a
// gathered one.
func (g *grower) releaseCodeTable(o *openNode) {
	e := o.table
	o.table = nil
	if e.users.Add(-1) > 0 || e.ids == nil {
		return
	}
	g.held.Add(-g.objectBytes * int64(len(e.class)))
}

// at returns the number in the code table of the node's object i.
func (o *openNode) at(i int) int32 {
	if o.order == nil {
		return int32(i)
	}
	return o.order[i]
}

// weightOf returns the weight of an object of the code table.
func (e *codeTable) weightOf(id int32) int64 {
	if e.weight == nil {
		return 1
	}
	return e.weight[id]
}

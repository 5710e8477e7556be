package memory

import (
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/nodesearch"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
)

// Options say how trees are grown. Without Stop they do not change the trees.
type Options struct {
	Workers int                // goroutines; at most 1: the caller's own
	Settled func(weight int64) // called with the weight of each finished leaf, from any goroutine; may be nil

	// Stop is called at each open node, from any goroutine; may be nil. Once it returns
	// true all open nodes become leaves, and Node.Stopped marks them.
	Stop func() bool

	// Memory is about how many bytes the growth holds beside the objects and the trees;
	// 0: 1 GiB. With less memory the growth takes longer, see Bytes.
	Memory int64
}

// Grow grows a whole tree from its objects. There must be at least one object, and
// total is the weight of all. The tree does not depend on the order of the objects.
func Grow(o *dataset.Objects, columns []split.Column, p induce.Params, total int64, opts Options) *induce.Node {
	return GrowEach(o, columns, []induce.Params{p}, total, opts)[0]
}

// GrowEach grows a tree by each of the parameters, the same tree as Grow. Trees that
// begin with the same tests share the counting of their nodes.
func GrowEach(
	o *dataset.Objects, columns []split.Column, ps []induce.Params, total int64, opts Options,
) []*induce.Node {
	return GrowBelow(o, columns, ps, total, induce.Place{}, opts)
}

// GrowBelow grows the subtrees below an open node from the objects of the node, one
// by each of the parameters. There must be at least one object. total is the weight of
// all training objects, those of other nodes included.
func GrowBelow(
	o *dataset.Objects, columns []split.Column, ps []induce.Params, total int64, at induce.Place, opts Options,
) []*induce.Node {
	var roots []*induce.Node
	t := newTraits(o, ps[0].Classes)
	ws := newWorkspaces(columns, o.Classes, opts.Workers) // later batches use their memory again
	for batch := range slices.Chunk(ps, together(o, columns, len(ps), opts)) {
		g := newGrower(o, columns, t, batch, total, opts)
		roots = append(roots, g.grow(at, ws)...)
	}
	return roots
}

// grower grows the subtrees below one node, one for each of the parameters.
type grower struct {
	nodesearch.Rules
	traits

	objects *dataset.Objects
	opts    Options
	layout  induce.Layout
	pool    *workerPool

	held   atomic.Int64 // bytes of the open nodes
	budget int64        // of held
}

// traits are facts of the objects and columns that make the growth quicker.
type traits struct {
	unit     bool  // each object weighs 1
	packed   bool  // histograms are packed, see induce.Selection
	soft     bool  // the objects are soft, see dataset.Objects
	heaviest int64 // weight of the heaviest object

	// mixed has a bit for each object, set if it has weight in other classes than its own; nil: there are
	// none. Only there a node's raw class weights differ from those by its objects' classes.
	mixed []uint64
	// raw says that nodes count raw class weights, and that these differ from those by the objects' classes.
	raw bool
	// disputed has a bit for each soft object, set if its rows have labels of several classes. Nodes of
	// one majority class and without such objects are leaves. nil: there are none, or it does not matter.
	disputed []uint64

	narrow      int   // number of features with codes of one byte
	objectBytes int64 // bytes to gather an object
}

// newTraits looks at all objects.
func newTraits(o *dataset.Objects, classes split.Classes) traits {
	t := traits{soft: o.Soft()}
	t.seeObjects(o, classes)
	t.objectBytes = 4 + 2
	if !t.unit {
		t.objectBytes += 8
	}
	for f := range o.Codes {
		if o.Codes[f].U8 != nil {
			t.narrow++
			t.objectBytes--
		}
		t.objectBytes += 2
	}
	return t
}

// seeObjects sets what follows from the weights and classes of the objects.
func (t *traits) seeObjects(o *dataset.Objects, classes split.Classes) {
	var total int64
	for i, weight := range o.Weight {
		t.heaviest = max(t.heaviest, weight)
		total += weight
		if t.soft && classes == split.OfRows && len(o.Labels(i)) > 1 && o.RowsOf(i) > 0 {
			t.disputed = mark(t.disputed, i, o.Len())
		}
		if raw := o.Raw(i); len(raw) != 1 || raw[0].Class != o.Class[i] {
			t.mixed = mark(t.mixed, i, o.Len())
		}
	}
	t.unit = t.heaviest <= 1 && t.mixed == nil
	t.packed = total < 1<<32
	t.raw = t.mixed != nil && (t.soft || classes == split.OfRows)
}

// mark sets the bit of object i, of n objects. It makes the bits if they are nil.
func mark(bits []uint64, i, n int) []uint64 {
	if bits == nil {
		bits = make([]uint64, (n+63)/64)
	}
	bits[i/64] |= 1 << (i % 64)
	return bits
}

// marked reports whether the bit of an object is set.
func marked(bits []uint64, id int32) bool { return bits[id/64]>>(id%64)&1 != 0 }

func newGrower(
	o *dataset.Objects, columns []split.Column, t traits, ps []induce.Params, total int64, opts Options,
) *grower {
	g := &grower{
		Rules: nodesearch.NewRules(ps, columns, o.Classes, total), traits: t, objects: o, opts: opts,
		layout: induce.NewLayout(columns, o.Classes), pool: newWorkerPool(opts.Workers), budget: opts.memory(),
	}
	if g.packed {
		g.layout = induce.NewPackedLayout(columns, o.Classes)
	}
	return g
}

// grow grows the subtrees of all objects.
func (g *grower) grow(at induce.Place, ws []*workspace) []*induce.Node {
	o := g.objects
	root := &openNode{Place: at, objects: o.Len(), n: make([]int64, o.Classes), m: make([]int64, o.Classes)}
	roots := make([]*induce.Node, len(g.Params))
	for i := range roots {
		roots[i] = &induce.Node{}
		root.members = append(root.members, member{i, roots[i]})
	}
	for i, k := range o.Class {
		root.n[k]++
		if !g.raw {
			root.m[k] += o.Weight[i]
			continue
		}
		for _, cw := range o.Raw(i) {
			root.m[cw.Class] += cw.Weight
		}
	}
	g.pool.nodes = append(g.pool.nodes, root)
	parallel.Each(len(ws), len(ws), func(i int) {
		g.pool.work(ws[i], g.expand)
	})
	for _, n := range roots {
		n.SumUp()
	}
	return roots
}

const (
	// grain is the least node that several workers work on, or hand over, in objects
	// times features.
	grain = 1 << 16

	// keptCells bounds the histogram that a node keeps for its children, at 128 MiB;
	// with more cells each node counts its objects anew.
	keptCells = 1 << 24
)

// shareIfLarge calls body with a function that deals the features, with all idle workers
// where the node is large.
func (g *grower) shareIfLarge(o *openNode, w *workspace, body func(w *workspace, next func() int)) {
	if g.pool.size > 1 && g.work(o) >= grain {
		g.pool.share(w, len(g.Columns), body)
		return
	}
	f := -1
	body(w, func() int {
		if f++; f < len(g.Columns) {
			return f
		}
		return -1
	})
}

// expand makes a leaf of a node or splits it: by one test or, where its trees choose
// different tests, by several. It grows all subtrees below one test before it splits by
// the next, so that few objects' numbers and histograms are held at a time: those of one
// path. Of siblings the largest comes last and holds nothing of its parent, so histograms
// are held of the larger siblings alone: at most log2 of the number of objects for each
// test of a node on the path.
func (g *grower) expand(o *openNode, w *workspace) {
	if o.table == nil {
		o.table = g.newCodeTable(g.objects, w)
	}
	s := g.newSearch(o, w)
	g.findTests(o, s, w)
	choices := g.choices(o, s, w)
	g.settle(o, s.leaves)
	for i := range choices {
		last := i == len(choices)-1
		children := g.children(o, &choices[i], last, w)
		if last {
			g.release(o, w)
		}
		for j, child := range children {
			if last && j == len(children)-1 || !g.hand(child) {
				g.expand(child, w)
			}
		}
	}
	if len(choices) == 0 {
		g.release(o, w)
	}
}

// hand hands a large node over to an idle worker. As a second subtree holds memory of its
// own, the workers stay together where memory is short.
func (g *grower) hand(o *openNode) bool {
	return g.pool.size > 1 && g.work(o) >= grain && g.held.Load() < g.budget/2 && g.pool.hand(o)
}

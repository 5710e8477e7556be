package inmemory

import (
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow"
	"github.com/espalier-ml/espalier/induce/grow/internal/policy"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Options are the options of growth. Except for Stop, they do not change the trees.
type Options struct {
	Workers int                // number of goroutines; at most 1: only the caller's
	Settled func(weight int64) // called with the weight of each finished leaf, from any goroutine; may be nil

	// Stop is called at each open node, from any goroutine; may be nil. Once it returns
	// true all open nodes become leaves, and tree.Node.Stopped marks them.
	Stop func() bool

	// Memory is about how many bytes the growth may use, not counting the objects and the
	// trees; 0: 1 GiB. With less memory the growth takes longer, see Bytes.
	Memory int64
}

// Grow grows a whole tree from its objects and returns its nodes. There must be at least one
// object. total is the weight of all objects. The tree does not depend on their order.
func Grow(o *dataset.Objects, columns []split.Column, p induce.Params, total int64, opts Options) []tree.Node {
	return GrowEach(o, columns, []induce.Params{p}, total, opts)[0]
}

// GrowEach grows a tree with each of the parameters ps and returns their nodes. The trees are the same
// as Grow's. Trees that begin with the same tests share the counting of their nodes. Policies, whose parameters have
// losses, come last.
func GrowEach(
	o *dataset.Objects, columns []split.Column, ps []induce.Params, total int64, opts Options,
) [][]tree.Node {
	plain := ps
	if first := slices.IndexFunc(ps, func(p induce.Params) bool { return p.Losses != "" }); first >= 0 {
		plain = ps[:first]
	}
	var trees [][]tree.Node
	if len(plain) > 0 {
		trees = GrowBelow(o, columns, plain, total, induce.Place{}, opts)
	}
	for _, p := range ps[len(plain):] {
		trees = append(trees, policy.Grow(o, columns, p, opts.Stop))
		if opts.Settled != nil {
			opts.Settled(total)
		}
	}
	return trees
}

// GrowBelow grows subtrees below an open node from the node's objects, one with each of the
// parameters ps, and returns their nodes. There must be at least one object. total is the weight
// of all training objects, including the objects of other nodes.
func GrowBelow(
	o *dataset.Objects, columns []split.Column, ps []induce.Params, total int64, at induce.Place, opts Options,
) [][]tree.Node {
	var trees [][]tree.Node
	t := newTraits(o, ps[0].Classes)
	ws := newWorkspaces(columns, o.Classes, opts.Workers) // later batches reuse their memory
	for batch := range slices.Chunk(ps, together(o, columns, len(ps), opts)) {
		g := newGrower(o, columns, t, batch, total, opts)
		trees = append(trees, g.grow(at, ws)...)
	}
	return trees
}

// grower grows the subtrees below one node, one for each of the parameters.
type grower struct {
	grow.Rules
	traits

	nodes   *grow.Nodes
	objects *dataset.Objects
	opts    Options
	layout  induce.Layout
	pool    *workerPool

	held   atomic.Int64 // bytes of the open nodes
	budget int64        // limit on held, in bytes
}

// traits are properties of the objects and columns that allow faster growth.
type traits struct {
	unit     bool  // each object weighs 1
	packed   bool  // histograms are packed, see induce.Selection
	heaviest int64 // weight of the heaviest object

	// mixed has a bit for each object, which is set if the object has weight in other classes than its
	// own. It is nil if no object has. Only mixed objects make the raw class weights of a node differ
	// from the weights by its objects' classes.
	mixed []uint64
	// raw reports whether nodes count raw class weights and these differ from the weights by the objects'
	// classes.
	raw bool
	// disputed has a bit for each soft object, which is set if the object's rows have labels of several
	// classes. A node with one majority class and no disputed object is a leaf. It is nil if no object
	// is disputed, or if the criterion ignores the labels of rows.
	disputed []uint64

	narrow      int   // number of features with codes of one byte
	objectBytes int64 // bytes to gather an object
}

// newTraits returns the traits of the objects.
func newTraits(o *dataset.Objects, classes split.Classes) traits {
	t := traits{}
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

// seeObjects sets the traits that depend on the weights and classes of the objects.
func (t *traits) seeObjects(o *dataset.Objects, classes split.Classes) {
	var total int64
	for i, weight := range o.Weight {
		t.heaviest = max(t.heaviest, weight)
		total += weight
		if o.Soft() && classes == split.OfRows && len(o.Labels(i)) > 1 && o.RowsOf(i) > 0 {
			t.disputed = mark(t.disputed, i, o.Len())
		}
		if raw := o.Raw(i); len(raw) != 1 || raw[0].Class != o.Class[i] {
			t.mixed = mark(t.mixed, i, o.Len())
		}
	}
	t.unit = t.heaviest <= 1 && t.mixed == nil
	t.packed = total < 1<<32
	t.raw = t.mixed != nil && (o.Soft() || classes == split.OfRows)
}

// mark sets the bit of object i and returns the bits. It makes bits for n objects if bits is nil.
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
		Rules: grow.NewRules(ps, columns, o.Classes, total, o.Soft()), traits: t, nodes: grow.NewNodes(len(ps)), objects: o, opts: opts,
		layout: induce.NewLayout(columns, o.Classes), pool: newWorkerPool(opts.Workers), budget: opts.memory(),
	}
	if g.packed {
		g.layout = induce.NewPackedLayout(columns, o.Classes)
	}
	return g
}

// grow grows the subtrees from all objects and returns their nodes.
func (g *grower) grow(at induce.Place, ws []*workspace) [][]tree.Node {
	o := g.objects
	objects := make([]int64, o.Classes)
	weight := make([]int64, o.Classes)
	for i, k := range o.Class {
		objects[k]++
		if !g.raw {
			weight[k] += o.Weight[i]
			continue
		}
		for _, cw := range o.Raw(i) {
			weight[cw.Class] += cw.Weight
		}
	}
	root := &openNode{
		Open:   grow.NewRoot(g.nodes, at, objects, weight),
		varied: &varied{features: g.Features, cells: g.layout.Cells()},
	}
	g.pool.nodes = append(g.pool.nodes, root)
	parallel.Each(len(ws), len(ws), func(i int) {
		g.pool.work(ws[i], g.expand)
	})
	return g.nodes.Trees()
}

const (
	// grain is the least size of a node that several workers share or hand over, in objects
	// times features.
	grain = 1 << 16

	// keptCells limits the histogram that a node keeps for its children to 128 MiB. If a
	// histogram has more cells, each node counts its objects again.
	keptCells = 1 << 24
)

// shareIfLarge calls body with a function that returns the position of the next feature that may vary in
// the node, or -1 after the last one. If the node is large, all idle workers call body as well.
func (g *grower) shareIfLarge(o *openNode, w *workspace, body func(w *workspace, next func() int)) {
	n := len(o.varied.features)
	if g.pool.size > 1 && g.work(o) >= grain {
		g.pool.share(w, n, body)
		return
	}
	at := -1
	body(w, func() int {
		if at++; at < n {
			return at
		}
		return -1
	})
}

// expand makes a node a leaf or splits it: by one test or, if its trees choose different tests, by
// several. It grows all subtrees below one test before it splits the node by the next test, so that
// only the object numbers and histograms of one path are in memory. The largest child is grown last
// and takes over its parent's memory. While a smaller child is grown, the histograms of its larger
// siblings are kept: at most log2(objects) histograms for each test of a node on the path.
func (g *grower) expand(o *openNode, w *workspace) {
	if o.table == nil {
		o.table = g.newCodeTable(g.objects, w)
	}
	s := g.newSearch(o, w)
	choices := g.choices(o, s, w)
	g.settle(o, s.Leaves)
	for i := range choices {
		last := i == len(choices)-1
		children := g.children(o, &choices[i], last, w)
		if last {
			g.release(o)
		}
		for j, child := range children {
			if last && j == len(children)-1 || !g.hand(child) {
				g.expand(child, w)
			}
		}
	}
	if len(choices) == 0 {
		g.release(o)
	}
}

// hand hands a large node over to an idle worker, and reports whether it did. A second subtree needs
// memory of its own, so if memory is short, no node is handed over and the workers share features.
func (g *grower) hand(o *openNode) bool {
	return g.pool.size > 1 && g.work(o) >= grain && g.held.Load() < g.budget/2 && g.pool.hand(o)
}

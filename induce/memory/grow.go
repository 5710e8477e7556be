package memory

import (
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
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
	for batch := range slices.Chunk(ps, max(1, extentBytes/extentObject/max(1, o.Len()))) {
		g := newGrower(o, columns, batch, total, opts)
		roots = append(roots, g.grow(o, at)...)
	}
	return roots
}

// Trees that are grown together copy the numbers, classes and weights of the objects
// where their tests differ: extentObject bytes an object. extentBytes bounds the
// copies of one batch of trees.
const (
	extentBytes  = 1 << 30
	extentObject = 4 + 2 + 8
)

// grower grows the subtrees below one node, one for each of the parameters.
type grower struct {
	columns     []split.Column
	classes     int
	params      []induce.Params    // per tree
	criteria    []*split.Criterion // per tree
	opts        Options
	layout      induce.Layout
	constraints induce.Constraints

	gatherable int // bytes of codes that large nodes may still gather
}

func newGrower(
	o *dataset.Objects, columns []split.Column, ps []induce.Params, total int64, opts Options,
) *grower {
	g := &grower{
		columns: columns, classes: o.Classes, params: ps, opts: opts, gatherable: gatheredLarge,
		layout: induce.NewLayout(columns, o.Classes), constraints: induce.NewConstraints(columns, o.Classes),
	}
	for _, p := range ps {
		g.criteria = append(g.criteria, p.Criterion(total))
	}
	return g
}

// grow grows the subtrees from their objects.
func (g *grower) grow(o *dataset.Objects, at induce.Place) []*induce.Node {
	root := &openNode{
		extent: g.newExtent(o), Place: at, to: o.Len(), n: make([]int64, o.Classes), m: make([]int64, o.Classes),
	}
	roots := make([]*induce.Node, len(g.params))
	for i := range roots {
		roots[i] = &induce.Node{}
		root.members = append(root.members, member{i, roots[i]})
	}
	for i, k := range o.Class {
		root.n[k]++
		root.m[k] += o.Weight[i]
	}
	g.run(root)
	for _, n := range roots {
		n.SumUp()
	}
	return roots
}

// grain separates large nodes from small ones, in objects times features: all
// workers share the features of a large node, one worker grows the whole subtrees
// below a small one.
const grain = 1 << 19

// keptCells bounds the histogram that a node keeps for its children, at 256 MiB;
// with more cells each node counts its objects anew.
const keptCells = 1 << 25

// run grows the large nodes first, and then the small ones below them.
func (g *grower) run(root *openNode) {
	var small []*openNode
	g.growLarge(root, g.newWorkspaces(), &small)
	// Largest first, so that the workers end at about the same time.
	slices.SortStableFunc(small, func(a, b *openNode) int { return b.work() - a.work() })
	workers := max(1, min(g.opts.Workers, len(small)))
	var next atomic.Int64
	inParallel(workers, func(int) {
		w := g.newWorkspace()
		for i := next.Add(1) - 1; i < int64(len(small)); i = next.Add(1) - 1 {
			small[i].gather()
			g.growSmall(small[i], w)
		}
	})
}

// inParallel calls f(0), f(1), .. f(n-1), each in a goroutine when n > 1.
func inParallel(n int, f func(worker int)) {
	if n <= 1 {
		f(0)
		return
	}
	var group parallel.Group
	for i := range n {
		group.Go(func() { f(i) })
	}
	group.Wait()
}

// growLarge grows a large node with all workers, and lists the small nodes below it.
func (g *grower) growLarge(o *openNode, ws []*workspace, small *[]*openNode) {
	if (o.to-o.from)*len(g.columns) < grain {
		g.release(o, ws[0])
		*small = append(*small, o)
		return
	}
	if bytes := (o.to - o.from) * len(g.columns); bytes <= g.gatherable && o.gather() {
		g.gatherable -= bytes
	}
	for _, child := range g.expand(o, ws) {
		g.growLarge(child, ws, small)
	}
}

// growSmall grows the subtrees below a small node in one workspace.
func (g *grower) growSmall(o *openNode, w *workspace) {
	for _, child := range g.expand(o, []*workspace{w}) {
		g.growSmall(child, w)
	}
}

// expand makes a leaf of a node or splits it: by one test or, where its trees choose
// different tests, by several. It returns the children, those of one test smallest
// first. While a subtree is grown, only its larger siblings then hold histograms: at
// most log2 of the number of objects.
func (g *grower) expand(o *openNode, ws []*workspace) []*openNode {
	s := g.newSearch(o, ws[0])
	g.findTests(o, s, ws)
	choices := g.choices(o, s, ws[0])
	g.settle(o, s.leaves)
	return g.children(o, choices, ws)
}

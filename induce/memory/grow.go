package memory

import (
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
)

// Options say how a tree is grown, not which.
type Options struct {
	Workers int                // goroutines; at most 1: none
	Settled func(weight int64) // called with the weight of each finished leaf, from any goroutine; may be nil
	Stop    func() bool        // once it is true open nodes become leaves; from any goroutine; may be nil
}

// Grow grows a whole tree from its objects, which must be at least one and weigh
// total together. The result does not depend on the order of the objects or on
// opts.
func Grow(o *dataset.Objects, columns []split.Column, p induce.Params, total int64, opts Options) *induce.Node {
	return GrowEach(o, columns, []induce.Params{p}, total, opts)[0]
}

// extentBytes bounds the copies of the objects' numbers, classes and weights that
// trees grown side by side make where they part, extentObject bytes an object.
const (
	extentBytes  = 1 << 30
	extentObject = 4 + 2 + 8
)

// GrowEach grows a tree by each of the parameters, the very trees that Grow
// grows one by one. Nodes to which several of them come by the same tests are
// counted once.
func GrowEach(o *dataset.Objects, columns []split.Column, ps []induce.Params, total int64, opts Options) []*induce.Node {
	return GrowBelow(o, columns, ps, total, induce.Place{}, opts)
}

// GrowBelow grows subtrees below an open node from its objects, which must be at
// least one: a tree by each of the parameters. total is the weight W of all
// training objects.
func GrowBelow(o *dataset.Objects, columns []split.Column, ps []induce.Params, total int64, at induce.Place, opts Options) []*induce.Node {
	var roots []*induce.Node
	for batch := range slices.Chunk(ps, max(1, extentBytes/extentObject/max(1, o.Len()))) {
		roots = append(roots, growTogether(o, columns, batch, total, at, opts)...)
	}
	return roots
}

func growTogether(o *dataset.Objects, columns []split.Column, ps []induce.Params, total int64, at induce.Place, opts Options) []*induce.Node {
	g := &grower{columns: columns, classes: o.Classes, params: ps, opts: opts, layout: induce.NewLayout(columns, o.Classes), gathering: gatheredLarge, wishes: induce.NewWishes(columns, o.Classes)}
	root := &open{extent: g.newExtent(o), Place: at, to: o.Len(), n: make([]int64, o.Classes), m: make([]int64, o.Classes)}
	roots := make([]*induce.Node, len(ps))
	for i, p := range ps {
		g.criteria = append(g.criteria, p.Criterion(total))
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

// grower grows the subtrees below one node in memory, one for each of the
// parameters.
type grower struct {
	columns  []split.Column
	classes  int
	params   []induce.Params    // per tree
	criteria []*split.Criterion // per tree
	opts     Options
	layout   induce.Layout
	wishes   induce.Wishes

	gathering int // bytes that codes of large nodes may still be gathered in
}

// extent holds the objects of open nodes side by side, each node's ascending.
type extent struct {
	objects  *dataset.Objects
	counters []induce.ColumnCounter // per feature
	order    []int32                // numbers of objects
	class    []uint16
	weight   []int64
}

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
			e.counters[f] = induce.ColumnCounter{Codes: &o.Codes[f], Common: induce.CommonCode(&o.Codes[f], o.Len(), seen)}
		}
	})
	return e
}

func newExtent(o *dataset.Objects) *extent {
	e := &extent{objects: o, order: make([]int32, o.Len()), class: slices.Clone(o.Class), weight: slices.Clone(o.Weight)}
	for i := range e.order {
		e.order[i] = int32(i)
	}
	return e
}

// open is a node that is being grown, of one tree or of several that have come
// to it by the same tests. Its objects are from:to of its extent.
type open struct {
	*extent
	induce.Place

	members  []member
	from, to int
	n, m     []int64 // objects and weight by class
	cells    []int64 // histogram of all features; nil: not kept
}

// member is one tree's node at an open one.
type member struct {
	tree int
	node *induce.Node
}

// rows returns the node's objects for counting, with all classes.
func (o *open) rows() induce.Selection {
	return induce.Selection{Order: o.order[o.from:o.to], Class: o.class[o.from:o.to], Weight: o.weight[o.from:o.to], N: o.n, M: o.m}
}

// fork returns a node with the same objects and histogram in memory of its own.
func (o *open) fork() *open {
	f := *o
	f.extent = &extent{o.objects, o.counters, slices.Clone(o.order[o.from:o.to]), slices.Clone(o.class[o.from:o.to]), slices.Clone(o.weight[o.from:o.to])}
	f.from, f.to, f.cells = 0, o.to-o.from, slices.Clone(o.cells)
	return &f
}

// gather moves the node's objects side by side, when they lie so far apart that
// each code of theirs has to be fetched from memory on its own. It reports
// whether it did.
func (o *open) gather() bool {
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
	sparse        = 4         // objects of which at most one is a node's when its own are gathered
	gatheredLarge = 256 << 20 // bytes of the codes of large nodes that are gathered; small ones are grown right after
)

// grain is the work, in cell updates, from which a node's features are dealt to
// the workers; smaller nodes are grown whole by one worker each.
const grain = 1 << 19

// keptCells bounds a kept histogram, 256 MiB; beyond it nodes count each feature
// anew.
const keptCells = 1 << 25

func (g *grower) run(root *open) {
	var small []*open
	g.large(root, g.newWorkspaces(), &small)
	// Largest first, so that the workers end at about the same time.
	slices.SortStableFunc(small, func(a, b *open) int { return b.work() - a.work() })
	workers := max(1, min(g.opts.Workers, len(small)))
	var next atomic.Int64
	inParallel(workers, func(int) {
		w := g.newWorkspace()
		for i := next.Add(1) - 1; i < int64(len(small)); i = next.Add(1) - 1 {
			small[i].gather()
			g.grow(small[i], w)
		}
	})
}

// work estimates what it takes to grow the node.
func (o *open) work() int { return (o.to - o.from) * len(o.members) }

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

// large grows a node with all workers on its features, and puts off the small
// nodes below it.
func (g *grower) large(o *open, ws []*workspace, small *[]*open) {
	if (o.to-o.from)*len(g.columns) < grain {
		g.release(o, ws[0])
		*small = append(*small, o)
		return
	}
	if bytes := (o.to - o.from) * len(g.columns); bytes <= g.gathering && o.gather() {
		g.gathering -= bytes
	}
	for _, child := range g.expand(o, ws) {
		g.large(child, ws, small)
	}
}

// grow grows a node and all below it in one workspace.
func (g *grower) grow(o *open, w *workspace) {
	for _, child := range g.expand(o, []*workspace{w}) {
		g.grow(child, w)
	}
}

// expand makes a leaf of a node or splits it, by one test or, where its trees
// part, by several. It returns the children, those of one test smallest first:
// while a subtree is grown only the histograms of its larger siblings are held,
// at most log2 of the objects.
func (g *grower) expand(o *open, ws []*workspace) []*open {
	v := g.view(o, ws[0])
	g.search(o, v, ws)
	groups := g.groups(o, v, ws[0])
	g.settle(o, v.leaves)
	return g.children(o, groups, ws)
}

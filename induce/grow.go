package induce

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Options say how a tree is grown, not which.
type Options struct {
	Workers int                // goroutines; at most 1: none
	Settled func(weight int64) // called with the weight of each finished leaf, from any goroutine; may be nil
	Stop    func() bool        // once it is true open nodes become leaves; from any goroutine; may be nil
}

// Grow grows the tree below a node from its objects, which must be at least
// one. total is the weight W of all training objects and depth the node's own;
// for a whole tree they are the objects' weight and 0. The result does not
// depend on the order of the objects or on opts.
func Grow(o *dataset.Objects, columns []split.Column, p Params, total int64, depth int, opts Options) *Node {
	g := &grower{
		objects: o, columns: columns, params: p, opts: opts,
		criterion: split.NewCriterion(p.Algorithm, p.Family, p.Lambda, p.Theta, total),
		layout:    newLayout(columns, o.Classes),
		order:     make([]int32, o.Len()),
		class:     slices.Clone(o.Class),
		weight:    slices.Clone(o.Weight),
	}
	for i := range g.order {
		g.order[i] = int32(i)
	}
	g.newCounters()
	root := &open{to: o.Len(), depth: depth, node: &Node{}, n: make([]int64, o.Classes), m: make([]int64, o.Classes)}
	for i, k := range o.Class {
		root.n[k]++
		root.m[k] += o.Weight[i]
	}
	g.run(root)
	root.node.SumUp()
	return root.node
}

// grower grows one subtree in memory.
type grower struct {
	objects   *dataset.Objects
	columns   []split.Column
	params    Params
	opts      Options
	criterion *split.Criterion
	layout    layout
	counters  []counter // per feature

	// The objects of an open node lie side by side in these, ascending.
	order  []int32
	class  []uint16
	weight []int64
}

func (g *grower) newCounters() {
	g.counters = make([]counter, len(g.columns))
	var next atomic.Int64
	inParallel(max(1, g.opts.Workers), func(int) {
		var seen []int32
		for f := int(next.Add(1) - 1); f < len(g.columns); f = int(next.Add(1) - 1) {
			if len(seen) < g.columns[f].Codes {
				seen = make([]int32, g.columns[f].Codes)
			}
			codes := &g.objects.Codes[f]
			g.counters[f] = counter{codes, commonCode(codes, len(g.order), seen)}
		}
	})
}

// rowsOf returns the objects of a node for counting, with all classes.
func (g *grower) rowsOf(o *open) rows {
	return rows{g.order[o.from:o.to], g.class[o.from:o.to], g.weight[o.from:o.to], o.n, o.m}
}

// open is a node that is being grown: its objects are order[from:to].
type open struct {
	node     *Node
	from, to int
	depth    int
	n, m     []int64 // objects and weight by class
	cells    []int64 // histogram of all features; nil: not kept
}

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
	slices.SortStableFunc(small, func(a, b *open) int { return (b.to - b.from) - (a.to - a.from) })
	workers := max(1, min(g.opts.Workers, len(small)))
	var next atomic.Int64
	inParallel(workers, func(int) {
		w := g.newWorkspace()
		for i := next.Add(1) - 1; i < int64(len(small)); i = next.Add(1) - 1 {
			g.grow(small[i], w)
		}
	})
}

// inParallel calls f(0), f(1), .. f(n-1), each in a goroutine when n > 1. A panic
// in one of them is raised again here, where the caller can recover it.
func inParallel(n int, f func(worker int)) {
	if n <= 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	var panicked atomic.Pointer[any]
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if r := recover(); r != nil {
					panicked.CompareAndSwap(nil, &r)
				}
			}()
			f(i)
		}()
	}
	wg.Wait()
	if r := panicked.Load(); r != nil {
		panic(*r)
	}
}

// large grows a node with all workers on its features, and puts off the small
// nodes below it.
func (g *grower) large(o *open, ws []*workspace, small *[]*open) {
	if (o.to-o.from)*len(g.columns) < grain {
		g.release(o, ws[0])
		*small = append(*small, o)
		return
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

// expand settles a leaf or splits a node. It returns the children, smallest
// first: while a subtree is grown only the histograms of its larger siblings
// are held, at most log2 of the objects.
func (g *grower) expand(o *open, ws []*workspace) []*open {
	totals := g.criterion.NewTotals(o.n, o.m)
	o.node.Objects, o.node.Weight, o.node.Class = totals.Objects, totals.Weight, o.m
	if g.isLeaf(o, totals) {
		g.settle(o)
		return nil
	}
	v := g.view(o, totals, ws[0])
	best := g.search(o, v, ws)
	if best.Kind == 0 {
		g.release(o, ws[0])
		g.settle(o)
		return nil
	}
	cells := g.split(o, v, &best, ws[0])
	return g.children(o, cells, ws)
}

func (g *grower) isLeaf(o *open, t *split.Totals) bool {
	if g.criterion.IsLeaf(t) || g.params.MaxDepth > 0 && o.depth >= g.params.MaxDepth {
		return true
	}
	if g.opts.Stop != nil && g.opts.Stop() {
		o.node.Cut = true
		return true
	}
	return g.params.MinRows > 0 && g.rows(o) < g.params.MinRows
}

func (g *grower) rows(o *open) int64 {
	rows := int64(0)
	for _, id := range g.order[o.from:o.to] {
		rows += g.objects.RowsOf(int(id))
	}
	return rows
}

// settle makes the node a leaf.
func (g *grower) settle(o *open) {
	n := o.node
	n.Raw = make([]int64, g.objects.Classes)
	for _, id := range g.order[o.from:o.to] {
		for _, cw := range g.objects.Raw(int(id)) {
			n.Raw[cw.Class] += cw.Weight
		}
	}
	n.Rows = g.rows(o)
	if g.opts.Settled != nil {
		g.opts.Settled(n.Weight)
	}
}

// view is a node as its histograms see it: with all classes where the
// histogram is kept, else with only the classes that it has.
type view struct {
	totals *split.Totals
	rows   rows
	dense  []int // the class of each class number in use; nil: all classes
	heavy  []heavyObject
	sum    split.Heavy
	fresh  bool // the kept histogram is yet to be counted
}

type heavyObject struct {
	id  int32
	sum split.Heavy
}

func (g *grower) view(o *open, totals *split.Totals, w *workspace) *view {
	v := &view{totals: totals, rows: g.rowsOf(o)}
	for i, weight := range g.weight[o.from:o.to] {
		if g.criterion.IsHeavy(weight) {
			h := heavyObject{g.order[o.from+i], split.NewHeavy(weight, totals.Weight)}
			v.heavy = append(v.heavy, h)
			v.sum.Add(&h.sum)
		}
	}
	if o.cells == nil && g.worthKeeping(o.to-o.from) {
		o.cells = w.histograms.get(g.layout.cells())
		clear(o.cells)
		v.fresh = true
	}
	if o.cells == nil {
		g.compact(o, v, w)
	}
	return v
}

// worthKeeping reports whether a node of so many objects keeps its histogram:
// when counting them costs more than subtracting all cells does.
func (g *grower) worthKeeping(objects int) bool {
	cells := g.layout.cells()
	return cells <= keptCells && 2*objects*len(g.columns) > 3*cells
}

// compact numbers only the classes that the node has.
func (g *grower) compact(o *open, v *view, w *workspace) {
	v.dense = w.dense[:0]
	n, m := w.denseN[:0], w.denseM[:0]
	for k, objects := range o.n {
		if objects > 0 {
			w.number[k] = uint16(len(v.dense))
			v.dense, n, m = append(v.dense, k), append(n, objects), append(m, o.m[k])
		}
	}
	w.class = w.class[:0]
	for _, k := range v.rows.class {
		w.class = append(w.class, w.number[k])
	}
	v.rows.class, v.rows.n, v.rows.m = w.class, n, m
	w.dense, w.denseN, w.denseM = v.dense, n, m
	v.totals = g.criterion.NewTotals(n, m)
}

// search returns the node's best test.
func (g *grower) search(o *open, v *view, ws []*workspace) split.Candidate {
	scores := ws[0].scores
	var next atomic.Int64
	workers := len(ws)
	inParallel(workers, func(i int) {
		w := ws[i]
		w.scanner.Node(v.totals, v.sum)
		for f := int(next.Add(1) - 1); f < len(g.columns); f = int(next.Add(1) - 1) {
			g.load(o, v, f, w)
			scores[f] = w.scanner.Scan()
			g.unload(v, f, w)
		}
	})
	v.fresh = false
	w := ws[0]
	w.scanner.Node(v.totals, v.sum)
	loaded := -1
	best := w.scanner.Choose(scores, func(f int) {
		if loaded >= 0 {
			g.unload(v, loaded, w)
		}
		g.load(o, v, f, w)
		loaded = f
	})
	if loaded >= 0 {
		g.unload(v, loaded, w)
	}
	return best
}

// load counts a feature, unless its cells are kept already, and hands it to the
// workspace's scanner.
func (g *grower) load(o *open, v *view, f int, w *workspace) {
	column := &g.columns[f]
	h := split.Histogram{}
	var present []int32
	if o.cells != nil {
		h.Cells = g.layout.of(o.cells, f, 0)
		if v.fresh {
			g.counters[f].count(h.Cells, &v.rows)
		}
	} else {
		h.Cells = w.cells[:2*len(v.rows.n)*column.Codes]
		w.present = g.counters[f].countSeen(h.Cells, &v.rows, w.seen[:(column.Codes+63)/64], w.present)
		present = w.present
	}
	if len(v.heavy) > 0 {
		h.Heavy = w.heavyOf(column.Codes)
		for i := range v.heavy {
			h.Heavy[g.objects.Codes[f].At(int(v.heavy[i].id))].Add(&v.heavy[i].sum)
		}
	}
	w.scanner.Load(f, column, h, present)
}

// unload clears what load counted in the workspace.
func (g *grower) unload(v *view, f int, w *workspace) {
	for _, code := range w.present {
		clear(w.cells[2*len(v.rows.n)*int(code) : 2*len(v.rows.n)*int(code+1)])
	}
	w.present = w.present[:0]
	for i := range v.heavy {
		w.heavy[g.objects.Codes[f].At(int(v.heavy[i].id))] = split.Heavy{}
	}
}

// split records the test in the node and returns the cells of each outcome,
// over all classes.
func (g *grower) split(o *open, v *view, best *split.Candidate, w *workspace) [][]int64 {
	g.load(o, v, best.Feature, w)
	n := o.node
	n.Test = best
	var cells [][]int64
	n.Parts, cells, n.Outcomes = w.scanner.Parts(best)
	g.unload(v, best.Feature, w)
	if v.dense == nil {
		return cells
	}
	all := make([][]int64, len(cells))
	for i := range cells {
		all[i] = make([]int64, 2*len(o.n))
		for d, k := range v.dense {
			all[i][2*k], all[i][2*k+1] = cells[i][2*d], cells[i][2*d+1]
		}
	}
	return all
}

// children parts the objects by outcome and makes the child nodes.
func (g *grower) children(o *open, cells [][]int64, ws []*workspace) []*open {
	children := make([]*open, len(cells))
	from := o.from
	for i, c := range cells {
		child := &open{node: &Node{}, depth: o.depth + 1, from: from, n: make([]int64, len(o.n)), m: make([]int64, len(o.n))}
		for k := range child.n {
			child.n[k], child.m[k] = c[2*k], c[2*k+1]
			from += int(c[2*k])
		}
		child.to = from
		children[i] = child
		o.node.Children = append(o.node.Children, child.node)
	}
	g.part(o, children, ws[0])
	g.inherit(o, children, ws)
	return children
}

// part moves the objects of each outcome side by side, keeping their order.
func (g *grower) part(o *open, children []*open, w *workspace) {
	t := o.node.Test
	missing := g.columns[t.Feature].Codes - 1
	codes := &g.objects.Codes[t.Feature]
	at := w.at[:0]
	for _, c := range children {
		at = append(at, c.from)
	}
	for i, code := range o.node.Outcomes {
		w.childOf[code] = int32(i)
	}
	n := o.to - o.from
	order, class, weight := g.order[o.from:o.to], g.class[o.from:o.to], g.weight[o.from:o.to]
	w.order = append(w.order[:0], order...)
	w.classes = append(w.classes[:0], class...)
	w.weight = append(w.weight[:0], weight...)
	for i := range n {
		id := w.order[i]
		to := t.Outcome(codes.At(int(id)), missing)
		if t.Kind == split.Multiway {
			to = int(w.childOf[to])
		}
		j := at[to] - o.from
		order[j], class[j], weight[j] = id, w.classes[i], w.weight[i]
		at[to]++
	}
	w.at = at
}

// inherit sorts the children by size and gives the largest the parent's
// histogram less those of its siblings, where that pays.
func (g *grower) inherit(o *open, children []*open, ws []*workspace) {
	slices.SortStableFunc(children, func(a, b *open) int { return (a.to - a.from) - (b.to - b.from) })
	if o.cells == nil {
		return
	}
	large := children[len(children)-1]
	if !g.worthKeeping(large.to - large.from) {
		g.release(o, ws[0])
		return
	}
	siblings := children[:len(children)-1]
	for _, child := range siblings {
		if g.worthKeeping(child.to - child.from) {
			child.cells = ws[0].histograms.get(g.layout.cells())
			clear(child.cells)
		}
	}
	var next atomic.Int64
	inParallel(len(ws), func(int) {
		for f := int(next.Add(1) - 1); f < len(g.columns); f = int(next.Add(1) - 1) {
			parent := g.layout.of(o.cells, f, 0)
			for _, child := range siblings {
				g.takeOff(parent, child, f)
			}
		}
	})
	large.cells, o.cells = o.cells, nil
}

// takeOff subtracts a child's counts of a feature from its parent's, and keeps
// them where the child keeps its histogram.
func (g *grower) takeOff(parent []int64, child *open, f int) {
	r := g.rowsOf(child)
	if child.cells != nil {
		cells := g.layout.of(child.cells, f, 0)
		g.counters[f].count(cells, &r)
		subtract(parent, cells)
		return
	}
	codes, classes := &g.objects.Codes[f], g.layout.classes
	for i, id := range r.order {
		at := 2 * (codes.At(int(id))*classes + int(r.class[i]))
		parent[at]--
		parent[at+1] -= r.weight[i]
	}
}

func (g *grower) release(o *open, w *workspace) {
	if o.cells != nil {
		w.histograms.put(o.cells)
		o.cells = nil
	}
}

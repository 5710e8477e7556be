package leafmodel

import (
	"cmp"
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Options configure fitting.
type Options struct {
	// Ridge is the regularisation strength, in rows: the factor of half the square of each
	// coefficient. It must be above 0.
	Ridge   float64
	Scale   float64 // units in the average weight of a row; 0: 1
	Workers int     // goroutines; 0: one per processor
	// Broad is the least number of objects with which the fit of a leaf starts from the last fit
	// above. The fit of a smaller leaf starts from a fit of the same features to the nearest node
	// above with at least Broad objects, or to the root. 0: all fits start from the last fit above.
	Broad int
	// Draft fits large nodes to fewer objects. Drafts are nearly as good as models, and show which
	// models are worth their time.
	Draft bool
	Stop  func() bool // if it returns true, fitting ends early, and the result must not be used; nil: never
}

const (
	// spread is the ratio of the numbers of objects of two successive fits on a path. Fits at all
	// nodes take twice the time and are no better, as measured on public data sets.
	spread = 6

	// bound is the number of objects times scores in the fit of a leaf. A node with more objects is
	// fitted to the first of them.
	bound = 1 << 14

	// draftBound is the number of objects times classes in the fit of a leaf of a draft. On public data sets
	// twice as many gave frontiers that are no better.
	draftBound = 1 << 12

	// innerShare is the ratio of the bounds for leaves and inner nodes, whose fits are only a start
	// for the fits below. A node that is a leaf in some trees and an inner node in others has a fit
	// of each kind, so that a model depends on its path alone.
	innerShare = 8

	// least is the weight of a fit with features, in rows. With less weight only the intercept is
	// fitted.
	least = 10

	// A basis has its second function if a node has at least leastCurved objects per score, and its
	// third function if it has at least leastHinged. Fewer objects say little about them, as
	// measured on public data sets.
	leastCurved = 32
	leastHinged = 128

	// interceptRidge bounds the ridge of the intercept.
	interceptRidge = 1

	steps          = 8
	tolerance      = 1e-3
	draftTolerance = 1e-2
)

// DraftObjects returns the number of objects up to which drafts save little time.
func DraftObjects(classes int) int { return max(1, draftBound/classes) }

// Fit returns the models of the leaves of trees, by tree and node. All trees have the given
// features. objects are training objects in the order of Sorted. A leaf has no model if its path
// asks for no numeric feature, or if it has no objects.
func Fit(objects *dataset.Objects, features []dataset.Feature, trees []*tree.Tree, o Options) [][]*Model {
	f := &fitter{
		walk: walk{objects, features, trees}, options: o, scores: portable.Scores(objects.Classes),
		scale: 1 / cmp.Or(o.Scale, 1), models: make([][]*Model, len(trees)), values: codeValues(features),
	}
	f.bound = max(1, bound/f.scores)
	if o.Draft {
		f.bound = DraftObjects(objects.Classes)
	}
	for i, t := range trees {
		f.models[i] = make([]*Model, len(t.Nodes))
	}
	f.pool = newWorkerPool(o.Workers)
	f.root()
	f.pool.group.Wait()
	return f.models
}

// fitter fits the models of trees.
type fitter struct {
	walk

	options Options
	scores  int     // how many scores a model has
	scale   float64 // rows per unit of weight
	bound   int     // most objects of a fit
	models  [][]*Model
	values  [][]float64 // see codeValues

	pool     *workerPool
	scratch  sync.Pool // holds *regression
	coded    sync.Pool // holds *regression, for fits of broad nodes
	sketches sync.Pool // holds *sketch
}

// place is a node, shared by all trees in which the same tests lead to it.
type place struct {
	nodes members
	ids   []int32 // objects of the node
	layer *layer  // the last fit above
	broad *broad  // the nearest node with enough objects, the place or one above it; nil if not needed
	asked []int   // numeric features that the path asks for, ascending
}

// root starts with the frequencies of the classes.
func (f *fitter) root() {
	p := new(place)
	p.nodes, p.ids = f.roots()
	weights := make([]float64, f.objects.Classes)
	for i := range p.ids {
		for _, w := range f.objects.Raw(i) {
			weights[w.Class] += float64(f.scale * float64(w.Weight))
		}
	}
	p.layer = &layer{objects: len(p.ids), intercept: make([]float64, f.scores)}
	for k := range p.layer.intercept {
		if p.layer.intercept[k] = portable.Log(weights[k] + 0.5); f.scores == 1 {
			p.layer.intercept[k] = portable.Log(weights[1]+0.5) - portable.Log(weights[0]+0.5)
		}
	}
	f.visit(p)
}

// visit fits a node if it should have a fit, and visits its children.
func (f *fitter) visit(p *place) {
	if len(p.ids) == 0 || f.options.Stop != nil && f.options.Stop() {
		return
	}
	f.broaden(p)
	inner, leaves := f.byTest(p.nodes)
	var own *layer // the fit of the leaves
	few := len(p.ids) < f.options.Broad
	if len(p.asked) > 0 && len(leaves) > 0 {
		own = f.fitLeaves(p, leaves, few)
	}
	if len(inner) == 0 {
		return
	}
	if len(p.asked) > 0 && len(p.ids)*spread <= p.layer.objects {
		bound := max(1, f.bound/innerShare)
		if own == nil || few || len(p.ids) > bound {
			own = f.fit(p, bound)
		}
		p.layer = own
	}
	for _, alike := range inner {
		f.split(p, alike)
	}
}

// fitLeaves fits the model shared by leaves, and returns its last fit.
func (f *fitter) fitLeaves(p *place, leaves members, few bool) *layer {
	from := *p
	if few {
		from.layer = f.fitBroad(p)
	}
	own := f.fit(&from, f.bound)
	m := f.model(own, p)
	for _, l := range leaves {
		f.models[l.Tree][l.Node] = m
	}
	return own
}

// split visits the children of nodes with the same test.
func (f *fitter) split(p *place, nodes members) {
	feature := f.node(nodes[0]).Test.Feature
	asked := p.asked
	if f.features[feature].Kind == dataset.Numeric {
		if at, found := slices.BinarySearch(asked, feature); !found {
			asked = slices.Insert(slices.Clone(asked), at, feature)
		}
	}
	f.children(nodes, p.ids, func(children members, ids []int32) {
		child := &place{layer: p.layer, broad: p.broad, asked: asked, nodes: children, ids: ids}
		f.pool.hand(len(ids), func() { f.visit(child) })
	})
}

// fit fits a node to its first objects, at most bound.
func (f *fitter) fit(p *place, bound int) *layer {
	r, _ := f.scratch.Get().(*regression)
	if r == nil {
		r = new(regression)
	}
	defer f.scratch.Put(r)
	made := &layer{above: p.layer, objects: len(p.ids), intercept: make([]float64, f.scores)}
	w := f.wanted(p)
	ids := p.ids[:min(len(p.ids), max(bound, faded))]
	f.gather(r, p.asked, ids)
	if len(w.scores) > 1 || f.scores == 1 {
		ids = ids[:min(len(ids), bound)]
		made.whole = len(ids) == len(p.ids)
		f.begin(r, p.layer, ids, w)
		bases := f.bases(r, p.asked)
		f.penalise(r, bases, w)
		f.design(r, bases)
		r.fit()
		made.take(r, bases, w)
	}
	if len(w.absent) > 0 {
		f.fade(r, made, p.ids, w)
	}
	return made
}

// gather copies the codes of the asked features for the objects, so that they are consecutive.
func (f *fitter) gather(r *regression, asked []int, ids []int32) {
	r.asked = asked
	r.gathered = len(ids)
	r.codes = slices.Grow(r.codes[:0], len(asked)*len(ids))
	for _, feature := range asked {
		if codes := &f.objects.Codes[feature]; codes.U8 != nil {
			for _, id := range ids {
				r.codes = append(r.codes, uint16(codes.U8[id]))
			}
		} else {
			for _, id := range ids {
				r.codes = append(r.codes, codes.U16[id])
			}
		}
	}
}

// codesOf returns the codes of an asked feature for the first n objects.
func (r *regression) codesOf(feature, n int) []uint16 {
	at, _ := slices.BinarySearch(r.asked, feature)
	return r.codes[at*r.gathered:][:n]
}

// wanted lists the scores to fit: the scores of the classes that the objects have. With two
// classes, the only score is always fitted.
type wanted struct {
	scores []int // scores to fit, ascending
	absent []int // scores not to fit
	// pair means that two of several scores are fitted by their difference, the second less the
	// first. Half of it goes to each, so their ridges add up to half the ridge of the difference.
	pair bool
}

// width returns how many scores the regression has.
func (w *wanted) width() int {
	if w.pair {
		return 1
	}
	return len(w.scores)
}

// wanted returns the scores for a fit of a node. All classes of its objects are among the classes
// of the fit above.
func (f *fitter) wanted(p *place) *wanted {
	if f.scores == 1 {
		return &wanted{scores: []int{0}}
	}
	seen := make([]bool, f.scores)
	missing := f.scores
	if above := len(p.layer.scores); above > 0 {
		missing = above
	}
	for _, id := range p.ids {
		if missing == 0 {
			break
		}
		for _, w := range f.objects.Raw(int(id)) {
			if w.Weight > 0 && !seen[w.Class] {
				seen[w.Class] = true
				missing--
			}
		}
	}
	w := new(wanted)
	for k, is := range seen {
		if is {
			w.scores = append(w.scores, k)
		} else {
			w.absent = append(w.absent, k)
		}
	}
	w.pair = len(w.scores) == 2
	return w
}

// tolerance returns the tolerance of all fits.
func (f *fitter) tolerance() float64 {
	if f.options.Draft {
		return draftTolerance
	}
	return tolerance
}

// begin sets the rows of a regression: their weights, classes and scores so far.
func (f *fitter) begin(r *regression, above *layer, ids []int32, w *wanted) {
	n := len(ids)
	width := w.width()
	r.rows = n
	r.scores = width
	r.tolerance = f.tolerance()
	r.steps = steps
	r.offset = zeros(r.offset, n*width)
	for l := above; l != nil; l = l.above {
		r.raise(r.offset, n, l, w)
	}
	at := make([]int, f.objects.Classes) // by class: its score in the regression; negative if it has none
	for class := range at {
		switch {
		case f.scores == 1:
			at[class] = class - 1
		case w.pair:
			at[class] = slices.Index(w.scores, class) - 1
		default:
			at[class] = slices.Index(w.scores, class)
		}
	}
	r.target, r.weight = zeros(r.target, n*width), zeros(r.weight, n)
	for i, id := range ids {
		r.weight[i] = f.scale * float64(f.objects.Weight[id])
		for _, w := range f.objects.Raw(int(id)) {
			if k := at[w.Class]; k >= 0 {
				r.target[i*width+k] = f.scale * float64(w.Weight)
			}
		}
	}
}

// bases returns the bases of the asked features; none if the weight of the rows is too small.
func (f *fitter) bases(r *regression, asked []int) []*basis {
	var list []*basis
	if functions := r.functions(); functions > 0 {
		for _, feature := range asked {
			if b := f.basis(r, feature, functions); b != nil {
				list = append(list, b)
			}
		}
	}
	return list
}

// functions returns how many functions of the values a basis over the rows has; 0 if the weight of
// the rows is too small.
func (r *regression) functions() int {
	weight := portable.Sum(r.weight)
	if weight < least {
		return 0
	}
	functions := 1
	for _, least := range []int{leastCurved, leastHinged} {
		if r.rows >= least*r.scores {
			functions++
		}
	}
	return functions
}

// basis returns the basis of an asked feature; nil if it has no function.
func (f *fitter) basis(r *regression, feature, functions int) *basis {
	of := &f.features[feature]
	bins := of.Bins()
	r.byCode = zeros(r.byCode, of.Codes())
	first := bins
	last := -1
	for i, code := range r.codesOf(feature, r.rows) {
		at := int(code)
		r.byCode[at] += r.weight[i]
		if at < bins && r.weight[i] > 0 {
			first = min(first, at)
			last = max(last, at)
		}
	}
	return newBasis(feature, of, r.byCode, first, last, functions)
}

// penalise sets the number of columns of a regression and their ridges.
func (f *fitter) penalise(r *regression, bases []*basis, w *wanted) {
	r.columns = 1
	for _, b := range bases {
		r.columns += b.columns
	}
	r.ridge = zeros(r.ridge, r.columns)
	for j := range r.ridge {
		r.ridge[j] = f.options.Ridge
	}
	r.ridge[0] = min(f.options.Ridge, interceptRidge)
	if w.pair {
		for j := range r.ridge {
			r.ridge[j] /= 2
		}
	}
}

// design sets the columns of a regression.
func (f *fitter) design(r *regression, bases []*basis) {
	r.design = zeros(r.design, (r.rows+abreast-1)/abreast*abreast*r.columns)
	for i := range r.rows {
		r.design[i*r.columns] = 1
	}
	column := 1
	for _, b := range bases {
		to := r.design[column:]
		for i, code := range r.codesOf(b.feature, r.rows) {
			row := to[i*r.columns:][:b.columns]
			for j, v := range b.of(int(code)) {
				row[j] = v
			}
		}
		column += b.columns
	}
}

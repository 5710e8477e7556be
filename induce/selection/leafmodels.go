package selection

import (
	"cmp"
	"context"
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// broadObjects is the Broad option of leaf models, see leafmodel.Options. On public data sets a
// tenth or ten times of it gives nearly the same results.
const broadObjects = 3000

// fitOptions returns the options of all fits. With many objects the leaves have enough of their own,
// and Broad is not needed.
func (c *Chooser) fitOptions() leafmodel.Options {
	o := leafmodel.Options{Scale: c.Training.Scale}
	if c.Training.Objects <= manyObjects {
		o.Broad = broadObjects
	}
	return o
}

// wantsBoosters reports whether the leaf models of a tree may have boosters.
func (c *Chooser) wantsBoosters(t *frontier.Candidate) bool {
	return c.Settings.LeafModel == Boosted ||
		c.Settings.LeafModel == Auto && (c.Training.Objects <= manyObjects || t.Params.Limited())
}

// manyObjects is the number of training objects above which only listed points get models, without broad
// fits, and --leaf_model auto tries no boosters, unless paths have a limit: few questions leave much to a model.
const manyObjects = crossvalidate.MostAuto

// Limits on the number of objects. If there are more, the ones with the least hashes are used.
const (
	// modelObjects is the greatest number of objects that leaf models are fitted to.
	modelObjects = 1 << 20
	// gainObjects is the greatest number of validation objects on which the gain of models is
	// measured. A tree with models and the tree without are scored on the same objects, so a small
	// number is enough.
	gainObjects = 1 << 13
	// testedObjects is the greatest number of test objects on which the listed trees are scored.
	testedObjects = 1 << 15
)

// Most returns the greatest number of objects of a part that leaf models use: see Chooser.Sample.
func Most(part dataset.Part) int {
	switch part {
	case dataset.Train:
		return modelObjects
	case dataset.Validation:
		return gainObjects
	default:
		return testedObjects
	}
}

// Least differences in merit between neighbouring points that get models. Points that differ by
// less have about the same gains.
const (
	listedStep = 0.002 // on the frontier, with many objects
	grownStep  = 0.003 // on the front of one grown tree
)

// variant is a kind of leaf models for the trees of points.
type variant struct {
	ridge   float64 // regularisation strength of the linear models, in rows; 0: the point keeps its own
	boosted int     // number of trees of a booster; 0: no boosters
}

// extend returns the point with models of the variant. Its figures are the figures without models.
func (v variant) extend(p frontier.Point) frontier.Point {
	p.Boosted = v.boosted
	if v.ridge > 0 {
		p.Ridge = v.ridge
	}
	return p
}

// modelled is a stage: points of the frontier with models of some variants in the leaves of their
// trees. The first stage has linear models, the second stage adds boosters to them.
type modelled struct {
	base       *modelled // the stage whose models the models of this stage extend; nil for the first stage
	variants   []variant
	points     []frontier.Point
	others     []frontier.Point       // listed points that get no models
	trees      []*tree.Tree           // by point, without models
	before     [][]*leafmodel.Model   // by point and node: models of the base stage; nil for the first stage
	models     [][][]*leafmodel.Model // by variant, point and node; nil if they are out of the race
	changed    []bool                 // by point: see setChanged
	complete   []bool                 // by point: whether it stays in the race, see setComplete
	eliminated [][]bool               // by variant and point: whether the models are out of the race
	baseline   []metric.Judgement     // by point: scores with the models in before, on the validation objects
	scores     [][]metric.Judgement   // by variant and point: scores with models, on the validation objects
	gained     crossvalidate.Gained   // what models gain on the folds; nil without folds
}

// what names the models of the stage.
func (m *modelled) what() string {
	if m.base != nil {
		return "boosters"
	}
	return "leaf models"
}

// withModels fits linear models to the leaves of the listed trees, and chooses again among the
// trees with and without models. Then it does the same with boosters in addition to the models. It
// returns the last choice and the stages.
func (c *Chooser) withModels(
	ctx context.Context, pool *frontier.Pool, choice *frontier.Choice, number int, folds []crossvalidate.Fold,
) (*frontier.Choice, []*modelled, error) {
	m := &modelled{variants: c.linear()}
	m.points, m.others = c.worthwhile(pool, choice.Listed)
	m.setComplete(pool)
	stages := []*modelled{m}
	choice, err := c.compare(ctx, pool, m, number, folds)
	if err == nil && c.wantsBoosters(&pool.Candidates[0]) {
		b := &modelled{variants: boosters(), base: m}
		for i := range choice.Listed {
			b.points = append(b.points, choice.Listed[i].Point)
		}
		for i := range m.points {
			if best := m.bestOf(i); m.complete[i] && !slices.ContainsFunc(b.points, func(p frontier.Point) bool { return p.Same(&best) }) {
				b.points = append(b.points, best)
			}
		}
		b.setComplete(pool)
		stages = append(stages, b)
		choice, err = c.compare(ctx, pool, b, number, folds)
	}
	if err != nil {
		return nil, nil, err
	}
	return choice, stages, c.testModels(ctx, pool, stages, choice.Listed)
}

// compare fits the models of a stage, and chooses among its points with and without these models. The
// models of large nodes are drafts at first; then the listed points get their models, and compete again.
func (c *Chooser) compare(
	ctx context.Context, pool *frontier.Pool, m *modelled, number int, folds []crossvalidate.Fold,
) (*frontier.Choice, error) {
	for i := range m.points {
		m.trees = append(m.trees, pool.Tree(&m.points[i]))
	}
	if err := c.fitModels(ctx, m, c.drafts()); err != nil {
		return nil, err
	}
	gained, err := c.race(ctx, pool, number, folds, m)
	if err != nil {
		return nil, err
	}
	m.gained = gained
	choice, err := pool.ChooseAmong(m.candidates(gained, c.always(m)), &c.Settings.Settings)
	if err != nil || !c.drafts() {
		return choice, err
	}
	m.keep(choice.Listed)
	if err := c.fitModels(ctx, m, false); err != nil {
		return nil, err
	}
	return pool.ChooseAmong(m.candidates(gained, c.always(m)), &c.Settings.Settings)
}

// drafts reports whether models are drafts at first.
func (c *Chooser) drafts() bool {
	objects := c.Training.Objects
	if c.Transfer != nil {
		objects = max(objects, int64(c.Transfer.Objects.Len()))
	}
	return objects > int64(leafmodel.DraftObjects(c.Classes))
}

// always reports whether the settings ask for the models of a stage, whatever they gain.
func (c *Chooser) always(m *modelled) bool {
	return c.Settings.LeafModel == Linear || c.Settings.LeafModel == Boosted && m.base != nil
}

// worthwhile returns the points that get models, and the other listed points. With few objects all
// listed points and the front of each grown tree compete for models: a tree that is worse without
// models may be better with them.
func (c *Chooser) worthwhile(pool *frontier.Pool, listed []frontier.Listed) (points, others []frontier.Point) {
	few := c.Training.Objects <= manyObjects
	for i := range listed {
		p := &listed[i]
		if few || p.Chosen || p.Highest || len(points) == 0 || p.Merit-points[len(points)-1].Merit >= listedStep {
			points = append(points, p.Point)
		} else {
			others = append(others, p.Point)
		}
	}
	if few {
		fronts := pool.Fronts(grownStep)
		contends := frontier.Contenders(fronts, c.Settings.Query, 1, marginOfPlain, true)
		for i := range fronts {
			p := &fronts[i]
			if contends[i] && !slices.ContainsFunc(points, func(q frontier.Point) bool { return q.Same(p) }) {
				points = append(points, *p)
			}
		}
	}
	for _, p := range complete(pool) {
		if !slices.ContainsFunc(points, func(q frontier.Point) bool { return q.Same(&p) }) {
			points = append(points, p)
		}
	}
	return points, others
}

// complete returns the unpruned trees that test the selected features once on a path, see growConfined. It returns one
// point for each tree, the point of its first currency.
func complete(pool *frontier.Pool) []frontier.Point {
	var list []frontier.Point
	for _, p := range pool.Points {
		if pool.Candidates[p.Tree].Params.Once && p.Step == 0 && (len(list) == 0 || list[len(list)-1].Tree != p.Tree) {
			list = append(list, p)
		}
	}
	return list
}

// setComplete sets for each point whether it stays in the race, as the trees of complete do. Without models such a tree is
// behind trees of the same cost; with a model that its leaves share, learnt from all their rows, it may be ahead.
func (m *modelled) setComplete(pool *frontier.Pool) {
	trees := complete(pool)
	m.complete = make([]bool, len(m.points))
	for i, p := range m.points {
		p.Ridge = 0
		m.complete[i] = slices.ContainsFunc(trees, func(q frontier.Point) bool { return q.Same(&p) })
	}
}

// soleWithModels returns the only tree with models in its leaves, if they gain on the validation
// objects or the settings ask for them. Without validation rows it takes the middle variant.
func (c *Chooser) soleWithModels(ctx context.Context, t *frontier.Candidate) (*frontier.Candidate, error) {
	validated := t.Counts[dataset.Validation].TotalRows() > 0
	if !validated && c.Settings.LeafModel == Auto {
		c.Host.Note(c.Host.Setting("leaf_model") + " auto: no models, as there are no validation rows to judge them by")
		return t, nil
	}
	with := *t
	best := frontier.Point{By: c.Settings.Criterion(c.Classes)}
	try := func(m *modelled) error {
		m.points = []frontier.Point{best}
		m.trees = []*tree.Tree{t.Tree}
		if err := c.fitModels(ctx, m, false); err != nil {
			return err
		}
		best = m.sole(c.always(m), validated)
		if at, v := m.find(&best); at >= 0 {
			with.Tree = m.tree(at, v)
		}
		return nil
	}
	linear := &modelled{variants: c.linear()}
	err := try(linear)
	if err == nil && c.wantsBoosters(t) {
		err = try(&modelled{variants: boosters(), base: linear})
	}
	return &with, err
}

// refitModels returns a tree with newly fitted models in its leaves, of the kind that the tree had.
func (c *Chooser) refitModels(ctx context.Context, t *frontier.Candidate) (*frontier.Candidate, error) {
	kind := t.Tree.Algorithm
	plain := *t.Tree
	plain.Algorithm.Ridge = 0
	plain.Algorithm.BoosterTrees = 0
	plain.Algorithm.Teacher = "" // a refit only learns from the rows
	with := *t
	with.Tree = &plain
	point := frontier.Point{}
	var base *modelled
	fit := func(m *modelled) error {
		m.points = []frontier.Point{point}
		m.trees = []*tree.Tree{&plain}
		if err := c.fitModels(ctx, m, false); err != nil || !m.changed[0] {
			return err
		}
		point, with.Tree = m.variants[0].extend(point), m.tree(0, 0)
		return nil
	}
	if kind.Ridge > 0 {
		base = &modelled{variants: []variant{{ridge: kind.Ridge}}}
		if err := fit(base); err != nil {
			return nil, err
		}
	}
	if kind.BoosterTrees > 0 {
		if base == nil {
			base = new(modelled)
		}
		if err := fit(&modelled{variants: []variant{{boosted: kind.BoosterTrees}}, base: base}); err != nil {
			return nil, err
		}
	}
	with.Tree.Algorithm.Teacher = kind.Teacher
	return &with, nil
}

// sole returns the only tree's point with the best variant; without validation rows, with the middle
// variant if always is true.
func (m *modelled) sole(always, validated bool) frontier.Point {
	if !validated && always && m.changed[0] {
		return m.variants[(len(m.variants)-1)/2].extend(m.points[0])
	}
	list := m.candidates(nil, always)
	return slices.MaxFunc(list, func(a, b frontier.Point) int { return cmp.Compare(a.Merit, b.Merit) })
}

// linear returns the variants of linear models. On public data sets with more than fewObjects training objects, the
// weakest regularisation is the best or nearly so.
func (c *Chooser) linear() []variant {
	if c.Training.Objects > fewObjects {
		return []variant{{ridge: 3}}
	}
	return []variant{{ridge: 3}, {ridge: 30}, {ridge: 100}}
}

// boosters returns the variants of boosters. Only boosters that leaves share have more than boost.Trees.
func boosters() []variant {
	return []variant{{boosted: 3}, {boosted: 10}, {boosted: boost.Trees}, {boosted: leafmodel.SharedTrees}}
}

// fit fits the models of all variants in the trees of some points, given by their indexes. before has
// the models of the base stage in these trees. Models that are out of the race are nil.
func (m *modelled) fit(f *distill.Fitting, at []int, before [][]*leafmodel.Model) (variants [][][]*leafmodel.Model) {
	var boosted [][]*leafmodel.Model
	if m.base != nil {
		boosted = f.Boost(before)
	}
	for v, kind := range m.variants {
		var in []int // indexes of at
		for k, p := range at {
			if !m.eliminated[v][p] {
				in = append(in, k)
			}
		}
		var made [][]*leafmodel.Model // by in
		if m.base == nil {
			made = f.Pick(in).Linear(kind.ridge)
		} else {
			made = leafmodel.Shorten(dataset.Pick(boosted, in), kind.boosted)
		}
		models := make([][]*leafmodel.Model, len(at))
		for i, k := range in {
			models[k] = made[i]
		}
		variants = append(variants, models)
	}
	return variants
}

// refit fits the models of the base stage, then the models of all variants, in the trees of some
// points, given by their indexes.
func (m *modelled) refit(f *distill.Fitting, at []int) (before [][]*leafmodel.Model, variants [][][]*leafmodel.Model) {
	if m.base == nil {
		return nil, m.fit(f, at, nil)
	}
	before = noModels(f.Trees)
	for _, v := range m.base.variants {
		var own []int
		for k, p := range at {
			if m.points[p].Ridge == v.ridge {
				own = append(own, k)
			}
		}
		for k, models := range f.Pick(own).Linear(v.ridge) {
			before[own[k]] = models
		}
	}
	return before, m.fit(f, at, before)
}

// noModels returns nil models for the nodes of trees, by tree and node.
func noModels(trees []*tree.Tree) [][]*leafmodel.Model {
	none := make([][]*leafmodel.Model, len(trees))
	for i, t := range trees {
		none[i] = make([]*leafmodel.Model, len(t.Nodes))
	}
	return none
}

// fitModels fits the models of a stage that are in the race, and scores them on the validation objects.
func (c *Chooser) fitModels(ctx context.Context, m *modelled, draft bool) error {
	first := m.eliminated == nil
	if first {
		m.begin()
	}
	type result struct {
		models   [][][]*leafmodel.Model
		baseline []metric.Judgement
		scores   [][]metric.Judgement
	}
	total := 2 + int64(len(m.variants))
	at := m.remaining()
	r, err := compute(ctx, c.Host, m.what(), total, "steps", func(s *parallel.Steps) (r result, err error) {
		objects, err := c.Sample(ctx, dataset.Train)
		if err != nil {
			return r, err
		}
		o := c.fitOptions()
		o.Draft, o.Stop = draft, func() bool { return ctx.Err() != nil }
		f := &distill.Fitting{Training: objects, Transfer: c.Transfer, Features: c.Features, Trees: m.trees, Options: o}
		var before [][]*leafmodel.Model
		if m.before != nil {
			before = dataset.Pick(m.before, at)
		}
		r.models = m.fit(f.Pick(at), at, before)
		s.Done.Add(1)
		if objects, err = c.Sample(ctx, dataset.Validation); err != nil {
			return r, err
		}
		r.baseline = m.baseline
		if first {
			r.baseline = leafmodel.Evaluate(objects, c.Features, m.trees, m.before, 0)
		}
		s.Done.Add(1)
		if !draft && m.base != nil {
			m.dropRepeated(r.models, at)
		}
		for i := range m.variants {
			r.scores = append(r.scores, leafmodel.EvaluateFitted(objects, c.Features, f.Pick(at).Trees, r.models[i], 0))
			s.Done.Add(1)
			if ctx.Err() != nil {
				break
			}
		}
		return r, context.Cause(ctx)
	})
	if err != nil {
		return err
	}
	m.baseline = r.baseline
	for v := range m.variants {
		for k, i := range at {
			m.models[v][i], m.scores[v][i] = r.models[v][k], r.scores[v][k]
		}
	}
	if first {
		m.setChanged()
	}
	return nil
}

// dropRepeated takes the models of the last variant out of the race where the variant before has the same, by variant and
// index of at: hardly any boosters have more than boost.Trees.
func (m *modelled) dropRepeated(models [][][]*leafmodel.Model, at []int) {
	last := len(models) - 1
	if last < 1 {
		return
	}
	for k, i := range at {
		if models[last][k] != nil && !m.stays(i) && slices.Equal(models[last][k], models[last-1][k]) {
			models[last][k] = nil
			m.drop(last, i)
		}
	}
}

// begin puts the models of all variants and points into the race, before they are fitted.
func (m *modelled) begin() {
	if m.base != nil {
		m.before = noModels(m.trees)
		for i := range m.points {
			if at, v := m.base.find(&m.points[i]); at >= 0 {
				m.before[i] = m.base.models[v][at]
			}
		}
	}
	for range m.variants {
		m.eliminated = append(m.eliminated, make([]bool, len(m.points)))
		m.models = append(m.models, make([][]*leafmodel.Model, len(m.points)))
		m.scores = append(m.scores, make([]metric.Judgement, len(m.points)))
	}
}

// setChanged sets for each point whether some leaf of its tree has a model that it did not have in before.
// Other points leave the race.
func (m *modelled) setChanged() {
	m.changed = make([]bool, len(m.points))
	for i := range m.points {
		for node, l := range m.models[0][i] {
			m.changed[i] = m.changed[i] || l != nil && (m.before == nil || l != m.before[i][node])
		}
		for v := range m.variants {
			if !m.changed[i] {
				m.drop(v, i)
			}
		}
	}
}

// testModels judges the models of the listed points on the test objects, and sets the total costs of these points.
func (c *Chooser) testModels(
	ctx context.Context, pool *frontier.Pool, stages []*modelled, listed []frontier.Listed,
) error {
	total := int64(len(stages))
	work := func(s *parallel.Steps) ([][]metric.Judgement, error) { // by stage and listed point
		objects, err := c.Sample(ctx, dataset.Test)
		if err != nil {
			return nil, err
		}
		var judged [][]metric.Judgement
		for _, m := range stages {
			trees := make([]*tree.Tree, len(listed))
			models := make([][]*leafmodel.Model, len(listed))
			for i := range listed {
				if at, v := m.find(&listed[i].Point); at >= 0 {
					trees[i], models[i] = m.trees[at], m.models[v][at]
				}
			}
			judged = append(judged, leafmodel.EvaluateFitted(objects, c.Features, trees, models, 0))
			s.Done.Add(1)
			if ctx.Err() != nil {
				break
			}
		}
		return judged, context.Cause(ctx)
	}
	judged, err := compute(ctx, c.Host, "test of leaf models", total, "steps", work)
	if err != nil {
		return err
	}
	for i, m := range stages {
		for k := range listed {
			p := &listed[k].Point
			if at, _ := m.find(p); at >= 0 {
				pruning := &pool.Prunings[pool.PruningOf(p)]
				p.Test = judged[i][k]
				setTotal(&p.Validation, &pruning.Validation[p.Step].Judgement)
				setTotal(&p.Test, &pruning.Test[p.Step].Judgement)
			}
		}
	}
	return nil
}

// setTotal sets the total cost of a judgement with models, given the judgement without: models do not change the cost
// of the tests.
func setTotal(with, without *metric.Judgement) {
	if without.TotalCost != nil && with.ErrorCost != nil {
		with.TotalCost = new(*without.TotalCost - *without.ErrorCost + *with.ErrorCost)
	}
}

// candidates returns the points without models and with models of each variant. The merit
// of a point with models is the merit of the point without models, plus the models' gains on the
// validation objects and the folds. If always is true, a point without models is left out if there
// is the same point with models.
func (m *modelled) candidates(gained crossvalidate.Gained, always bool) []frontier.Point {
	var list []frontier.Point
	if !always {
		list = append(list, m.others...)
	}
	for i, p := range m.points {
		if !always || !m.changed[i] {
			list = append(list, p)
		}
		for v := range m.variants {
			if m.eliminated[v][i] {
				continue
			}
			list = append(list, m.point(i, v, gained))
		}
	}
	return list
}

// point returns point number at with models of variant v, given their gains on the folds.
func (m *modelled) point(at, v int, gained crossvalidate.Gained) frontier.Point {
	p := m.variants[v].extend(m.points[at])
	var folds metric.Judgement
	if gained != nil {
		folds = gained.Mean(v, at)
	}
	p.Validation = m.scores[v][at]
	p.Test = metric.Judgement{} // see testModels
	p.Change(p.Validation.Minus(m.baseline[at]), folds)
	return p
}

// bestOf returns a point without models or with models of one variant, whichever has the highest merit.
func (m *modelled) bestOf(at int) frontier.Point {
	best := m.points[at]
	for v := range m.variants {
		if !m.eliminated[v][at] {
			if p := m.point(at, v, m.gained); p.Merit > best.Merit {
				best = p
			}
		}
	}
	return best
}

// tree returns the tree of point number at with models of variant v.
func (m *modelled) tree(at, v int) *tree.Tree {
	t := leafmodel.Attach(m.trees[at], m.models[v][at])
	p := m.variants[v].extend(m.points[at])
	t.Algorithm.Ridge = p.Ridge
	t.Algorithm.BoosterTrees = p.Boosted
	return t
}

// find returns the number of a point with models, and the number of its variant. at is -1 if the
// stage does not have the point.
func (m *modelled) find(p *frontier.Point) (at, v int) {
	for v := range m.variants {
		for at := range m.points {
			if with := m.variants[v].extend(m.points[at]); with.Same(p) {
				return at, v
			}
		}
	}
	return -1, 0
}

// TreeOf returns the tree of a point with its models.
func (w *Competition) TreeOf(p *frontier.Point) *tree.Tree {
	for _, m := range w.stages {
		if at, v := m.find(p); at >= 0 {
			return m.tree(at, v)
		}
	}
	return w.Pool.Tree(p)
}

// modelsOf returns the models of a point's tree; nil if it has none.
func (w *Competition) modelsOf(p *frontier.Point) []*leafmodel.Model {
	for _, m := range w.stages {
		if at, v := m.find(p); at >= 0 {
			return m.models[v][at]
		}
	}
	return nil
}

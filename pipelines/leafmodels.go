package pipelines

import (
	"cmp"
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// ridges returns the strengths of leaf models that compete, in rows. On public data sets the
// weakest is the best, or nearly so, from so many training objects on.
func ridges(objects int64) []float64 {
	if objects > manyObjects {
		return []float64{3}
	}
	return []float64{3, 30, 100}
}

// manyObjects is the number of training objects from which on one strength will do.
const manyObjects = crossvalidate.MostAuto

// modelObjects is the number of objects of a part that leaf models are fitted to or scored
// on: those of the least hashes.
const modelObjects = 1 << 20

// Differences in merit of neighbouring points that get models. Points that differ by less have
// much the same gains.
const (
	listedStep = 0.001 // of the frontier, where there are many objects
	grownStep  = 0.003 // of a grown tree's own front
)

// modelled is points of the frontier with models in the leaves of their trees.
type modelled struct {
	ridges []float64
	points []frontier.Point
	others []frontier.Point       // listed points that get no models
	trees  []*tree.Tree           // by point, without models
	models [][][]*leafmodel.Model // by strength, point and node
	plain  []leafmodel.Score      // by point: without models, on the validation objects
	// scores with models, by part, strength and point. Those on the test objects are of the
	// listed points alone.
	scores [dataset.Parts][][]leafmodel.Score
}

// wantsModels reports whether leaves may have models. The wishes of --monotone hold for plain
// probabilities alone.
func (c *choosing) wantsModels() bool {
	return c.config.LeafModel != config.LeafModelNone && len(c.config.Monotone) == 0
}

// withModels fits models to the leaves of the listed trees, and chooses again among the trees
// with models and those without.
func (c *choosing) withModels(
	ctx context.Context, pool *frontier.Pool, choice *frontier.Choice, number int, folds []crossvalidate.Fold,
) (*frontier.Choice, *modelled, error) {
	points, others := worthwhile(pool, choice.Listed, c.train.Objects)
	trees := make([]*tree.Tree, len(points))
	for i := range points {
		trees[i] = pool.Tree(&points[i])
	}
	m, err := c.fitModels(ctx, points, trees)
	if err != nil {
		return nil, nil, err
	}
	m.others = others
	gains, err := c.foldGains(ctx, pool, number, folds, m)
	if err != nil {
		return nil, nil, err
	}
	chosen, err := pool.ChooseAmong(m.candidates(gains, c.config.LeafModel == config.LeafModelLinear), &c.selection.Settings)
	if err != nil {
		return nil, nil, err
	}
	if m.scores[dataset.Test], err = c.testModels(ctx, m, chosen.Listed); err != nil {
		return nil, nil, err
	}
	for i := range chosen.Listed {
		if p := &chosen.Listed[i].Point; p.Ridge > 0 {
			at, strength := m.find(p)
			p.TestAUC = m.scores[dataset.Test][strength][at].AUC
		}
	}
	return chosen, m, nil
}

// worthwhile returns the points that get models, and the other listed ones. With few objects
// those are all listed points, and the front of each grown tree: a tree that is worse without
// models may be better with them.
func worthwhile(
	pool *frontier.Pool, listed []frontier.Listed, objects int64,
) (points, others []frontier.Point) {
	few := objects <= manyObjects
	for i := range listed {
		p := &listed[i]
		marked := p.Chosen || p.Highest || p.Knee
		if few || marked || len(points) == 0 || p.Merit-points[len(points)-1].Merit >= listedStep {
			points = append(points, p.Point)
		} else {
			others = append(others, p.Point)
		}
	}
	if !few {
		return points, others
	}
	for _, p := range pool.Fronts(grownStep) {
		if !slices.ContainsFunc(points, func(q frontier.Point) bool { return q.Same(&p) }) {
			points = append(points, p)
		}
	}
	return points, others
}

// soleWithModels fits models to the leaves of the only tree, if they gain on the validation
// objects or are asked for. Without validation rows the strength is the middle one.
func (c *choosing) soleWithModels(ctx context.Context, t *frontier.Candidate) (*frontier.Candidate, error) {
	always := c.config.LeafModel == config.LeafModelLinear
	validated := t.Counts[dataset.Validation].TotalRows() > 0
	if !validated && !always {
		c.driver.Reporter.Note("--leaf_model auto: no models, as there are no validation rows to judge them by")
		return t, nil
	}
	m, err := c.fitModels(ctx, make([]frontier.Point, 1), []*tree.Tree{t.Tree})
	if err != nil || !m.has(0) {
		return t, err
	}
	best := slices.MaxFunc(m.candidates(nil, always), func(a, b frontier.Point) int { return cmp.Compare(a.Merit, b.Merit) })
	if !validated {
		best.Ridge = m.ridges[len(m.ridges)/2]
	}
	with := *t
	if best.Ridge > 0 {
		with.Tree = m.tree(&best)
	}
	return &with, nil
}

// fitModels fits models of each strength to the leaves of the points' trees, and scores them on
// the validation objects.
func (c *choosing) fitModels(ctx context.Context, points []frontier.Point, trees []*tree.Tree) (*modelled, error) {
	strengths := ridges(c.train.Objects)
	total := 1 + int64(2*len(strengths))
	return engine.Compute(ctx, c.driver, "leaf models", total, "steps", func(s *parallel.Steps) (*modelled, error) {
		m := &modelled{ridges: strengths, points: points, trees: trees}
		objects, err := c.rows.sample(ctx, dataset.Train)
		if err != nil {
			return nil, err
		}
		o := leafmodel.Options{Scale: c.spec.GrowthScale(), Stop: func() bool { return ctx.Err() != nil }}
		for _, ridge := range m.ridges {
			o.Ridge = ridge
			m.models = append(m.models, distill.FitModels(objects, c.transfer, c.features, m.trees, o))
			s.Done.Add(1)
		}
		if objects, err = c.rows.sample(ctx, dataset.Validation); err != nil {
			return nil, err
		}
		m.plain = leafmodel.Evaluate(objects, c.features, m.trees, nil, 0)
		s.Done.Add(1)
		for i := range m.ridges {
			scores := leafmodel.Evaluate(objects, c.features, m.trees, m.models[i], 0)
			m.scores[dataset.Validation] = append(m.scores[dataset.Validation], scores)
			s.Done.Add(1)
			if ctx.Err() != nil {
				break
			}
		}
		return m, context.Cause(ctx)
	})
}

// testModels returns the scores of the listed points' models on the test objects, by strength
// and point. Scores of other points are zero.
func (c *choosing) testModels(ctx context.Context, m *modelled, listed []frontier.Listed) ([][]leafmodel.Score, error) {
	total := int64(len(m.ridges))
	work := func(s *parallel.Steps) ([][]leafmodel.Score, error) {
		objects, err := c.rows.sample(ctx, dataset.Test)
		if err != nil {
			return nil, err
		}
		scores := make([][]leafmodel.Score, len(m.ridges))
		for strength, ridge := range m.ridges {
			scores[strength] = make([]leafmodel.Score, len(m.points))
			var trees []*tree.Tree
			var models [][]*leafmodel.Model
			var at []int // by tree: its point
			for i := range listed {
				if p := &listed[i].Point; p.Ridge == ridge {
					point, _ := m.find(p)
					trees, models = append(trees, m.trees[point]), append(models, m.models[strength][point])
					at = append(at, point)
				}
			}
			for k, score := range leafmodel.Evaluate(objects, c.features, trees, models, 0) {
				scores[strength][at[k]] = score
			}
			s.Done.Add(1)
			if ctx.Err() != nil {
				break
			}
		}
		return scores, context.Cause(ctx)
	}
	return engine.Compute(ctx, c.driver, "test of leaf models", total, "steps", work)
}

// foldGains returns what models gain on the folds, by strength and point; nil without folds.
func (c *choosing) foldGains(
	ctx context.Context, pool *frontier.Pool, number int, folds []crossvalidate.Fold, m *modelled,
) ([][]crossvalidate.Gain, error) {
	if len(folds) == 0 {
		return nil, nil
	}
	work := func(s *parallel.Steps) ([][]crossvalidate.Gain, error) {
		g, err := c.growth(ctx, number)
		if err != nil {
			return nil, err
		}
		o := leafmodel.Options{Scale: c.spec.GrowthScale()}
		return g.Gains(ctx, pool, folds, m.points, o, m.ridges, &s.Done)
	}
	fits := int64(len(folds) * len(m.ridges))
	return engine.Compute(ctx, c.driver, "folds of leaf models", fits, "fits", work)
}

// candidates returns the points without models and with models of each strength. The merit
// of a point with models is that of the point without, plus what the models gain on the
// validation objects and the folds. always leaves out points without models where there is
// one with models.
func (m *modelled) candidates(gains [][]crossvalidate.Gain, always bool) []frontier.Point {
	var list []frontier.Point
	if !always {
		list = append(list, m.others...)
	}
	for i, p := range m.points {
		if !always || !m.has(i) {
			list = append(list, p)
		}
		for s, ridge := range m.ridges {
			if !m.has(i) {
				break
			}
			var folds crossvalidate.Gain
			if gains != nil {
				folds = gains[s][i]
			}
			list = append(list, m.point(i, s, ridge, folds))
		}
	}
	return list
}

// has reports whether some leaf of a point's tree has a model.
func (m *modelled) has(point int) bool {
	return slices.ContainsFunc(m.models[0][point], func(l *leafmodel.Model) bool { return l != nil })
}

// point returns a point with models of a strength.
func (m *modelled) point(at, strength int, ridge float64, folds crossvalidate.Gain) frontier.Point {
	p := m.points[at]
	p.Ridge, p.Interval = ridge, nil
	with := &m.scores[dataset.Validation][strength][at]
	auc, loss := with.Gain(&m.plain[at])
	p.Raise([]*float64{auc, folds.AUC}, []*float64{loss, folds.LogLoss})
	if p.Folds != nil && folds.AUC != nil {
		area := *p.Folds + *folds.AUC
		p.Folds = &area
	}
	p.AUC, p.LogLoss, p.TestAUC = with.AUC, with.LogLoss, nil // see testModels
	return p
}

// tree returns the tree of a point with its models.
func (m *modelled) tree(p *frontier.Point) *tree.Tree {
	at, strength := m.find(p)
	t := leafmodel.Attach(m.trees[at], m.models[strength][at])
	t.Algorithm.Ridge = p.Ridge
	return t
}

// find returns the number of a point with models, and of its strength.
func (m *modelled) find(p *frontier.Point) (at, strength int) {
	at = slices.IndexFunc(m.points, func(q frontier.Point) bool {
		return p.Tree == q.Tree && p.Currency == q.Currency && p.Step == q.Step
	})
	return at, slices.Index(m.ridges, p.Ridge)
}

// part returns the figures of a point with models on the objects of a part.
func (m *modelled) part(p *frontier.Point, _ *tree.Tree, of dataset.Part) runfolder.Part {
	at, strength := m.find(p)
	s := &m.scores[of][strength][at]
	return runfolder.Part{AUC: s.AUC, LogLoss: s.LogLoss}
}

// sampleObjects reads the objects of a part, at most modelObjects: those of the least hashes.
func (r *run) sampleObjects(ctx context.Context, o *objects, part dataset.Part) (*dataset.Objects, error) {
	layout := o.layout()
	newObjects := func() *dataset.Objects {
		n := min(o.parts[part].Objects, 2*modelObjects)
		return dataset.NewObjects(layout, len(o.label.Classes), o.spec.Weighted(), int(n))
	}
	all := newObjects()
	for _, task := range o.tasks(part) {
		b, err := r.files.Read(ctx, task.File)
		if err != nil {
			return nil, err
		}
		if err := all.AppendFrom(b, layout); err != nil {
			return nil, err
		}
		if all.Len() > 2*modelObjects {
			all = leafmodel.Sorted(all, modelObjects)
		}
	}
	return leafmodel.Sorted(all, modelObjects), nil
}

// measureModels measures a tree with models on the rows of each part: unlike the objects,
// the rows have the values that the models use.
func (r *run) measureModels(ctx context.Context, o *objects, t *tree.Tree) (*runfolder.Metrics, error) {
	c := jobs.EvaluateRowsConfig{
		Decoded: []*tree.Tree{t}, Rows: o.spec.OfLabels().Encode(),
		Parts:   []dataset.Part{dataset.Train, dataset.Validation, dataset.Test},
		Workers: r.driver.Workers(), Out: r.newFolder("evaluate_rows"), Run: r.files.Run.Name(),
	}
	if r.driver.Serialises() {
		c.Trees = []string{c.Out + "/tree.json"}
		if err := r.files.Write(ctx, c.Trees[0], t.Encode()); err != nil {
			return nil, err
		}
	}
	what := engine.Job{Name: "evaluate rows", Total: int64(len(r.input.Tasks)), Unit: "row groups", Done: engine.TasksDone}
	err := r.driver.Run(ctx, what, r.input.Tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.EvaluateRows(s, tasks, c)
	})
	if err != nil {
		return nil, err
	}
	m := &runfolder.Metrics{Format: runfolder.MetricsFormat, Version: 1}
	for _, part := range c.Parts {
		counts, err := jobs.ReadScoreCounts(ctx, c.Out, part, c.Decoded)
		if err != nil {
			return nil, err
		}
		if one := measureLeaves(t, metric.Scores(t, counts[0]), o.spec.ScaleOf(part)); one.Rows > 0 {
			m.Set(part, one)
		}
	}
	return m, nil
}

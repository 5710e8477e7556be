package pipelines

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/forecast"
	"github.com/espalier-ml/espalier/pipelines/slicing"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// choosing is what the choice of a tree needs beside the candidates.
type choosing struct {
	driver    *engine.Driver
	config    *TrainConfig
	selection *config.Selection
	features  []dataset.Feature
	columns   []split.Column // the features as the growth of trees sees them
	classes   int
	spec      *jobs.RowSpec
	train     *jobs.ObjectStats // of the training part
	memory    int64             // bytes that growth of trees may take

	transfer *distill.TransferSet // that the last candidates have grown from; nil: there is none

	rows rowReader

	// model makes a tree of a root that was grown with the parameters of a candidate.
	model func(root *induce.Node, candidate int) *tree.Tree
}

// rowReader reads the objects and rows of a run.
type rowReader struct {
	// objects reads all training objects at the first call, and keeps them for the next.
	objects func(ctx context.Context) (*dataset.Objects, error)
	// sample reads objects of a part, see sampleObjects.
	sample func(ctx context.Context, part dataset.Part) (*dataset.Objects, error)
	// shuffled reads the objects on which the importance of features is measured.
	shuffled func(ctx context.Context) (*runfolder.Shuffled, error)
	// measure measures a tree with leaf models.
	measure func(ctx context.Context, t *tree.Tree) (*runfolder.Metrics, error)
	// slice adds the figures by --slice to metrics.
	slice func(ctx context.Context, t *tree.Tree, m *runfolder.Metrics) error
}

// chosen is the chosen tree with the documents that describe it.
type chosen struct {
	candidate     *frontier.Candidate
	tree          *tree.Tree // of the run folder: without the features that it does not test
	metrics       *runfolder.Metrics
	frontier      *runfolder.Frontier // nil: there was nothing to choose
	frontierTrees []*tree.Tree        // the trees of the frontier's points
	grown         *runfolder.Grown    // nil: there was nothing to choose
	importance    *runfolder.Importance
}

// choose chooses a tree among the scored trees and their prunings.
func (r *run) choose(ctx context.Context, s *scored, slicer *slicing.Slicer) (*chosen, error) {
	g := s.grown // the candidates are not needed once one of them is chosen
	objects := once(func(ctx context.Context) (*dataset.Objects, error) {
		if g.training != nil {
			return g.training, nil
		}
		return r.trainingObjects(ctx, g.objects)
	})
	modeller := r.modeller(g.objects)
	c := choosing{
		driver: r.driver, config: r.config, selection: &r.parsed.Selection,
		features: g.features, columns: r.columns(g.features), classes: len(g.label.Classes),
		spec: &g.spec, train: g.train(), memory: (&forecast.Room{Memory: r.memory}).Usable(),
		transfer: g.transfer,
		rows: rowReader{
			objects: objects,
			sample: func(ctx context.Context, part dataset.Part) (*dataset.Objects, error) {
				if part != dataset.Train || g.train().Objects > modelObjects {
					return r.sampleObjects(ctx, g.objects, part)
				}
				all, err := objects(ctx) // the folds and the certificate read them, too
				if err != nil {
					return nil, err
				}
				return leafmodel.Sorted(all, 0), nil
			},
			shuffled: func(ctx context.Context) (*runfolder.Shuffled, error) { return r.importanceSample(ctx, g.objects) },
			measure: func(ctx context.Context, t *tree.Tree) (*runfolder.Metrics, error) {
				return r.measureModels(ctx, g.objects, t)
			},
			slice: func(ctx context.Context, t *tree.Tree, m *runfolder.Metrics) error {
				if slicer == nil {
					return nil
				}
				return slicer.Measure(ctx, t, &g.spec, m)
			},
		},
		model: func(root *induce.Node, candidate int) *tree.Tree {
			return modeller.Model(root, g.members[candidate])
		},
	}
	return c.choose(ctx, s.candidates)
}

// once returns a function that keeps the result of its first call without an error. One call
// at a time reads: the abandoned work of a phase may still be reading.
func once[T any](read func(ctx context.Context) (*T, error)) func(ctx context.Context) (*T, error) {
	var lock sync.Mutex
	var kept *T
	return func(ctx context.Context) (*T, error) {
		lock.Lock()
		defer lock.Unlock()
		if kept != nil {
			return kept, nil
		}
		value, err := read(ctx)
		if err == nil {
			kept = value
		}
		return value, err
	}
}

// choose chooses a tree, bounds its cost from below, and describes it.
func (c *choosing) choose(ctx context.Context, candidates []frontier.Candidate) (*chosen, error) {
	c.warnOfDeadline(candidates)
	w, err := c.winner(ctx, candidates)
	if err != nil {
		return nil, err
	}
	grown := len(candidates)
	if w.frontier != nil {
		grown *= 1 + w.frontier.Folds
	}
	certificate, err := c.certify(ctx, w.candidate, int64(grown))
	if err != nil {
		return nil, err
	}
	w.candidate.Tree.Certificate = certificate
	r := &chosen{
		candidate: w.candidate, tree: w.candidate.Tree.Tested(), frontier: w.frontier, frontierTrees: w.trees,
		grown: w.grown,
	}
	if !w.candidate.Tree.Modelled() {
		r.metrics = newMetrics(w.candidate.Tree, w.candidate.Counts, scalesOf(c.spec))
	} else if r.metrics, err = c.rows.measure(ctx, w.candidate.Tree); err != nil {
		return nil, err
	}
	if err := c.rows.slice(ctx, w.candidate.Tree, r.metrics); err != nil {
		return nil, err
	}
	if w.frontier != nil {
		r.frontierTrees[w.at] = r.tree // with its certificate
	}
	if err := c.weigh(ctx, r, w); err != nil {
		return nil, err
	}
	r.metrics.Folds = w.folds
	if n := r.tree.Training.LeftOutRows; n > 0 {
		c.driver.Reporter.Warn(fmt.Sprintf("%d training rows are of a class with the weight 0: they are left out", n))
	}
	if r.tree.Training.Weights != "" {
		r.metrics.DescribeWeights()
	}
	return r, nil
}

// weigh measures the importance of the chosen tree's features.
func (c *choosing) weigh(ctx context.Context, r *chosen, w *winner) error {
	type weighed struct {
		*runfolder.Importance

		shuffled *runfolder.Shuffled
	}
	work := func(*parallel.Steps) (weighed, error) {
		s, err := c.rows.shuffled(ctx)
		if err != nil {
			return weighed{}, err
		}
		t := w.candidate.Tree
		if !t.Modelled() {
			return weighed{runfolder.NewImportance(t, s, nil), s}, nil
		}
		if w.models == nil { // the only tree of a run does not keep its models
			return weighed{runfolder.NewImportance(t, s, importance.NoAUC{}), s}, nil
		}
		s.Objects = leafmodel.Sorted(s.Objects, 0)
		models := leafmodel.NewShuffling(s.Objects, c.features, t, w.models)
		return weighed{runfolder.NewImportance(t, s, models), s}, context.Cause(ctx)
	}
	m, err := engine.Compute(ctx, c.driver, "importance", 1, "trees", work)
	if err != nil {
		return err
	}
	r.importance = m.Importance
	if g := w.grown; g != nil {
		g.Sample, g.SamplePart, g.Weighted = m.shuffled.Objects.AppendBlock(nil), m.shuffled.Part, c.spec.Weighted()
	}
	return nil
}

// warnOfDeadline warns if the deadline has ended the growth of a tree.
func (c *choosing) warnOfDeadline(candidates []frontier.Candidate) {
	for i := range candidates {
		if n := candidates[i].Tree.Training.CutLeaves; n > 0 {
			c.driver.Reporter.Warn(fmt.Sprintf(
				"--deadline came first: %d leaves of the tree would have been split further", n))
			return
		}
	}
}

// winner is the chosen tree, with the documents about its competitors.
type winner struct {
	candidate *frontier.Candidate
	frontier  *runfolder.Frontier // nil: there was no competition
	trees     []*tree.Tree        // the trees of the frontier's points
	at        int                 // index of the winner among them
	folds     *runfolder.Folds    // nil: there was no cross-validation
	grown     *runfolder.Grown    // what other choices begin with
	models    []*leafmodel.Model  // by node of the tree; nil: it has none
}

// winner returns the chosen tree: the winner of a competition, or the only candidate.
func (c *choosing) winner(ctx context.Context, candidates []frontier.Candidate) (*winner, error) {
	if c.selection.Undecided(len(candidates)) {
		return c.compete(ctx, candidates)
	}
	sole := c.selection.Sole(&candidates[0])
	if c.wantsModels() {
		var err error
		if sole, err = c.soleWithModels(ctx, sole); err != nil {
			return nil, err
		}
	}
	return &winner{candidate: sole}, nil
}

// compete prunes the candidates, cross-validates the prunings, chooses one and
// describes the frontier.
func (c *choosing) compete(ctx context.Context, candidates []frontier.Candidate) (*winner, error) {
	pool, err := newPool(ctx, c.driver, candidates, &c.selection.Settings)
	if err != nil {
		return nil, err
	}
	number := c.foldsWanted(candidates[0].Counts[dataset.Validation])
	folds, err := c.crossValidate(ctx, pool, number)
	if err != nil {
		return nil, err
	}
	choice, err := pool.Choose(&c.selection.Settings)
	if err != nil {
		return nil, usage.Errorf("--select %s: %v", c.config.Select, err)
	}
	var models []*modelled
	if c.wantsModels() {
		if choice, models, err = c.withModels(ctx, pool, choice, number, folds); err != nil {
			return nil, usage.Errorf("--select %s: %v", c.config.Select, err)
		}
	}
	w, err := c.describe(ctx, pool, choice, models, folds)
	if err != nil {
		return nil, err
	}
	w.frontier.Folds = number
	return w, nil
}

// newPool prunes and scores the candidates.
func newPool(
	ctx context.Context, j *engine.Driver, candidates []frontier.Candidate, settings *frontier.Settings,
) (*frontier.Pool, error) {
	sequences := int64(settings.Sequences(len(candidates)))
	return engine.Compute(ctx, j, "prune", sequences, "sequences", func(s *parallel.Steps) (*frontier.Pool, error) {
		return frontier.NewPool(ctx, candidates, settings, &s.Done)
	})
}

// describe describes the points that frontier.json lists, and returns the chosen one.
func (c *choosing) describe(
	ctx context.Context, pool *frontier.Pool, choice *frontier.Choice, models []*modelled, folds []crossvalidate.Fold,
) (*winner, error) {
	n := len(choice.Listed)
	trees, points, reports := make([]*tree.Tree, n), make([]runfolder.Point, n), make([]*runfolder.Folds, n)
	err := c.driver.Phase(ctx, "frontier", int64(n), "trees", func(s *parallel.Steps) error {
		return parallel.EachUntil(ctx, n, &s.Done, func(i int) {
			p := &choice.Listed[i]
			t, part := treeOf(pool, models, &p.Point)
			trees[i], points[i] = t.Tested(), frontierPoint(i, p, t, part)
			reports[i] = foldsReport(t, crossvalidate.Counterparts(folds, pool, &p.Point))
		})
	})
	if err != nil {
		return nil, err
	}
	f := &runfolder.Frontier{
		Format: runfolder.FrontierFormat, Version: 1, Select: c.config.Select, Points: points,
		Grown: len(pool.Candidates), Pruned: len(pool.Points),
	}
	if c.selection.Rule == frontier.Best {
		f.Tolerance = c.selection.Tolerance
	}
	at := slices.IndexFunc(choice.Listed, func(p frontier.Listed) bool { return p.Chosen })
	candidate := pool.Candidate(&choice.Chosen)
	candidate.Tree, _ = treeOf(pool, models, &choice.Chosen)
	w := &winner{
		candidate: candidate, frontier: f, trees: trees, at: at, folds: reports[at], grown: c.saved(pool),
		models: modelsOf(models, &choice.Chosen),
	}
	if len(folds) > 0 {
		w.grown.Folds = reports
	}
	return w, nil
}

// modelsOf returns the models of a point's tree; nil: it has none.
func modelsOf(stages []*modelled, p *frontier.Point) []*leafmodel.Model {
	for _, m := range stages {
		if at, v := m.find(p); at >= 0 {
			return m.models[v][at]
		}
	}
	return nil
}

// saved returns what other choices among the trees of a pool begin with.
func (c *choosing) saved(pool *frontier.Pool) *runfolder.Grown {
	g := &runfolder.Grown{
		Label: pool.Candidates[0].Tree.Label, Features: dataset.EncodeFeatures(c.features),
		Candidates: frontier.AppendCandidates(nil, pool.Candidates), Scales: scalesOf(c.spec),
	}
	if slices.ContainsFunc(pool.Points, func(p frontier.Point) bool { return p.Folds != nil }) {
		for i := range pool.Points {
			g.Areas = append(g.Areas, pool.Points[i].Folds)
			g.FoldShare = max(g.FoldShare, pool.Points[i].OfFolds) // the same of all points with an area
		}
	}
	return g
}

// partOf returns the figures of a point's tree on a part of the rows.
type partOf func(p *frontier.Point, t *tree.Tree, of dataset.Part) runfolder.Part

// poolPart returns the figures of trees without leaf models.
func poolPart(pool *frontier.Pool) partOf {
	return func(p *frontier.Point, t *tree.Tree, of dataset.Part) runfolder.Part {
		pruning := &pool.Prunings[pool.PruningOf(p)]
		score := &pruning.Validation[p.Step]
		if of == dataset.Test {
			score = &pruning.Test[p.Step]
		}
		figures := runfolder.Part{AUC: score.AUC, LogLoss: score.LogLoss}
		if area := pool.Area(p, t, of); area != nil {
			figures.Interval = &area.Interval
		}
		return figures
	}
}

// frontierPoint returns the entry of frontier.json with the index i.
func frontierPoint(i int, p *frontier.Listed, t *tree.Tree, part partOf) runfolder.Point {
	return runfolder.Point{
		Tree: runfolder.FrontierTree(i), Grown: p.Tree, Step: p.Step, Algorithm: t.Algorithm, Complexity: t.Complexity,
		Merit: p.Merit, Folds: p.Folds, Selected: p.Chosen, Highest: p.Highest, Knee: p.Knee,
		Validation: part(&p.Point, t, dataset.Validation), Test: part(&p.Point, t, dataset.Test),
	}
}

// certify returns the certificate of a tree: a lower bound on the cost of any tree that
// separates the training objects as far as this one did before it was pruned. grown is
// the number of trees that the run has grown. The certificate is nil if the settings or
// the size of the data rule it out.
func (c *choosing) certify(ctx context.Context, t *frontier.Candidate, grown int64) (*tree.Certificate, error) {
	return engine.Compute(ctx, c.driver, "certificate", 1, "steps", func(s *parallel.Steps) (*tree.Certificate, error) {
		mode := certify.Mode(c.config.Certificate)
		d := mode.Decide(c.features, c.train.Objects)
		if d.Answer == certify.TooLarge {
			c.driver.Reporter.Note(fmt.Sprintf(
				"the tree has no certificate: it takes all training objects in memory, %d MiB", d.Bytes>>20))
		}
		if d.Answer != certify.Possible {
			return nil, nil
		}
		objects, err := c.rows.objects(ctx)
		if err != nil {
			return nil, err
		}
		run := certify.Run{
			Trees: grown, Objects: int64(objects.Len()), Rows: c.train.Rows, Features: int64(len(c.features)),
		}
		options := certify.ForTree(t.Grown, t.Params, mode, run.Budget())
		options.Workers = runtime.GOMAXPROCS(0)
		options.Stop = func() bool { return ctx.Err() != nil }
		options.Progress = s.Done.Store
		options.Planned = func(steps int64) { s.Total.Store(max(1, steps)) }
		bound := certify.Certify(certify.Data{Objects: objects, Features: c.features}, options)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		made := bound.Certificate(certify.Describe(t.Grown))
		made.Pruned = len(t.Grown.Nodes) != len(t.Tree.Nodes)
		return &made, nil
	})
}

// foldsWanted returns the number of folds. If the data decide against folds, a note
// says why.
func (c *choosing) foldsWanted(validation *tree.LeafCounts) int {
	rare, objects := crossvalidate.Rarest(validation, c.classes), c.train.Objects
	d := c.selection.Folds.Decide(rare, float64(objects))
	switch d.Reason {
	case crossvalidate.Enough:
		c.driver.Reporter.Note(fmt.Sprintf("--folds auto: no cross-validation, as the validation rows have %.0f of "+
			"the rarest class, and %d are enough", rare, crossvalidate.EnoughRows))
	case crossvalidate.TooMany:
		c.driver.Reporter.Note(fmt.Sprintf("--folds auto: no cross-validation, as %d training objects are more "+
			"than %d, though the validation rows have only %.0f of the rarest class: "+
			"--folds %d cross-validates all the same",
			objects, crossvalidate.MostAuto, rare, crossvalidate.AutoFolds))
	case crossvalidate.Asked, crossvalidate.RareRows:
	}
	bytes := objects * int64(dataset.NewLayout(c.features).Stride)
	if d.Folds > 0 && bytes > crossvalidate.MaxBytes {
		c.driver.Reporter.Note(fmt.Sprintf("--folds %s: no cross-validation, as it takes all training objects in "+
			"memory, %d MiB, and at most %d MiB are allowed", c.config.Folds, bytes>>20, int64(crossvalidate.MaxBytes)>>20))
		return 0
	}
	return d.Folds
}

// crossValidate grows the trees of the folds, and sets the mean areas of the pool's
// points.
func (c *choosing) crossValidate(ctx context.Context, pool *frontier.Pool, number int) ([]crossvalidate.Fold, error) {
	if number == 0 {
		return nil, nil
	}
	weight := crossvalidate.Weight(c.train.Weight, pool, number)
	work := func(s *parallel.Steps) ([]crossvalidate.Fold, error) {
		g, err := c.growth(ctx, number)
		if err != nil {
			return nil, err
		}
		return g.Grow(ctx, pool, &s.Done)
	}
	folds, err := engine.Compute(ctx, c.driver, "folds", weight, "weight settled", work)
	if err != nil {
		return nil, err
	}
	crossvalidate.SetAreas(folds, pool)
	return folds, nil
}

// growth returns from what the trees of the folds are grown.
func (c *choosing) growth(ctx context.Context, folds int) (*crossvalidate.Growth, error) {
	objects, err := c.rows.objects(ctx)
	if err != nil {
		return nil, err
	}
	return &crossvalidate.Growth{
		Objects: objects, Columns: c.columns, Folds: folds, Seed: c.config.Seed, Model: c.model, Memory: c.memory,
		Transfer: c.transfer,
	}, nil
}

// foldsReport compares the chosen tree with its counterparts of the folds; nil without
// counterparts.
func foldsReport(t *tree.Tree, counterparts []crossvalidate.Counterpart) *runfolder.Folds {
	if len(counterparts) == 0 {
		return nil
	}
	r := &runfolder.Folds{Count: len(counterparts), Stability: crossvalidate.Stability(t, counterparts)}
	for _, p := range counterparts {
		r.Each = append(r.Each, runfolder.FoldFigures{
			Rows: p.Rows, AUCOvRMacro: p.Score.AUC, Accuracy: p.Score.Accuracy, ExpectedCost: p.Score.ExpectedCost,
			ExpectedBilledCost: p.Score.ExpectedBilledCost, Leaves: p.Tree.Complexity.Leaves,
		})
	}
	r.FillMeans()
	return r
}

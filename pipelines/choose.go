package pipelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/forecast"
	"github.com/espalier-ml/espalier/pipelines/slicing"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// choosing is what the description of a choice needs beside the chooser.
type choosing struct {
	*selection.Chooser

	driver *engine.Driver
	config *TrainConfig
	spec   *jobs.RowSpec
	rows   rowReader
}

// rowReader reads the objects and rows of a run.
type rowReader struct {
	// shuffled reads the objects on which the importance of features is measured.
	shuffled func(ctx context.Context) (*runfolder.Shuffled, error)
	// count counts the predictions of a tree with leaf models: see run.countModels.
	count func(ctx context.Context, t *tree.Tree) (metrics func() (*runfolder.Metrics, error), err error)
	// slice adds the figures by --slice to metrics.
	slice func(ctx context.Context, t *tree.Tree, m *runfolder.Metrics) error
}

// host is a driver as the host of a choice.
type host struct{ *engine.Driver }

// Note implements selection.Host.
func (h host) Note(text string) { h.Reporter.Note(text) }

// Setting implements selection.Host.
func (h host) Setting(name string) string { return "--" + name }

// chooser returns the chooser among the trees of some objects.
func (r *run) chooser(o *objects) *selection.Chooser {
	train := o.train()
	return &selection.Chooser{
		Host: host{r.driver}, Settings: &r.parsed.Selection,
		Features: o.features, Columns: r.columns(o.features), Classes: len(o.label.Classes),
		Training: selection.Training{
			Objects: train.Objects, Rows: train.Rows, Weight: train.Weight, Scale: o.spec.GrowthScale(),
			WeightEffect: o.spec.WeightEffect(),
		},
		Memory:  (&forecast.Room{Memory: r.memory}).Usable(),
		Objects: func(ctx context.Context) (*dataset.Objects, error) { return r.trainingObjects(ctx, o) },
	}
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
		Chooser: r.chooser(g.objects), driver: r.driver, config: r.config, spec: &g.spec,
		rows: rowReader{
			shuffled: func(ctx context.Context) (*runfolder.Shuffled, error) { return r.importanceSample(ctx, g.objects) },
			count: func(ctx context.Context, t *tree.Tree) (func() (*runfolder.Metrics, error), error) {
				return r.countModels(ctx, g.objects, t)
			},
			slice: func(ctx context.Context, t *tree.Tree, m *runfolder.Metrics) error {
				if slicer == nil {
					return nil
				}
				return slicer.Measure(ctx, t, &g.spec, m)
			},
		},
	}
	c.Transfer, c.Objects = g.transfer, objects
	if r.config.Key != "" {
		c.Grouped = func(ctx context.Context, part dataset.Part) (*dataset.Objects, error) {
			return r.groupedObjects(ctx, g.objects, part)
		}
	}
	c.Model = func(root *induce.Node, candidate int) *tree.Tree { return modeller.Model(root, g.members[candidate]) }
	c.Sample = func(ctx context.Context, part dataset.Part) (*dataset.Objects, error) {
		if part != dataset.Train || g.train().Objects > int64(selection.Most(part)) {
			return r.sampleObjects(ctx, g.objects, part)
		}
		all, err := objects(ctx) // the folds and the certificate read them, too
		if err != nil {
			return nil, err
		}
		return leafmodel.Sorted(all, 0), nil
	}
	r.warnOfRelabelling(g.train(), s.candidates[0].Tree)
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
	certificate, err := c.Certify(ctx, w.Candidate, w.Grown(len(candidates)))
	if err != nil {
		return nil, err
	}
	w.Candidate.Tree.Certificate = certificate
	r := &chosen{
		candidate: w.Candidate, tree: w.Candidate.Tree.Tested(), frontier: w.frontier, frontierTrees: w.trees,
		grown: w.grown,
	}
	if err := c.measure(ctx, r, w); err != nil {
		return nil, err
	}
	if w.frontier != nil {
		r.frontierTrees[w.at] = r.tree // with its certificate
	}
	r.metrics.Folds = w.folds
	if err := c.warnOfTree(ctx, candidates, w); err != nil {
		return nil, err
	}
	if n := r.tree.Training.LeftOutRows; n > 0 {
		c.driver.Reporter.Warn(fmt.Sprintf("%d training rows are of a class with the weight 0: they are left out", n))
	}
	if r.tree.Training.Weights != "" {
		r.metrics.DescribeWeights()
	}
	return r, nil
}

// measure measures the chosen tree, and the importance of its features. The metrics of leaf models
// take a while, most of it on one processor: so both go on at once.
func (c *choosing) measure(ctx context.Context, r *chosen, w *winner) error {
	t := w.Candidate.Tree
	var metrics func() (*runfolder.Metrics, error) // of leaf models
	if t.Modelled() {
		var err error
		if metrics, err = c.rows.count(ctx, t); err != nil {
			return err
		}
	}
	err := parallel.AtOnce(2, func(i int) (err error) {
		switch {
		case i == 0:
			return c.weigh(ctx, r, w)
		case metrics == nil:
			r.metrics = newMetrics(t, w.Candidate.Counts, scalesOf(c.spec))
			return nil
		default:
			r.metrics, err = metrics()
			return err
		}
	})
	if err != nil {
		return err
	}
	if err := c.rows.slice(ctx, t, r.metrics); err != nil || c.Grouped == nil {
		return err
	}
	return c.widen(ctx, t, r.metrics)
}

// widen makes the intervals of metrics those of groups. Leaf models change the predictions of a tree, but
// not which rows come together: its design effects are those of its leaves.
func (c *choosing) widen(ctx context.Context, t *tree.Tree, m *runfolder.Metrics) error {
	for _, p := range m.Parts() {
		part, _ := dataset.ParsePart(p.Name)
		objects, err := c.Grouped(ctx, part)
		if err != nil {
			return err
		}
		p.Metrics.Widen(selection.EffectsOf(t, objects))
	}
	return nil
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
		t := w.Candidate.Tree
		if !t.Modelled() {
			return weighed{runfolder.NewImportance(t, s, nil), s}, nil
		}
		if w.Models == nil { // the only tree of a run does not keep its models
			return weighed{runfolder.NewImportance(t, s, importance.NoAUC{}), s}, nil
		}
		some := *s
		some.Objects = leafmodel.Sorted(s.Objects, modelledObjects)
		models := leafmodel.NewShuffling(some.Objects, c.Features, t, w.Models)
		return weighed{runfolder.NewImportance(t, &some, models), s}, context.Cause(ctx)
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
	*selection.Winner

	frontier *runfolder.Frontier // nil: there was no competition
	trees    []*tree.Tree        // the trees of the frontier's points
	at       int                 // index of the winner among them
	folds    *runfolder.Folds    // nil: there was no cross-validation
	grown    *runfolder.Grown    // what other choices begin with
}

// winner returns the chosen tree: the winner of a competition, or the only candidate.
func (c *choosing) winner(ctx context.Context, candidates []frontier.Candidate) (*winner, error) {
	w, err := c.Choose(ctx, candidates)
	if rule := new(selection.RuleError); errors.As(err, &rule) {
		return nil, usage.Errorf("%v", err)
	}
	if err != nil || w.Competition == nil {
		return &winner{Winner: w}, err
	}
	return c.describe(ctx, w)
}

// describe describes the points that frontier.json lists.
func (c *choosing) describe(ctx context.Context, chosen *selection.Winner) (*winner, error) {
	found := chosen.Competition
	choice, pool := found.Choice, found.Pool
	n := len(choice.Listed)
	trees, points, reports := make([]*tree.Tree, n), make([]runfolder.Point, n), make([]*runfolder.Folds, n)
	err := c.driver.Phase(ctx, "frontier", int64(n), "trees", func(s *parallel.Steps) error {
		return parallel.EachUntil(ctx, n, &s.Done, func(i int) {
			p := &choice.Listed[i]
			t, part := treeOf(found, &p.Point)
			trees[i], points[i] = t.Tested(), frontierPoint(i, p, t, part)
			reports[i] = foldsReport(t, crossvalidate.Counterparts(found.Folds, pool, &p.Point))
		})
	})
	if err != nil {
		return nil, err
	}
	f := &runfolder.Frontier{
		Format: runfolder.FrontierFormat, Version: 1, Select: c.config.Select, Points: points,
		Grown: len(pool.Candidates), Pruned: len(pool.Points), Folds: found.Number,
	}
	if c.Settings.Rule == frontier.Best {
		f.Tolerance = c.Settings.Tolerance
	}
	if score := choice.Chosen.Score; score != nil {
		f.Evidence = score.Rows
	}
	at := slices.IndexFunc(choice.Listed, func(p frontier.Listed) bool { return p.Chosen })
	w := &winner{Winner: chosen, frontier: f, trees: trees, at: at, folds: reports[at], grown: c.saved(pool)}
	if len(found.Folds) > 0 {
		reports[at].Optimism = found.Optimism
		w.grown.Folds = reports
	}
	return w, nil
}

// treeOf returns the tree of a point with its models, and says where its figures come from.
func treeOf(found *selection.Competition, p *frontier.Point) (*tree.Tree, partOf) {
	t, scores := found.TreeOf(p)
	if scores == nil {
		return t, poolPart(found.Pool)
	}
	return t, func(p *frontier.Point, t *tree.Tree, of dataset.Part) runfolder.Part {
		s := scores(of)
		figures := runfolder.Part{AUC: s.AUC, LogLoss: s.LogLoss, Accuracy: s.Accuracy, ExpectedErrorCost: s.ErrorCost}
		if plain := poolPart(found.Pool)(p, t, of); plain.ExpectedTotalCost != nil && s.ErrorCost != nil { // models change no bill
			total := *plain.ExpectedTotalCost - *plain.ExpectedErrorCost + *s.ErrorCost
			figures.ExpectedTotalCost = &total
		}
		return figures
	}
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

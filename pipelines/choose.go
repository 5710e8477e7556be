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
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/forecast"
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
	// measure measures a tree with leaf models.
	measure func(ctx context.Context, t *tree.Tree) (*runfolder.Metrics, error)
}

// chosen is the chosen tree with the documents that describe it.
type chosen struct {
	candidate     *frontier.Candidate
	tree          *tree.Tree // of the run folder: without the features that it does not test
	metrics       *runfolder.Metrics
	frontier      *runfolder.Frontier // nil: there was nothing to choose
	frontierTrees []*tree.Tree        // the trees of the frontier's points
}

// choose chooses a tree among the scored trees and their prunings.
func (r *run) choose(ctx context.Context, s *scored) (*chosen, error) {
	g := s.grown // the candidates are not needed once one of them is chosen
	objects := once(func(ctx context.Context) (*dataset.Objects, error) {
		if g.training != nil {
			return g.training, nil
		}
		return r.trainingObjects(ctx, g.objects)
	})
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
			measure: func(ctx context.Context, t *tree.Tree) (*runfolder.Metrics, error) {
				return r.measureModels(ctx, g.objects, t)
			},
		},
		model: func(root *induce.Node, candidate int) *tree.Tree {
			return r.model(g.objects, root, g.members[candidate])
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
	}
	if !w.candidate.Tree.Modelled() {
		r.metrics = newMetrics(w.candidate.Tree, w.candidate.Counts, c.spec)
	} else if r.metrics, err = c.rows.measure(ctx, w.candidate.Tree); err != nil {
		return nil, err
	}
	if w.frontier != nil {
		r.frontierTrees[w.at] = r.tree // with its certificate
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
	w, err := c.describe(ctx, pool, choice, models)
	if err != nil {
		return nil, err
	}
	w.frontier.Folds = number
	w.folds = foldsReport(w.candidate.Tree, crossvalidate.Counterparts(folds, pool, &choice.Chosen))
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
	ctx context.Context, pool *frontier.Pool, choice *frontier.Choice, models []*modelled,
) (*winner, error) {
	n := len(choice.Listed)
	trees, points := make([]*tree.Tree, n), make([]runfolder.Point, n)
	err := c.driver.Phase(ctx, "frontier", int64(n), "trees", func(s *parallel.Steps) error {
		return parallel.EachUntil(ctx, n, &s.Done, func(i int) {
			p := &choice.Listed[i]
			t, part := treeOf(pool, models, &p.Point)
			trees[i], points[i] = t.Tested(), frontierPoint(i, p, t, part)
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
	return &winner{candidate: candidate, frontier: f, trees: trees, at: at}, nil
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
		Tree: runfolder.FrontierTree(i), Algorithm: t.Algorithm, Complexity: t.Complexity,
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

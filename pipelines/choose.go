package pipelines

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// choosing is what the choice of a tree needs beside the candidates.
type choosing struct {
	driver    *engine.Driver
	config    *TrainConfig
	selection *selection
	features  []dataset.Feature
	columns   []split.Column // the features as the growth of trees sees them
	classes   int
	spec      *jobs.RowSpec
	train     *jobs.ObjectStats // of the training part

	// objects reads all training objects.
	objects func(ctx context.Context) (*dataset.Objects, error)
	// model makes a tree of a root that was grown by the parameters of a candidate.
	model func(root *induce.Node, candidate int) *tree.Tree
}

// chosen is the chosen tree with the documents that describe it.
type chosen struct {
	candidate     *frontier.Candidate
	tree          *tree.Tree // of the run folder: without the features that it does not test
	metrics       *runfolder.Metrics
	frontier      *runfolder.Frontier // nil: there was nothing to choose
	frontierTrees []*tree.Tree        // the trees of the frontier's points
}

// choose takes one of the scored trees, or one of their prunings.
func (r *run) choose(ctx context.Context, s *scored) (*chosen, error) {
	c := choosing{
		driver: r.driver, config: r.config, selection: &r.parsed.selection, features: s.features, columns: r.columns(s.features),
		classes: len(s.label.Classes), spec: &s.spec, train: s.train(),
		objects: func(ctx context.Context) (*dataset.Objects, error) { return r.trainingObjects(ctx, s.objects) },
		model: func(root *induce.Node, candidate int) *tree.Tree {
			return r.model(s.objects, root, s.members[candidate])
		},
	}
	return c.choose(ctx, s.candidates)
}

// choose chooses a tree, bounds its cost from below, and describes it.
func (c *choosing) choose(ctx context.Context, candidates []frontier.Candidate) (*chosen, error) {
	c.warnOfDeadline(candidates)
	r := new(chosen)
	var folds *runfolder.Folds
	if c.selection.Undecided(len(candidates)) {
		var err error
		if folds, err = c.compete(ctx, candidates, r); err != nil {
			return nil, err
		}
	} else {
		r.candidate = c.selection.Sole(&candidates[0])
	}
	err := c.driver.Phase(ctx, "certificate", 1, "steps", func(s *parallel.Steps) error {
		return c.certify(ctx, r, int64(len(candidates)), s)
	})
	if err != nil {
		return nil, err
	}
	r.tree = r.candidate.Tree.Tested()
	if r.frontier != nil {
		for i := range r.frontier.Points {
			if r.frontier.Points[i].Selected {
				r.frontierTrees[i] = r.tree // with its certificate
			}
		}
	}
	r.metrics = newMetrics(r.candidate.Tree, r.candidate.Counts, c.spec)
	r.metrics.Folds = folds
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

// compete prunes the candidates, cross-validates the prunings, chooses one and
// describes the frontier. It returns the report of the folds, nil without folds.
func (c *choosing) compete(
	ctx context.Context, candidates []frontier.Candidate, r *chosen,
) (*runfolder.Folds, error) {
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
	r.frontier = &runfolder.Frontier{
		Format: runfolder.FrontierFormat, Version: 1, Select: c.config.Select, Folds: number,
		Grown: len(candidates), Pruned: len(pool.Points),
	}
	if c.selection.Rule == frontier.Best {
		r.frontier.Tolerance = c.selection.Tolerance
	}
	if err := c.describe(ctx, pool, choice, r); err != nil {
		return nil, err
	}
	return foldsReport(r.candidate.Tree, crossvalidate.Counterparts(folds, pool, &choice.Chosen)), nil
}

// newPool prunes and scores the candidates.
func newPool(
	ctx context.Context, j *engine.Driver, candidates []frontier.Candidate, settings *frontier.Settings,
) (*frontier.Pool, error) {
	var pool *frontier.Pool
	sequences := int64(settings.Sequences(len(candidates)))
	err := j.Phase(ctx, "prune", sequences, "sequences", func(s *parallel.Steps) (err error) {
		pool, err = frontier.NewPool(ctx, candidates, settings, &s.Done)
		return err
	})
	if err != nil { // the work may still be running, and set the pool
		return nil, err
	}
	return pool, nil
}

// describe fills in the points of frontier.json, their trees and the chosen candidate.
func (c *choosing) describe(ctx context.Context, pool *frontier.Pool, choice *frontier.Choice, r *chosen) error {
	n := len(choice.Listed)
	r.frontier.Points, r.frontierTrees = make([]runfolder.Point, n), make([]*tree.Tree, n)
	return c.driver.Phase(ctx, "frontier", int64(n), "trees", func(s *parallel.Steps) error {
		return parallel.EachUntil(ctx, n, &s.Done, func(i int) {
			p := &choice.Listed[i]
			candidate, scores := pool.Candidate(&p.Point), &pool.Prunings[pool.PruningOf(&p.Point)]
			r.frontierTrees[i] = candidate.Tree.Tested()
			r.frontier.Points[i] = runfolder.Point{
				Tree: runfolder.FrontierTree(i), Algorithm: candidate.Tree.Algorithm, Complexity: candidate.Tree.Complexity,
				Merit: p.Merit, Folds: p.Folds, Selected: p.Chosen, Highest: p.Highest, Knee: p.Knee,
				Validation: frontierPart(candidate, dataset.Validation, &scores.Validation[p.Step]),
				Test:       frontierPart(candidate, dataset.Test, &scores.Test[p.Step]),
			}
			if p.Chosen {
				r.candidate = candidate
			}
		})
	})
}

func frontierPart(c *frontier.Candidate, part dataset.Part, s *prune.Score) runfolder.Part {
	p := runfolder.Part{AUC: s.AUC, LogLoss: s.LogLoss}
	if area := c.Area(part); area != nil {
		p.Interval = &area.Interval
	}
	return p
}

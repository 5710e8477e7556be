package pipelines

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/refit"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/slicing"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// scored are the grown trees with the numbers of validation and test rows at their leaves.
type scored struct {
	*grown

	candidates []frontier.Candidate
}

// score makes trees of the grown nodes, and counts the validation and test rows at their leaves.
func (r *run) score(ctx context.Context, g *grown) (*scored, error) {
	candidates := make([]frontier.Candidate, len(g.roots))
	modeller := r.modeller(g.objects)
	build := func(i int) {
		candidates[i] = frontier.NewCandidate(modeller.Model(g.roots[i], g.members[i]), g.members[i].Params)
	}
	err := r.driver.Phase(ctx, "trees", int64(len(candidates)), "trees", func(s *parallel.Steps) error {
		return parallel.EachUntil(ctx, len(candidates), &s.Done, build)
	})
	if err != nil {
		return nil, err
	}
	kept := *g
	kept.roots = nil // the trees stand for them
	s := &scored{&kept, candidates}
	return s, r.countCandidates(ctx, s)
}

// countCandidates counts the validation and test rows at the leaves of the trees.
func (r *run) countCandidates(ctx context.Context, s *scored) error {
	trees := make([]*tree.Tree, len(s.candidates))
	for i := range trees {
		trees[i] = s.candidates[i].Tree
	}
	counts, err := r.countLeaves(ctx, s.objects, trees, s.soft() || s.transfer != nil)
	if err != nil {
		return err
	}
	parts := []dataset.Part{dataset.Validation, dataset.Test}
	if s.soft() || s.transfer != nil { // trees know the soft weights of their training rows, not the labels
		parts = append(parts, dataset.Train)
	}
	for _, part := range parts {
		for i := range s.candidates {
			s.candidates[i].Counts[part] = counts[part][i]
		}
	}
	return nil
}

// refit gives the tree of an earlier run the counts and estimates of this run's rows. It returns the tree
// as the only candidate, and the run with the settings of the choice: the tree has models in its leaves
// if it had some and --leaf_model has no objection, and no certificate, as it did not grow from these rows.
func (r *run) refit(ctx context.Context, o *objects) (*scored, *run, error) {
	counter, err := refit.New(r.kept, o.features, r.config.SplitColumns(o.features))
	if err != nil {
		return nil, nil, usage.Errorf("--refit %s: %v: grow a new tree", r.config.Refit, err)
	}
	layout := o.layout()
	err = r.driver.Phase(ctx, "refit", int64(len(o.train().Blocks)), "blocks", func(s *parallel.Steps) error {
		return r.eachBlock(ctx, o, dataset.Train, func(b []byte) error {
			block := o.newObjects(0)
			if err := block.AppendFrom(b, layout); err != nil {
				return err
			}
			counter.Add(block)
			s.Done.Add(1)
			return nil
		})
	})
	if err != nil {
		return nil, nil, err
	}
	t, first := counter.Tree(), &r.parsed.Grid[0]
	t.Algorithm.LeafEstimate, t.Algorithm.CostUnit = r.config.LeafEstimate.String(), r.config.CostUnit
	t.Algorithm.RepeatCost = first.Algorithm.RepeatCost
	if r.config.LeafModel == selection.None {
		t.Algorithm.Ridge, t.Algorithm.BoosterTrees = 0, 0
	}
	r.modeller(o).Describe(t, 1)
	s := &scored{&grown{objects: o, members: r.parsed.Grid}, []frontier.Candidate{frontier.NewCandidate(t, first.Params)}}
	own := r.changed(func(p *plan) { p.parsed.Selection.LeafModel, p.parsed.Selection.Certificate = selection.None, false })
	return s, own, r.countCandidates(ctx, s)
}

// modeller returns what makes trees of grown nodes.
func (p *plan) modeller(o *objects) *grid.Modeller {
	b := &grid.Modeller{
		Label: o.label, Features: o.features, Estimate: p.config.LeafEstimate, Scale: o.spec.GrowthScale(),
		Training: o.spec.Training(&o.train().ObjectCounts, o.stats.Train, o.stats.Dropped),
	}
	if p.parsed.Selection.Rule == frontier.First {
		b.MaxLeaves = p.config.MaxLeaves
	}
	return b
}

func (r *run) evaluateConfig(o *objects) jobs.EvaluateConfig {
	return jobs.EvaluateConfig{
		Config: r.driver.JobConfig(r.newFolder("evaluate")), Widths: o.layout().Widths, Weights: o.spec.Weighted(),
	}
}

// countLeaves counts the validation and test rows at each leaf of each tree, and the training
// rows if they are wanted.
func (r *run) countLeaves(
	ctx context.Context, o *objects, trees []*tree.Tree, training bool,
) (counts [dataset.Parts][]*tree.LeafCounts, err error) {
	c := r.evaluateConfig(o)
	tasks := slices.Concat(o.tasks(dataset.Validation), o.tasks(dataset.Test))
	if training {
		tasks = append(tasks, o.tasks(dataset.Train)...)
	}
	if len(tasks) > 0 {
		if c.Trees, err = r.driver.Trees(ctx, c.Out, trees...); err != nil {
			return counts, err
		}
		what := engine.Job{Name: "evaluate", Total: int64(len(tasks)), Unit: "blocks", Done: engine.TasksDone}
		err := r.driver.Run(ctx, what, tasks, func(s beam.Scope, tasks beam.PCollection) {
			jobs.Evaluate(s, tasks, c)
		})
		if err != nil {
			return counts, err
		}
	}
	for part := range dataset.Part(dataset.Parts) {
		if counts[part], err = jobs.ReadLeafCounts(ctx, c.Out, part, trees); err != nil {
			return counts, err
		}
	}
	return counts, nil
}

// slicer returns what measures trees by --slice; nil: no columns are asked for.
func (r *run) slicer(ctx context.Context, f *fitted) (*slicing.Slicer, error) {
	if len(r.schema.slices) == 0 {
		return nil, nil //nolint:nilnil // nothing was asked for
	}
	return slicing.New(ctx, r.driver, r.input.Tasks, r.place.scratch, r.schema.slices, &f.spec, r.config.MinValueRows)
}

// trainingObjects reads all training objects, with the groups that folds and teachers want.
func (r *run) trainingObjects(ctx context.Context, o *objects) (*dataset.Objects, error) {
	all, err := r.allObjects(ctx, o, dataset.Train, o.spec.Groups[dataset.Train])
	if err == nil && o.spec.Key == "" && all.Grouped() {
		all = all.ByRow(dataset.Buckets, r.parsed.Selection.Seed)
	}
	return all, err
}

// groupedObjects reads the objects of a part with their groups, unless there are too many.
func (r *run) groupedObjects(ctx context.Context, o *objects, part dataset.Part) (*dataset.Objects, error) {
	if most := min(o.spec.Groups[part], selection.MostMeasured); o.parts[part].Objects <= most {
		return r.allObjects(ctx, o, part, most)
	}
	return dataset.NewObjects(o.layout(), len(o.label.Classes), false, 0), nil
}

// allObjects reads all objects of a part, with their groups if there are at most so many objects.
func (r *run) allObjects(ctx context.Context, o *objects, part dataset.Part, most int64) (*dataset.Objects, error) {
	layout, n := o.layout(), o.parts[part].Objects
	all := o.newObjects(int(n))
	if most >= n && most > 0 {
		all.KeepGroups()
	}
	if err := r.eachBlock(ctx, o, part, func(b []byte) error { return all.AppendFrom(b, layout) }); err != nil {
		return nil, err
	}
	if most >= n && most > 0 && !all.Grouped() {
		return nil, errors.New("the objects of the checkpoint do not know the groups of their rows: train without --resume")
	}
	return all, nil
}

// The importance of features is measured on at most importanceObjects objects, those of the least
// hashes. Of a part with more than mostShuffled it is not measured: all would have to be read.
const (
	importanceObjects = 1 << 14
	modelledObjects   = 1 << 13 // of a tree with leaf models
	mostShuffled      = 1 << 22
)

// importanceSample reads the objects on which the importance of features is measured: validation
// objects, or training objects where there are none.
func (r *run) importanceSample(ctx context.Context, o *objects) (*runfolder.Shuffled, error) {
	part := dataset.Validation
	if !o.validates() {
		part = dataset.Train
	}
	s, layout := &runfolder.Shuffled{Part: part.String(), Objects: o.newObjects(0)}, o.layout()
	if o.parts[part].Objects > mostShuffled {
		return s, nil
	}
	if err := r.eachBlock(ctx, o, part, func(b []byte) error { return s.Objects.AppendFrom(b, layout) }); err != nil {
		return nil, err
	}
	if s.Objects.Len() > importanceObjects {
		s.Objects = leafmodel.Sorted(s.Objects, importanceObjects)
	}
	return s, nil
}

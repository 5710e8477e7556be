package train

import (
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/metric"
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

// scorer makes trees from grown nodes, and counts rows at their leaves.
type scorer struct{ stage }

// score makes trees from the grown nodes, and counts the validation and test rows at their leaves.
func (w *scorer) score(ctx context.Context, g *grown) (*scored, error) {
	candidates := make([]frontier.Candidate, len(g.trees))
	modeller := w.modeller(g.objects)
	build := func(i int) {
		candidates[i] = frontier.NewCandidate(modeller.Model(g.trees[i], g.members[i]), g.members[i].Params)
	}
	err := w.driver.Phase(ctx, "trees", int64(len(candidates)), "trees", func(s *parallel.Steps) error {
		return parallel.EachUntil(ctx, len(candidates), &s.Done, build)
	})
	if err != nil {
		return nil, err
	}
	kept := *g
	kept.trees = nil // replaced by the trees
	s := &scored{&kept, candidates}
	return s, w.countCandidates(ctx, s)
}

// countCandidates counts the validation and test rows at the leaves of the trees.
func (w *scorer) countCandidates(ctx context.Context, s *scored) error {
	trees := make([]*tree.Tree, len(s.candidates))
	for i := range trees {
		trees[i] = s.candidates[i].Tree
	}
	counts, err := w.countLeaves(ctx, s.objects, trees, s.soft() || s.transfer != nil)
	if err != nil {
		return err
	}
	parts := []dataset.Part{dataset.Validation, dataset.Test}
	if s.soft() || s.transfer != nil { // trees have the soft weights of their training rows, not the labels
		parts = append(parts, dataset.Train)
	}
	for _, part := range parts {
		for i := range s.candidates {
			s.candidates[i].Counts[part] = counts[part][i]
		}
	}
	return nil
}

// refit gives the tree of an earlier run the counts and estimates of this run's rows, and returns it as the only candidate.
// The tree has models in its leaves if it had models and --leaf_model allows them.
func (w *scorer) refit(ctx context.Context, o *objects) (*scored, error) {
	counter, err := refit.New(w.kept, o.features, w.config.SplitColumns(o.features))
	if err != nil {
		return nil, usage.Errorf("--refit %s: %v: grow a new tree", w.config.Refit, err)
	}
	layout := o.layout()
	err = w.driver.Phase(ctx, "refit", int64(len(o.train().Blocks)), "blocks", func(s *parallel.Steps) error {
		return o.eachBlock(ctx, dataset.Train, func(b []byte) error {
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
		return nil, err
	}
	t := counter.Tree()
	first := &w.parsed.Grid[0]
	t.Algorithm.LeafEstimate = w.config.LeafEstimate
	t.Algorithm.CostUnit = w.config.CostUnit
	t.Algorithm.RepeatCost = first.Algorithm.RepeatCost
	t.Bill()
	if w.config.LeafModel == selection.None {
		t.Algorithm.Ridge = 0
		t.Algorithm.BoosterTrees = 0
	}
	w.modeller(o).Describe(t, 1)
	s := &scored{&grown{objects: o, members: w.parsed.Grid}, []frontier.Candidate{frontier.NewCandidate(t, first.Params)}}
	return s, w.countCandidates(ctx, s)
}

// modeller returns the modeller that makes trees from grown nodes.
func (p *plan) modeller(o *objects) *grid.Modeller {
	return &grid.Modeller{
		Label: o.label, Features: o.features, Scale: o.spec.GrowthScale(),
		Training:  o.spec.Training(&o.train().ObjectCounts, o.stats.Train, o.stats.Dropped),
		MaxLeaves: p.parsed.Selection.GrownLeaves(),
	}
}

func (w *scorer) evaluateConfig(o *objects) jobs.EvaluateConfig {
	return jobs.EvaluateConfig{
		Config: w.driver.JobConfig(w.newFolder("evaluate")), Widths: o.layout().Widths, Weights: o.spec.Weighted(),
	}
}

// countLeaves counts the validation and test rows at each leaf of each tree, and the training
// rows if they are wanted.
func (w *scorer) countLeaves(
	ctx context.Context, o *objects, trees []*tree.Tree, training bool,
) (counts [dataset.Parts][]*tree.LeafCounts, err error) {
	c := w.evaluateConfig(o)
	tasks := slices.Concat(o.tasks(dataset.Validation), o.tasks(dataset.Test))
	if training {
		tasks = append(tasks, o.tasks(dataset.Train)...)
	}
	if len(tasks) > 0 {
		if c.Trees, err = w.driver.Trees(ctx, c.Out, trees...); err != nil {
			return counts, err
		}
		what := engine.Job{Name: "evaluate", Total: int64(len(tasks)), Unit: "blocks", Done: engine.TasksDone}
		err := w.driver.Run(ctx, what, tasks, func(s beam.Scope, tasks beam.PCollection) {
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

// countStrata finds the strata of a tree's presence tests on training objects, and counts the validation and test rows in
// them. It returns the tree that counts, nil if there are no strata. Counts of parts without rows are nil.
func (w *scorer) countStrata(
	ctx context.Context, o *objects, t *tree.Tree, sample func(context.Context, dataset.Part) (*dataset.Objects, error),
) (counting *tree.Tree, counts strataOfParts, err error) {
	if !t.HasPresenceTests() {
		return nil, counts, nil
	}
	training, err := sample(ctx, dataset.Train)
	if err != nil {
		return nil, counts, err
	}
	strata := t.Stratify(training, o.train().Weight)
	if strata == nil {
		return nil, counts, nil
	}
	all, err := w.countLeaves(ctx, o, []*tree.Tree{strata.Counting}, false)
	if err != nil {
		return nil, counts, err
	}
	for _, part := range []dataset.Part{dataset.Validation, dataset.Test} {
		if all[part][0].TotalRows() > 0 {
			counts[part] = &tree.StrataCounts{Strata: strata, Counts: all[part][0]}
		}
	}
	return strata.Counting.Tested(), counts, nil
}

// slicer returns the slicer that measures trees by --slice; nil without columns.
func (s *stage) slicer(ctx context.Context, f *fitted) (*slicing.Slicer, error) {
	if len(s.schema.slices) == 0 {
		return nil, nil //nolint:nilnil // no slices are asked for
	}
	return slicing.New(ctx, s.driver, s.input.Tasks, s.place.scratch, s.schema.slices, &f.spec, s.config.MinValueRows)
}

// countModels counts the predictions of a tree with models for the rows of each part: unlike the
// objects, the rows have the values that the models use. It returns a function that computes the
// metrics.
func (w *scorer) countModels(ctx context.Context, o *objects, t *tree.Tree) (measuring, error) {
	out := w.newFolder("evaluate_rows")
	trees, err := w.driver.Trees(ctx, out, t)
	if err != nil {
		return nil, err
	}
	c := jobs.EvaluateRowsConfig{
		ScoreConfig: jobs.ScoreConfig{Config: w.driver.JobConfig(out), Trees: trees, Rows: o.spec.OfLabels().Encode()},
		Parts:       []dataset.Part{dataset.Train, dataset.Validation, dataset.Test},
	}
	err = w.driver.RunGroups(ctx, "evaluate rows", w.input.Tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.EvaluateRows(s, tasks, c)
	})
	if err != nil {
		return nil, err
	}
	return func(strata strataOfParts) (*runfolder.Metrics, error) {
		return readMetrics(ctx, &c, t, &o.spec, &strata)
	}, nil
}

// readMetrics computes the metrics of each part from the counts of a pipeline.
func readMetrics(
	ctx context.Context, c *jobs.EvaluateRowsConfig, t *tree.Tree, spec *jobs.RowSpec, strata *strataOfParts,
) (*runfolder.Metrics, error) {
	parts := make([]*metric.Metrics, len(c.Parts))
	err := parallel.AtOnce(len(parts), func(i int) error {
		counts, err := jobs.ReadScoreCounts(ctx, c, c.Parts[i], []*tree.Tree{t})
		if err == nil {
			counts[0].Plain().Strata = strata[c.Parts[i]]
			parts[i] = metric.OfScores(t, counts[0], metric.FactorsOf(t, counts[0]), spec.ScaleOf(c.Parts[i]))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	m := &runfolder.Metrics{Format: runfolder.MetricsFormat, Version: 1}
	for i, part := range c.Parts {
		if parts[i].Rows > 0 {
			m.Set(part, parts[i])
		}
	}
	return m, nil
}

// newMetrics measures a tree on the parts that have rows. Parts may be nil. scales has, by part, the
// mean weight of a training row in units.
func newMetrics(
	t *tree.Tree, counts [dataset.Parts]*tree.LeafCounts, scales [dataset.Parts]float64,
) *runfolder.Metrics {
	m := &runfolder.Metrics{Format: runfolder.MetricsFormat, Version: 1}
	for part, c := range counts {
		if c != nil && c.TotalRows() > 0 {
			m.Set(dataset.Part(part), metric.OfLeaves(t, c, scales[part]))
		}
	}
	return m
}

// scalesOf returns, by part, the mean weight of a training row in units.
func scalesOf(spec *jobs.RowSpec) (scales [dataset.Parts]float64) {
	for part := range scales {
		scales[part] = spec.ScaleOf(dataset.Part(part))
	}
	return scales
}

package pipelines

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
)

// algorithmOf returns the algorithm by which a tree was grown.
func algorithmOf(t *tree.Tree) split.Algorithm {
	a, err := split.ParseAlgorithm(t.Algorithm.Name)
	if err != nil { // it was checked with the flags
		panic(err)
	}
	return a
}

// pruning is a candidate's tree along one of its sequences.
type pruning struct {
	candidate  int
	sequence   *prune.Sequence
	validation []prune.Score // by step
	test       []prune.Score
}

// chooseBest prunes all candidates, keeps the frontier and chooses by the rule.
func (t *training) chooseBest(ctx context.Context, candidates []candidate) (*candidate, error) {
	prunings, err := t.prunings(ctx, candidates)
	if err != nil {
		return nil, err
	}
	points := t.points(prunings, candidates)
	folds := t.foldsWanted(candidates[0].counts[dataset.Validation])
	var grown []grownFold
	if folds > 0 {
		if grown, err = t.crossValidate(ctx, folds, prunings, points); err != nil {
			return nil, err
		}
	}
	kept, marked, err := t.selectPoints(points, prunings, candidates)
	if err != nil {
		return nil, usage.Errorf("--select %s: %v", t.config.Select, err)
	}
	t.frontier = &runfolder.Frontier{
		Format: runfolder.FrontierFormat, Version: 1, Select: t.config.Select, Folds: folds, Grown: len(candidates), Pruned: len(points),
	}
	if t.parsed.selection.rule == frontier.Best {
		t.frontier.Tolerance = t.config.Tolerance
	}
	best, err := t.describeFrontier(ctx, kept, marked, prunings, candidates)
	if err != nil {
		return nil, err
	}
	t.folds = newFoldsReport(best.tree, grown, marked.chosen, prunings)
	return best, nil
}

// marked are the points of a frontier that have a name.
type marked struct {
	chosen  frontier.Point
	highest frontier.Point // of highest merit within the limits
	knee    frontier.Point // of all trees, whatever the limits
}

// selectPoints chooses a tree, and the points of frontier.json: the frontier, thinned,
// with the marked points.
func (t *training) selectPoints(points []frontier.Point, prunings []pruning, candidates []candidate) (kept []frontier.Point, m marked, err error) {
	if err = frontier.Judge(points); err != nil {
		return nil, m, err
	}
	kept = frontier.NonDominated(points)
	if m.chosen, m.highest, err = t.selectPoint(points, prunings, candidates); err != nil {
		return nil, m, err
	}
	if m.knee, err = frontier.Select(kept, frontier.Query{Rule: frontier.Knee}); err != nil {
		return nil, m, err
	}
	kept = frontier.Thin(kept, t.config.FrontierStep)
	for _, p := range []frontier.Point{m.chosen, m.highest, m.knee} { // a limit of the dearest path may choose a point that is not on the frontier
		if !slices.ContainsFunc(kept, func(q frontier.Point) bool { return same(p, q) }) {
			kept = append(kept, p)
		}
	}
	slices.SortStableFunc(kept, byBilledCost)
	return kept, m, nil
}

func byBilledCost(a, b frontier.Point) int {
	x, _ := a.Billed()
	y, _ := b.Billed()
	return cmp.Compare(x, y)
}

// same reports whether two points are the same pruning of the same tree.
func same(a, b frontier.Point) bool {
	return a.Tree == b.Tree && a.Currency == b.Currency && a.Step == b.Step
}

// prunings prunes the candidates in all currencies and scores each step.
func (t *training) prunings(ctx context.Context, candidates []candidate) ([]pruning, error) {
	currencies := t.parsed.selection.currencies
	if len(currencies) == 0 {
		currencies = []prune.Currency{prune.Leaves} // of which only the first step is looked at
	}
	list := make([]pruning, len(candidates)*len(currencies))
	pruneOne := func(i int) {
		p := &list[i]
		p.candidate = i / len(currencies)
		c := &candidates[p.candidate]
		p.sequence = newSequence(c.tree, currencies[i%len(currencies)])
		p.validation, p.test = p.sequence.Sweep(c.counts[dataset.Validation]), p.sequence.Sweep(c.counts[dataset.Test])
	}
	return list, t.driver.Phase(ctx, "prune", int64(len(list)), "sequences", func(s *parallel.Steps) error {
		return parallel.EachUntil(ctx, len(list), &s.Done, pruneOne)
	})
}

// points lists the pruned trees, in the order of the prunings.
func (t *training) points(prunings []pruning, candidates []candidate) []frontier.Point {
	var points []frontier.Point
	for i := range prunings {
		p := &prunings[i]
		from, to := t.steps(p.sequence)
		for step := from; step < to; step++ {
			s := &p.sequence.Steps[step]
			points = append(points, frontier.Point{
				Tree: p.candidate, Lambda: paperLambda(candidates[p.candidate].tree), Currency: p.sequence.Currency(), Step: step, Alpha: s.Alpha,
				Complexity: s.Complexity, AUC: p.validation[step].AUC, LogLoss: p.validation[step].LogLoss, TestAUC: p.test[step].AUC,
			})
		}
	}
	return points
}

// steps returns which steps of a sequence compete.
func (t *training) steps(s *prune.Sequence) (from, to int) {
	switch sel := &t.parsed.selection; {
	case len(sel.currencies) == 0:
		return 0, 1
	case sel.fixed:
		at := s.At(sel.alpha)
		return at, at + 1
	default:
		return 0, len(s.Steps)
	}
}

// paperLambda places a tree on the paper's scale of lambda: impurity alone is its
// upper end.
func paperLambda(t *tree.Tree) float64 {
	switch a := algorithmOf(t); {
	case a.HasLambda():
		return t.Algorithm.Lambda
	case a == split.ASR:
		return 0
	default:
		return math.Inf(1)
	}
}

// selectPoint chooses by the rule. One standard error is that of the tree of
// highest merit.
func (t *training) selectPoint(points []frontier.Point, prunings []pruning, candidates []candidate) (chosen, highest frontier.Point, err error) {
	s := &t.parsed.selection
	if highest, err = frontier.Select(points, s.query(frontier.Highest)); err != nil {
		return chosen, highest, err
	}
	if s.rule == frontier.OneSE {
		if e := areaOf(pruningOf(highest, prunings), highest.Step, &candidates[highest.Tree], dataset.Validation); e != nil {
			at := slices.IndexFunc(points, func(p frontier.Point) bool { return same(p, highest) })
			points[at].Interval = &frontier.Interval{SE: e.StandardError, Low: e.Low, High: e.High}
		}
	}
	chosen, err = frontier.Select(points, s.query(s.rule))
	return chosen, highest, err
}

func pruningOf(p frontier.Point, prunings []pruning) *pruning {
	at := slices.IndexFunc(prunings, func(q pruning) bool { return q.candidate == p.Tree && q.sequence.Currency() == p.Currency })
	return &prunings[at]
}

// areaOf returns a pruned tree's area on a part, with its uncertainty; nil where
// it is not defined.
func areaOf(p *pruning, step int, c *candidate, part dataset.Part) *metric.Estimate {
	pruned := c.pruned(p.sequence, step)
	return metric.Area(leavesOf(pruned.tree, pruned.counts[part]))
}

// describeFrontier fills in the points of frontier.json and their trees. It
// returns the chosen candidate.
func (t *training) describeFrontier(ctx context.Context, kept []frontier.Point, m marked, prunings []pruning, candidates []candidate) (*candidate, error) {
	t.frontier.Points = make([]runfolder.Point, len(kept))
	t.frontierTrees = make([]runfolder.Document, len(kept))
	var best *candidate
	describe := func(i int) {
		k := kept[i]
		p := pruningOf(k, prunings)
		c := candidates[k.Tree].pruned(p.sequence, k.Step)
		name := fmt.Sprintf("%s/%03d.json", runfolder.FrontierFolder, i)
		t.frontierTrees[i] = runfolder.Document{Name: name, Content: c.tree.Tested().Encode()}
		to := &t.frontier.Points[i]
		*to = runfolder.Point{
			Tree: name, Algorithm: c.tree.Algorithm, Complexity: c.tree.Complexity, Merit: k.Merit, Folds: k.Folds,
			Validation: frontierPart(c, dataset.Validation, &p.validation[k.Step]), Test: frontierPart(c, dataset.Test, &p.test[k.Step]),
		}
		to.Highest, to.Knee = same(k, m.highest), same(k, m.knee)
		if same(k, m.chosen) {
			to.Selected, best = true, c
		}
	}
	err := t.driver.Phase(ctx, "frontier", int64(len(kept)), "trees", func(s *parallel.Steps) error {
		return parallel.EachUntil(ctx, len(kept), &s.Done, describe)
	})
	if err != nil {
		return nil, err
	}
	return best, nil
}

func frontierPart(c *candidate, part dataset.Part, s *prune.Score) runfolder.Part {
	p := runfolder.Part{AUC: s.AUC, LogLoss: s.LogLoss}
	if e := metric.Area(leavesOf(c.tree, c.counts[part])); e != nil {
		p.Interval = &e.Interval
	}
	return p
}

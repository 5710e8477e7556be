package frontier

import (
	"math"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Candidate is a grown tree that may be chosen, or a pruning of it.
type Candidate struct {
	Params induce.Params // parameters with which the tree was grown
	Tree   *tree.Tree
	Grown  *tree.Tree // the unpruned tree; Tree itself if it is not pruned
	// Counts are the rows at the leaves of Tree, by part.
	Counts [dataset.Parts]*tree.LeafCounts
}

// NewCandidate returns a grown tree as a candidate, with its training rows. The caller adds the
// counts of the validation and test rows.
func NewCandidate(t *tree.Tree, p induce.Params) Candidate {
	c := Candidate{Params: p, Tree: t, Grown: t}
	c.Counts[dataset.Train] = t.TrainingCounts()
	return c
}

// Prune prunes a tree in each currency, by the impurity with which it was grown. The tree must be
// grown with the parameters of the candidate: it is the tree of the candidate, or the corresponding
// tree of a fold.
func (c *Candidate) Prune(t *tree.Tree, currencies ...prune.Currency) []*prune.Sequence {
	return prune.NewSequences(t, currencies, c.Params.Algorithm.Impurity())
}

// Pruned returns the candidate at a step of a pruning sequence of its tree. Algorithm.Alpha of the
// tree is the alpha of the step. An infinite alpha, at which subtrees without cost are cut, is
// replaced by the greatest finite number.
func (c *Candidate) Pruned(s *prune.Sequence, step int) *Candidate {
	p := &Candidate{Params: c.Params, Tree: pruned(s, step), Grown: c.Grown}
	for part := range c.Counts {
		p.Counts[part] = s.Counts(p.Tree, step, prune.NewRows(c.Tree, c.Counts[part], nil))
	}
	return p
}

// pruned returns the tree of a step, with its alpha. Its leaves are settled, because it is not
// pruned further.
func pruned(s *prune.Sequence, step int) *tree.Tree {
	t := s.Tree(step)
	if step > 0 {
		t.Algorithm.Alpha = min(s.Steps[step].Alpha, math.MaxFloat64)
	}
	t.SettleLeaves(t.Algorithm.LeafEstimate, t.Training.Scale())
	return t
}

// lambda returns the lambda for Point. Criteria of impurity alone have the upper end of the scale
// in the paper.
func (c *Candidate) lambda() float64 {
	switch a := c.Params.Algorithm; {
	case a.HasLambda():
		return c.Params.Lambda
	case a.Terms() == split.BalanceEfficiency:
		return 0
	default:
		return math.Inf(1)
	}
}

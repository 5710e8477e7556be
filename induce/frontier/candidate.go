package frontier

import (
	"math"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Candidate is a grown tree that may be chosen, or a pruning of it.
type Candidate struct {
	Params induce.Params // parameters that the tree was grown by
	Tree   *tree.Tree
	Grown  *tree.Tree // the un-pruned tree; Tree itself if it is not pruned
	// Counts are the rows at the leaves of Tree, by part.
	Counts [dataset.Parts]*tree.LeafCounts
}

// NewCandidate returns a grown tree as a candidate, with its training rows. The caller
// adds the counts of the validation and test rows.
func NewCandidate(t *tree.Tree, p induce.Params) Candidate {
	c := Candidate{Params: p, Tree: t, Grown: t}
	train := t.NewLeafCounts()
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Leaf() {
			train.Weights[i], train.Rows[i] = n.RawClassWeights, n.Rows
		}
	}
	c.Counts[dataset.Train] = train
	return c
}

// Prune prunes a tree that was grown by the parameters of the candidate, such as the
// candidate's own, by the impurity that it was grown by.
func (c *Candidate) Prune(t *tree.Tree, currency prune.Currency) *prune.Sequence {
	return prune.NewSequence(t, currency, c.Params.Algorithm.Gini())
}

// Pruned returns the candidate at a step of a sequence of its own tree. The tree's
// Algorithm.Alpha is the alpha of the step. An infinite alpha, at which subtrees
// without cost are cut, becomes the greatest finite number.
func (c *Candidate) Pruned(s *prune.Sequence, step int) *Candidate {
	p := &Candidate{Params: c.Params, Tree: s.Tree(step), Grown: c.Grown}
	if step > 0 {
		p.Tree.Algorithm.Alpha = min(s.Steps[step].Alpha, math.MaxFloat64)
	}
	for part := range c.Counts {
		p.Counts[part] = s.Counts(step, c.Counts[part])
	}
	return p
}

// Area returns the area under the ROC curve on the rows of a part, with its
// uncertainty. It is nil if the rows do not define the area.
func (c *Candidate) Area(part dataset.Part) *metric.Estimate {
	return metric.Area(metric.Leaves(c.Tree, c.Counts[part]))
}

// lambda returns the lambda of Point: criteria of impurity alone have the upper end of
// the paper's scale.
func (c *Candidate) lambda() float64 {
	switch a := c.Params.Algorithm; {
	case a.HasLambda():
		return c.Params.Lambda
	case a == split.ASR:
		return 0
	default:
		return math.Inf(1)
	}
}

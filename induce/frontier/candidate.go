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
	train := &tree.LeafCounts{Weights: make([][]int64, len(t.Nodes)), Rows: make([]int64, len(t.Nodes))}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Leaf() {
			train.Weights[i], train.Rows[i] = n.RawClassWeights, n.Rows
		}
	}
	c.Counts[dataset.Train] = train
	return c
}

// Prune prunes a tree in each of the currencies by the impurity that it was grown by.
// The parameters of the candidate have grown the tree: it is the candidate's own, or
// that of a fold.
func (c *Candidate) Prune(t *tree.Tree, currencies ...prune.Currency) []*prune.Sequence {
	return prune.NewSequences(t, currencies, c.Params.Algorithm.Gini())
}

// Pruned returns the candidate at a step of a sequence of its own tree. The tree's
// Algorithm.Alpha is the alpha of the step. An infinite alpha, at which subtrees
// without cost are cut, becomes the greatest finite number.
func (c *Candidate) Pruned(s *prune.Sequence, step int) *Candidate {
	p := &Candidate{Params: c.Params, Tree: pruned(s, step), Grown: c.Grown}
	for part := range c.Counts {
		p.Counts[part] = s.Counts(step, c.Counts[part])
	}
	return p
}

// pruned returns the tree of a step, with its alpha. Its leaves are settled, as nobody prunes it
// further.
func pruned(s *prune.Sequence, step int) *tree.Tree {
	t := s.Tree(step)
	if step > 0 {
		t.Algorithm.Alpha = min(s.Steps[step].Alpha, math.MaxFloat64)
	}
	if e, err := tree.ParseEstimate(t.Algorithm.LeafEstimate); err == nil {
		t.SettleLeaves(e, t.Training.Scale())
	}
	return t
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

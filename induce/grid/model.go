package grid

import (
	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Modeller makes models of grown trees.
type Modeller struct {
	Label    tree.Label
	Features []dataset.Feature
	Training tree.Training // the same of all trees, but for what Model sets
	Estimate tree.Estimate // of the leaves
	Scale    int64         // fixed-point units in a weight of 1 where the trees grow

	// MaxLeaves bounds the leaves of trees that nothing chooses among: the best stay. 0: any.
	MaxLeaves int
}

// Model makes a model of the grown nodes of a member of the grid.
func (b *Modeller) Model(root *induce.Node, m Member) *tree.Tree {
	root.SumUp()
	if b.MaxLeaves > 0 {
		root.BestFirst(b.MaxLeaves)
	}
	model, _ := induce.Model(root, b.Features)
	model.Label, model.Algorithm, model.Training = b.Label, m.Algorithm, b.Training
	model.Algorithm.MaxLeaves = b.MaxLeaves
	model.Training.CutLeaves = stoppedLeaves(root)
	scale := b.Scale
	if m.Algorithm.Teacher != "" {
		factor := distill.Factor(scale)
		scale *= factor
		model.Training.Weight *= factor
	}
	if scale > 1 {
		model.Training.WeightScale = scale
	}
	model.Estimate(b.Estimate, scale)
	model.Measure()
	return model
}

// stoppedLeaves returns the number of leaves that the deadline has made.
func stoppedLeaves(root *induce.Node) int {
	n := 0
	root.Walk(func(node *induce.Node, _ int) {
		if node.Test == nil && node.Stopped {
			n++
		}
	})
	return n
}

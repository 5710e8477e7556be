package grid

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Modeller makes models of grown trees.
type Modeller struct {
	Label    tree.Label
	Features []dataset.Feature
	Training tree.Training // the same for all trees, except what Model sets
	Scale    float64       // units in the average weight of a training row where the trees grow

	// MaxLeaves bounds the leaves of trees that are not chosen among others: the best leaves are
	// kept. 0: unlimited.
	MaxLeaves int
}

// Model makes a model of the grown nodes of a member of the grid.
func (b *Modeller) Model(nodes []tree.Node, m Member) *tree.Tree {
	model := tree.New(b.Features, tree.BestFirst(nodes, b.MaxLeaves))
	model.Algorithm = m.Algorithm
	model.Algorithm.MaxLeaves = b.MaxLeaves
	model.Bill()
	factor := int64(1)
	if m.Algorithm.Teacher != "" {
		factor = distill.Factor(b.Scale)
	}
	b.Describe(model, factor)
	for i := range model.Nodes {
		if model.Nodes[i].Leaf() && model.Nodes[i].Stopped {
			model.Training.CutLeaves++
		}
	}
	return model
}

// Describe describes the label and the training of a tree with its counts, estimates its leaves and
// measures it. Node weights are in units of 1/factor of the objects' units.
func (b *Modeller) Describe(model *tree.Tree, factor int64) {
	model.Label = b.Label
	model.Training = b.Training
	model.Training.Weight *= factor
	scale := b.Scale * float64(factor)
	model.Training.SetScale(scale)
	model.Estimate(model.Algorithm.LeafEstimate, scale)
	model.Measure()
}

package certify

import (
	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/tree"
)

// ForTree returns the options of the bound for a tree, grown with the parameters p and not pruned.
// The bound then covers all trees over the same family of tests, with the same prices, that
// separate the objects to the same theta as the tree.
func ForTree(t *tree.Tree, p induce.Params) Options {
	theta, _ := Separated(t)
	return Options{
		Algorithm: p.Algorithm, Family: p.Family, Theta: theta, Lambda: p.Lambda, Classes: p.Classes,
		RepeatFree: t.Algorithm.RepeatCost == tree.RepeatFree, Seed: t.Algorithm.Seed,
	}
}

// Describe describes a grown tree that is not pruned.
func Describe(t *tree.Tree) Grown {
	_, limited := Separated(t)
	a := &t.Algorithm
	free := len(a.First) == 0 && len(a.Monotone) == 0 && a.Teacher == "" && a.Objective == "" // each node has the test with the best score
	whole := t.Training.CutLeaves == 0 && a.MaxDepth == 0 && a.MinRows == 0 && a.MaxLeaves == 0 && a.PathFeatures == 0 &&
		a.MaxCost == 0 && a.MaxTests == 0 && len(a.MaxFurther) == 0 && !a.RootByCodes && !a.Once
	g := Grown{ExpectedCost: t.Complexity.ExpectedCost, Complete: free && whole && !limited, Rows: a.Classes == tree.ClassesOfRows}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		g.Beyond = g.Beyond || !n.Leaf() && !severalClasses(n.ClassWeights)
	}
	return g
}

// slack is the relative rounding error of theta.
const slack = 1e-9

// Separated returns the theta to which a tree separates its training objects: the theta of its
// parameters, unless a leaf with several classes has a greater share of the weight. Such a leaf is
// due to a limit, for example on the depth. Then theta is the greatest share of such a leaf, and
// limited is true.
func Separated(t *tree.Tree) (theta float64, limited bool) {
	theta = t.Algorithm.Theta
	heaviest := int64(0)
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Leaf() && severalClasses(n.ClassWeights) {
			heaviest = max(heaviest, n.Weight)
		}
	}
	if share := float64(heaviest) / float64(max(1, t.Nodes[0].Weight)); share > theta*(1+slack) {
		return share, true
	}
	return theta, false
}

// severalClasses reports whether at least two classes have weight.
func severalClasses(weights []int64) bool {
	classes := 0
	for _, w := range weights {
		if w > 0 {
			classes++
		}
	}
	return classes > 1
}

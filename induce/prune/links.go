package prune

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

const (
	// noGain is the drop in risk, per weight, that may be rounding alone.
	noGain = 1e-12
	// tie is the relative difference below which two alphas are equal.
	tie = 1e-9
)

// risks returns the risk of every node as a leaf, in units of the root's
// weight.
func risks(t *tree.Tree, impurity split.Impurity) []float64 {
	total := float64(max(t.Nodes[0].Weight, 1))
	risk := make([]float64, len(t.Nodes))
	for v := range risk {
		risk[v] = impurity.Weighted(t.Nodes[v].RawClassWeights) / total
	}
	return risk
}

// errorRisks returns the cost of errors of every node as a leaf, per row of the tree. weight has the weights of the nodes.
// Training rows promise too much of small leaves, so the class shares of a node are drawn towards the shares of its
// parent, as in smoothed estimates. The strength is always the usual one: a sequence must not change if the leaves of a
// finished tree are smoothed otherwise.
func errorRisks(t *tree.Tree, weight []int64) []float64 {
	smoothed := tree.Tree{Label: t.Label, Features: t.Features, Nodes: slices.Clone(t.Nodes)}
	smoothed.Estimate(tree.Smoothed, t.Training.Scale())
	risk := make([]float64, len(t.Nodes))
	for v := range risk {
		n := &smoothed.Nodes[v]
		for actual, p := range n.Probabilities {
			risk[v] += float64(p * t.Label.ErrorCosts[actual][n.Class])
		}
		risk[v] *= float64(weight[v]) / float64(max(weight[0], 1))
	}
	return risk
}

// trainingWeights returns the training weight of every node.
func trainingWeights(t *tree.Tree) []int64 {
	list := make([]int64, len(t.Nodes))
	for v := range list {
		list[v] = t.Nodes[v].Weight
	}
	return list
}

// judgedWeights returns the weight of every node where the tree will be used: with priors, the classes count with
// these. See package judging.
func judgedWeights(t *tree.Tree) []int64 {
	factors := judging.FactorsOf(judging.Frequencies(t), t.Nodes[0].RawClassWeights)
	list := make([]int64, len(t.Nodes))
	for v := range list {
		list[v] = portable.Sum(factors.Weights(t.Nodes[v].RawClassWeights))
	}
	return list
}

// line is a pruned subtree's risk + alpha * complexity, as a function of alpha.
type line struct{ risk, complexity float64 }

// links finds the alphas of a tree's inner nodes.
type links struct {
	tree     *tree.Tree
	currency Currency
	weight   []int64   // by node
	total    float64   // weight of the root
	leaf     []float64 // by node: risk of the node as a leaf

	cuts heap   // by subtree: the nodes cut before the subtree's root, keyed by alpha
	drop []line // by node: decrease of the risk and increase of the complexity when the cut is undone
}

// alphas returns for each inner node the least alpha at which the optimal tree no
// longer has it as an inner node: the least of its own alpha and its ancestors'.
func alphas(t *tree.Tree, currency Currency, leaf []float64, weight []int64) []float64 {
	if currency == MaxCost {
		return dearestAlphas(t, leaf)
	}
	l := links{
		tree: t, currency: currency, weight: weight, total: float64(max(weight[0], 1)), leaf: leaf,
		cuts: newHeap(len(t.Nodes)), drop: make([]line, len(t.Nodes)),
	}
	alpha := make([]float64, len(t.Nodes))
	top := make([]int32, len(t.Nodes)) // by node: the heap of its subtree
	for v := len(t.Nodes) - 1; v >= 0; v-- {
		if !t.Nodes[v].Leaf() {
			alpha[v], top[v] = l.link(v, top)
		}
	}
	for v := range t.Nodes {
		for _, b := range t.Nodes[v].Branches {
			alpha[b.Child] = min(alpha[b.Child], alpha[v])
		}
	}
	return alpha
}

// link returns the alpha of a node, and the heap of its subtree. At the alpha the
// best pruned subtree is worth as much as the node as a leaf. The search starts with
// all children as leaves, and undoes cuts while their alphas are at or above the
// crossing.
func (l *links) link(v int, tops []int32) (float64, int32) {
	n := &l.tree.Nodes[v]
	sum := line{complexity: l.own(v)}
	top := int32(0)
	for _, b := range n.Branches {
		sum.risk += l.leaf[b.Child]
		sum.complexity += l.asLeaf()
		top = l.cuts.meld(top, tops[b.Child])
	}
	alpha := l.crossing(v, sum)
	for top != 0 && l.cuts.key[top] >= alpha {
		sum.risk -= l.drop[top].risk
		sum.complexity += l.drop[top].complexity
		top = l.cuts.pop(top)
		alpha = l.crossing(v, sum)
	}
	if v == 0 {
		return alpha, 0
	}
	l.drop[v] = line{risk: l.leaf[v] - sum.risk, complexity: sum.complexity - l.asLeaf()}
	return alpha, l.cuts.meld(top, l.cuts.single(int32(v), alpha))
}

// crossing returns the alpha at which a subtree and its root as a leaf have equal
// risk + alpha * complexity. It is infinite if the subtree lowers the risk and adds
// no complexity.
func (l *links) crossing(v int, subtree line) float64 {
	gain := l.leaf[v] - subtree.risk
	saved := subtree.complexity - l.asLeaf()
	switch {
	case gain <= noGain*float64(l.weight[v])/l.total:
		return 0
	case saved <= 0:
		return math.Inf(1)
	default:
		return gain / saved
	}
}

// asLeaf returns the complexity of a leaf.
func (l *links) asLeaf() float64 {
	if l.currency == Leaves {
		return 1
	}
	return 0
}

// own returns the complexity of an inner node without its children's.
func (l *links) own(v int) float64 {
	if l.currency == Leaves {
		return 0
	}
	return l.tree.Nodes[v].Spent(float64(l.weight[v])) / l.total
}

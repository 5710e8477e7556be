package tree

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
)

// Constants of lowerBound.
const (
	// surplus is 1 - the confidence of the bound.
	surplus = 0.05
	// branches is how many branches of a feature compete at a node: one to either side. The bound on a
	// binomial tail is so much higher than the tail that this also covers the number of cuts: see
	// docs/dev/decisions.md.
	branches = 2
	// boundSteps and boundUnits make the bound the same number in all implementations: the bisection ends
	// far below the unit to which the bound is rounded.
	boundSteps, boundUnits = 50, 1e6
)

// sureness computes lower bounds on the probability that a row at a node is of the node's most
// probable class. The shares of training rows are too high for this, because the tests were chosen among
// many by the same rows.
type sureness struct {
	tree     *Tree
	depth    []int     // by node: number of tests above it
	same     []int     // by node: the node whose bound it has; a row without the value that a presence test asks for has the presence test
	features int       // number of features that the tree tests
	factors  []float64 // see Tree.PriorFactors
}

func (t *Tree) sureness() *sureness {
	s := &sureness{tree: t, same: make([]int, len(t.Nodes)), factors: t.PriorFactors()}
	s.depth, _ = t.PathCosts()
	tested := make([]bool, len(t.Features))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		for _, b := range n.Branches {
			if s.same[b.Child] = b.Child; t.Presence(n) && b.Missing {
				s.same[b.Child] = i
			}
		}
		if !n.Leaf() && !tested[n.Test.Feature] {
			tested[n.Test.Feature] = true
			s.features++
		}
	}
	return s
}

// all returns the bounds of all nodes.
func (s *sureness) all() []float64 {
	bounds := make([]float64, len(s.tree.Nodes))
	for i := range bounds {
		bounds[i] = s.of(i)
	}
	return bounds
}

// of returns the bound of a node, at most the node's probability of its most probable class.
//
// The bound q on the share h of the class among the n training rows of the node is Chernoff's: n KL(h, q)
// = ln(1/surplus) + depth ln(branches features). So the bound holds for all nodes that branches on
// these features lead to, with a confidence of 1 - surplus. With priors it is adapted as probabilities
// are.
func (s *sureness) of(node int) float64 {
	node = s.same[node]
	n := &s.tree.Nodes[node]
	leading := 0
	for k, p := range n.Probabilities {
		if p > n.Probabilities[leading] {
			leading = k
		}
	}
	weight := float64(portable.Sum(n.RawClassWeights))
	if n.Rows == 0 || weight == 0 {
		return 0
	}
	evidence := -portable.Log(surplus) + float64(float64(s.depth[node])*portable.Log(float64(max(1, branches*s.features))))
	bound := lowerBound(float64(n.RawClassWeights[leading])/weight, evidence/float64(n.Rows))
	if s.factors != nil {
		bound = s.adapted(n.Probabilities, leading, bound)
	}
	return math.Floor(float64(min(bound, n.Probabilities[leading])*boundUnits)+0.5) / boundUnits
}

// lowerBound returns the q in [0, share] whose Kullback-Leibler divergence from the share is the given one.
func lowerBound(share, divergence float64) float64 {
	low := 0.0
	high := share
	for range boundSteps {
		q := float64((low + high) / 2)
		from := float64(share * portable.Log(share/q))
		if share < 1 {
			from += float64((1 - share) * portable.Log((1-share)/(1-q)))
		}
		if from >= divergence {
			low = q
		} else {
			high = q
		}
	}
	return low
}

// adapted adapts a bound on the share of a class to the priors, as applyPriors does. probabilities are
// adapted; the other classes keep their proportions.
func (s *sureness) adapted(probabilities []float64, class int, bound float64) float64 {
	var others, frequencies float64
	for k, p := range probabilities {
		if k != class && s.factors[k] > 0 {
			others += p
			frequencies += p / s.factors[k]
		}
	}
	factor := slices.Max(s.factors)
	if frequencies > 0 {
		factor = others / frequencies
	}
	mine := float64(bound * s.factors[class])
	if mine == 0 {
		return 0
	}
	return mine / (mine + float64((1-bound)*factor))
}

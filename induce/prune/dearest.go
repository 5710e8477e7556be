package prune

import (
	"cmp"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/tree"
)

// limited is the tree without the tests that lead beyond a limit on the cost of a path. It has the
// least risk among all prunings within the limit.
type limited struct {
	limit float64
	gain  float64 // by how much its risk is below the risk of the root as a leaf
}

// dearestAlphas returns, for each inner node, the least alpha at which the node is a leaf of the
// optimal tree or absent, if the complexity is the billed cost of the most expensive path. The
// optimal trees are the limited trees on the lower convex hull of risk over limit.
func dearestAlphas(t *tree.Tree, leaf []float64) []float64 {
	least, gain := leastLimits(t, leaf)
	hull := newHull(least, gain)
	alpha := make([]float64, len(t.Nodes)) // a subtree that gains nothing is cut at alpha 0
	for v, limit := range least {
		if math.IsInf(limit, 1) {
			continue
		}
		at, _ := slices.BinarySearchFunc(hull, limit, func(l limited, limit float64) int { return cmp.Compare(l.limit, limit) })
		if alpha[v] = math.Inf(1); at > 0 { // the tests of the first tree cost nothing
			alpha[v] = slope(hull[at-1], hull[at])
		}
	}
	return alpha
}

// slope returns the risk that a unit of the limit saves between two trees.
func slope(cheaper, dearer limited) float64 {
	return (dearer.gain - cheaper.gain) / (dearer.limit - cheaper.limit)
}

// leastLimits returns, for each node, the least limit at which the subtree of an inner node lowers
// the risk; +Inf for a leaf, or if it never does. It also returns by how much the node's own test
// lowers the risk; 0 if that may be a rounding error.
func leastLimits(t *tree.Tree, leaf []float64) (least, gain []float64) {
	total := float64(max(t.Nodes[0].Weight, 1))
	least = make([]float64, len(t.Nodes))
	gain = make([]float64, len(t.Nodes))
	_, billed := t.PathCosts()
	for v := len(t.Nodes) - 1; v >= 0; v-- {
		n := &t.Nodes[v]
		least[v] = math.Inf(1)
		if n.Leaf() {
			continue
		}
		own := leaf[v]
		for _, b := range n.Branches {
			own -= leaf[b.Child]
			least[v] = min(least[v], least[b.Child])
		}
		if own > noGain*float64(n.Weight)/total {
			gain[v], least[v] = own, min(least[v], billed[n.Branches[0].Child])
		}
	}
	return least, gain
}

// newHull returns the limited trees on the lower convex hull, by ascending limit. The first tree
// has only tests that cost nothing.
func newHull(least, gain []float64) []limited {
	var nodes []int // whose tests gain
	for v := range gain {
		if gain[v] > 0 {
			nodes = append(nodes, v)
		}
	}
	slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(least[a], least[b]) })
	hull := []limited{{}}
	sum := 0.0
	for i, v := range nodes {
		sum += gain[v]
		if i+1 < len(nodes) && least[nodes[i+1]] == least[v] {
			continue
		}
		next := limited{limit: least[v], gain: sum}
		if next.limit <= 0 {
			hull[0].gain = sum
			continue
		}
		for n := len(hull); n > 1 && slope(hull[n-2], hull[n-1]) <= slope(hull[n-1], next); n-- {
			hull = hull[:n-1]
		}
		hull = append(hull, next)
	}
	return hull
}

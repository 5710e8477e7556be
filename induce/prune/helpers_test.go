package prune_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// randomTree draws a tree of about the given number of inner nodes, with two to
// four branches each, small weights by class (so that risks and alphas tie),
// and some costs. Every second tree has features in groups, whose first test on a
// path is billed at more.
func randomTree(r *rand.Rand, inner, classes int, most int64) *tree.Tree {
	t := &tree.Tree{Label: tree.Label{Column: "y"}, Nodes: make([]tree.Node, 1)}
	for _, name := range []string{"x", "y", "z"} {
		t.Features = append(t.Features, dataset.Feature{
			Name: name, Kind: dataset.Categorical,
			Values: []string{"a", "b", "c", "d"}, Cost: 1,
		})
	}
	if r.IntN(2) == 0 {
		t.Features[0].Group, t.Features[0].GroupCost = "g", 2
		t.Features[1].Group, t.Features[1].GroupCost = "h", 0.5
	}
	groups := []string{""} // by node: the groups paid on its path
	for c := range classes {
		t.Label.Classes = append(t.Label.Classes, strconv.Itoa(c))
	}
	for v := 0; v < len(t.Nodes) && inner > 0; v++ {
		if open := len(t.Nodes) - v; open > 1 && r.IntN(3) == 0 {
			continue // keeps at least one leaf that can grow
		}
		inner--
		branches := 2
		if r.IntN(4) == 0 {
			branches += 1 + r.IntN(2)
		}
		test := &tree.Test{Test: split.Test{Feature: r.IntN(3), Kind: split.Multiway}, Cost: float64(1+r.IntN(4)) / 2}
		opened := groups[v]
		if f := &t.Features[test.Feature]; f.Group != "" && !strings.Contains(opened, f.Group) {
			billed := test.Cost + f.GroupCost
			test.Billed, opened = &billed, opened+f.Group
		}
		t.Nodes[v].Test = test
		for b := range branches {
			groups = append(groups, opened)
			t.Nodes[v].Branches = append(t.Nodes[v].Branches,
				tree.Branch{Outcome: b, Child: len(t.Nodes), Missing: b == 0, Other: b == 0})
			t.Nodes = append(t.Nodes, tree.Node{})
		}
	}
	drawWeights(r, t, classes, most)
	t.Estimate(tree.Smoothed, 1)
	t.Measure()
	return t
}

// drawWeights draws the class weights of the leaves, and adds them up towards the root.
func drawWeights(r *rand.Rand, t *tree.Tree, classes int, most int64) {
	shares := lean(r, t, classes)
	for v := len(t.Nodes) - 1; v >= 0; v-- {
		n := &t.Nodes[v]
		n.RawClassWeights = make([]int64, classes)
		if n.Leaf() {
			for n.Weight == 0 {
				for c := range n.RawClassWeights {
					if r.IntN(3) > 0 {
						n.RawClassWeights[c] = int64(math.Ceil(shares[v][c] * float64(r.Int64N(most))))
						n.Weight += n.RawClassWeights[c]
					}
				}
			}
		}
		for _, b := range n.Branches {
			n.Weight += t.Nodes[b.Child].Weight
			for c, w := range t.Nodes[b.Child].RawClassWeights {
				n.RawClassWeights[c] += w
			}
		}
		n.ClassWeights, n.Rows, n.Objects = n.RawClassWeights, n.Weight, n.Weight
	}
}

// lean returns by node and class the preference of its rows for the class, which
// grows with the depth.
func lean(r *rand.Rand, t *tree.Tree, classes int) [][]float64 {
	shares := make([][]float64, len(t.Nodes))
	shares[0] = slices.Repeat([]float64{1}, classes)
	for v := range t.Nodes {
		for _, b := range t.Nodes[v].Branches {
			shares[b.Child] = slices.Clone(shares[v])
			for c := range classes {
				shares[b.Child][c] *= 0.5 + r.Float64()
			}
		}
	}
	return shares
}

// randomCounts draws counts of rows by leaf.
func randomCounts(r *rand.Rand, t *tree.Tree, most int64) *tree.LeafCounts {
	counts := t.NewLeafCounts()
	for v, weights := range counts.Weights {
		for c := range weights {
			weights[c] = r.Int64N(most)
			counts.Rows[v] += weights[c]
		}
	}
	return counts
}

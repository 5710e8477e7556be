package tree

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
)

// AbsentUnordered is what absent is in tree.json if values of a feature are absent because nobody ordered them.
const AbsentUnordered = "unordered"

// Presence reports whether an inner node is a presence test: the test for missing values of an unordered feature, which
// stands above the first other test of the feature on a path. It is no question and costs nothing: rows without the value
// end at its leaf, which has the probabilities of the presence test, and rows with a value go on to the test. For the rows that the
// tree was grown or is judged on, the leaf has no weight, see Known.
func (t *Tree) Presence(n *Node) bool {
	return !n.Leaf() && n.Test.Kind == split.Missing && t.Features[n.Test.Feature].Unordered
}

// Question returns the node that a row is asked at from a node on: the node itself, or the test below a presence test.
func (t *Tree) Question(node int) *Node {
	n := &t.Nodes[node]
	if t.Presence(n) {
		return &t.Nodes[n.ByOutcome(0).Child]
	}
	return n
}

// HasPresenceTests reports whether the tree has a presence test.
func (t *Tree) HasPresenceTests() bool {
	if !hasUnordered(t.Features) {
		return false
	}
	for i := range t.Nodes {
		if t.Presence(&t.Nodes[i]) {
			return true
		}
	}
	return false
}

// hasUnordered reports whether a feature is unordered, so that there may be presence tests.
func hasUnordered(features []dataset.Feature) bool {
	return slices.ContainsFunc(features, func(f dataset.Feature) bool { return f.Unordered })
}

// withPresence returns grown nodes with a presence test above each first test of an unordered feature on a path. A growth
// puts presence tests where training rows lack the value, and may have no test to put below.
func withPresence(features []dataset.Feature, nodes []Node) []Node {
	if !hasUnordered(features) {
		return nodes
	}
	SumUp(nodes)
	t := Tree{Features: features, Nodes: slices.Clone(nodes)}
	for at := len(nodes) - 1; at >= 0; at-- { // children before their parents
		n := &t.Nodes[at]
		if !t.Presence(n) {
			continue
		}
		test := &t.Nodes[n.ByOutcome(0).Child]
		if test.Leaf() || test.Test.Feature != n.Test.Feature {
			n.Stopped = test.Stopped
			n.Test = nil
			n.Branches = nil
			continue
		}
		below := *test.Test
		below.RunnerUp = n.Test.RunnerUp
		test.Test = &below
		n.Test = &Test{Test: n.Test.Test}
	}
	for at, known := range t.known() {
		n := &t.Nodes[at]
		if n.Leaf() || known || !features[n.Test.Feature].Unordered || t.Presence(n) {
			continue
		}
		classes := len(n.ClassWeights)
		none := Node{ClassWeights: make([]int64, classes), RawClassWeights: make([]int64, classes)}
		column := split.NewColumn(&features[n.Test.Feature])
		t.Nodes = append(t.Nodes, none, *n)
		n = &t.Nodes[at] // append may have moved it
		n.Test = &Test{Test: column.Presence(n.Test.Feature)}
		n.Branches = []Branch{{Outcome: 1, Child: len(t.Nodes) - 2}, {Outcome: 0, Child: len(t.Nodes) - 1}}
	}
	return Ordered(t.Nodes)
}

// checkPresence checks that presence tests lead to a leaf, and to another test of their feature.
func (t *Tree) checkPresence() error {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !t.Presence(n) {
			continue
		}
		test := &t.Nodes[n.ByOutcome(0).Child]
		if !t.Nodes[n.ByOutcome(1).Child].Leaf() || test.Leaf() || test.Test.Feature != n.Test.Feature || t.Presence(test) {
			return fmt.Errorf("node %d: the test for missing values of %q, which is unordered, leads to other nodes than a leaf and "+
				"another test of the feature", i, t.Features[n.Test.Feature].Name)
		}
	}
	return nil
}

// known returns for each inner node whether a test above it is of the same feature.
func (t *Tree) known() []bool {
	known := make([]bool, len(t.Nodes))
	tests := make([]int, len(t.Features)) // above, by feature
	count := func(node, change int) {
		if n := &t.Nodes[node]; !n.Leaf() {
			tests[n.Test.Feature] += change
		}
	}
	t.visit(func(node int) {
		if n := &t.Nodes[node]; !n.Leaf() {
			known[node] = tests[n.Test.Feature] > 0
		}
		count(node, 1)
	}, func(node int) { count(node, -1) })
	return known
}

// Known returns the weights by class of rows at the nodes, as they would be if every value that the tree asks for had been
// ordered. weights has the weights of the rows, and is returned if there are no presence tests. Among the rows at a presence
// test those without the value have no weight, and those with it have the weight of their class at the presence test: each
// class is divided among the nodes below by its rows there. So each row counts by the inverse of the share of the rows of
// its class at the presence test that have the value: inverse probability weighting, which is right if the value was ordered
// at random, given the path to the presence test and the class. A class without such rows is divided as the rows that the
// tree was grown on.
func (t *Tree) Known(weights [][]int64) [][]int64 {
	if !hasUnordered(t.Features) {
		return weights
	}
	grown := make([][]int64, len(t.Nodes))
	for i := range t.Nodes {
		grown[i] = t.Nodes[i].RawClassWeights
	}
	return t.knownBy(&evidence{rows: weights, grown: grown})
}

// evidence has weights of rows, by node and class. They divide each class of a node among its children: the first weights that
// the class has at the children.
type evidence struct {
	rows  [][]int64 // weights of the rows themselves
	wider [][]int64 // weights in all strata, at nodes below the tests of strata, see Strata; nil at other nodes
	least int64     // weight in rows below which wider divides a class
	grown [][]int64 // weights of the rows that the tree was grown on
}

func (t *Tree) knownBy(by *evidence) [][]int64 {
	known := make([][]int64, len(t.Nodes))
	known[0] = by.rows[0]
	for at := range t.Nodes {
		n := &t.Nodes[at]
		if n.Leaf() {
			continue
		}
		if t.Presence(n) {
			known[n.ByOutcome(1).Child] = make([]int64, len(known[at]))
			known[n.ByOutcome(0).Child] = known[at]
			continue
		}
		t.divide(n, known[at], by, known)
	}
	return known
}

// divide divides the known weights of a node among its children: see Known.
func (t *Tree) divide(n *Node, whole []int64, by *evidence, known [][]int64) {
	least := int64(1)
	wider := by.rows
	if by.wider != nil && by.wider[n.Branches[0].Child] != nil {
		least = by.least
		wider = by.wider
	}
	parts := make([]int64, len(n.Branches))
	for _, b := range n.Branches {
		known[b.Child] = make([]int64, len(whole))
	}
	for k, total := range whole {
		for kind, share := range []func(child int) int64{
			func(child int) int64 { return by.rows[child][k] },
			func(child int) int64 { return wider[child][k] },
			func(child int) int64 { return by.grown[child][k] },
			func(child int) int64 { return t.Nodes[child].Weight },
			func(int) int64 { return 1 },
		} {
			for i, b := range n.Branches {
				parts[i] = share(b.Child)
			}
			if all := portable.Sum(parts); all > 0 && (kind > 0 || all >= least) {
				break
			}
		}
		apportion(total, parts)
		for i, b := range n.Branches {
			known[b.Child][k] = parts[i]
		}
	}
}

// apportion replaces shares, whose sum is above 0, by whole parts of a total in proportion. The parts add up to the total.
func apportion(total int64, shares []int64) {
	all := uint64(portable.Sum(shares))
	var seen uint64
	before := int64(0)
	for i, share := range shares {
		seen += uint64(share)
		high, low := bits.Mul64(seen, uint64(total))
		low, carry := bits.Add64(low, all/2, 0)
		part, _ := bits.Div64(high+carry, low, all)
		shares[i] = int64(part) - before
		before = int64(part)
	}
}

// WeighKnown sets the weights of nodes, which are the sums over their children, to the known ones: see Known.
func (t *Tree) WeighKnown() {
	if !hasUnordered(t.Features) {
		return
	}
	weights := make([][]int64, len(t.Nodes))
	for i := range t.Nodes {
		weights[i] = t.Nodes[i].RawClassWeights
	}
	for i, known := range t.Known(weights) {
		n := &t.Nodes[i]
		if !n.Leaf() {
			continue // the sum over its children
		}
		n.Weight = portable.Sum(known)
		majority := slices.Clone(n.ClassWeights)
		switch {
		case slices.Equal(n.ClassWeights, n.RawClassWeights):
			majority = known
		case n.Weight == 0:
			clear(majority)
		case portable.Sum(majority) > 0:
			apportion(n.Weight, majority)
		}
		n.RawClassWeights = known
		n.ClassWeights = majority
	}
	SumUp(t.Nodes)
}

// KnownCounts returns counts of rows with their known weights, see Known; the given counts if there are no presence tests.
// The rows stay. With strata, classes are divided within each stratum.
func (t *Tree) KnownCounts(c *LeafCounts) *LeafCounts {
	if !t.HasPresenceTests() {
		return c
	}
	if c.Strata != nil {
		known := *c
		known.Strata = nil
		known.Weights, _, _ = c.Strata.known(t)
		return &known
	}
	known := *c
	known.Weights = t.Known(t.summed(c))
	for at := range t.Nodes {
		if !t.Nodes[at].Leaf() {
			known.Weights[at] = nil
		}
	}
	return &known
}

// summed returns the weights of counts at all nodes.
func (t *Tree) summed(c *LeafCounts) [][]int64 {
	weights := make([][]int64, len(t.Nodes))
	for at := len(t.Nodes) - 1; at >= 0; at-- {
		if t.Nodes[at].Leaf() {
			weights[at] = c.Weights[at]
			continue
		}
		weights[at] = make([]int64, len(t.Label.Classes))
		for _, b := range t.Nodes[at].Branches {
			for k, w := range weights[b.Child] {
				weights[at][k] += w
			}
		}
	}
	return weights
}

// Unfounded returns the share of the weight of counts that Known divides as the rows that the tree was grown on, because no
// row of its class at a presence test has the value, and the feature whose values the most of this weight lacks.
func (t *Tree) Unfounded(c *LeafCounts) (share float64, feature int) {
	weights := t.summed(c)
	lacking := make([]int64, len(t.Features))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !t.Presence(n) {
			continue
		}
		for k, w := range weights[n.ByOutcome(0).Child] {
			if w == 0 {
				lacking[n.Test.Feature] += weights[i][k]
			}
		}
	}
	for f, w := range lacking {
		if w > lacking[feature] {
			feature = f
		}
	}
	return float64(portable.Sum(lacking)) / float64(max(1, portable.Sum(weights[0]))), feature
}

// KnownSquares returns, by node and class, how far known weights of counts are evidence: the mean square of the factors by
// which rows count, and the sum of the squares of known weights that no row at the leaf has. known has the known counts.
func (t *Tree) KnownSquares(c, known *LeafCounts) (ofRows, alone [][]float64) {
	if c.Strata != nil {
		_, ofRows, alone = c.Strata.known(t)
		return ofRows, alone
	}
	ofRows = make([][]float64, len(t.Nodes))
	alone = make([][]float64, len(t.Nodes))
	for i, weights := range c.Weights {
		if !t.Nodes[i].Leaf() {
			continue
		}
		ofRows[i] = make([]float64, len(weights))
		alone[i] = make([]float64, len(weights))
		for k, w := range weights {
			whole := float64(known.Weights[i][k])
			if w == 0 {
				alone[i][k] = float64(whole * whole)
				continue
			}
			factor := whole / float64(w)
			ofRows[i][k] = float64(factor * factor)
		}
	}
	return ofRows, alone
}

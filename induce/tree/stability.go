package tree

import "github.com/espalier-ml/espalier/induce/split"

// Stability measures how well a tree agrees with other trees, such as the trees of cross-validation
// folds.
type Stability struct {
	// SameFeature is the mean of SameFeature over the splits, weighted by the training rows that reach them; nil if the
	// tree is a single leaf.
	SameFeature *float64 `json:"same_feature" jsonschema:"nullable,minimum=0,maximum=1"`
	// SameTest is the mean of SameTest over the splits, as SameFeature.
	SameTest *float64         `json:"same_test" jsonschema:"nullable,minimum=0,maximum=1"`
	Splits   []SplitStability `json:"splits"` // by inner node of tree.json, in order, without presence tests
}

// SplitStability measures how well other trees agree with one inner node.
type SplitStability struct {
	Node    int    `json:"node" jsonschema:"minimum=0"` // its id in tree.json
	Feature string `json:"feature"`
	// SameFeature is the share of the folds' trees with a test on the feature at the same place, to which the same
	// answers to tests on the same features lead.
	SameFeature float64 `json:"same_feature" jsonschema:"minimum=0,maximum=1"`
	// SameTest is the share of the folds' trees with the same cut or value at the same place.
	SameTest float64 `json:"same_test" jsonschema:"minimum=0,maximum=1"`
}

// Stability compares the tree with other trees, at least one, over features with the same bins. The
// same answers to tests on the same features lead to the same place in another tree: see place. A
// tree without the place counts as not agreeing.
func (t *Tree) Stability(others []*Tree) *Stability {
	features, tests := make([]int, len(t.Nodes)), make([]int, len(t.Nodes)) // by node: how many trees agree
	for _, other := range others {
		for i, place := range t.places(other) {
			if place < 0 || t.Nodes[i].Leaf() || !t.sameFeature(i, other, place) {
				continue
			}
			features[i]++
			if sameQuestion(t.Nodes[i].Test, other.Nodes[place].Test) {
				tests[i]++
			}
		}
	}
	s := &Stability{Splits: []SplitStability{}}
	var weight, sameFeature, sameTest float64
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Leaf() || t.Presence(n) { // a presence test follows from the test below
			continue
		}
		one := SplitStability{
			Node: i, Feature: t.Features[n.Test.Feature].Name,
			SameFeature: float64(features[i]) / float64(len(others)),
			SameTest:    float64(tests[i]) / float64(len(others)),
		}
		s.Splits = append(s.Splits, one)
		weight += float64(n.Weight)
		sameFeature += float64(one.SameFeature * float64(n.Weight))
		sameTest += float64(one.SameTest * float64(n.Weight))
	}
	if weight > 0 {
		sameFeature /= weight
		sameTest /= weight
		s.SameFeature = &sameFeature
		s.SameTest = &sameTest
	}
	return s
}

// places returns for each node the node at the same place in another tree; -1 if absent.
func (t *Tree) places(other *Tree) []int {
	places := make([]int, len(t.Nodes))
	for i := range t.Nodes {
		for _, b := range t.Nodes[i].Branches {
			places[b.Child] = t.place(i, b.Outcome, other, places[i])
		}
	}
	return places
}

// place returns the child of node at in the other tree that corresponds to an outcome at node; -1
// if absent. Both nodes must test the same feature. Thresholds, and cuts of ordered
// values, correspond by their side, whatever their cuts. Multiway tests correspond by code. All other tests (of a value, a bin or missing)
// must be equal.
func (t *Tree) place(node, outcome int, other *Tree, at int) int {
	if at < 0 || !t.sameFeature(node, other, at) {
		return -1
	}
	mine := t.Nodes[node].Test
	theirs := other.Nodes[at].Test
	cuts := mine.Kind == split.Threshold || mine.Kind == split.In && t.Features[mine.Feature].Ordered
	if mine.Kind != theirs.Kind || !cuts && !sameQuestion(mine, theirs) {
		return -1
	}
	for _, b := range other.Nodes[at].Branches {
		if b.Outcome == outcome {
			return b.Child
		}
	}
	return -1
}

// sameFeature reports whether an inner node and a node of another tree test the same feature.
func (t *Tree) sameFeature(node int, other *Tree, at int) bool {
	theirs := &other.Nodes[at]
	return !theirs.Leaf() && t.Features[t.Nodes[node].Test.Feature].Name == other.Features[theirs.Test.Feature].Name
}

// sameQuestion reports whether two tests on the same feature are equal.
func sameQuestion(a, b *Test) bool {
	return a.Kind == b.Kind && a.Code == b.Code && a.Span == b.Span && a.Set == b.Set
}

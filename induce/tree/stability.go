package tree

import "github.com/espalier-ml/espalier/induce/split"

// Stability says how far other trees, such as those of the folds of a
// cross-validation, ask what a tree asks. All figures are shares of these trees.
type Stability struct {
	// mean over the inner nodes, weighted by their weight; nil: the tree asks nothing
	SameFeature *float64         `json:"same_feature"`
	SameTest    *float64         `json:"same_test"` // the same of the very same test
	Splits      []SplitStability `json:"splits"`    // of the inner nodes, in their order
}

// SplitStability says how far other trees agree with an inner node of a tree.
type SplitStability struct {
	Node        int     `json:"node"`
	Feature     string  `json:"feature"`
	SameFeature float64 `json:"same_feature"` // share of the trees that ask the feature at the same place
	SameTest    float64 `json:"same_test"`    // share of those that have the same cut or value, too
}

// Stability compares a tree with others, at least one, over features with the same
// bins. The place of a node in another tree is reached by the same answers to
// tests on the same features: see place. A tree that has no such place does not
// agree.
func (t *Tree) Stability(others []*Tree) *Stability {
	features, tests := make([]int, len(t.Nodes)), make([]int, len(t.Nodes)) // trees that agree, by node
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
	weight, sameFeature, sameTest := 0.0, 0.0, 0.0
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Leaf() {
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
		sameFeature, sameTest = sameFeature/weight, sameTest/weight
		s.SameFeature, s.SameTest = &sameFeature, &sameTest
	}
	return s
}

// places returns, for each node, the node of another tree that is in its place;
// -1: there is none.
func (t *Tree) places(other *Tree) []int {
	places := make([]int, len(t.Nodes))
	for i := range t.Nodes {
		for _, b := range t.Nodes[i].Branches {
			places[b.Child] = t.place(i, b.Outcome, other, places[i])
		}
	}
	return places
}

// place returns the child of another tree's node to which the answer leads that
// leads to a child here; -1: there is none. Where both nodes ask the same feature
// for a threshold it is that of the same side, wherever the cuts are, and where
// both are multiway that of the same code. A yes to one value or bin, or to
// missing, and the no are an answer of another tree only where it asks for the
// same.
func (t *Tree) place(node, outcome int, other *Tree, at int) int {
	if at < 0 || !t.sameFeature(node, other, at) {
		return -1
	}
	mine, theirs := t.Nodes[node].Test, other.Nodes[at].Test
	if mine.Kind != theirs.Kind || mine.Kind != split.Threshold && !sameQuestion(mine, theirs) {
		return -1
	}
	for _, b := range other.Nodes[at].Branches {
		if b.Outcome == outcome {
			return b.Child
		}
	}
	return -1
}

// sameFeature reports whether an inner node and another tree's node ask the same
// feature.
func (t *Tree) sameFeature(node int, other *Tree, at int) bool {
	theirs := &other.Nodes[at]
	return !theirs.Leaf() && t.Features[t.Nodes[node].Test.Feature].Name == other.Features[theirs.Test.Feature].Name
}

// sameQuestion reports whether two tests on the same feature are the same.
func sameQuestion(a, b *Test) bool { return a.Kind == b.Kind && a.Code == b.Code && a.Span == b.Span }

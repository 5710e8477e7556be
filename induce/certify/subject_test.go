package certify_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// mixedTree has a root of weight 100 and leaves with the weights 50:0, 12:8 and 0:30.
func mixedTree(a tree.Algorithm) *tree.Tree {
	node := func(a, b int64) tree.Node { return tree.Node{Weight: a + b, ClassWeights: []int64{a, b}} }
	t := &tree.Tree{
		Algorithm: a, Complexity: tree.Complexity{ExpectedCost: 3},
		Nodes: []tree.Node{node(62, 38), node(50, 0), node(12, 38), node(12, 8), node(0, 30)},
	}
	for _, v := range []int{0, 2} {
		t.Nodes[v].Test = &tree.Test{Cost: 2}
		t.Nodes[v].Branches = []tree.Branch{{Outcome: 1, Child: v + 1}, {Outcome: 0, Child: v + 2}}
	}
	return t
}

// TestSeparated: by hand on mixedTree. Its heaviest leaf with two classes has a fifth
// of the weight. A single leaf with two classes has all of it.
func TestSeparated(t *testing.T) {
	for _, c := range []struct {
		theta, want float64
		limited     bool
	}{
		{0, .2, true},
		{.005, .2, true},
		{.1999, .2, true},
		{.2 * (1 - 1e-12), .2 * (1 - 1e-12), false}, // equal but for rounding
		{.2, .2, false},
		{.5, .5, false},
	} {
		theta, limited := certify.Separated(mixedTree(tree.Algorithm{Theta: c.theta}))
		if theta != c.want || limited != c.limited {
			t.Errorf("grown to %v: separated to %v, limited %v, want %v, %v", c.theta, theta, limited, c.want, c.limited)
		}
	}
	bare := &tree.Tree{Nodes: []tree.Node{{Weight: 5, ClassWeights: []int64{2, 3}}}}
	if theta, limited := certify.Separated(bare); theta != 1 || !limited {
		t.Errorf("a leaf of two classes: %v, %v", theta, limited)
	}
	pure := &tree.Tree{Nodes: []tree.Node{{Weight: 5, ClassWeights: []int64{0, 5}}}}
	if theta, limited := certify.Separated(pure); theta != 0 || limited {
		t.Errorf("a leaf of one class: %v, %v", theta, limited)
	}
}

// TestDescribe: each limit and each constraint makes a tree incomplete.
func TestDescribe(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(m *tree.Tree)
		complete bool
	}{
		"as grown":   {func(*tree.Tree) {}, true},
		"mixed leaf": {func(m *tree.Tree) { m.Algorithm.Theta = .1 }, false},
		"deadline":   {func(m *tree.Tree) { m.Training.CutLeaves = 1 }, false},
		"depth":      {func(m *tree.Tree) { m.Algorithm.MaxDepth = 9 }, false},
		"rows":       {func(m *tree.Tree) { m.Algorithm.MinRows = 2 }, false},
		"leaves":     {func(m *tree.Tree) { m.Algorithm.MaxLeaves = 9 }, false},
		"first":      {func(m *tree.Tree) { m.Algorithm.First = []string{"x"} }, false},
		"monotone":   {func(m *tree.Tree) { m.Algorithm.Monotone = map[string]int8{"x": 1} }, false},
		"forbidden":  {func(m *tree.Tree) { m.Algorithm.Forbid = []string{"x"} }, true}, // no tree of the bound has x
	} {
		m := mixedTree(tree.Algorithm{Theta: .2})
		c.change(m)
		if got := certify.Describe(m); got != (certify.Grown{ExpectedCost: 3, Complete: c.complete}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestForTree: the bound is of trees like the one that is certified.
func TestForTree(t *testing.T) {
	m := mixedTree(tree.Algorithm{Theta: .005, RepeatCost: tree.RepeatFree, Seed: 9})
	p := induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 3, Theta: .005}
	want := certify.Options{
		Algorithm: split.EC45, Family: split.Both, Lambda: 3, Theta: .2, RepeatFree: true, Seed: 9,
	}
	if diff := cmp.Diff(want, certify.ForTree(m, p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package certify_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestDecide: by hand. A feature of three bins and one for missing has codes of one
// byte, so an object takes 1 + 16 bytes, and 2 GiB hold 2^31/17 = 126,322,567.5 objects.
func TestDecide(t *testing.T) {
	features := []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1, 2}, Cost: 1}}
	for _, c := range []struct {
		mode     certify.Mode
		features []dataset.Feature
		objects  int64
		want     certify.Decision
	}{
		{certify.None, features, 10, certify.Decision{Answer: certify.NotAsked}},
		{certify.None, nil, 10, certify.Decision{Answer: certify.NotAsked}},
		{certify.Quick, nil, 10, certify.Decision{Answer: certify.NoFeatures}},
		{certify.Quick, features, 10, certify.Decision{Answer: certify.Possible, Bytes: 170}},
		{certify.Full, features, 126_322_567, certify.Decision{Answer: certify.Possible, Bytes: 2_147_483_639}},
		{certify.Quick, features, 126_322_568, certify.Decision{Answer: certify.TooLarge, Bytes: 2_147_483_656}},
		{certify.Full, features, 126_322_568, certify.Decision{Answer: certify.TooLarge, Bytes: 2_147_483_656}},
	} {
		if got := c.mode.Decide(c.features, c.objects); got != c.want {
			t.Errorf("%s of %d objects, %d features: %+v, want %+v", c.mode, c.objects, len(c.features), got, c.want)
		}
	}
}

// TestRunBudget: by hand, 3/4 of a step for a code of a grown tree, 4 steps for a value
// that is read, and ten million.
func TestRunBudget(t *testing.T) {
	for run, want := range map[certify.Run]int64{
		{}: 10_000_000,
		{Trees: 1, Objects: 800, Rows: 1000, Features: 10}:                10_000_000 + 6000 + 40_000,
		{Trees: 20 * 6, Objects: 50_000, Rows: 1_000_000, Features: 1000}: 10_000_000 + 4_500_000_000 + 4_000_000_000,
		{Trees: 1, Objects: 1, Rows: 1, Features: 1}:                      10_000_000 + 0 + 4, // whole steps
	} {
		if got := run.Budget(); got != want {
			t.Errorf("%+v: %d steps, want %d", run, got, want)
		}
	}
}

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
	billed := mixedTree(tree.Algorithm{Theta: .2})
	billed.Complexity.ExpectedBilledCost = 4
	if got := certify.Describe(billed).ExpectedCost; got != 4 {
		t.Errorf("expected cost %v, want the billed one", got)
	}
}

// TestForTree: the bound is of trees like the one that is certified.
func TestForTree(t *testing.T) {
	m := mixedTree(tree.Algorithm{Theta: .005, RepeatCost: tree.RepeatFree, Seed: 9})
	p := induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 3, Theta: .005, Subset: 2}
	want := certify.Options{
		Algorithm: split.EC45, Family: split.Both, Lambda: 3, Theta: .2, Subset: 2, RepeatFree: true, Seed: 9,
	}
	if diff := cmp.Diff(want, certify.ForTree(m, p, certify.Full, math.MaxInt64)); diff != "" {
		t.Errorf("full (-want +got):\n%s", diff)
	}
	want.Sample, want.Work, want.Budget = 100, 1<<17, 12345
	if diff := cmp.Diff(want, certify.ForTree(m, p, certify.Quick, 12345)); diff != "" {
		t.Errorf("quick (-want +got):\n%s", diff)
	}
}

package frontier_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// grownTree is a tree of two tests. Its rows are written as weight of class a : weight
// of class b, for training and for validation; p is the probability of b.
//
//	0: 4:4, p .5, asks x at cost 1
//	  1: 0:3, p .9            validation 1:5
//	  2: 4:1, p .2, asks y at cost 2
//	    3: 4:0, p .1          validation 5:1
//	    4: 0:1, p .6          validation 1:1
//
// By hand: Gini indexes times weights are 4 at node 0, 1.6 at node 2 and 0 at the
// leaves. In leaves, node 2 is worth 1.6/8 = .2 for one leaf, and then node 0 is worth
// (4-1.6)/8 = .3 for one leaf. In costs, node 2 is worth .2 / (2*5/8) = .16, and node 0
// .3 / 1. The pruned trees have 3, 2 and 1 leaves, and the expected costs 2.25, 1 and 0.
//
// By hand: of 7*7 pairs of validation rows the whole tree ranks 40.5 rightly, where
// ties count half: 5*6 + 5/2 at leaf 1, 5 + 1/2 at leaf 4, 5/2 at leaf 3. With node 2 as
// a leaf of 6:2 rows it is 5*6 + 5/2 + 2*6/2 = 38.5. The root alone has half of 49.
func grownTree(name string) *tree.Tree {
	node := func(a, b int64, p float64) tree.Node {
		return tree.Node{
			Rows: a + b, Objects: a + b, Weight: a + b, ClassWeights: []int64{a, b}, RawClassWeights: []int64{a, b},
			Probabilities: []float64{1 - p, p},
		}
	}
	t := &tree.Tree{
		Label:     tree.Label{Classes: []string{"a", "b"}},
		Features:  []dataset.Feature{{Name: "x", Cost: 1}, {Name: "y", Cost: 2}},
		Algorithm: tree.Algorithm{Name: name, Prune: "none"},
		Nodes:     []tree.Node{node(4, 4, .5), node(0, 3, .9), node(4, 1, .2), node(4, 0, .1), node(0, 1, .6)},
	}
	for i, v := range []int{0, 2} {
		t.Nodes[v].Test = &tree.Test{Test: split.Test{Feature: i}, Cost: float64(1 + i)}
		t.Nodes[v].Branches = []tree.Branch{{Outcome: 1, Child: v + 1}, {Outcome: 0, Child: v + 2}}
	}
	t.Measure()
	return t
}

// areas are the areas of grownTree on the validation rows, by step.
var areas = []float64{40.5 / 49, 38.5 / 49, 0.5}

// candidates are grownTree, grown by an algorithm without a lambda and by one with it,
// each with the validation rows of grownTree and without test rows.
func candidates() []frontier.Candidate {
	list := []frontier.Candidate{
		frontier.NewCandidate(grownTree("cart"), induce.Params{Algorithm: split.CART}),
		frontier.NewCandidate(grownTree("ecart"), induce.Params{Algorithm: split.ECART, Lambda: 10}),
	}
	for i := range list {
		validation := list[i].Tree.NewLeafCounts()
		for leaf, weights := range map[int][]int64{1: {1, 5}, 3: {5, 1}, 4: {1, 1}} {
			validation.Weights[leaf], validation.Rows[leaf] = weights, weights[0]+weights[1]
		}
		list[i].Counts[dataset.Validation], list[i].Counts[dataset.Test] = validation, list[i].Tree.NewLeafCounts()
	}
	return list
}

func both() []prune.Currency { return []prune.Currency{prune.Leaves, prune.Cost} }

func pool(t *testing.T, s *frontier.Settings, list []frontier.Candidate) *frontier.Pool {
	t.Helper()
	var done atomic.Int64
	p, err := frontier.NewPool(t.Context(), list, s, &done)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Score(t.Context(), &done); err != nil {
		t.Fatal(err)
	}
	if want := len(list) * max(1, len(s.Currencies)); len(p.Prunings) != want || done.Load() != int64(2*len(list)) {
		t.Errorf("%d prunings, %d counted, want %d, %d", len(p.Prunings), done.Load(), want, 2*len(list))
	}
	return p
}

// TestPool: all steps of two trees in two currencies compete, with the costs and areas
// of grownTree.
func TestPool(t *testing.T) {
	p := pool(t, &frontier.Settings{Currencies: both()}, candidates())
	if len(p.Points) != 12 {
		t.Fatalf("%d points, want 3 steps of 2 trees in 2 currencies", len(p.Points))
	}
	for i, q := range p.Points {
		at, currency, step := i/6, both()[i/3%2], i%3
		lambda := []float64{math.Inf(1), 10}[at]
		if q.Tree != at || q.Currency != currency || q.Step != step || q.Lambda != lambda {
			t.Errorf("point %d: step %d of tree %d in %v, lambda %v", i, q.Step, q.Tree, q.Currency, q.Lambda)
		}
		if math.Abs(*q.Validation.AUC-areas[step]) > 1e-15 || q.Test.AUC != nil {
			t.Errorf("point %d: area %v, area on no rows %v", i, *q.Validation.AUC, q.Test.AUC)
		}
		if q.Leaves != 3-step || q.ExpectedCost != []float64{2.25, 1, 0}[step] {
			t.Errorf("point %d: %d leaves, expected cost %v", i, q.Leaves, q.ExpectedCost)
		}
		if p.PruningOf(&q) != i/3 {
			t.Errorf("point %d: pruning %d", i, p.PruningOf(&q))
		}
	}
}

// TestCompeting: of trees that are not pruned the first step competes; at a fixed alpha
// the step that is optimal there.
func TestCompeting(t *testing.T) {
	alpha := .25
	for _, c := range []struct {
		settings frontier.Settings
		want     []int // steps
	}{
		{frontier.Settings{}, []int{0, 0}},
		{frontier.Settings{Alpha: &alpha}, []int{0, 0}}, // there is no currency to prune in
		{frontier.Settings{Currencies: both()[:1], Alpha: &alpha}, []int{1, 1}},
		{frontier.Settings{Currencies: both()[:1]}, []int{0, 1, 2, 0, 1, 2}},
	} {
		var got []int
		for _, q := range pool(t, &c.settings, candidates()).Points {
			got = append(got, q.Step)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: steps %v, want %v", c.settings, got, c.want)
		}
	}
}

// TestPruned: by hand on grownTree. The rows of the merged leaves are added up, and the
// un-pruned tree is kept.
func TestPruned(t *testing.T) {
	p := pool(t, &frontier.Settings{Currencies: both()}, candidates())
	at := &p.Points[10] // step 1 of the second tree, in costs
	c := p.Candidate(at)
	if a := c.Tree.Algorithm; a.Name != "ecart" || a.Prune != "cost" || math.Abs(a.Alpha-.16) > 1e-15 {
		t.Errorf("algorithm %+v", a)
	}
	if len(c.Tree.Nodes) != 3 || c.Grown != p.Candidates[1].Tree || c.Params.Lambda != 10 {
		t.Errorf("%d nodes, grown by %+v", len(c.Tree.Nodes), c.Params)
	}
	for part, want := range map[dataset.Part]*tree.LeafCounts{
		dataset.Train:      {Weights: [][]int64{nil, {0, 3}, {4, 1}}, Rows: []int64{0, 3, 5}},
		dataset.Validation: {Weights: [][]int64{nil, {1, 5}, {6, 2}}, Rows: []int64{0, 6, 8}},
		dataset.Test:       {Weights: [][]int64{nil, {0, 0}, {0, 0}}, Rows: []int64{0, 0, 0}},
	} {
		if diff := cmp.Diff(want, c.Counts[part]); diff != "" {
			t.Errorf("%v (-want +got):\n%s", part, diff)
		}
	}
	if diff := cmp.Diff(c.Tree, p.Tree(at)); diff != "" {
		t.Error(diff)
	}
	none := p.Interval(at, c.Tree, dataset.Test)
	if i := p.Interval(at, c.Tree, dataset.Validation); i.Low >= areas[1] || i.High <= areas[1] || none != nil {
		t.Errorf("interval %+v of the area %v; of no rows %+v", i, areas[1], none)
	}
	if whole := p.Candidate(&p.Points[0]); whole.Tree.Algorithm.Alpha != 0 || whole.Tree.Algorithm.Prune != "none" {
		t.Errorf("un-pruned: %+v", whole.Tree.Algorithm)
	}
}

// TestInfiniteAlpha: JSON has no infinity. A test that costs nothing is cut at an
// infinite alpha.
func TestInfiniteAlpha(t *testing.T) {
	c := candidates()[0]
	c.Tree.Nodes[0].Test.Cost, c.Tree.Nodes[2].Test.Cost = 0, 0
	s := c.Prune(c.Tree, prune.Cost)[0]
	last := len(s.Steps) - 1
	if got := c.Pruned(s, last).Tree.Algorithm.Alpha; !math.IsInf(s.Steps[last].Alpha, 1) || got != math.MaxFloat64 {
		t.Errorf("alpha %v written as %v", s.Steps[last].Alpha, got)
	}
}

// TestLambdas: the paper's scale of lambda ends with the entropies at 0 and with the
// impurities alone at infinity.
func TestLambdas(t *testing.T) {
	for _, c := range []struct {
		algorithm split.Algorithm
		want      float64
	}{{split.ASR, 0}, {split.EC45, 7}, {split.ECART, 7}, {split.C45, math.Inf(1)}, {split.CC45, math.Inf(1)}} {
		list := candidates()[:1]
		list[0].Params = induce.Params{Algorithm: c.algorithm, Lambda: 7}
		if got := pool(t, &frontier.Settings{}, list).Points[0].Lambda; got != c.want {
			t.Errorf("%v: lambda %v, want %v", c.algorithm, got, c.want)
		}
	}
}

// TestPoolStops: the end of the context ends the work, with its cause.
func TestPoolStops(t *testing.T) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	p, err := frontier.NewPool(ctx, candidates(), &frontier.Settings{}, new(atomic.Int64))
	if p != nil || !errors.Is(err, cause) {
		t.Errorf("%+v, %v", p, err)
	}
	if err := pool(t, &frontier.Settings{}, candidates()).Score(ctx, new(atomic.Int64)); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

package prune_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

func currencies() []prune.Currency { return []prune.Currency{prune.Leaves, prune.Cost, prune.MaxCost} }

// pruning is one of all prunings of a tree.
type pruning struct {
	inner            uint64 // set of inner nodes
	risk, complexity float64
}

// prunings lists all prunings of a node's subtree from the definition, with its own
// logarithms.
func prunings(t *tree.Tree, v int, currency prune.Currency, impurity split.Impurity) []pruning {
	n, total := &t.Nodes[v], float64(t.Nodes[0].Weight)
	phi := 0.0
	for _, w := range n.RawClassWeights {
		p := float64(w) / float64(n.Weight)
		switch {
		case impurity == split.Gini:
			phi += p * (1 - p)
		case p > 0:
			phi -= p * math.Log2(p)
		}
	}
	leaf := pruning{risk: float64(n.Weight) / total * phi}
	if currency == prune.Leaves {
		leaf.complexity = 1
	}
	if n.Leaf() {
		return []pruning{leaf}
	}
	list := []pruning{{inner: 1 << v}}
	if currency == prune.Cost {
		list[0].complexity = n.Test.Paid() * float64(n.Weight) / total
	}
	for _, b := range n.Branches {
		var product []pruning
		for _, x := range list {
			for _, y := range prunings(t, b.Child, currency, impurity) {
				both := pruning{x.inner | y.inner, x.risk + y.risk, x.complexity + y.complexity}
				if currency == prune.MaxCost {
					both.complexity = max(x.complexity, y.complexity)
				}
				product = append(product, both)
			}
		}
		list = product
	}
	if currency == prune.MaxCost {
		for i := range list {
			list[i].complexity += n.Test.Paid()
		}
	}
	return append(list, leaf)
}

// optimum returns the inner nodes of the smallest pruning whose risk + alpha *
// complexity is within the given slack of the least. The minimisers are closed
// under intersection, so the smallest minimiser is the intersection of all.
func optimum(all []pruning, alpha, slack float64) uint64 {
	least := math.Inf(1)
	for _, p := range all {
		least = min(least, p.risk+alpha*p.complexity)
	}
	inner := uint64(math.MaxUint64)
	for _, p := range all {
		if p.risk+alpha*p.complexity <= least+slack {
			inner &= p.inner
		}
	}
	return inner
}

// slack is greater than the rounding error of a tie.
const slack = 1e-10

// innerNodes returns the nodes of the un-pruned tree that are inner in a step.
func innerNodes(s *prune.Sequence, t *tree.Tree, step int) uint64 {
	var set uint64
	for v := range t.Nodes {
		if s.Cut(v) > step {
			set |= 1 << v
		}
	}
	return set
}

// checkOptimal compares all steps of a sequence, at and between their alphas, with
// brute force over all prunings. A step has every inner node of the smallest
// minimiser within slack, and no inner node outside of the smallest minimiser
// within exact.
func checkOptimal(t *testing.T, grown *tree.Tree, currency prune.Currency, impurity split.Impurity, exact float64) *prune.Sequence {
	t.Helper()
	all := prunings(grown, 0, currency, impurity)
	s := prune.NewSequence(grown, currency, impurity)
	for k := range s.Steps {
		for _, alpha := range around(s, k) {
			fewest, most := optimum(all, alpha, slack), optimum(all, alpha, exact)
			if got := innerNodes(s, grown, s.At(alpha)); got&fewest != fewest || got&most != got {
				t.Fatalf("%v, %s: alpha %v gives step %d with inner nodes %b, want between %b and %b",
					currency, impurity, alpha, s.At(alpha), got, fewest, most)
			}
		}
	}
	return s
}

func TestOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	steps, ties, nothing := 0, 0, 0
	for i := range 500 {
		grown := randomTree(r, 1+r.IntN(9), 2+r.IntN(3), []int64{2, 3, 10, 1000}[i%4])
		for _, currency := range currencies() {
			for impurity := range split.Impurities {
				s := checkOptimal(t, grown, currency, impurity, slack)
				steps += len(s.Steps)
				if len(s.Steps) < grown.Complexity.Nodes-grown.Complexity.Leaves {
					ties++
				}
				if len(s.Steps) > 1 && s.Steps[1].Alpha == 0 {
					nothing++
				}
			}
		}
	}
	if steps < 5000 || ties < 100 || nothing < 100 {
		t.Errorf("%d steps, %d sequences with nodes cut at once, %d with subtrees that gain nothing: the trees try "+
			"too little", steps, ties, nothing)
	}
}

// FuzzOptimal takes any weights. Some gains are nearly as small as rounding errors.
func FuzzOptimal(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(2), uint16(2))
	f.Add(uint64(2), uint8(8), uint8(3), uint16(1000))
	f.Add(uint64(3), uint8(1), uint8(1), uint16(999))
	f.Fuzz(func(t *testing.T, seed uint64, inner, classes uint8, most uint16) {
		grown := randomTree(rand.New(rand.NewPCG(seed, 0)), int(inner%10), 1+int(classes%5), 2+int64(most%1000))
		for _, currency := range currencies() {
			checkOptimal(t, grown, currency, split.Impurity(seed%2), 1e-14)
		}
	})
}

// around returns a step's alpha, and an alpha on each side of it.
func around(s *prune.Sequence, k int) []float64 {
	a := s.Steps[k].Alpha
	if k+1 == len(s.Steps) {
		return []float64{a, 1.5*a + 1, 1e9}
	}
	next := s.Steps[k+1].Alpha
	return []float64{a, (a + next) / 2, a + (next-a)/8, next}
}

// TestSteps: the figures of each step are the figures of its tree, and the sequence is nested and
// monotone.
func TestSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	for range 100 {
		grown := randomTree(r, r.IntN(40), 2+r.IntN(3), 20)
		before := grown.Encode()
		texts := new(tree.Texts)
		for _, currency := range currencies() {
			s := prune.NewSequence(grown, currency, split.Entropy)
			for k, step := range s.Steps {
				pruned := s.Tree(k)
				if diff := cmp.Diff(pruned.Complexity, step.Complexity, within()); diff != "" {
					t.Fatalf("step %d (-tree +step):\n%s", k, diff)
				}
				if want := riskOf(pruned); math.Abs(step.Risk-want) > 1e-12 {
					t.Fatalf("step %d: risk %v, want %v", k, step.Risk, want)
				}
				plain := pruned.Encode()
				if _, err := tree.Decode(plain); err != nil {
					t.Fatalf("step %d: %v", k, err)
				}
				if pruned.Texts = texts; !bytes.Equal(pruned.Encode(), plain) {
					t.Fatalf("step %d: another encoding with the texts of other prunings", k)
				}
				checkOrder(t, pruned)
				if k == 0 {
					continue
				}
				last := s.Steps[k-1]
				if step.Alpha <= last.Alpha && (k > 1 || step.Alpha < 0) {
					t.Fatalf("step %d: alpha %v after %v", k, step.Alpha, last.Alpha)
				}
				if step.Risk < last.Risk || step.Leaves >= last.Leaves || step.ExpectedCost >= last.ExpectedCost ||
					step.MaxCost > last.MaxCost {
					t.Fatalf("step %d is not a smaller tree of more risk: %+v after %+v", k, step, last)
				}
				if now, was := innerNodes64(s, grown, k), innerNodes64(s, grown, k-1); !subset(now, was) {
					t.Fatalf("step %d has inner nodes %v, step before %v", k, now, was)
				}
			}
			if last := s.Tree(len(s.Steps) - 1); len(last.Nodes) != 1 {
				t.Fatalf("the last tree has %d nodes", len(last.Nodes))
			}
			if first := s.Tree(0); !reflect.DeepEqual(first, grown) {
				t.Fatalf("the first tree is not the un-pruned one:\n%s", cmp.Diff(grown, first))
			}
		}
		if string(before) != string(grown.Encode()) {
			t.Fatal("pruning changed the tree")
		}
	}
}

func innerNodes64(s *prune.Sequence, t *tree.Tree, step int) []int {
	var list []int
	for v := range t.Nodes {
		if s.Cut(v) > step {
			list = append(list, v)
		}
	}
	return list
}

func subset(a, b []int) bool {
	return !slices.ContainsFunc(a, func(v int) bool { return !slices.Contains(b, v) })
}

func riskOf(t *tree.Tree) float64 {
	sum := 0.0
	for v := range t.Nodes {
		if n := &t.Nodes[v]; n.Leaf() {
			sum += split.Entropy.Weighted(n.RawClassWeights) / float64(t.Nodes[0].Weight)
		}
	}
	return sum
}

// checkOrder: children follow each other in the order of branches.
func checkOrder(t *testing.T, pruned *tree.Tree) {
	t.Helper()
	next := 1
	for v := range pruned.Nodes {
		for _, b := range pruned.Nodes[v].Branches {
			if b.Child != next {
				t.Fatalf("node %d leads to %d, want %d", v, b.Child, next)
			}
			next++
		}
	}
	if next != len(pruned.Nodes) {
		t.Fatalf("%d nodes, of which branches lead to %d", len(pruned.Nodes), next)
	}
}

// within compares floats with a tolerance for rounding.
func within() cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a)) })
}

// handTree is
//
//	0: 8 rows, 4 : 4, cost 1
//	  1: 4 rows, 4 : 0, leaf
//	  2: 4 rows, 0 : 4, cost 2
//	    3: 2 rows, 0 : 2, leaf
//	    4: 2 rows, 0 : 2, leaf
func handTree() *tree.Tree {
	node := func(a, b int64) tree.Node {
		return tree.Node{
			Rows: a + b, Objects: a + b, Weight: a + b, ClassWeights: []int64{a, b},
			RawClassWeights: []int64{a, b},
		}
	}
	t := &tree.Tree{
		Label:    tree.Label{Classes: []string{"a", "b"}},
		Features: make([]dataset.Feature, 1),
		Nodes:    []tree.Node{node(4, 4), node(4, 0), node(0, 4), node(0, 2), node(0, 2)},
	}
	for v, cost := range map[int]float64{0: 1, 2: 2} {
		t.Nodes[v].Test = &tree.Test{Cost: cost}
		t.Nodes[v].Branches = []tree.Branch{{Outcome: 1, Child: v + 1}, {Outcome: 0, Child: v + 2}}
	}
	t.Estimate(tree.Raw, 1)
	t.Measure()
	return t
}

// TestByHand: the second test gains nothing, so alpha 0 stands twice; the first
// gains one bit for one leaf more, and for an expected cost of 1.
func TestByHand(t *testing.T) {
	want := []prune.Step{
		{Complexity: tree.Complexity{ExpectedCost: 2, ExpectedTests: 1.5, MaxCost: 3, Nodes: 5, Leaves: 3, Depth: 2}, PaidTests: 2},
		{Complexity: tree.Complexity{ExpectedCost: 1, ExpectedTests: 1, MaxCost: 1, Nodes: 3, Leaves: 2, Depth: 1}, PaidTests: 1},
		{Alpha: 1, Risk: 1, Complexity: tree.Complexity{Nodes: 1, Leaves: 1}},
	}
	for _, currency := range currencies() {
		s := prune.NewSequence(handTree(), currency, split.Entropy)
		if diff := cmp.Diff(want, s.Steps); diff != "" {
			t.Errorf("%v: steps differ (-want +got):\n%s", currency, diff)
		}
		for alpha, step := range map[float64]int{-1: 0, 0: 1, 0.5: 1, 1: 2, math.Inf(1): 2} {
			if got := s.At(alpha); got != step {
				t.Errorf("%v: alpha %v gives step %d, want %d", currency, alpha, got, step)
			}
		}
		if got := s.Tree(1).Algorithm.Prune; got != currency.String() {
			t.Errorf("pruned tree says prune %q, want %q", got, currency)
		}
	}
}

// TestFreeTests: by hand. A free subtree that gains a bit is cut together with the
// test above it, at an alpha of 1 bit per 1 of cost. Alone it is cut at an infinite
// alpha.
func TestFreeTests(t *testing.T) {
	grown := handTree()
	for v, raw := range [][]int64{{8, 8}, {4, 4}, {4, 4}, {4, 0}, {0, 4}} {
		grown.Nodes[v].RawClassWeights, grown.Nodes[v].Weight = raw, raw[0]+raw[1]
	}
	grown.Nodes[2].Test.Cost = 0
	s := prune.NewSequence(grown, prune.Cost, split.Entropy)
	if len(s.Steps) != 2 || s.Steps[1].Alpha != 0.5 || s.Cut(2) != 1 {
		t.Errorf("half a bit for a cost of 1 on the way to it: %+v", s.Steps)
	}
	grown.Nodes[0].Test.Cost = 0
	s = prune.NewSequence(grown, prune.Cost, split.Entropy)
	if len(s.Steps) != 2 || !math.IsInf(s.Steps[1].Alpha, 1) || s.At(1e300) != 0 {
		t.Errorf("a bit for nothing: %+v", s.Steps)
	}
}

// TestDeep prunes a chain, the worst case for a search of the weakest link after
// every cut.
func TestDeep(t *testing.T) {
	for _, currency := range currencies() {
		grown := chain(20_000)
		s := prune.NewSequence(grown, currency, split.Entropy)
		if first, last := s.Steps[0], s.Steps[len(s.Steps)-1]; first.Depth != 20_000 || first.Leaves != 20_001 ||
			last.Leaves != 1 {
			t.Errorf("%v: from %+v to %+v", currency, first, last)
		}
		scores := s.Sweep(randomCounts(rand.New(rand.NewPCG(1, 1)), grown, 5))
		if got := *scores[len(scores)-1].AUC; got != 0.5 {
			t.Errorf("%v: area of the root alone %v", currency, got)
		}
	}
}

// chain is a tree whose every test splits one leaf off.
func chain(depth int) *tree.Tree {
	t := &tree.Tree{
		Label: tree.Label{Classes: []string{"a", "b"}}, Features: make([]dataset.Feature, 1),
		Nodes: make([]tree.Node, 2*depth+1),
	}
	for v := 2 * depth; v >= 0; v-- {
		n := &t.Nodes[v]
		n.RawClassWeights = []int64{int64(v % 3), int64(v%5) + 1}
		if v%2 == 0 && v < 2*depth {
			n.Test = &tree.Test{Cost: 1}
			n.Branches = []tree.Branch{{Outcome: 1, Child: v + 1}, {Outcome: 0, Child: v + 2}}
			for c := range n.RawClassWeights {
				n.RawClassWeights[c] = t.Nodes[v+1].RawClassWeights[c] + t.Nodes[v+2].RawClassWeights[c]
			}
		}
		n.ClassWeights, n.Weight = n.RawClassWeights, n.RawClassWeights[0]+n.RawClassWeights[1]
	}
	t.Estimate(tree.Raw, 1)
	t.Measure()
	return t
}

func TestCurrencyNames(t *testing.T) {
	for _, c := range currencies() {
		if got, err := prune.ParseCurrency(c.String()); got != c || err != nil {
			t.Errorf("%v: parsed as %v, %v", c, got, err)
		}
	}
	for _, name := range []string{"", "none", "Cost"} {
		if _, err := prune.ParseCurrency(name); err == nil {
			t.Errorf("currency %q accepted", name)
		}
	}
	if got := fmt.Sprint(prune.Currency(9)); got != "unknown(9)" {
		t.Error(got)
	}
}

// TestTotal: with alpha 1, the pruning in the currency Total has the least cost of tests and errors of all prunings, with
// class shares that are drawn towards the parent's.
func TestTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 3)) //nolint:gosec // data of a test
	pruned := 0
	for range 500 {
		grown := randomTree(r, 1+r.IntN(6), 2+r.IntN(2), 40)
		classes := len(grown.Label.Classes)
		for range classes {
			row := make([]float64, classes)
			for k := range row {
				row[k] = float64(r.IntN(40))
			}
			grown.Label.ErrorCosts = append(grown.Label.ErrorCosts, row)
		}
		if r.IntN(2) == 0 {
			for k := range classes {
				grown.Label.Priors = append(grown.Label.Priors, 2*float64(k+1)/float64(classes*(classes+1)))
			}
		}
		grown.Estimate(tree.Smoothed, 1)
		least := math.Inf(1)
		for _, total := range totals(grown, 0) {
			least = min(least, total)
		}
		s := prune.NewSequence(grown, prune.Total, split.Entropy)
		step := s.At(1)
		got := totalOf(grown, s, step, 0)
		if !(math.Abs(got-least) <= 1e-9*max(1, least)) {
			t.Fatalf("step %d of %d has the total %v, want %v", step, len(s.Steps), got, least)
		}
		if step > 0 && step < len(s.Steps)-1 {
			pruned++
		}
	}
	if pruned < 20 {
		t.Errorf("%d trees are pruned, but not to the root: the trees test too little", pruned)
	}
}

// judged returns the weight of a node where the tree is used, and the cost of its errors as a leaf.
func judged(t *tree.Tree, v int) (weight, errors float64) {
	n, root := &t.Nodes[v], &t.Nodes[0]
	for k, w := range n.RawClassWeights {
		factor := 1.0
		if t.Label.Priors != nil && root.RawClassWeights[k] > 0 {
			seen := 0.0
			for j, p := range t.Label.Priors {
				if root.RawClassWeights[j] > 0 {
					seen += p
				}
			}
			factor = t.Label.Priors[k] / seen * float64(root.Weight) / float64(root.RawClassWeights[k])
		}
		weight += float64(w) * factor
	}
	for k, p := range n.Probabilities {
		errors += weight * p * t.Label.ErrorCosts[k][n.Class]
	}
	return weight, errors
}

// totals returns the total costs of all prunings of a subtree.
func totals(t *tree.Tree, v int) []float64 {
	weight, leaf := judged(t, v)
	n := &t.Nodes[v]
	if n.Leaf() {
		return []float64{leaf}
	}
	list := []float64{n.Test.Paid() * weight}
	for _, b := range n.Branches {
		var sums []float64
		for _, x := range list {
			for _, y := range totals(t, b.Child) {
				sums = append(sums, x+y)
			}
		}
		list = sums
	}
	return append(list, leaf)
}

// totalOf returns the total cost of a step's pruning of a subtree.
func totalOf(t *tree.Tree, s *prune.Sequence, step, v int) float64 {
	weight, total := judged(t, v)
	if n := &t.Nodes[v]; s.Cut(v) > step {
		total = n.Test.Paid() * weight
		for _, b := range n.Branches {
			total += totalOf(t, s, step, b.Child)
		}
	}
	return total
}

// TestPresenceTests: no pruning keeps a presence test without the test below, in any currency.
func TestPresenceTests(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 5))
	kept := 0
	for range 30 {
		d := growtest.New(r, growtest.PricedFeatures(), 2+r.IntN(2), 150, true).Unordered(r)
		p := growtest.RandomParams(r, split.EC45, split.Thresholds)
		p.Theta = 0
		grown := d.Model(d.Grow(p, 1))
		drawErrorCosts(r, &grown.Label)
		for _, currency := range append(currencies(), prune.Total) {
			s := prune.NewSequence(grown, currency, split.Entropy)
			for k := range s.Steps {
				pruned := s.Tree(k)
				for i := range pruned.Nodes {
					n := &pruned.Nodes[i]
					if !pruned.Presence(n) {
						continue
					}
					kept++
					if below := &pruned.Nodes[n.ByOutcome(0).Child]; below.Leaf() || below.Test.Feature != n.Test.Feature {
						t.Fatalf("%v, step %d: presence test %d without a test", currency, k, i)
					}
				}
			}
		}
	}
	if kept == 0 {
		t.Error("no presence test")
	}
}

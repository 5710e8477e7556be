package prune

import (
	"slices"
	"sort"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Step is one pruned tree of a sequence.
type Step struct {
	// Alpha is the least alpha at which this tree is optimal, in risk (bits, Gini index or, for Total, cost of errors) per
	// leaf or per unit of cost. It is infinite if the subtrees cut here cost nothing and lower the risk.
	Alpha float64
	// Risk is the impurity of a row's leaf or, for Total, the cost of its errors, averaged over the training rows by weight.
	Risk float64

	tree.Complexity // measured on the training rows

	PaidTests int // tests that cost something, on the path with most of them
}

// Sequence is the nested sequence of a tree's optimal prunings: the first step
// is the un-pruned tree at alpha 0, the last step the root alone. Alphas increase
// strictly from the second step on.
type Sequence struct {
	Steps []Step

	tree     *tree.Tree
	currency Currency
	parent   []int32 // by node; the root's is itself
	cut      []int32 // by node: the first step at which it is not an inner node; 0 for leaves
}

// Currency returns the sequence's currency.
func (s *Sequence) Currency() Currency { return s.currency }

// NewSequence prunes a tree in the given currency. The risk is the impurity of the leaves or, for Total, the cost of
// errors, for which the label must have error costs. The sequence keeps the tree, and never changes it. The time is O(nodes * (classes + log(nodes))).
func NewSequence(t *tree.Tree, currency Currency, impurity split.Impurity) *Sequence {
	return NewSequences(t, []Currency{currency}, impurity)[0]
}

// NewSequences prunes a tree in each of the currencies, as NewSequence does.
func NewSequences(t *tree.Tree, currencies []Currency, impurity split.Impurity) []*Sequence {
	leaf := risks(t, impurity)
	weight := trainingWeights(t)
	list := make([]*Sequence, len(currencies))
	for i, currency := range currencies {
		if currency == Total {
			judged := judgedWeights(t)
			list[i] = newSequence(t, currency, errorRisks(t, judged), judged)
		} else {
			list[i] = newSequence(t, currency, leaf, weight)
		}
	}
	return list
}

// newSequence prunes a tree, given the risk of each node as a leaf, and its weight.
func newSequence(t *tree.Tree, currency Currency, leaf []float64, weight []int64) *Sequence {
	alpha := alphas(t, currency, leaf, weight)
	for v := range t.Nodes { // a presence test tells nothing without the test below
		if n := &t.Nodes[v]; t.Presence(n) {
			alpha[v] = min(alpha[v], alpha[n.ByOutcome(0).Child])
		}
	}
	starts := distinct(t, alpha)
	s := &Sequence{
		Steps: make([]Step, 1+len(starts)), tree: t, currency: currency,
		parent: make([]int32, len(t.Nodes)), cut: make([]int32, len(t.Nodes)),
	}
	for i, a := range starts {
		s.Steps[i+1].Alpha = a
	}
	for v := range t.Nodes {
		for _, b := range t.Nodes[v].Branches {
			s.parent[b.Child] = int32(v)
		}
		if !t.Nodes[v].Leaf() {
			s.cut[v] = int32(s.At(alpha[v]))
		}
	}
	s.fillRisks(leaf)
	s.fillComplexity()
	return s
}

// distinct returns the distinct alphas of the inner nodes, ascending. Among tied
// alphas it keeps the least.
func distinct(t *tree.Tree, alpha []float64) []float64 {
	var inner []float64
	for v := range t.Nodes {
		if !t.Nodes[v].Leaf() {
			inner = append(inner, alpha[v])
		}
	}
	slices.Sort(inner)
	n := 0
	for _, a := range inner {
		if n == 0 || a > inner[n-1]*(1+tie) {
			inner[n] = a
			n++
		}
	}
	return inner[:n]
}

// Tree returns the pruned tree of a step, numbered breadth-first and with its complexity. The nodes
// keep their classes and probabilities, and share the slices with the unpruned tree.
// Algorithm.Prune names the currency if step is at least 1.
func (s *Sequence) Tree(step int) *tree.Tree {
	pruned := *s.tree
	if step > 0 {
		pruned.Algorithm.Prune = s.currency.String()
	}
	nodes := slices.Clone(s.tree.Nodes)
	for v := range nodes {
		if s.leafAt(v, step) {
			nodes[v].Test = nil
			nodes[v].Branches = nil
		}
	}
	pruned.Nodes = tree.Ordered(nodes)
	pruned.Measure()
	return &pruned
}

// Counts returns the counts of rows by leaf of pruned, the tree of a step.
func (s *Sequence) Counts(pruned *tree.Tree, step int, r *Rows) *tree.LeafCounts {
	counts := pruned.NewLeafCounts()
	i := 0 // node of pruned
	for v := range s.tree.Nodes {
		if int(s.gone(v)) <= step {
			continue
		}
		if s.leafAt(v, step) {
			counts.Rows[i] = r.rows[v]
			for _, w := range r.counted.of(v) {
				counts.Weights[i][w.class] = w.weight
			}
		}
		i++
	}
	return counts
}

// At returns the optimal step for an alpha: the smallest tree among those of least
// risk + alpha * complexity.
func (s *Sequence) At(alpha float64) int {
	return max(sort.Search(len(s.Steps), func(k int) bool { return s.Steps[k].Alpha > alpha }), 1) - 1
}

// leafAt reports whether a node of a step's tree is a leaf.
func (s *Sequence) leafAt(node, step int) bool { return int(s.cut[node]) <= step }

// gone returns the first step without a node: the step that cuts its parent. For
// the root it is one past the last step.
func (s *Sequence) gone(node int) int32 {
	if node == 0 {
		return int32(len(s.Steps))
	}
	return s.cut[s.parent[node]]
}

// fillRisks sets the risks. It adds them up from the un-pruned tree on: all terms
// are positive, so nothing cancels.
func (s *Sequence) fillRisks(leaf []float64) {
	for v := range s.tree.Nodes {
		n := &s.tree.Nodes[v]
		gain := leaf[v]
		for _, b := range n.Branches {
			gain -= leaf[b.Child]
		}
		s.Steps[s.cut[v]].Risk += max(gain, 0)
	}
	for k := 1; k < len(s.Steps); k++ {
		s.Steps[k].Risk += s.Steps[k-1].Risk
	}
}

// fillComplexity sets the complexities. It adds them up from the last step back, as
// a step's tree has all nodes of the next step's tree.
func (s *Sequence) fillComplexity() {
	weight := make([]int64, len(s.tree.Nodes))
	depth, paid := s.tree.PathCosts()
	payments := s.tree.PathPayments()
	for v := range s.tree.Nodes {
		n := &s.tree.Nodes[v]
		weight[v] = n.Weight
		last := &s.Steps[s.gone(v)-1] // the last step with the node
		last.Nodes++
		last.Depth = max(last.Depth, depth[v])
		last.MaxCost = max(last.MaxCost, paid[v])
		last.PaidTests = max(last.PaidTests, payments[v])
		if n.Leaf() {
			last.Leaves++
		}
	}
	for v := range s.tree.Nodes {
		if cut := s.cut[v]; cut > 0 { // a leaf from this step until the node is gone
			s.Steps[s.gone(v)-1].Leaves++
			s.Steps[cut-1].Leaves--
		}
	}
	for k := len(s.Steps) - 2; k >= 0; k-- {
		step := &s.Steps[k]
		next := &s.Steps[k+1]
		step.Nodes += next.Nodes
		step.Leaves += next.Leaves
		step.Depth = max(step.Depth, next.Depth)
		step.MaxCost = max(step.MaxCost, next.MaxCost)
		step.PaidTests = max(step.PaidTests, next.PaidTests)
	}
	for k, e := range s.expected(weight) {
		s.Steps[k].ExpectedCost = e.cost
		s.Steps[k].ExpectedTests = e.tests
	}
	s.fillFurther(weight)
}

// fillFurther sets the costs in further currencies.
func (s *Sequence) fillFurther(weight []int64) {
	units := dataset.FurtherUnits(s.tree.Features)
	dues := s.tree.FurtherDues(units)
	if dues == nil {
		return
	}
	sums := make([]dataset.Amounts, len(s.Steps)+1)
	most := make([]dataset.Amounts, len(s.Steps)+1)
	for v, cost := range s.tree.PathFurther(dues) {
		last := s.gone(v) - 1
		most[last] = most[last].Max(cost)
		if cut := s.cut[v]; cut > 0 {
			sums[cut-1] = sums[cut-1].Plus(dues[v].Times(float64(weight[v])))
		}
	}
	for k := len(s.Steps) - 1; k >= 0; k-- {
		sums[k] = sums[k].Plus(sums[k+1])
		most[k] = most[k].Max(most[k+1])
		s.Steps[k].Further = dataset.NewFurtherCosts(units, sums[k].Per(float64(max(weight[0], 1))), most[k])
	}
}

// expectation holds means per row: billed cost and number of the tests.
type expectation struct{ cost, tests float64 }

// expected returns the means by step, given by node the weight of the rows that
// reach it. The means are 0 if no row reaches the root.
func (s *Sequence) expected(weight []int64) []expectation {
	cost := make([]float64, len(s.Steps)+1)
	tests := make([]int64, len(s.Steps)+1)
	for v := range s.tree.Nodes {
		if n := &s.tree.Nodes[v]; !n.Leaf() && !s.tree.Presence(n) {
			cost[s.cut[v]-1] += n.Spent(float64(weight[v]))
			tests[s.cut[v]-1] += weight[v]
		}
	}
	list := make([]expectation, len(s.Steps))
	total := float64(max(weight[0], 1))
	for k := len(list) - 1; k >= 0; k-- {
		cost[k] += cost[k+1]
		tests[k] += tests[k+1]
		list[k] = expectation{cost[k] / total, float64(tests[k]) / total}
	}
	return list
}

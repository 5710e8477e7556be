package tree

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
)

// LeafModel gives the class probabilities of a row at a leaf, from values that were asked for on
// the path. With two classes the score is the logit of the second class; with more classes there is
// one score per class, and the probabilities are the softmax of the scores. A score is the
// intercept plus the values of all terms, added in their order, plus the values of the booster's
// trees, added in theirs.
type LeafModel struct {
	Intercept []float64 // the logit of the second of two classes; else one score per class
	Terms     []Term
	Booster   *boost.Booster // may be shared by leaves below a node; nil if absent
}

// Term is the contribution of a numeric feature to the scores: a piecewise linear function of the
// value of the feature.
type Term struct {
	Feature int         // index in Tree.Features
	At      []float64   // knots, ascending, at least one
	Values  [][]float64 // by knot; each as long as Intercept
	Missing []float64   // for rows without a value; as long as Intercept
}

// Modelled reports whether some leaf has a model.
func (t *Tree) Modelled() bool {
	return slices.ContainsFunc(t.Nodes, func(n Node) bool { return n.Leaf() && n.Model != nil })
}

// AddTo adds the values of the term at x to scores, one for each entry of Intercept. NaN is a
// missing value. Values are interpolated between knots, and constant before the first and beyond
// the last knot.
func (t *Term) AddTo(scores []float64, x float64) {
	last := len(t.At) - 1
	switch {
	case x != x:
		add(scores, t.Missing, nil)
	case x <= t.At[0]:
		add(scores, t.Values[0], nil)
	case x >= t.At[last]:
		add(scores, t.Values[last], nil)
	default:
		next := 1 // there are few knots
		for t.At[next] <= x {
			next++
		}
		share := (x - t.At[next-1]) / (t.At[next] - t.At[next-1])
		for k, from := range t.Values[next-1] {
			scores[k] += from + float64((t.Values[next][k]-from)*share)
		}
	}
}

// boosters returns the distinct boosters of the leaf models, ordered by the first leaf that uses
// each.
func (t *Tree) boosters() []*boost.Booster {
	var list []*boost.Booster
	seen := map[*boost.Booster]bool{nil: true}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Leaf() && n.Model != nil && !seen[n.Model.Booster] {
			seen[n.Model.Booster] = true
			list = append(list, n.Model.Booster)
		}
	}
	return list
}

// boosterFeatures returns the features that each booster uses, ascending.
func (t *Tree) boosterFeatures() map[*boost.Booster][]int {
	features := make(map[*boost.Booster][]int)
	for _, b := range t.boosters() {
		features[b] = b.Features()
	}
	return features
}

// features returns the features of the model: first the features of its terms, in their order, then
// the remaining features of its booster, ascending. booster lists all features of the booster.
func (m *LeafModel) features(booster []int) []int {
	list := make([]int, 0, len(m.Terms)+len(booster))
	for i := range m.Terms {
		list = append(list, m.Terms[i].Feature)
	}
	for _, f := range booster {
		if !slices.Contains(list[:len(m.Terms)], f) {
			list = append(list, f)
		}
	}
	return list
}

// renumbered returns the model with renumbered features and another booster.
func (m *LeafModel) renumbered(number func(feature int) int, booster *boost.Booster) *LeafModel {
	c := LeafModel{Intercept: m.Intercept, Terms: slices.Clone(m.Terms), Booster: booster}
	for i := range c.Terms {
		c.Terms[i].Feature = number(c.Terms[i].Feature)
	}
	return &c
}

// PriorFactors returns for each class the factor by which applyPriors multiplies probabilities: the
// prior divided by the training frequency, which is the root's estimate. It is nil without priors.
func (t *Tree) PriorFactors() []float64 {
	if t.Label.Priors == nil {
		return nil
	}
	root := &t.Nodes[0]
	weights := root.RawClassWeights
	if t.Algorithm.LeafEstimate == Majority {
		weights = root.ClassWeights
	}
	frequencies := floats(weights)
	blend(frequencies, portable.Sum(weights), nil, 0)
	return factorsOf(t.Label.Priors, frequencies)
}

// factorsOf divides priors by frequencies; the factor of a class with frequency 0 is 0.
func factorsOf(priors, frequencies []float64) []float64 {
	factors := make([]float64, len(priors))
	for k, p := range frequencies {
		if p > 0 {
			factors[k] = priors[k] / p
		}
	}
	return factors
}

// rescale multiplies probabilities by the factors of applyPriors, and normalises them.
func rescale(p, factors []float64) {
	for k := range p {
		p[k] = float64(p[k] * factors[k])
	}
	Normalise(p)
}

// ModelRange describes which probabilities the model of a leaf can give.
type ModelRange struct {
	Features []int // features of the terms, in their order, then further features of the booster, ascending
	// Low and High bound the probability of Label.Shown of the leaf: the class of interest, or the class
	// that the leaf predicts without its model. They are exact for two classes if there is no booster. Otherwise they are outer bounds,
	// because each other class, each term and each tree of the booster is taken at its best or
	// worst independently.
	Low, High float64
}

// ModelRanges returns for each node the range of its model; nil if it has no model. See
// RangeModels.
func (t *Tree) ModelRanges() []*ModelRange {
	ranges := make([]*ModelRange, len(t.Nodes))
	of := t.RangeModels()
	for i := range ranges {
		ranges[i] = of(i)
	}
	return ranges
}

// RangeModels returns a function from a node to the range of its model; nil if the node has no
// model. The range covers feature values that satisfy the tests on the leaf's path and lie within
// the range of the training rows, if the tree lists it. Values may be missing if the path allows it
// and some training rows had missing values. The function must not be called concurrently.
func (t *Tree) RangeModels() func(node int) *ModelRange {
	if !t.Modelled() {
		return func(int) *ModelRange { return nil }
	}
	above := make([]way, len(t.Nodes))
	features := t.boosterFeatures()
	for i := range t.Nodes {
		for k, b := range t.Nodes[i].Branches {
			above[b.Child] = way{i, k}
		}
	}
	b := bounding{tree: t, factors: t.PriorFactors()}
	return func(node int) *ModelRange {
		n := &t.Nodes[node]
		if !n.Leaf() || n.Model == nil {
			return nil
		}
		r := &ModelRange{Features: n.Model.features(features[n.Model.Booster])}
		reach := make(map[int]span, len(r.Features))
		for _, f := range r.Features {
			if t.Features[f].Kind == dataset.Numeric {
				reach[f] = t.spanOf(node, f, above)
			}
		}
		r.Low, r.High = b.bounds(n, reach)
		return r
	}
}

// way is the parent of a node, and the index of the branch that leads to the node.
type way struct{ parent, branch int }

// span describes which values of a feature reach a leaf.
type span struct {
	low, high float64
	missing   bool // whether rows without a value reach it
}

// spanOf returns which values of a numeric feature reach a leaf.
func (t *Tree) spanOf(leaf, feature int, above []way) span {
	f := &t.Features[feature]
	s := span{math.Inf(-1), math.Inf(1), f.Missing > 0}
	if len(f.Range) == 2 {
		s.low, s.high = f.Range[0], f.Range[1]
	}
	for at := leaf; at > 0; at = above[at].parent {
		n := &t.Nodes[above[at].parent]
		if n.Test.Feature != feature {
			continue
		}
		b := &n.Branches[above[at].branch]
		s.missing = s.missing && b.Missing
		low, high := math.Inf(-1), math.Inf(1) // values with outcome 1
		switch n.Test.Kind {
		case split.Threshold:
			low = f.Cuts[n.Test.Code-1]
		case split.Bin:
			if n.Test.Code > 0 {
				low = f.Cuts[n.Test.Code-1]
			}
			if end := n.Test.Code + n.Test.Span; end < len(f.Cuts) {
				high = f.Cuts[end]
			}
		default: // a test for missing values
			continue
		}
		switch {
		case b.Outcome == 1:
			s.low, s.high = max(s.low, low), min(s.high, high)
		case math.IsInf(high, 1):
			s.high = min(s.high, low)
		case math.IsInf(low, -1):
			s.low = max(s.low, high)
		}
	}
	return s
}

// bounding computes the bounds of the leaf models of a tree.
type bounding struct {
	tree    *Tree
	factors []float64 // see PriorFactors
	scores  []float64 // scores of the terms of a leaf at the places where they may be extreme
	ends    []int     // by term: the end of its part of scores
}

// bounds returns Low and High of a ModelRange. reach has the span of each numeric feature.
func (g *bounding) bounds(n *Node, reach map[int]span) (low, high float64) {
	t := g.tree
	class := t.Label.Shown(n)
	width := len(n.Model.Intercept)
	factor := func(class int) float64 {
		if g.factors == nil {
			return 1
		}
		return g.factors[class]
	}
	if factor(class) == 0 {
		return 0, 0
	}
	classes := len(t.Label.Classes)
	most, least := 0.0, 0.0 // total weight of the other classes, relative to the class of the leaf
	g.scores = g.scores[:0]
	g.ends = g.ends[:0]
	for k := range n.Model.Terms {
		term := &n.Model.Terms[k]
		g.scores = term.appendReached(g.scores, reach[term.Feature], width)
		g.ends = append(g.ends, len(g.scores))
	}
	for other := range classes {
		if other == class || factor(other) == 0 {
			continue
		}
		lead := func(scores []float64) float64 { // margin of the leaf's class over the other class
			if classes == 2 {
				return float64(class-other) * scores[0]
			}
			return scores[class] - scores[other]
		}
		worst := lead(n.Model.Intercept)
		best := worst
		from := 0
		for _, end := range g.ends {
			a, b := extremes(g.scores[from:end], width, lead)
			worst += a
			best += b
			from = end
		}
		if n.Model.Booster != nil {
			for _, tree := range n.Model.Booster.Trees {
				a, b := t.extremesOf(tree, reach, lead)
				worst += a
				best += b
			}
		}
		weight := factor(other) / factor(class)
		most += float64(weight * portable.Exp(-worst))
		least += float64(weight * portable.Exp(-best))
	}
	return 1 / (1 + most), 1 / (1 + least)
}

// appendReached appends the scores of a term at the ends of a span and at the knots inside it.
// Every linear function of these scores has its extremes at one of these places.
func (t *Term) appendReached(list []float64, reach span, width int) []float64 {
	before := len(list)
	add := func(x float64) {
		at := len(list)
		for range width {
			list = append(list, 0)
		}
		t.AddTo(list[at:], x)
	}
	if reach.missing {
		add(math.NaN())
	}
	if reach.low <= reach.high {
		add(reach.low)
		add(reach.high)
		for i, x := range t.At {
			if x > reach.low && x < reach.high {
				list = append(list, t.Values[i]...)
			}
		}
	}
	if len(list) == before { // no training row reaches the leaf
		add(math.NaN())
	}
	return list
}

// extremes returns the minimum and maximum of the function of over the rows of list, each row width
// scores wide.
func extremes(list []float64, width int, of func(scores []float64) float64) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for at := 0; at < len(list); at += width {
		v := of(list[at : at+width])
		least = min(least, v)
		most = max(most, v)
	}
	return least, most
}

// extremesOf returns the minimum and maximum of a linear function of the values that a tree of a
// booster adds, over the leaves of that tree that rows within these spans can reach. Splits on
// categorical features count as reached on both sides.
func (t *Tree) extremesOf(tree boost.Tree, reach map[int]span, of func(scores []float64) float64) (
	least, most float64,
) {
	least, most = math.Inf(1), math.Inf(-1)
	reached := make([]bool, len(tree))
	reached[0] = true
	visit := func(side *boost.Side) {
		if side.Values == nil {
			reached[side.Split] = true
			return
		}
		v := of(side.Values)
		least = min(least, v)
		most = max(most, v)
	}
	for i := range tree {
		if !reached[i] {
			continue
		}
		s := &tree[i]
		yes, no := true, true
		if f := &t.Features[s.Feature]; f.Kind == dataset.Numeric {
			yes, no = reach[s.Feature].sides(f.Cuts[s.Code-1], s.Missing)
		}
		if yes {
			visit(&s.Yes)
		}
		if no {
			visit(&s.No)
		}
	}
	return least, most
}

// sides reports whether the span has values at or above a cut, and values below it. Missing values
// count as at or above the cut if missing is true, otherwise as below it.
func (s span) sides(cut float64, missing bool) (yes, no bool) {
	some := s.low <= s.high
	lost := s.missing || !some // no training row reaches the leaf: as in appendReached
	yes = some && s.high >= cut || lost && missing
	no = some && s.low < cut || lost && !missing
	return yes, no
}

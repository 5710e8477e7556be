package tree

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
)

// LeafModel gives the class probabilities of a leaf from values that were asked for on
// its path. With two classes the score is the logit of the second class; with more
// classes there is one score per class, and the probabilities are their softmax. A score
// is the intercept plus the values of all terms, added in their order.
type LeafModel struct {
	Intercept []float64 // the logit of the second of two classes; else one score per class
	Terms     []Term
}

// Term is the part of a numeric feature in the scores: a piecewise linear function of the
// feature's value.
type Term struct {
	Feature int         // index in Tree.Features
	At      []float64   // knots, ascending, at least one
	Values  [][]float64 // by knot; each as long as Intercept
	Missing []float64   // for rows without a value; as long as Intercept
}

// ModelWidth returns the number of scores of a leaf model for a number of classes: one
// for two classes, else one per class.
func ModelWidth(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// Modelled reports whether some leaf has a model.
func (t *Tree) Modelled() bool {
	return slices.ContainsFunc(t.Nodes, func(n Node) bool { return n.Leaf() && n.Model != nil })
}

// AddTo adds the term's values at x to scores, one for each entry of Intercept. NaN is a
// missing value. Between two knots the values are interpolated; before the first and
// beyond the last knot they are constant.
func (t *Term) AddTo(scores []float64, x float64) {
	last := len(t.At) - 1
	switch {
	case x != x:
		add(scores, t.Missing)
	case x <= t.At[0]:
		add(scores, t.Values[0])
	case x >= t.At[last]:
		add(scores, t.Values[last])
	default:
		next, _ := slices.BinarySearch(t.At, x)
		if t.At[next] == x {
			next++
		}
		share := (x - t.At[next-1]) / (t.At[next] - t.At[next-1])
		for k, from := range t.Values[next-1] {
			scores[k] += from + float64((t.Values[next][k]-from)*share)
		}
	}
}

func add(scores, values []float64) {
	for k, v := range values {
		scores[k] += v
	}
}

// FillProbabilities sets the probabilities by class from scores. With two classes
// scores[0] is the logit of the second class; probabilities and scores may be the same
// list.
func FillProbabilities(probabilities, scores []float64) {
	if len(probabilities) == 2 {
		z := scores[0]
		e := portable.Exp(-math.Abs(z)) // at most 1
		rare, frequent := e/(1+e), 1/(1+e)
		if z < 0 {
			probabilities[0], probabilities[1] = frequent, rare
		} else {
			probabilities[0], probabilities[1] = rare, frequent
		}
		return
	}
	most := scores[0]
	for _, z := range scores {
		if z > most {
			most = z
		}
	}
	for k, z := range scores {
		probabilities[k] = z - most
	}
	portable.ExpEach(probabilities)
	sum := 0.0
	for _, e := range probabilities {
		sum += e
	}
	for k := range probabilities {
		probabilities[k] /= sum
	}
}

// renumbered returns the model with other numbers of its features.
func (m *LeafModel) renumbered(number func(feature int) int) *LeafModel {
	c := LeafModel{Intercept: m.Intercept, Terms: slices.Clone(m.Terms)}
	for i := range c.Terms {
		c.Terms[i].Feature = number(c.Terms[i].Feature)
	}
	return &c
}

// priorFactors returns by class the factor that applyPriors multiplies probabilities by:
// the prior over the training frequency, which is the root's estimate. It is nil without
// priors.
func (t *Tree) priorFactors() []float64 {
	if t.Label.Priors == nil {
		return nil
	}
	root := &t.Nodes[0]
	weights := root.RawClassWeights
	if t.Algorithm.LeafEstimate == Majority.String() {
		weights = root.ClassWeights
	}
	return factorsOf(t.Label.Priors, probabilities(weights, nil, 0))
}

// factorsOf returns priors over frequencies; 0 for a class of frequency 0.
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
	normalise(p)
}

// The greatest numbers of a leaf model. Scores and differences of knots stay finite.
const (
	maxScore = math.MaxFloat32
	maxKnot  = math.MaxFloat64 / 2
)

// model checks and returns a leaf model of a file.
func (d *decoder) model(f *fileModel) (*LeafModel, error) {
	width := ModelWidth(len(d.Label.Classes))
	m := &LeafModel{Intercept: f.Intercept}
	if err := checkScores("intercept", f.Intercept, width); err != nil {
		return nil, err
	}
	if f.Terms == nil {
		return nil, errors.New("no terms: want a list")
	}
	named := make(map[int]bool)
	err := f.Terms.each(func(term *fileTerm) error {
		feature, ok := d.names[term.Feature]
		if !ok {
			return fmt.Errorf("feature %q is not among features", term.Feature)
		}
		if named[feature] {
			return fmt.Errorf("feature %q: two terms: want one", term.Feature)
		}
		named[feature] = true
		if d.Features[feature].Kind != dataset.Numeric {
			return fmt.Errorf("feature %q is categorical: want a numeric one", term.Feature)
		}
		if err := term.check(width); err != nil {
			return fmt.Errorf("feature %q: %w", term.Feature, err)
		}
		m.Terms = append(m.Terms, Term{Feature: feature, At: term.At, Values: term.Values, Missing: term.Missing})
		return nil
	})
	return m, err
}

// check checks the knots and values of a term.
func (f *fileTerm) check(width int) error {
	if len(f.At) == 0 || len(f.Values) != len(f.At) {
		return fmt.Errorf("%d knots in at, %d entries in values: want as many, and at least one", len(f.At),
			len(f.Values))
	}
	for i, x := range f.At {
		if !(math.Abs(x) <= maxKnot) || i > 0 && x <= f.At[i-1] {
			return fmt.Errorf("at: the knot %v: want finite numbers, each above the one before", x)
		}
	}
	for _, values := range f.Values {
		if err := checkScores("values", values, width); err != nil {
			return err
		}
	}
	return checkScores("missing", f.Missing, width)
}

// checkScores checks a list of numbers that are added to the scores.
func checkScores(what string, list []float64, width int) error {
	if len(list) != width {
		return fmt.Errorf("%s: %d numbers: want %d (one for two classes, else one per class)", what, len(list), width)
	}
	for _, x := range list {
		if !(math.Abs(x) <= maxScore) {
			return fmt.Errorf("%s: %v: want numbers from %v to %v", what, x, -maxScore, maxScore)
		}
	}
	return nil
}

// checkModels checks that leaf models name only features that are tested on the path of
// their leaf.
func (t *Tree) checkModels() error {
	if !t.Modelled() {
		return nil
	}
	var fault error
	tests := make([]int, len(t.Features)) // on the path
	count := func(node, by int) {
		if n := &t.Nodes[node]; !n.Leaf() {
			tests[n.Test.Feature] += by
		}
	}
	t.visit(func(node int) {
		count(node, 1)
		n := &t.Nodes[node]
		if n.Model == nil || fault != nil {
			return
		}
		for i := range n.Model.Terms {
			if f := n.Model.Terms[i].Feature; tests[f] == 0 {
				fault = fmt.Errorf("node %d: model: feature %q is not tested on the leaf's path: want one that is", node,
					t.Features[f].Name)
				return
			}
		}
	}, func(node int) { count(node, -1) })
	return fault
}

// ModelRange says what probabilities a leaf's model can give.
type ModelRange struct {
	Features []int // of the model's terms, in their order
	// Low and High bound the probability of the class that the leaf has without the model.
	// For two classes they are the least and the greatest one. For more classes they are a
	// bound: each other class is at its best and its worst by itself.
	Low, High float64
}

// ModelRanges returns by node what its leaf's model can give; nil: there is no model.
// Values lie within the bounds of the tests on the leaf's path, and within the range of
// the training rows if the tree knows it. They may be missing if the path allows it and
// some training rows had none.
func (t *Tree) ModelRanges() []*ModelRange {
	ranges := make([]*ModelRange, len(t.Nodes))
	if !t.Modelled() {
		return ranges
	}
	above := make([]way, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		for k, b := range n.Branches {
			above[b.Child] = way{i, k}
		}
		if !n.Leaf() || n.Model == nil {
			continue
		}
		r := &ModelRange{}
		reach := make([]span, len(n.Model.Terms))
		for k := range n.Model.Terms {
			f := n.Model.Terms[k].Feature
			r.Features, reach[k] = append(r.Features, f), t.spanOf(i, f, above)
		}
		r.Low, r.High = t.modelBounds(n, reach)
		ranges[i] = r
	}
	return ranges
}

// way is the parent of a node, and the branch that leads to the node.
type way struct{ parent, branch int }

// span is the values of a feature that reach a leaf.
type span struct {
	low, high float64
	missing   bool // rows without a value do, too
}

// spanOf returns the values of a numeric feature that reach a leaf.
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
		low, high := math.Inf(-1), math.Inf(1) // of outcome 1
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
		default: // of missing values
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

// modelBounds returns the bounds of a ModelRange, given the values of each term's feature.
func (t *Tree) modelBounds(n *Node, reach []span) (low, high float64) {
	factors := t.priorFactors()
	factor := func(class int) float64 {
		if factors == nil {
			return 1
		}
		return factors[class]
	}
	if factor(n.Class) == 0 {
		return 0, 0
	}
	classes := len(t.Label.Classes)
	most, least := 0.0, 0.0 // weight of the other classes, that of the class being 1
	for other := range classes {
		if other == n.Class || factor(other) == 0 {
			continue
		}
		lead := func(scores []float64) float64 { // of the class before the other one
			if classes == 2 {
				return float64(n.Class-other) * scores[0]
			}
			return scores[n.Class] - scores[other]
		}
		worst := lead(n.Model.Intercept)
		best := worst
		for k := range n.Model.Terms {
			a, b := n.Model.Terms[k].extremes(reach[k], len(n.Model.Intercept), lead)
			worst, best = worst+a, best+b
		}
		weight := factor(other) / factor(n.Class)
		most += float64(weight * portable.Exp(-worst))
		least += float64(weight * portable.Exp(-best))
	}
	return 1 / (1 + most), 1 / (1 + least)
}

// extremes returns the least and the greatest value of a linear function of the term's
// values: they lie at knots, or at the ends of the span.
func (t *Term) extremes(reach span, width int, of func(scores []float64) float64) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	scores := make([]float64, width)
	try := func(x float64) {
		clear(scores)
		t.AddTo(scores, x)
		v := of(scores)
		least, most = min(least, v), max(most, v)
	}
	if reach.missing {
		try(math.NaN())
	}
	if reach.low <= reach.high {
		try(reach.low)
		try(reach.high)
		for _, x := range t.At {
			if x > reach.low && x < reach.high {
				try(x)
			}
		}
	}
	if least > most { // no training row reaches the leaf
		try(math.NaN())
	}
	return least, most
}

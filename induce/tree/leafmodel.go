package tree

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
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

// fillProbabilities sets the probabilities by class from scores. With two classes
// scores[0] is the logit of the second class; probabilities and scores may be the same
// list.
func fillProbabilities(probabilities, scores []float64) {
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
	most := slices.Max(scores)
	sum := 0.0
	for k, z := range scores {
		probabilities[k] = portable.Exp(z - most)
		sum += probabilities[k]
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

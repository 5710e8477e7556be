package tree

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
)

// tie is the difference between two expected costs, relative to the greatest expected cost, below
// which they count as equal.
const tie = 1e-12

// Decide returns the class to predict, given the probability of each class: with a threshold, the
// class of interest if its probability is at least the threshold, otherwise the most probable other
// class; without a threshold, the most probable class or, with error costs, the class with the lowest
// expected error cost. The first class wins a tie.
func (l *Label) Decide(probabilities []float64) int {
	if l.Thresholded() {
		positive := l.Positive()
		if probabilities[positive] >= l.Decision.Threshold {
			return positive
		}
		before, p := mostProbable(probabilities[:positive])
		if after, q := mostProbable(probabilities[positive+1:]); positive == 0 || q > p {
			return min(positive+1+after, len(probabilities)-1)
		}
		return before
	}
	if l.ErrorCosts == nil {
		best, _ := mostProbable(probabilities)
		return best
	}
	var few [16]float64 // no memory is allocated for a few classes
	expected := few[:min(len(few), len(probabilities))]
	if len(expected) < len(probabilities) {
		expected = make([]float64, len(probabilities))
	}
	for actual, p := range probabilities {
		for predicted, cost := range l.ErrorCosts[actual] {
			expected[predicted] += float64(p * cost)
		}
	}
	limit := slices.Min(expected) + float64(tie*slices.Max(expected))
	return max(0, slices.IndexFunc(expected, func(x float64) bool { return x <= limit }))
}

// mostProbable returns the most probable class, the first one of several, and the bits of its probability, which have
// the order of the probabilities. Without probabilities above 0 it is class 0.
func mostProbable(probabilities []float64) (best int, most uint64) {
	for k, p := range probabilities {
		if b := math.Float64bits(p + 0); b > most { // without a branch, and without -0
			best = k
			most = b
		}
	}
	return best, most
}

// Positive returns the number of the class of interest; -1 if no class is named.
func (l *Label) Positive() int {
	if l.Decision == nil {
		return -1
	}
	return slices.Index(l.Classes, l.Decision.Positive)
}

// Shown returns the class whose probability describes a node: the class of interest, or the class of
// the node if none is named.
func (l *Label) Shown(n *Node) int {
	if k := l.Positive(); k >= 0 {
		return k
	}
	return n.Class
}

// Thresholded reports whether a threshold on the probability of a class decides.
func (l *Label) Thresholded() bool { return l.Decision != nil && l.Decision.Threshold > 0 }

// DecidesFrom returns the probability of a class from which on the class is predicted: the threshold or, of two classes, the
// probability at which the errors of both predictions cost the same. It is 0 if no such probability decides.
func (l *Label) DecidesFrom(class int) float64 {
	if l.Thresholded() {
		if class != l.Positive() {
			return 0
		}
		return l.Decision.Threshold
	}
	if len(l.Classes) != 2 {
		return 0
	}
	if l.ErrorCosts == nil {
		return 0.5
	}
	other := 1 - class
	alarm := l.ErrorCosts[other][class] - l.ErrorCosts[other][other]
	miss := l.ErrorCosts[class][other] - l.ErrorCosts[class][class]
	if !(alarm > 0) || !(miss > 0) { // one of the predictions never costs more
		return 0
	}
	return alarm / (alarm + miss)
}

// WithDecision returns the tree with another decision rule, which must fit its classes; nil: none. The trees share all
// but the classes of the nodes.
func (t *Tree) WithDecision(d *Decision) *Tree {
	other := *t
	other.Label.Decision = d
	other.Texts = nil // nodes of other classes have other texts
	other.Nodes = slices.Clone(t.Nodes)
	for i := range other.Nodes {
		other.Nodes[i].Class = other.Label.Decide(other.Nodes[i].Probabilities)
	}
	return &other
}

// WithErrorCosts returns the label with other error costs, by actual and then by predicted class, which must fit its
// classes. A threshold decides as before.
func (l *Label) WithErrorCosts(costs [][]float64) Label {
	other := *l
	other.ErrorCosts = costs
	return other
}

// WithErrorCosts returns the tree with the label that has other error costs. The trees share all but the classes of the
// nodes.
func (t *Tree) WithErrorCosts(costs [][]float64) *Tree {
	other := *t
	other.Label = t.Label.WithErrorCosts(costs)
	return other.WithDecision(other.Label.Decision)
}

// applyPriors adapts the probabilities to the label's priors: each probability is
// multiplied by the prior over the training frequency of its class, and the node's
// probabilities are normalised. The training frequency is the root's estimate, so
// the root's probabilities become the priors. A class without training rows keeps
// probability 0.
func (t *Tree) applyPriors() {
	factors := factorsOf(t.Label.Priors, t.Nodes[0].Probabilities)
	for i := range t.Nodes {
		rescale(t.Nodes[i].Probabilities, factors)
	}
}

// Normalise scales non-negative numbers to a sum of 1, unless all are 0. Two numbers are scaled as
// 1 / (1 + other/number): increasing the number or decreasing the other never decreases the result,
// not even in the last bit, because every step is monotone when rounded. Dividing by the rounded
// sum would not guarantee this. Monotone constraints rely on it.
func Normalise(p []float64) {
	if len(p) == 2 && p[0]+p[1] > 0 {
		p[0], p[1] = 1/(1+p[1]/p[0]), 1/(1+p[0]/p[1])
		return
	}
	sum := portable.Sum(p)
	for k := range p {
		if sum > 0 {
			p[k] /= sum
		}
	}
}

// priorTolerance bounds the error of the sum of the priors, and the difference between the
// probabilities of the root and the priors.
const priorTolerance = 1e-9

// checkClasses checks the number of classes, and that they are distinct.
func (l *Label) checkClasses() error {
	if len(l.Classes) == 0 || len(l.Classes) > maxClasses {
		return fmt.Errorf("label.classes: %d: want at least one class, and at most %d", len(l.Classes), maxClasses)
	}
	if len(codesOf(l.Classes)) < len(l.Classes) {
		return errors.New("label.classes: a class is listed twice")
	}
	return nil
}

// maxClasses is the number of classes that a two-byte class number can tell apart.
const maxClasses = math.MaxUint16 + 1

// Check checks the classes, and that priors, error costs and the decision fit them.
func (l *Label) Check() error {
	if err := l.checkClasses(); err != nil {
		return err
	}
	if l.Priors != nil {
		sum := 0.0
		for _, p := range l.Priors {
			if !(p > 0) {
				return fmt.Errorf("label.priors: %v: want numbers above 0", p)
			}
			sum += p
		}
		if len(l.Priors) != len(l.Classes) || !(math.Abs(sum-1) <= priorTolerance) {
			return fmt.Errorf("label.priors: want %d that add up to 1", len(l.Classes))
		}
	}
	if d := l.Decision; d != nil {
		if err := d.check(l.Classes); err != nil {
			return fmt.Errorf("label.decision: %w", err)
		}
	}
	if l.ErrorCosts == nil {
		return nil
	}
	square := len(l.ErrorCosts) == len(l.Classes)
	for _, row := range l.ErrorCosts {
		square = square && len(row) == len(l.Classes)
		for _, cost := range row {
			if !(cost >= 0 && cost <= maxCost) {
				return fmt.Errorf("label.error_costs: %v: want numbers from 0 on, up to %v", cost, maxCost)
			}
		}
	}
	if !square {
		return fmt.Errorf("label.error_costs: want %d rows of %[1]d costs", len(l.Classes))
	}
	return nil
}

func (d *Decision) check(classes []string) error {
	if !slices.Contains(classes, d.Positive) {
		return fmt.Errorf("positive %q: want one of the classes %q", d.Positive, classes)
	}
	if !(d.Threshold >= 0 && d.Threshold <= 1) {
		return fmt.Errorf("threshold %v: want a probability above 0, up to 1", d.Threshold)
	}
	return nil
}

// checkDecisions checks that the classes of the nodes and the probabilities of the root follow from
// the priors, the error costs and the threshold.
func (t *Tree) checkDecisions() error {
	if t.Label.Priors == nil && t.Label.ErrorCosts == nil && !t.Label.Thresholded() {
		return nil
	}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Class != t.Label.Decide(n.Probabilities) {
			return fmt.Errorf("node %d: class %q does not follow from its probabilities and the decision rule in label", i,
				t.Label.Classes[n.Class])
		}
	}
	if t.Label.Priors == nil {
		return nil
	}
	root := t.Nodes[0].Probabilities
	seen := 0.0 // sum of the priors of classes with training rows
	for k, p := range root {
		if p > 0 {
			seen += t.Label.Priors[k]
		}
	}
	for k, p := range root {
		if p > 0 && !(math.Abs(float64(p*seen)-t.Label.Priors[k]) <= priorTolerance) {
			return errors.New("node 0: its probabilities are not label.priors")
		}
	}
	return nil
}

// Adapter returns a function that adapts the probabilities of a leaf model to the priors of the
// label, as applyPriors does for the probabilities of the leaves. Without priors the function does
// nothing.
func (t *Tree) Adapter() func(probabilities []float64) {
	factors := t.PriorFactors()
	if factors == nil {
		return func([]float64) {}
	}
	return func(probabilities []float64) { rescale(probabilities, factors) }
}

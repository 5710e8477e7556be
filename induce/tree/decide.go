package tree

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// tie is the part of the greatest expected cost by which two must differ.
const tie = 1e-12

// Decide returns the class to predict from the classes' probabilities: the most
// probable one or, with error costs, the one of least expected error cost. Ties:
// the first.
func (l *Label) Decide(probabilities []float64) int {
	if l.ErrorCosts == nil {
		best := 0
		for k, p := range probabilities {
			if p > probabilities[best] {
				best = k
			}
		}
		return best
	}
	expected := make([]float64, len(probabilities))
	for actual, p := range probabilities {
		for predicted, cost := range l.ErrorCosts[actual] {
			expected[predicted] += float64(p * cost)
		}
	}
	limit := slices.Min(expected) + float64(tie*slices.Max(expected))
	return max(0, slices.IndexFunc(expected, func(x float64) bool { return x <= limit }))
}

// applyPriors turns probabilities among the training rows into those where the
// label's priors are the frequencies of the classes: p is multiplied by prior over
// training frequency, which is the root's estimate, and normalised. So the root's
// become the priors, but for classes without training rows, whose probability
// stays 0.
func (t *Tree) applyPriors() {
	factors := make([]float64, len(t.Label.Priors))
	for k, p := range t.Nodes[0].Probabilities {
		if p > 0 {
			factors[k] = t.Label.Priors[k] / p
		}
	}
	for i := range t.Nodes {
		p := t.Nodes[i].Probabilities
		for k := range p {
			p[k] = float64(p[k] * factors[k])
		}
		normalise(p)
	}
}

// normalise scales numbers from 0 on, unless all are 0, to a sum of 1. Of two, the
// greater the one and the less the other, the greater is the one's share and the
// less the other's, to the last bit: each step of 1 / (1 + other/one) keeps the
// order when rounded, which dividing by the rounded sum does not. Monotone
// constraints rely on it.
func normalise(p []float64) {
	if len(p) == 2 && p[0]+p[1] > 0 {
		p[0], p[1] = 1/(1+p[1]/p[0]), 1/(1+p[0]/p[1])
		return
	}
	sum := 0.0
	for _, x := range p {
		sum += x
	}
	for k := range p {
		if sum > 0 {
			p[k] /= sum
		}
	}
}

// priorTolerance is by how much priors may miss a sum of 1, and the root's
// probabilities the priors.
const priorTolerance = 1e-9

func (l *Label) checkClasses() error {
	if len(l.Classes) == 0 || len(l.Classes) > maxClasses {
		return fmt.Errorf("label.classes: %d: want at least one class, and at most %d", len(l.Classes), maxClasses)
	}
	if len(codesOf(l.Classes)) < len(l.Classes) {
		return errors.New("label.classes: a class is listed twice")
	}
	return nil
}

// maxClasses is what two bytes can number.
const maxClasses = math.MaxUint16 + 1

// check makes sure that there are classes, and that priors and error costs fit
// them.
func (l *Label) check() error {
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

// checkDecisions makes sure that priors and error costs are those that the nodes
// were made by.
func (t *Tree) checkDecisions() error {
	if t.Label.Priors == nil && t.Label.ErrorCosts == nil {
		return nil
	}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Class != t.Label.Decide(n.Probabilities) {
			return fmt.Errorf("node %d: class %q does not follow from its probabilities and label.error_costs", i,
				t.Label.Classes[n.Class])
		}
	}
	if t.Label.Priors == nil {
		return nil
	}
	root, seen := t.Nodes[0].Probabilities, 0.0 // seen: the priors of classes with training rows
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

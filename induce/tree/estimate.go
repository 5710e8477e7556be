package tree

import (
	"fmt"
	"slices"
	"strings"
)

// Estimate is a method of estimating class probabilities from class weights, by its name in flags and tree.json.
type Estimate string

// The leaf estimates.
const (
	Majority Estimate = "majority" // shares of the weight by majority class of the objects, as in the paper
	Raw      Estimate = "raw"      // shares of the weight by class of the rows
	Smoothed Estimate = "smoothed" // raw shares, shrunk towards the parent's estimate
)

// Estimates returns the names of all estimates.
func Estimates() []string { return []string{string(Majority), string(Raw), string(Smoothed)} }

// String returns the name of the estimate.
func (e Estimate) String() string { return string(e) }

// ParseEstimate reads the name of an estimate.
func ParseEstimate(s string) (Estimate, error) {
	if !slices.Contains(Estimates(), s) {
		return "", fmt.Errorf("leaf estimate %q: want one of %s", s, strings.Join(Estimates(), ", "))
	}
	return Estimate(s), nil
}

// UsualSmoothing is the parameter m of smoothed estimates, the weight of the parent's estimate in
// rows, unless Algorithm.Smoothing sets another.
const UsualSmoothing = 10

// smoothing returns the parameter m of the tree's smoothed estimates, in rows.
func (a *Algorithm) smoothing() float64 {
	if a.Smoothing > 0 {
		return a.Smoothing
	}
	return UsualSmoothing
}

// Estimate sets the class and the probabilities of every node from its class weights and the priors
// and error costs of the label. Parents must come before their children. scale is the fixed-point
// weight of a row. If features are monotone, the probabilities satisfy the constraint in all
// prunings of the tree, for every method.
func (t *Tree) Estimate(e Estimate, scale float64) {
	weight := t.estimateFreely(e, scale)
	if t.hasMonotone() {
		t.separate(weight)
	}
	t.decide()
}

// Smooth estimates all nodes again, with this weight of the parent's estimate, in rows. Trees whose
// estimates are not smoothed stay as they are.
func (t *Tree) Smooth(rows float64) {
	if t.Algorithm.LeafEstimate != Smoothed {
		return
	}
	if t.Algorithm.Smoothing = rows; rows == UsualSmoothing {
		t.Algorithm.Smoothing = 0
	}
	t.Estimate(Smoothed, t.Training.Scale())
}

// estimateFreely sets the probabilities of every node from its class weights, without monotone
// constraints, and returns for each node the sum of its weights.
func (t *Tree) estimateFreely(e Estimate, scale float64) []int64 {
	parent := t.parents()
	weight := make([]int64, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		weights := n.RawClassWeights
		if e == Majority {
			weights = n.ClassWeights
		}
		var prior []float64
		if e == Smoothed && parent[i] >= 0 {
			prior = t.Nodes[parent[i]].Probabilities
		}
		weight[i] = sum(weights)
		if parent[i] >= 0 && weight[i] == 0 { // no row to learn from
			n.Probabilities = slices.Clone(t.Nodes[parent[i]].Probabilities)
			continue
		}
		n.Probabilities = probabilities(weights, prior, float64(t.Algorithm.smoothing()*scale))
	}
	return weight
}

// decide applies the priors to the probabilities, and sets the classes.
func (t *Tree) decide() {
	if t.Label.Priors != nil {
		t.applyPriors() // after smoothing, because smoothing uses the frequencies in the training rows
	}
	for i := range t.Nodes {
		t.Nodes[i].Class = t.Label.Decide(t.Nodes[i].Probabilities)
	}
}

func sum(weights []int64) int64 {
	total := int64(0)
	for _, w := range weights {
		total += w
	}
	return total
}

func probabilities(weights []int64, prior []float64, m float64) []float64 {
	total := sum(weights)
	p := make([]float64, len(weights))
	for k, w := range weights {
		if prior != nil {
			p[k] = (float64(w) + float64(m*prior[k])) / (float64(total) + m)
		} else if total > 0 {
			p[k] = float64(w) / float64(total)
		}
	}
	return p
}

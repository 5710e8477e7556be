package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
)

// Estimate is a method of estimating class probabilities from class weights, by its name in flags and tree.json.
type Estimate string

// The leaf estimates.
const (
	Majority Estimate = "majority" // shares of the weight by majority class of the objects, as in the paper
	Raw      Estimate = "raw"      // shares of the weight by class of the rows
	Smoothed Estimate = "smoothed" // raw shares, less what is chance in sets of values, shrunk towards the parent's estimate
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

// byClasses is the value of Algorithm.SmoothingBy with which a node is smoothed by the number of its classes.
const byClasses = "classes"

// Smoothing is how strongly estimates are smoothed.
type Smoothing struct {
	Rows float64 // weight of the parent's estimate, in rows
	// ByClasses is whether a node has half of Rows for each class that occurs in it, instead of Rows: the more classes occur
	// there, the more likely is another one among new rows (Witten and Bell 1991). A node of few rows of a single class so
	// keeps its class, where Rows that suit the nodes of many classes would give it the class of the parent. A class of
	// less than half a row does not count: a teacher, or labels that are probabilities, give all classes some weight.
	ByClasses bool
}

// smoothing returns how strongly the tree's estimates are smoothed.
func (a *Algorithm) smoothing() Smoothing {
	return Smoothing{Rows: cmp.Or(a.Smoothing, UsualSmoothing), ByClasses: a.SmoothingBy == byClasses}
}

// of returns the weight of the parent's estimate in a node, in rows, given the node's weights by class and the weight of a row.
func (s Smoothing) of(weights []int64, row float64) float64 {
	if !s.ByClasses {
		return s.Rows
	}
	classes := 0
	for _, w := range weights {
		classes += count(float64(2*w) >= row)
	}
	return s.Rows * float64(max(1, classes)) / 2
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

// Smooth estimates all nodes again, smoothed so strongly. Trees whose estimates are not smoothed stay as they are.
func (t *Tree) Smooth(by Smoothing) {
	if t.Algorithm.LeafEstimate != Smoothed {
		return
	}
	if t.Algorithm.Smoothing = by.Rows; by.Rows == UsualSmoothing {
		t.Algorithm.Smoothing = 0
	}
	if t.Algorithm.SmoothingBy = ""; by.ByClasses {
		t.Algorithm.SmoothingBy = byClasses
	}
	t.Estimate(Smoothed, t.Training.Scale())
}

// estimateFreely sets the probabilities of every node from its class weights, without monotone
// constraints, and returns for each node the sum of its weights.
func (t *Tree) estimateFreely(e Estimate, scale float64) []int64 {
	parent := t.parents()
	weight := make([]int64, len(t.Nodes))
	chance := make([][]float64, len(t.Nodes))
	below := make([]bool, len(t.Nodes)) // below a presence test, rows weigh more than their own weights
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
		weight[i] = portable.Sum(weights)
		above := parent[i]
		below[i] = above >= 0 && (below[above] || t.Presence(&t.Nodes[above]))
		if above >= 0 && t.Presence(&t.Nodes[above]) { // the presence test tells nothing
			chance[i] = chance[above]
			n.Probabilities = slices.Clone(t.Nodes[above].Probabilities)
			continue
		}
		if parent[i] >= 0 && weight[i] == 0 { // no row to learn from
			n.Probabilities = slices.Clone(t.Nodes[parent[i]].Probabilities)
			continue
		}
		n.Probabilities = floats(weights)
		if prior != nil {
			chance[i] = chanceAt(chance[parent[i]], &t.Nodes[parent[i]], n)
			deduct(n.Probabilities, chance[i])
		}
		row := scale
		if below[i] && n.Rows > 0 {
			row = float64(weight[i]) / float64(n.Rows)
		}
		blend(n.Probabilities, weight[i], prior, float64(t.Algorithm.smoothing().of(weights, row)*row))
	}
	return weight
}

// chanceAt returns by how much the shares of the classes in a node exceed, by chance, the shares that new rows will have:
// above is the chance of the parent. A test for a set puts values together by their shares in the training rows. The part of
// the difference between the outcomes that exceeds the test's trust is chance, and is not found in new rows (regression
// to the mean). Missing values, and values that go with the heavier side, are counted like placed values. Without tests for
// sets above the node the result is nil.
func chanceAt(above []float64, parent, n *Node) []float64 {
	trust := parent.Test.Trust
	if parent.Test.Kind != split.In || trust == 0 || trust == 1 {
		return above
	}
	chance := make([]float64, len(n.RawClassWeights))
	copy(chance, above)
	all := float64(portable.Sum(parent.RawClassWeights))
	here := float64(portable.Sum(n.RawClassWeights))
	for k, w := range n.RawClassWeights {
		gap := float64(w)/here - float64(parent.RawClassWeights[k])/all
		chance[k] += float64((1 - trust) * gap)
	}
	return chance
}

// deduct lowers weights by chance shares of their sum. No weight falls below 0, and the sum stays.
func deduct(weights, chance []float64) {
	total := portable.Sum(weights)
	left := 0.0
	for k, share := range chance {
		weights[k] = max(0, weights[k]-float64(share*total))
		left += weights[k]
	}
	for k := range chance {
		weights[k] *= total / left
	}
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

func floats(weights []int64) []float64 {
	list := make([]float64, len(weights))
	for k, w := range weights {
		list[k] = float64(w)
	}
	return list
}

// blend turns weights by class into shares of their sum. With a prior, whose weight is m, the shares are drawn towards it.
func blend(weights []float64, total int64, prior []float64, m float64) {
	for k := range weights {
		if prior != nil {
			weights[k] = (weights[k] + float64(m*prior[k])) / (float64(total) + m)
		} else if total > 0 {
			weights[k] /= float64(total)
		}
	}
}

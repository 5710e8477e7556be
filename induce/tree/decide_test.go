package tree_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestDecide: by hand.
func TestDecide(t *testing.T) {
	for _, test := range []struct {
		costs [][]float64
		p     []float64
		want  int
	}{
		{nil, []float64{.2, .5, .3}, 1},
		{nil, []float64{.4, .4, .2}, 0},                                            // a tie
		{nil, []float64{math.Copysign(0, -1), 1, 0}, 1},                            // -0 is not above 1
		{[][]float64{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}, []float64{.2, .5, .3}, 1},   // as without costs
		{[][]float64{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}, []float64{.1, .45, .45}, 1}, // a tie
		{[][]float64{{0, 1}, {5, 0}}, []float64{.8, .2}, 1},                        // 1 against 0.8
		{[][]float64{{0, 1}, {4, 0}}, []float64{.8, .2}, 0},                        // 0.8 either way, up to rounding
		{[][]float64{{0, 9, 1}, {9, 0, 1}, {9, 9, 1}}, []float64{.5, .5, 0}, 2},    // a class that is never likeliest
		{[][]float64{{3, 3}, {3, 3}}, []float64{.1, .9}, 0},                        // no decision matters
		{[][]float64{{0, 1e-300}, {2e-300, 0}}, []float64{.6, .4}, 1},              // the unit does not matter
		{[][]float64{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, []float64{.1, .2, .7}, 0},   // free errors
	} {
		l := tree.Label{Classes: make([]string, len(test.p)), ErrorCosts: test.costs}
		if got := l.Decide(test.p); got != test.want {
			t.Errorf("costs %v, probabilities %v: class %d, want %d", test.costs, test.p, got, test.want)
		}
	}
}

// TestThreshold: by hand. A probability that equals the threshold is enough, and no other class needs a probability.
func TestThreshold(t *testing.T) {
	for _, test := range []struct {
		positive  string
		threshold float64
		p         []float64
		want      int
	}{
		{"b", .3, []float64{.7, .3}, 1}, // equal
		{"b", math.Nextafter(.3, 1), []float64{.7, .3}, 0},
		{"a", .3, []float64{.3, .7}, 0},
		{"a", .8, []float64{.7, .3}, 1}, // less probable, and predicted
		{"a", 1, []float64{1, 0}, 0},
		{"a", 1, []float64{0, 0}, 1},          // a node without rows
		{"b", .2, []float64{.5, .2, .3}, 1},   // three classes: enough
		{"a", .6, []float64{.5, .1, .4}, 2},   // the most probable other class
		{"b", .4, []float64{.35, .3, .35}, 0}, // the first one
		{"a", .5, []float64{.4, 0, 0}, 1},     // other classes of probability 0
		{"b", 0, []float64{.7, .3}, 0},        // a class of interest without a threshold
		{"b", math.SmallestNonzeroFloat64, []float64{1, 0}, 0},
	} {
		l := tree.Label{
			Classes:  []string{"a", "b", "c"}[:len(test.p)],
			Decision: &tree.Decision{Positive: test.positive, Threshold: test.threshold},
		}
		if got := l.Decide(test.p); got != test.want {
			t.Errorf("%s from %v, probabilities %v: class %d, want %d", test.positive, test.threshold, test.p, got, test.want)
		}
		if l.Thresholded() {
			for range test.p { // no error is cheaper: the threshold decides
				l.ErrorCosts = append(l.ErrorCosts, make([]float64, len(test.p)))
			}
			if got := l.Decide(test.p); got != test.want {
				t.Errorf("%s from %v, probabilities %v, with error costs: class %d, want %d", test.positive, test.threshold, test.p,
					got, test.want)
			}
		}
	}
}

// TestDecidesFrom: of two classes, a class is predicted from the probability that DecidesFrom returns, and not below it.
func TestDecidesFrom(t *testing.T) {
	classes := []string{"ill", "well"}
	for _, l := range []tree.Label{
		{Classes: classes},
		{Classes: classes, ErrorCosts: [][]float64{{0, 100}, {1, 0}}},
		{Classes: classes, ErrorCosts: [][]float64{{2, 9}, {4, 1}}},
		{Classes: classes, Decision: &tree.Decision{Positive: "ill", Threshold: 0.3}},
	} {
		from := l.DecidesFrom(0)
		for _, p := range []float64{from - 1e-6, from + 1e-6} {
			if got := l.Decide([]float64{p, 1 - p}) == 0; got != (p > from) {
				t.Errorf("%+v: ill with probability %v is predicted: %t; DecidesFrom is %v", l, p, got, from)
			}
		}
	}
	for _, l := range []tree.Label{
		{Classes: []string{"a", "b", "c"}},
		{Classes: classes, ErrorCosts: [][]float64{{0, 0}, {1, 0}}},
		{Classes: classes, Decision: &tree.Decision{Positive: "well", Threshold: 0.3}},
	} {
		if from := l.DecidesFrom(0); from != 0 {
			t.Errorf("%+v: DecidesFrom is %v, want none", l, from)
		}
	}
}

// TestWithDecision: a tree with another decision rule predicts by it, survives its encoding, and leaves the tree as it is.
func TestWithDecision(t *testing.T) {
	tr := smallTree()
	tr.Estimate(tree.Smoothed, 1)
	tr.Texts = new(tree.Texts)
	before := tr.Encode()
	threshold := slices.Max(tr.Nodes[1].Probabilities[1:])
	other := tr.WithDecision(&tree.Decision{Positive: tr.Label.Classes[1], Threshold: threshold})
	changed := 0
	for i := range other.Nodes {
		n := &other.Nodes[i]
		if (n.Class == 1) != (n.Probabilities[1] >= threshold) {
			t.Errorf("node %d: class %d with %v of the class of interest, from %v on", i, n.Class, n.Probabilities[1], threshold)
		}
		if n.Class != tr.Nodes[i].Class {
			changed++
		}
	}
	if changed == 0 {
		t.Error("no class depends on the threshold")
	}
	b := other.Encode()
	decoded, err := tree.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(decoded.Encode(), b) || *decoded.Label.Decision != *other.Label.Decision {
		t.Errorf("decoded, the decision is %v", decoded.Label.Decision)
	}
	if !bytes.Equal(tr.Encode(), before) || !bytes.Equal(other.WithDecision(nil).Encode(), before) {
		t.Error("the tree without a decision has changed")
	}
}

// TestPriors: smallTree by hand. The root's raw frequencies are 0.6 and 0.4, so the
// probabilities are multiplied by 0.9/0.6 and 0.1/0.4.
func TestPriors(t *testing.T) {
	tr := smallTree()
	tr.Label.Priors = []float64{.9, .1}
	tr.Estimate(tree.Raw, 1)
	for i, want := range [][]float64{{.9, .1}, {1, 0}, {.75, .25}, {0, 1}, {.8, .2}} {
		n := &tr.Nodes[i]
		if math.Abs(n.Probabilities[0]-want[0]) > 1e-15 || math.Abs(n.Probabilities[1]-want[1]) > 1e-15 {
			t.Errorf("node %d: probabilities %v, want %v", i, n.Probabilities, want)
		}
	}
	if got := []int{tr.Nodes[2].Class, tr.Nodes[3].Class, tr.Nodes[4].Class}; got[0] != 0 || got[1] != 1 ||
		got[2] != 0 {
		t.Errorf("classes %v, want 0, 1, 0", got)
	}
}

// TestPriorsAreWeights: priors have the same effect on raw estimates as multiplying the
// rows' weights, class by class, until the classes have the priors' frequencies.
func TestPriorsAreWeights(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(8, seed))
		byPriors, byWeights := randomTree(r, split.Both, 60), (*tree.Tree)(nil)
		factor := []int64{1 + r.Int64N(9), 1 + r.Int64N(9), 1 + r.Int64N(9)}
		b := byPriors.Encode()
		byWeights, err := tree.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for i := range byWeights.Nodes {
			for k := range factor {
				byWeights.Nodes[i].RawClassWeights[k] *= factor[k]
			}
		}
		for _, w := range byWeights.Nodes[0].RawClassWeights {
			total += float64(w)
		}
		for _, w := range byWeights.Nodes[0].RawClassWeights {
			byPriors.Label.Priors = append(byPriors.Label.Priors, float64(w)/total)
		}
		byPriors.Estimate(tree.Raw, 1)
		byWeights.Estimate(tree.Raw, 1)
		for i := range byPriors.Nodes {
			for k, want := range byWeights.Nodes[i].Probabilities {
				if got := byPriors.Nodes[i].Probabilities[k]; math.Abs(got-want) > 1e-12 {
					t.Fatalf("seed %d, node %d: %v by priors, %v by weights", seed, i, byPriors.Nodes[i].Probabilities,
						byWeights.Nodes[i].Probabilities)
				}
			}
		}
	}
}

// TestPriorsOfAnUnseenClass: a class without training rows keeps probability 0, and the other
// classes share its prior.
func TestPriorsOfAnUnseenClass(t *testing.T) {
	tr := smallTree()
	tr.Label.Classes = []string{"n", "p", "unseen"}
	tr.Label.Priors = []float64{.25, .25, .5}
	for i := range tr.Nodes {
		n := &tr.Nodes[i]
		n.ClassWeights, n.RawClassWeights = append(n.ClassWeights, 0), append(n.RawClassWeights, 0)
	}
	tr.Estimate(tree.Smoothed, 1)
	if p := tr.Nodes[0].Probabilities; math.Abs(p[0]-.5) > 1e-15 || math.Abs(p[1]-.5) > 1e-15 || p[2] != 0 {
		t.Errorf("root %v, want 0.5, 0.5, 0", p)
	}
	if _, err := tree.Decode(tr.Encode()); err != nil {
		t.Error(err)
	}
}

// TestPriorsKeepOrder: priors keep the order of leaves of the same weight, by either
// class, even if their frequencies of the second class are neighbouring doubles.
// Dividing by the sum of both would not keep the order.
func TestPriorsKeepOrder(t *testing.T) {
	const total = 1 << 53
	r := rand.New(rand.NewPCG(5, 3))
	moved := 0
	for range 2000 {
		from, step := r.Int64N(total-600), int64(1)<<r.IntN(2)
		switch r.IntN(3) {
		case 0:
			from = r.Int64N(100)
		case 1:
			from = total - 600 - r.Int64N(100)
		}
		p := math.Pow(10, -6*r.Float64())
		tr := fan(total, from, step)
		tr.Label.Priors = [][]float64{{p, 1 - p}, {1 - p, p}}[r.IntN(2)]
		tr.Estimate(tree.Raw, 1)
		for i := 2; i < len(tr.Nodes); i++ {
			before, after := tr.Nodes[i-1].Probabilities, tr.Nodes[i].Probabilities
			if after[1] < before[1] || after[0] > before[0] {
				t.Fatalf("priors %v: leaves of %d and %d parts of 2^53: probabilities %v and %v", tr.Label.Priors,
					from+int64(i-2)*step, from+int64(i-1)*step, before, after)
			}
			if after[1] > before[1] {
				moved++
			}
		}
	}
	if moved < 10_000 {
		t.Errorf("%d probabilities differ: the leaves put nothing to the test", moved)
	}
}

// fan is a root with ever more weight of the second class in its leaves.
func fan(total, from, step int64) *tree.Tree {
	const leaves = 200
	t := &tree.Tree{Label: tree.Label{Column: "y", Classes: []string{"n", "p"}}, Nodes: make([]tree.Node, 1+leaves)}
	values := make([]string, leaves)
	root := &t.Nodes[0]
	root.RawClassWeights = []int64{3, 2} // sets only the factors of the priors
	root.Test = &tree.Test{Test: split.Test{Kind: split.Multiway}}
	for i := range leaves {
		values[i] = string(rune('一' + i))
		second := from + int64(i)*step
		t.Nodes[1+i].RawClassWeights = []int64{total - second, second}
		root.Branches = append(root.Branches, tree.Branch{Outcome: i, Child: 1 + i, Missing: i == 0, Other: i == 0})
	}
	t.Features = []dataset.Feature{{Name: "x", Kind: dataset.Categorical, Values: values}}
	return t
}

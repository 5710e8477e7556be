package tree_test

import (
	"math"
	"math/rand/v2"
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

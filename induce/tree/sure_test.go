package tree_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestLowerBounds: the bounds are equal to a file that the Python package tests too. SciPy has solved the
// equation of the bound by brentq.
func TestLowerBounds(t *testing.T) {
	folder := filepath.Join("..", "..", "python", "tests", "golden")
	content, err := os.ReadFile(filepath.Join(folder, "at_least.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]float64
	if err = json.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	for name, bounds := range want {
		file, priors := strings.CutSuffix(name, " with priors")
		if content, err = os.ReadFile(filepath.Join(folder, file)); err != nil {
			t.Fatal(err)
		}
		tr, err := tree.Decode(content)
		if err != nil {
			t.Fatal(err)
		}
		if priors {
			tr.Label.Priors = []float64{0.9, 0.1}
			tr.Estimate(tr.Algorithm.LeafEstimate, tr.Training.Scale())
		}
		if got := tr.LowerBounds(); !slices.Equal(got, bounds) {
			t.Errorf("%s: %v, want %v", name, got, bounds)
		}
	}
}

// TestSureNodes: on 300 data sets whose true probabilities are known, the threshold of a single test is chosen for
// the purest branch. The share of new rows that are of the class is at least the bound of the branch in 95 % of
// the sets, though the share of the training rows is above it in most. A pure branch of many rows is sure.
func TestSureNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const sets, rows = 300, 400
	wrong, plain := 0, 0
	for range sets {
		truth := 0.6 + 0.38*r.Float64() // probability of the first class of every row
		labels := make([]int64, rows)   // by rank of the feature
		for i := range labels {
			if r.Float64() < truth {
				labels[i] = 1
			}
		}
		best, at, first := 0.0, 0, int64(0)
		for n, k := 0, int64(0); n < rows-1; n++ {
			k += labels[n]
			if share := float64(k) / float64(n+1); n >= 9 && share > best {
				best, at, first = share, n+1, k
			}
		}
		total := int64(0)
		for _, k := range labels {
			total += k
		}
		tr := stump([]int64{total, rows - total}, []int64{first, int64(at) - first})
		if bound := tr.LowerBounds()[1]; bound > truth {
			wrong++
		}
		if tr.Nodes[1].Probabilities[0] > truth {
			plain++
		}
	}
	if wrong > sets/20 || plain < sets*3/4 {
		t.Errorf("the bound is above the truth in %d of %d sets, the share in %d", wrong, sets, plain)
	}
	if bound := stump([]int64{1000, 1000}, []int64{1000, 0}).LowerBounds()[1]; bound < 0.99 {
		t.Errorf("1000 rows of one class: at least %v", bound)
	}
	if bound := stump([]int64{10, 0}, []int64{0, 0}).LowerBounds()[1]; bound != 0 {
		t.Errorf("no rows: at least %v", bound)
	}
}

// stump returns a tree of one test with the rows of two classes at the root, and of the yes branch.
func stump(root, yes []int64) *tree.Tree {
	node := func(weights []int64) tree.Node {
		n := tree.Node{Rows: weights[0] + weights[1], Weight: weights[0] + weights[1], RawClassWeights: weights}
		return n
	}
	tr := &tree.Tree{
		Label: tree.Label{Column: "y", Classes: []string{"a", "b"}}, Features: []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1}}},
		Nodes: []tree.Node{node(root), node(yes), node([]int64{root[0] - yes[0], root[1] - yes[1]})},
	}
	tr.Nodes[0].Test = &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 1}, Cost: 1}
	tr.Nodes[0].Branches = []tree.Branch{{Outcome: 1, Child: 1}, {Child: 2, Missing: true}}
	tr.Estimate(tree.Raw, 1)
	return tr
}

// TestLowerBoundsAreBounds: bounds are from 0 to the probability, and grow with the rows.
func TestLowerBoundsAreBounds(t *testing.T) {
	last := 0.0
	for scale := int64(1); scale < 1e6; scale *= 10 {
		bound := stump([]int64{12 * scale, 8 * scale}, []int64{9 * scale, scale}).LowerBounds()
		if math.IsNaN(bound[1]) || bound[1] < last || bound[1] > 0.9 || bound[0] > 0.6 {
			t.Errorf("%d rows: %v after %v", 10*scale, bound, last)
		}
		last = bound[1]
	}
	if last < 0.89 {
		t.Errorf("0.9 of a million rows: at least %v", last)
	}
}

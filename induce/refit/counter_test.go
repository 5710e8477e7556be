package refit_test

import (
	"fmt"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/refit"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// grown returns features, and a tree that asks whether x is at least 0.5: its four objects have this class.
func grown() ([]dataset.Feature, *tree.Tree) {
	features := []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: []float64{0.5}, Cost: 1}}
	nodes := inmemory.Grow(rows(features, 1, 1), split.Columns(features),
		induce.Params{Algorithm: split.C45, Family: split.Thresholds}, 2, inmemory.Options{})
	t := tree.New(features, nodes)
	t.Label.Classes = []string{"no", "yes"}
	return features, t
}

// rows returns rows at x below the cut, of the class no, and above the cut, of the class yes. below
// and above are their numbers.
func rows(features []dataset.Feature, below, above int64) *dataset.Objects {
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 2)
	for code, n := range []int64{below, above} {
		o.Append([]int{code}, []dataset.ClassWeight{{Class: uint16(code), Weight: n}}, n)
	}
	return o
}

// The test stays, and so does its feature, which has become dearer. New rows are counted.
func ExampleCounter() {
	features, t := grown()
	features[0].Cost = 3
	c, err := refit.New(t, features, split.Columns(features))
	if err != nil {
		panic(err)
	}
	c.Add(rows(features, 30, 10))
	c.Add(rows(features, 5, 5))
	again := c.Tree()
	again.Estimate(tree.Raw, 1)
	again.Measure()
	for i := range again.Nodes {
		n := &again.Nodes[i]
		fmt.Printf("node %d: %d rows, %.2f\n", i, n.Rows, n.Probabilities)
	}
	fmt.Println("cost", again.Complexity.ExpectedCost)
	// Output:
	// node 0: 50 rows, [0.70 0.30]
	// node 1: 15 rows, [0.00 1.00]
	// node 2: 35 rows, [1.00 0.00]
	// cost 3
}

// TestNewRefused: features that the tree does not know, or by other cuts.
func TestNewRefused(t *testing.T) {
	features, known := grown()
	for text, f := range map[string]dataset.Feature{
		`the tree tests "x", which is none of the features`: {Name: "y", Kind: dataset.Numeric, Cuts: []float64{0.5}},
		`the tree tests "x" by other cuts or values`:        {Name: "x", Kind: dataset.Numeric, Cuts: []float64{0.6}},
	} {
		if _, err := refit.New(known, []dataset.Feature{f}, split.Columns([]dataset.Feature{f})); err == nil || err.Error() != text {
			t.Errorf("%v, want %q", err, text)
		}
	}
	if known.Nodes[0].Test.Cost != features[0].Cost {
		t.Error("the tree has changed")
	}
}

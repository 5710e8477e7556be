package induce_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// alternating returns objects of one feature whose classes alternate by code.
func alternating(codes int) ([]dataset.Feature, *dataset.Objects) {
	f := dataset.Feature{Name: "x", Kind: dataset.Numeric, Cost: 1}
	for cut := 1; cut < codes; cut++ {
		f.Cuts = append(f.Cuts, float64(cut))
	}
	features := []dataset.Feature{f}
	objects := dataset.NewObjects(dataset.NewLayout(features), 2, false, codes)
	for code := range codes {
		objects.Append([]int{code}, []dataset.ClassWeight{{Class: uint16(code % 2), Weight: 1}}, 1)
	}
	return features, objects
}

// Grown nodes become a tree that is estimated, measured and scored.
func Example() {
	features, objects := alternating(3)
	params := induce.Params{Algorithm: split.EC45, Family: split.Thresholds, Lambda: 1}
	nodes := inmemory.Grow(objects, split.Columns(features), params, 3, inmemory.Options{})

	model := tree.New(features, nodes)
	model.Label = tree.Label{Column: "parity", Classes: []string{"even", "odd"}}
	model.Estimate(tree.Majority, 1)
	model.Measure()
	fmt.Printf("%d leaves, %.2f tests a row\n", model.Complexity.Leaves, model.Complexity.ExpectedTests)

	p, err := model.Scorer().Predict([]tree.Value{tree.Number(1.5)})
	fmt.Println(p.Class, err)
	// Output:
	// 3 leaves, 1.67 tests a row
	// odd <nil>
}

// A fully grown tree is pruned to the tree that best-first growth makes.
func Example_bestFirst() {
	features, objects := alternating(8)
	params := induce.Params{Algorithm: split.C45, Family: split.Thresholds}
	nodes := inmemory.Grow(objects, split.Columns(features), params, 8, inmemory.Options{})
	fmt.Println(len(nodes), "nodes")
	fmt.Println(len(tree.BestFirst(nodes, 3)), "nodes")
	// Output:
	// 15 nodes
	// 5 nodes
}

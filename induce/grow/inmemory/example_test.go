package inmemory_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Eight objects of two features: the class is 1 where both are above their cuts. A test
// of y costs three times as much as one of x, so the tree asks for x first.
func ExampleGrow() {
	features := []dataset.Feature{
		{Name: "x", Kind: dataset.Numeric, Cuts: []float64{0.5}, Cost: 1},
		{Name: "y", Kind: dataset.Numeric, Cuts: []float64{10, 20, 30}, Cost: 3},
	}
	objects := dataset.NewObjects(dataset.NewLayout(features), 2, false, 8)
	for x := range 2 {
		for y := range 4 {
			class := uint16(x * (y / 2))
			objects.Append([]int{x, y}, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
		}
	}
	params := induce.Params{Algorithm: split.EC45, Family: split.Thresholds, Lambda: 1}
	grown := tree.New(features, inmemory.Grow(objects, split.Columns(features), params, 8, inmemory.Options{}))
	for i, n := range grown.Nodes {
		if n.Test != nil {
			fmt.Printf("node %d: test %s, class weights %v\n", i, features[n.Test.Feature].Name, n.RawClassWeights)
		} else {
			fmt.Printf("node %d: leaf, class weights %v\n", i, n.RawClassWeights)
		}
	}
	// Output:
	// node 0: test x, class weights [6 2]
	// node 1: test y, class weights [2 2]
	// node 2: leaf, class weights [4 0]
	// node 3: leaf, class weights [0 2]
	// node 4: leaf, class weights [2 0]
}

// Trees by several parameters are grown side by side, and count common nodes once.
func ExampleGrowEach() {
	features := []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1, 2, 3}, Cost: 1}}
	objects := dataset.NewObjects(dataset.NewLayout(features), 2, false, 4)
	for x := range 4 {
		objects.Append([]int{x}, []dataset.ClassWeight{{Class: uint16(x % 2), Weight: 1}}, 1)
	}
	params := induce.Params{Algorithm: split.C45, Family: split.Thresholds}
	shallow := params
	shallow.MaxDepth = 1
	for _, nodes := range inmemory.GrowEach(objects, split.Columns(features), []induce.Params{params, shallow}, 4,
		inmemory.Options{Workers: 2}) {
		fmt.Println(tree.New(features, nodes).CountLeaves(), "leaves")
	}
	// Output:
	// 4 leaves
	// 2 leaves
}

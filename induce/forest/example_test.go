package forest_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/forest"
)

// One row of forty has a wrong label. The trees that did not draw this row know better.
func Example() {
	features := []dataset.Feature{
		{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1, 2, 3, 4, 5, 6, 7}},
		{Name: "y", Kind: dataset.Numeric, Cuts: []float64{1, 2, 3, 4}},
	}
	objects := dataset.NewObjects(dataset.NewLayout(features), 2, false, 40)
	for i := range 40 {
		x, y := i%8, i/8
		class := uint16(x / 4)
		if i == 10 {
			class = 1 - class
		}
		objects.Append([]int{x, y}, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	f := forest.Grow(objects, features, forest.Options{Trees: 100})
	fmt.Printf("row 10, of class %d: class 0 has %.1f of all trees, %.1f of those that did not draw it\n",
		objects.Class[10], f.Probabilities(objects)[2*10], f.OutOfBag()[2*10])
	// Output: row 10, of class 1: class 0 has 0.3 of all trees, 0.9 of those that did not draw it
}

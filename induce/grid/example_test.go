package grid_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/split"
)

// An algorithm without a lambda is in the grid once for each theta.
func ExampleAxes_Members() {
	axes := grid.Axes{
		Algorithms: []split.Algorithm{split.EC45, split.C45}, Lambdas: []float64{10, 3}, Thetas: []float64{0.005},
		Families: []split.Family{split.Thresholds},
	}
	for _, m := range axes.Members() {
		fmt.Println(m.Algorithm.Name, m.Algorithm.Lambda, m.Algorithm.Tests)
	}
	// Output:
	// ec45 10 threshold
	// ec45 3 threshold
	// c45 0 threshold
}

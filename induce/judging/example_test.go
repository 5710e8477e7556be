package judging_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/judging"
)

// Half of the rows of a case-control sample are ill. Where the tree is used, 2 % are.
func ExampleFactorsOf() {
	factors := judging.FactorsOf([]float64{0.02, 0.98}, []int64{500, 500})
	fmt.Printf("an ill row counts as %.2f rows, a healthy row as %.2f\n", factors.Of(0)/factors.Unit, factors.Of(1)/factors.Unit)
	// Output:
	// an ill row counts as 0.04 rows, a healthy row as 1.96
}

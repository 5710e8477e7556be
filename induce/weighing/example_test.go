package weighing_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/weighing"
)

// In units of a millionth: classes of 3, 11 and 86 rows weigh the same with these factors.
func ExampleBalancedClassWeights() {
	fmt.Println(weighing.BalancedClassWeights([]int64{3, 11, 86}))
	// Output:
	// [11111111 3030303 387597]
}

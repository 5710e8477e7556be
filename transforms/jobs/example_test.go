package jobs_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/transforms/jobs"
)

// In units of a millionth: classes of 3, 11 and 86 rows weigh the same with these factors.
func ExampleBalancedClassWeights() {
	fmt.Println(jobs.BalancedClassWeights([]int64{3, 11, 86}))
	// Output:
	// [11111111 3030303 387597]
}

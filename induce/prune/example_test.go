package prune_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
)

// The second test of a tree separates nothing, so it is cut at alpha 0. The first
// test gains one bit at an expected cost of 1, so it is cut at alpha 1.
func ExampleNewSequence() {
	sequence := prune.NewSequence(handTree(), prune.Cost, split.Entropy)
	for k, step := range sequence.Steps {
		fmt.Printf("step %d, alpha %v: %d leaves, risk %v bits, expected cost %v\n",
			k, step.Alpha, step.Leaves, step.Risk, step.ExpectedCost)
	}
	fmt.Println("optimal at alpha 0.5: step", sequence.At(0.5))
	// Output:
	// step 0, alpha 0: 3 leaves, risk 0 bits, expected cost 2
	// step 1, alpha 0: 2 leaves, risk 0 bits, expected cost 1
	// step 2, alpha 1: 1 leaves, risk 1 bits, expected cost 0
	// optimal at alpha 0.5: step 1
}

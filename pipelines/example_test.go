package pipelines_test

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/pipelines"
)

// A made-up data set of 2,000 rows becomes a tree. The bins, the split of the rows and
// the choice of the tree do not depend on the machine, so neither does the result.
func ExampleTrain() {
	ctx := context.Background()
	s := pipelines.DefaultSynthConfig()
	s.Output, s.Rows, s.Numeric, s.Categorical = "mem://example/data", 2000, 4, 2
	data, err := pipelines.Synth(ctx, s, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := pipelines.DefaultConfig()
	c.Input, c.Label, c.Output = []string{data.Input}, data.Label, "mem://example/run"
	result, err := pipelines.Train(ctx, c, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("trained on %d rows, area above 0.8: %v\n",
		result.Tree.Training.Rows, *result.Metrics.Validation.AUCOvRMacro > 0.8)
	// Output: trained on 1393 rows, area above 0.8: true
}

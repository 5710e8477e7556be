package train_test

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// The final positions of 958 games become a tree. The bins, the split of the rows and
// the choice of the tree do not depend on the machine, so neither does the result.
func ExampleTrain() {
	ctx := context.Background()
	c := config.DefaultTrain()
	c.Input = []string{"../../cmd/espalier/example/tic-tac-toe.parquet"}
	c.Label = "class"
	c.Output = "mem://example/run"
	result, err := train.Train(ctx, c, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("trained on %d rows, area above 0.8: %v\n",
		result.Tree.Training.Rows, *result.Metrics.Validation.AUCOvRMacro > 0.8)
	// Output: trained on 682 rows, area above 0.8: true
}

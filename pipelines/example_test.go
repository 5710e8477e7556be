package pipelines_test

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// A tree is trained on the final positions of 958 games, and then scores all of them.
func ExampleEvaluate() {
	ctx := context.Background()
	games := []string{"../cmd/espalier/example/tic-tac-toe.parquet"}
	c := config.DefaultTrain()
	c.Input, c.Label, c.Output = games, "class", "mem://evaluated/run"
	if _, err := train.Train(ctx, c, nil); err != nil {
		fmt.Println(err)
		return
	}
	e := config.DefaultEvaluate()
	e.Model, e.Input = c.Output, games
	_, metrics, err := pipelines.Evaluate(ctx, e, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d rows, area above 0.8: %v\n", metrics.Test.Rows, *metrics.Test.AUCOvRMacro > 0.8)
	// Output: 958 rows, area above 0.8: true
}

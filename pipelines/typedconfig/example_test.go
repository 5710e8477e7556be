package typedconfig_test

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/typedconfig"
	"github.com/espalier-ml/espalier/transforms"
)

// Numbers are numbers, and costs are values. A training shows its progress to a Reporter, if there
// is one, and ends when its context does.
func ExampleTrain() {
	ctx := context.Background()
	s := pipelines.DefaultSynthConfig()
	s.Output, s.Rows, s.Numeric, s.Categorical = "mem://typed/data", 2000, 4, 2
	data, err := pipelines.Synth(ctx, s, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := typedconfig.Train(transforms.TrainConfig{
		Label: data.Label, Lambda: 3, MaxDepth: 4, Costs: map[string]float64{"x00": 2.5}, CostUnit: "euros",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Input, c.Output = []string{data.Input}, "mem://typed/run"
	result, err := pipelines.Train(ctx, c, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Tree.Training.Rows, "rows, lambda", result.Tree.Algorithm.Lambda)
	// Output: 2000 rows, lambda 3
}

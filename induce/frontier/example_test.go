package frontier_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// A large tree and four of its prunings, from a bare leaf up: the rule best takes
// the cheapest tree whose area is at most 0.01 below the highest, if the tree is
// within the budget.
func ExampleSelect() {
	var points []frontier.Point
	for step, p := range []struct {
		leaves    int
		cost, auc float64
	}{{40, 12, 0.914}, {20, 7, 0.915}, {9, 4, 0.909}, {4, 2, 0.86}, {1, 0, 0.5}} {
		points = append(points, frontier.Point{
			Step: step, Validation: metric.Judgement{AUC: &p.auc}, Complexity: tree.Complexity{Leaves: p.leaves, ExpectedCost: p.cost},
		})
	}
	if err := frontier.Judge(points, frontier.AUC); err != nil {
		fmt.Println(err)
	}
	for _, budget := range []float64{0, 3, 1e-3} {
		p, err := frontier.Select(points, frontier.Query{
			Rule: frontier.Best, Tolerance: 0.01, Limits: frontier.Limits{ExpectedCost: budget},
		})
		if err != nil {
			fmt.Println(err)
		}
		fmt.Printf("budget %v: %d leaves, area %v at cost %v\n", budget, p.Leaves, p.Merit, p.ExpectedCost)
	}
	// Output:
	// budget 0: 9 leaves, area 0.909 at cost 4
	// budget 3: 4 leaves, area 0.86 at cost 2
	// budget 0.001: 1 leaves, area 0.5 at cost 0
}

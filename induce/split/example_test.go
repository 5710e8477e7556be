package split_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// The bins of an age are 0..2, and its fourth code is missing. Two healthy objects lie
// in bin 0, an ill one in bin 1 and one in bin 2: the best test is age >= 30.
func ExampleScanner() {
	columns := split.Columns([]dataset.Feature{
		{Name: "age", Kind: dataset.Numeric, Cuts: []float64{30, 50}, Cost: 1},
	})
	histogram := split.Histogram{Cells: []int64{
		2, 2, 0, 0, // bin 0: objects and weight of the healthy, then of the ill
		0, 0, 1, 1, // bin 1
		0, 0, 1, 1, // bin 2
		0, 0, 0, 0, // missing
	}}
	criterion := split.NewCriterion(split.EC45, split.Thresholds, 1, 0.25, 4)
	totals := criterion.NewTotals([]int64{2, 2}, []int64{2, 2})

	scanner := split.NewScanner(criterion)
	scanner.Node(totals, split.Heavy{}) // no object weighs more than a quarter
	scanner.Load(0, &columns[0], histogram, nil)
	best := split.Best(scanner.Collect(split.Floor(scanner.Scan()), nil), -1)
	parts, _, _ := scanner.Parts(&best)
	fmt.Printf("%v at code %d: balance %.2f, efficiency %.2f, discrimination %.2f, score %.2f\n",
		best.Kind, best.Code, parts.Balance, parts.Efficiency, parts.Discrimination, parts.Total)
	// Output: threshold at code 1: balance 0.50, efficiency 1.00, discrimination 1.00, score 2.50
}

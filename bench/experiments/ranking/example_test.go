package ranking_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/bench/experiments/ranking"
)

func ExampleMeanRanks() {
	areas := [][]float64{{.91, .88, .90}, {.75, .75, .70}} // by data set, then by method
	fmt.Println(ranking.MeanRanks(areas, true))
	// Output: [1.25 2.25 2.5]
}

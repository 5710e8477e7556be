package metric_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/metric"
)

func ExampleEvaluate() {
	leaves := []metric.Leaf{
		{Probabilities: []float64{0.8, 0.2}, Class: 0, Weights: []int64{8, 2}, Rows: 10, Cost: 1, Tests: 1},
		{Probabilities: []float64{0.5, 0.5}, Class: 0, Weights: []int64{1, 1}, Rows: 2, Cost: 3, Tests: 2},
		{Probabilities: []float64{0.1, 0.9}, Class: 1, Weights: []int64{1, 7}, Rows: 8, Cost: 3, Tests: 2},
	}
	m := metric.Evaluate(leaves, []string{"healthy", "ill"}, 1)
	fmt.Printf("AUC %.3f, accuracy %.2f, expected cost %.1f\n", *m.AUCOvRMacro, *m.Accuracy, *m.ExpectedCost)
	fmt.Println("confusion", m.Confusion)
	for _, c := range m.PerClass {
		fmt.Printf("%s: precision %.2f, recall %.2f\n", c.Class, *c.Precision, *c.Recall)
	}
	// Output:
	// AUC 0.830, accuracy 0.80, expected cost 2.0
	// confusion [[9 1] [3 7]]
	// healthy: precision 0.75, recall 0.90
	// ill: precision 0.88, recall 0.70
}

// Without rows nothing is defined.
func ExampleEvaluate_noRows() {
	m := metric.Evaluate(nil, []string{"healthy", "ill"}, 1)
	fmt.Println(m.Rows, m.AUCOvRMacro, m.ExpectedCost)
	// Output: 0 <nil> <nil>
}

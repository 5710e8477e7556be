package drift_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/drift"
)

// Each day more of the 1,000 rows are in the last of three bins.
func ExampleMeasure() {
	training := []int64{400, 400, 200}
	for _, day := range [][]int64{{410, 390, 200}, {350, 350, 300}} {
		m := drift.Measure(training, day)
		alarm := drift.Limits{FalseAlarms: 0.01, PSI: 0.05}.Alarms([]drift.Measures{m})[0]
		fmt.Printf("PSI %.4f, KS %.3f, JS %.3f, p %.2g, alarm %v\n",
			m.PSI, m.KolmogorovSmirnov, m.JensenShannon, m.P, alarm)
	}
	// Output:
	// PSI 0.0005, KS 0.010, JS 0.009, p 0.88, alarm false
	// PSI 0.0537, KS 0.100, JS 0.098, p 1.6e-06, alarm true
}

package drift_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/drift"
)

// Each day more of the 1,000 rows are in the last of three bins.
func ExampleColumn_Measure() {
	training, column := []int64{400, 400, 200}, drift.Column{Ordered: true, Other: -1, Missing: -1}
	for _, day := range [][]int64{{410, 390, 200}, {340, 340, 320}} {
		m := column.Measure(drift.Sample{Rows: training}, drift.Sample{Rows: day})
		alarm := drift.Limits{FalseAlarms: 0.01, PSI: 0.05}.Alarms([]drift.Measures{m})[0]
		fmt.Printf("PSI %.4f, p %.2g, alarm %v\n", m.PSI, m.P, alarm)
	}
	// Output:
	// PSI 0.0000, p 0.98, alarm false
	// PSI 0.0697, p 7.4e-09, alarm true
}

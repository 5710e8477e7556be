package gate_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/gate"
	"github.com/espalier-ml/espalier/induce/metric"
)

// The AUC of the new tree is lower than the AUC of the tree in use by more than the limits allow.
func Example() {
	limits := gate.Default()
	auc := 0.79
	now := &metric.Estimate{Value: auc, Interval: metric.Interval{Low: 0.787, High: 0.793}}
	before := &metric.Estimate{Value: 0.86, Interval: metric.Interval{Low: 0.856, High: 0.864}}
	checks := append(limits.CheckFall(now, before), limits.CheckAUC(&auc))
	for _, reason := range gate.Refusals(checks) {
		fmt.Println(reason)
	}
	// Output:
	// AUC on the new tree's own test rows has fallen by 0.0700, want at most 0.05
}

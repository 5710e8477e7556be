package gate_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/gate"
)

// The AUC of the new tree is lower than the AUC of the tree in use by more than the limits allow.
func Example() {
	limits := gate.Default()
	auc := 0.79
	checks := []gate.Check{limits.CheckAUC(&auc), limits.CheckFall(auc, 0.86)}
	for _, reason := range gate.Refusals(checks) {
		fmt.Println(reason)
	}
	// Output:
	// AUC on the new tree's own test rows has fallen by 0.0700, want at most 0.05
}

package prune

import "testing"

// TestCompensated: by hand. Ones lost by rounding in a large sum reappear once the
// large term is subtracted.
func TestCompensated(t *testing.T) {
	var c compensated
	for _, x := range []float64{1, 1e17, 1, 1, -1e17, 0.5} {
		c.add(x)
	}
	if got := c.sum(); got != 3.5 {
		t.Errorf("sum %v, want 3.5", got)
	}
}

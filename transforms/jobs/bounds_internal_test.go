package jobs

import (
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestSingleBounds: float32s are the decimals that they stand for, on either side of them; other numbers are themselves.
func TestSingleBounds(t *testing.T) {
	low, high := 2.1, 2.2
	c := newChecker(&Bounds{
		Number: true, Min: &low, Max: &high, Values: []string{"2.10", "2.2", "3.0"}, Required: true, Closed: true,
	})
	v := dataset.Vector{Type: dataset.Number, Numbers: []float64{
		float64(float32(2.1)), float64(float32(2.2)), 2.1, 2.2, // good
		2.0999999, 2.2000001, 3, 2.15,
	}}
	want := []Reason{NoReason, NoReason, NoReason, NoReason, BelowMin, AboveMax, AboveMax, Unlisted}
	got := make([]Reason, len(want))
	counts := c.column(&v, func(row int, why Reason) { got[row] = why })
	for i, why := range want {
		if got[i] != why {
			t.Errorf("%v is %q, want %q", v.Numbers[i], got[i], why)
		}
	}
	if counts.Unlisted != 3 { // 3 is listed as 3.0
		t.Errorf("%d values are unlisted, want 3", counts.Unlisted)
	}
}

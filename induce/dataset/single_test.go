package dataset_test

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// The floats are the conversions of Go; the decimals are what is converted.
func TestSingleDecimal(t *testing.T) {
	for _, decimal := range []float64{2.1, 2.2, -2.1, 0.1, 1e-40, 1.3e10, 3.4e38} {
		x := float64(float32(decimal))
		if x == decimal {
			t.Fatalf("%v is a float32", decimal)
		}
		if got := dataset.SingleDecimal(x); got != decimal {
			t.Errorf("%v: %v, want %v", x, got, decimal)
		}
		if got := dataset.SingleDecimal(decimal); got != decimal {
			t.Errorf("%v is not a float32, but becomes %v", decimal, got)
		}
		if got, want := dataset.IsSingle(x, decimal), x != math.Trunc(x); got != want {
			t.Errorf("%v for %v: %v, want %v", x, decimal, got, want)
		}
	}
	for _, x := range []float64{0, 2.5, -3, 1 << 24, math.Inf(1), math.Inf(-1), math.MaxFloat32, math.MaxFloat64} {
		if got := dataset.SingleDecimal(x); got != x && x != math.MaxFloat32 {
			t.Errorf("%v: %v, want the same", x, got)
		}
		if dataset.IsSingle(x, x) {
			t.Errorf("%v is an inexact float32 of itself", x)
		}
	}
	if dataset.IsSingle(2.0999999, 2.1) {
		t.Error("2.0999999 is not the float32 of 2.1")
	}
}

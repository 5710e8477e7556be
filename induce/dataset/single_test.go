package dataset_test

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// The floats are the conversions of Go; the decimals are what is converted.
func TestSingleDecimal(t *testing.T) {
	for _, decimal := range []float64{2.1, 2.2, -2.1, 0.1, 1e-40, 123456.7} {
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
		if !dataset.IsSingle(x, decimal) {
			t.Errorf("%v for %v: no float32", x, decimal)
		}
	}
	for x, near := range map[float64]float64{1000000.5: 1000000.52, 100000008: 100000010, float64(float32(1.3e10)): 1.3e10} {
		if dataset.IsSingle(x, near) { // doubles and integers
			t.Errorf("%v is taken for %v", x, near)
		}
	}
	for _, x := range []float64{
		0, 2.5, -3, 1 << 24, 1000000.5, 100000008, float64(float32(1.3e10)), math.Inf(1), math.Inf(-1), math.MaxFloat32, math.MaxFloat64,
	} {
		if got := dataset.SingleDecimal(x); got != x {
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

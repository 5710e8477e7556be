package dataset_test

import (
	"math"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestRanges: each number is of one range, whose class ClassCodes.Read finds by the name.
func TestRanges(t *testing.T) {
	for _, cuts := range [][]float64{{10, 20}, {0}, {-5.25, 0, 1e-7, 3e20, 4e21}} {
		names := dataset.RangeNames(cuts)
		codes := dataset.NewClassCodes(names)
		for i, cut := range cuts {
			for at, x := range []float64{math.Nextafter(cut, math.Inf(-1)), cut} {
				code, ok := codes.Read(dataset.SpellNumber(x))
				if want := i + at; !ok || int(code) != want || dataset.RangeAt(cuts, x) != want {
					t.Errorf("%v of %q: %d, %v, %d, want %d", x, names, code, ok, dataset.RangeAt(cuts, x), want)
				}
			}
		}
	}
	if want := []string{"< 10", "10 to < 20", ">= 20"}; !slices.Equal(dataset.RangeNames([]float64{10, 20}), want) {
		t.Errorf("names %q", dataset.RangeNames([]float64{10, 20}))
	}
	for _, cut := range []float64{2.1, 2.2} { // one float32 is below its decimal, the other above
		cuts := []float64{0, cut}
		x := float64(float32(cut))
		code, ok := dataset.NewClassCodes(dataset.RangeNames(cuts)).Read(dataset.SpellNumber(x))
		if !ok || code != 2 || dataset.RangeAt(cuts, x) != 2 {
			t.Errorf("the float32 of %v is of range %d, %d, want 2", cut, code, dataset.RangeAt(cuts, x))
		}
	}
	codes := dataset.NewClassCodes([]string{"< 10", "< 20", ">= b", "other", " to < "})
	for label, want := range map[string]int{"5": -1, "15": 1, "25": -1, "NaN": -1, "x": -1, "< 10": 0} {
		if code, ok := codes.Read(label); ok != (want >= 0) || ok && int(code) != want {
			t.Errorf("%q is class %d, %v, want %d", label, code, ok, want)
		}
	}
}

package dataset_test

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestCategories: texts match by their bytes, and numbers by their value in any spelling.
func TestCategories(t *testing.T) {
	f := categorical("x", 0)
	f.Values = []string{"red", "07", "1.5", ""}
	c := f.Categories()
	const other, missing = 4, 5
	for text, want := range map[string]int32{"red": 0, "07": 1, "7": other, "1.50": other, "": 3, "blue": other} {
		if got := c.Text(text); got != want {
			t.Errorf("text %q: code %d, want %d", text, got, want)
		}
	}
	for x, want := range map[float64]int32{7: 1, 1.5: 2, 0: other, math.Inf(1): other} {
		if got := c.Number(x); got != want {
			t.Errorf("number %v: code %d, want %d", x, got, want)
		}
	}
	if c.Number(math.NaN()) != missing || c.Missing() != missing {
		t.Errorf("NaN has code %d and missing values have %d, want %d", c.Number(math.NaN()), c.Missing(), missing)
	}
	number := dataset.Feature{Name: "y", Kind: dataset.Numeric, Cuts: []float64{1}}
	if number.Categories() != nil {
		t.Error("a numeric feature has categories")
	}
}

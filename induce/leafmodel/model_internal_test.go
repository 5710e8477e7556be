package leafmodel

import (
	"math"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestTerm: the term of a curve is within its exactness of the curve, and has the knots of a
// piecewise linear curve alone.
func TestTerm(t *testing.T) {
	c := &curve{feature: 0, first: 2, last: 101}
	values := make([]float64, 110)
	for i := range values {
		values[i] = float64(i*i) / 7
	}
	for bin := c.first; bin <= c.last; bin++ {
		x := values[bin]
		c.scores = append(c.scores, []float64{math.Sin(x / 200), min(x, 300) / 100})
	}
	c.scores = append(c.scores, []float64{7, -0.0001})
	term := c.term(values, 2)
	for bin := c.first; bin <= c.last; bin++ {
		z := make([]float64, 2)
		term.AddTo(z, values[bin])
		for k, want := range c.scores[bin-c.first] {
			if math.Abs(z[k]-want) > exactness+1.0/decimals {
				t.Errorf("bin %d, score %d: %v, want %v", bin, k, z[k], want)
			}
		}
	}
	if len(term.At) > 30 || !slices.Equal(term.Missing, []float64{7, 0}) {
		t.Errorf("%d knots, missing %v", len(term.At), term.Missing)
	}
	straight := &curve{first: 0, last: 99, scores: slices.Repeat([][]float64{{1}}, 101)}
	if got := straight.term(values, 1); len(got.At) != 2 {
		t.Errorf("a straight line has %d knots", len(got.At))
	}
}

// TestMiddle: the value of a code lies in its bin.
func TestMiddle(t *testing.T) {
	f := dataset.Feature{Kind: dataset.Numeric, Cuts: []float64{-1, 0, math.MaxFloat64}, Range: []float64{-5, math.MaxFloat64}}
	values := codeValues([]dataset.Feature{f})[0]
	for code, x := range values[:f.Bins()] {
		if f.Bin(x) != code {
			t.Errorf("the value %v of code %d is in bin %d", x, code, f.Bin(x))
		}
	}
	if !math.IsNaN(values[f.MissingCode()]) {
		t.Error("a missing value is not NaN")
	}
	unknown := dataset.Feature{Kind: dataset.Numeric, Cuts: []float64{1}}
	if got := codeValues([]dataset.Feature{unknown})[0]; got[0] != 1 || got[1] != 1 {
		t.Errorf("without a range: %v", got)
	}
}

package split_test

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/split"
)

// TestImpurity: expected values by hand.
func TestImpurity(t *testing.T) {
	for _, c := range []struct {
		weights       []int64
		entropy, gini float64
	}{
		{nil, 0, 0},
		{[]int64{0, 0}, 0, 0},
		{[]int64{7, 0}, 0, 0},
		{[]int64{1, 1}, 2, 1},
		{[]int64{2, 2, 4}, 8 * 1.5, 8 - 24.0/8},
		{[]int64{1 << 40, 1 << 40}, 1 << 41, 1 << 40},
		{[]int64{9, 3}, 12*math.Log2(12) - 9*math.Log2(9) - 3*math.Log2(3), 12 - 90.0/12},
	} {
		for impurity, want := range map[split.Impurity]float64{split.Entropy: c.entropy, split.Gini: c.gini} {
			if got := impurity.Weighted(c.weights); math.Abs(got-want) > 1e-12*want {
				t.Errorf("%s of %v: %v, want %v", impurity, c.weights, got, want)
			}
		}
	}
}

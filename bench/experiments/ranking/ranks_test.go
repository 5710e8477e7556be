package ranking_test

import (
	"math"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/bench/experiments/ranking"
)

// TestRanks: the expected ranks are those of scipy.stats.rankdata (1.11) with its method "average".
func TestRanks(t *testing.T) {
	for _, test := range []struct {
		values []float64
		high   bool
		want   []float64
	}{
		{[]float64{.9, .8, .9, .7}, true, []float64{1.5, 3, 1.5, 4}},
		{[]float64{.9, .8, .9, .7}, false, []float64{3.5, 2, 3.5, 1}},
		{[]float64{2, 2, 2}, true, []float64{2, 2, 2}},
		{nil, true, []float64{}},
	} {
		if got := ranking.Ranks(test.values, test.high); !slices.Equal(got, test.want) {
			t.Errorf("Ranks(%v, %v) = %v, want %v", test.values, test.high, got, test.want)
		}
	}
}

// TestDeviation: by hand, the squares of 2, 4, 4, 4, 5, 5, 7, 9 around their mean 5 add up to 32.
func TestDeviation(t *testing.T) {
	values := []float64{2, 4, 4, 4, 5, 5, 7, 9}
	if mean, got := ranking.Mean(values), ranking.Deviation(values); mean != 5 || math.Abs(got-math.Sqrt(32./7)) > 1e-15 {
		t.Errorf("mean %v, deviation %v", mean, got)
	}
	if got := ranking.Deviation(values[:1]); got != 0 {
		t.Errorf("the deviation of one value is %v", got)
	}
}

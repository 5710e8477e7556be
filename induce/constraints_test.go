package induce_test

import (
	"math"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
)

// TestRestrict: at depth 0 feature 2 has to be tested, at depth 1 feature 1, and below any.
func TestRestrict(t *testing.T) {
	c := induce.NewConstraints([]split.Column{{}, {First: 2}, {First: 1}}, 2)
	none := math.Inf(-1)
	for _, test := range []struct {
		depth, from int
		scores      []float64
		want        []float64 // the same scores: nothing is restricted
	}{
		{0, 0, []float64{3, 2, 1}, []float64{none, none, 1}},
		{0, 1, []float64{2, 1}, []float64{none, 1}},
		{0, 0, []float64{3, 2, none}, []float64{3, 2, none}}, // no test with two outcomes
		{0, 0, []float64{3, 2}, []float64{3, 2}},             // feature 2 is in another pass
		{1, 2, []float64{1}, []float64{1}},
		{1, 1, []float64{2, 1}, []float64{2, none}},
		{2, 0, []float64{3, 2, 1}, []float64{3, 2, 1}},
	} {
		scores := slices.Clone(test.scores)
		restricted := c.Restrict(test.depth, test.from, scores)
		if !slices.Equal(scores, test.want) || restricted == slices.Equal(test.scores, test.want) {
			t.Errorf("depth %d, features from %d: %v of %v (%v), want %v", test.depth, test.from, scores, test.scores,
				restricted, test.want)
		}
	}
}

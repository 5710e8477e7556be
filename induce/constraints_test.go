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

// TestBounds: below a threshold on a feature with rising predictions, the side of the
// greater numbers has shares from the middle of both sides on, and the other up to it.
func TestBounds(t *testing.T) {
	columns := []split.Column{{Codes: 4, Numeric: true, Monotone: 1}, {Codes: 4, Numeric: true}}
	threshold := split.Test{Feature: 0, Kind: split.Threshold, Code: 1}
	weights := [][]int64{{9, 1}, {1, 9}} // shares .1 and .9 of the second class
	var root *induce.Path
	above, below := root.Below(threshold, weights, 1), root.Below(threshold, weights, 0)
	other := above.Below(split.Test{Feature: 1, Kind: split.Threshold, Code: 1}, weights, 0)
	for name, test := range map[string]struct {
		path *induce.Path
		want split.Bounds
	}{
		"root": {root, split.Bounds{Low: 0, High: 1}}, "above": {above, split.Bounds{Low: 0.5, High: 1}},
		"below": {below, split.Bounds{Low: 0, High: 0.5}}, "another feature": {other, split.Bounds{Low: 0.5, High: 1}},
	} {
		got := test.path.Bounds(columns)
		if math.Abs(got.Low-test.want.Low) > 1e-12 || math.Abs(got.High-test.want.High) > 1e-12 {
			t.Errorf("%s: bounds %v, want %v", name, *got, test.want)
		}
	}
	for classes, want := range map[int]bool{2: true, 3: false} {
		c := induce.NewConstraints(columns, classes)
		totals := c.Bound(new(split.Totals), above, columns)
		if (totals.Bounds != nil) != want {
			t.Errorf("%d classes: bounds %v", classes, totals.Bounds)
		}
	}
}

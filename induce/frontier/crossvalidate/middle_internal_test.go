package crossvalidate

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/prune"
)

// TestMiddle: by hand. The last step, and a step before one of an infinite alpha, have
// no greatest alpha.
func TestMiddle(t *testing.T) {
	s := &prune.Sequence{Steps: []prune.Step{{}, {Alpha: .02}, {Alpha: .08}, {Alpha: math.Inf(1)}}}
	for step, want := range []float64{0, .04, .08, math.Inf(1)} {
		if got := middle(s, step); math.Abs(got-want) > 1e-17 {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
}

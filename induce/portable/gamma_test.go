package portable_test

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/portable"
)

// TestGammaTail has the expected values of scipy 1.17.1: scipy.stats.gamma.sf(x, shape).
func TestGammaTail(t *testing.T) {
	for _, c := range []struct{ shape, x, want float64 }{
		{.4, 3.2, .007935822410342984},
		{16, 50, 6.35798211101664e-09},
		{16, 9, .977964340828101},
		{.5, 1e-3, .9643294082703201},
		{2400, 2500, .02167398920030608},
		{3, 0, 1},
		{3, -1, 1},
	} {
		if got := portable.GammaTail(c.shape, c.x); math.Abs(got-c.want) > 1e-10*c.want {
			t.Errorf("shape %v, at least %v: %v, want %v", c.shape, c.x, got, c.want)
		}
	}
}

package drift

import (
	"math"
	"testing"
)

// TestChiSquareTail has the expected values of scipy 1.17.1: scipy.stats.chi2.sf(x, freedom).
func TestChiSquareTail(t *testing.T) {
	for _, c := range []struct {
		x       float64
		freedom int
		want    float64
	}{
		{0.1, 1, 0.7518296340458492},
		{3.84, 1, 0.05004352124870519},
		{1e-08, 2, 0.999999995},
		{50, 3, 7.989179244951495e-11},
		{700, 3, 2.0991308534204487e-151},
		{1, 40, 1},
		{40, 40, 0.4702572668392401},
		{60, 40, 0.02187346844139091},
		{1000, 999, 0.48513148927490146},
		{1200, 999, 1.112935044825893e-05},
		{30000, 30000, 0.4989142162381336},
		{1400, 2, 9.85967654375939e-305},
	} {
		if got := chiSquareTail(c.x, c.freedom); math.Abs(got-c.want) > 1e-10*c.want {
			t.Errorf("chi square %v with %d degrees of freedom: %v, want %v", c.x, c.freedom, got, c.want)
		}
	}
}

// TestBinomialTail has the expected values of scipy 1.17.1: scipy.special.betainc(x, shape, odds/(1+odds)).
func TestBinomialTail(t *testing.T) {
	for _, c := range []struct{ x, shape, odds, want float64 }{
		{3.0, 1, 0.5, 0.03703703703703703},
		{40.0, 2.5, 0.7, 3.5550272898642297e-14},
		{1.0, 0.2, 9, 0.3690426555198068},
		{500.0, 11, 20, 0.0007341782350545709},
		{0.5, 3, 0.001, 0.059223624568216254},
		{200.0, 1.5, 1, 7.052534496203275e-60},
	} {
		if got := binomialTail(c.x, c.shape, c.odds); math.Abs(got-c.want) > 1e-10*c.want {
			t.Errorf("at least %v by %v at odds of %v: %v, want %v", c.x, c.shape, c.odds, got, c.want)
		}
	}
}

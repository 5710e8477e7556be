package portable_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce/portable"
)

func TestDigits(t *testing.T) {
	for _, c := range []struct{ x, down, up float64 }{ // by hand, 4 digits
		{0, 0, 0},
		{1, 1, 1},
		{1.23456, 1.234, 1.235},
		{1.00001, 1, 1.001},
		{0.99999, 0.9999, 1},
		{2 - 1e-14, 2, 2},
		{3e-7, 3e-7, 3e-7},
		{3.14159e-7, 3.141e-7, 3.142e-7},
		{1.99999e15, 1.999e15, 2e15},
		{math.MaxFloat64, 1.797e308, math.Inf(1)},
		{math.Inf(1), math.Inf(1), math.Inf(1)},
	} {
		if down, up := portable.Down(c.x, 4), portable.Up(c.x, 4); down != c.down || up != c.up {
			t.Errorf("%v: from %v to %v, want %v to %v", c.x, down, up, c.down, c.up)
		}
	}
}

// TestDigitsEverywhere checks the definition at every magnitude.
func TestDigitsEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		x := math.Exp(1300*r.Float64() - 650)
		down, up := portable.Down(x, 4), portable.Up(x, 4)
		if down > x*(1+1e-12) || up < x*(1-1e-12) || down <= 0 || up > down*(1+1.1e-3) && !math.IsInf(up, 1) {
			t.Errorf("%v: from %v to %v", x, down, up)
		}
		if back, _ := strconv.ParseFloat(strconv.FormatFloat(down, 'e', 3, 64), 64); back != down {
			t.Errorf("%v has more than 4 digits", down)
		}
	}
}

package boost

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSums: sums over any rows, and their differences, have the exact number of rows, and nearly the
// gradients and curvatures of the rows. This holds at the limit of rows and for slopes far below the unit.
func TestSums(t *testing.T) {
	for _, c := range []struct {
		rows          int
		weight, slope float64 // weight of a row, and greatest share of it in a gradient
	}{{40, 1, 1}, {5000, 1e-9, 1}, {MaxObjects, 1e9, 1}, {MaxObjects, 1, 1e-4}} {
		r := rand.New(rand.NewPCG(1, uint64(c.rows)))
		u := newUnits(slices.Repeat([]float64{c.weight}, c.rows))
		maker := u.rounder()
		var all, some sum
		var gradients, curvatures [2]float64 // of all rows, of some
		n := 0
		for range c.rows {
			gradient := c.weight * c.slope * (1 - 2*r.Float64())
			curvature := c.weight * c.slope * r.Float64() / 4
			one := maker.round(gradient, curvature)
			all += one
			gradients[0] += gradient
			curvatures[0] += curvature
			if r.IntN(3) == 0 {
				some += one
				n++
				gradients[1] += gradient
				curvatures[1] += curvature
			}
		}
		for i, s := range []sum{all, some, all - some} {
			rows := []int{c.rows, n, c.rows - n}[i]
			gradient := []float64{gradients[0], gradients[1], gradients[0] - gradients[1]}[i]
			curvature := []float64{curvatures[0], curvatures[1], curvatures[0] - curvatures[1]}[i]
			near := 3 * math.Sqrt(float64(rows)) // units: each row is rounded by up to one
			if s.rows() != rows {
				t.Errorf("%+v: %d rows, want %d", c, s.rows(), rows)
			}
			if got := s.gradient(); math.Abs(got-gradient*u.gradient) > near {
				t.Errorf("%+v: gradient %v, want %v", c, got, gradient*u.gradient)
			}
			if got := s.curvature(); math.Abs(got-curvature*u.curvature) > near {
				t.Errorf("%+v: curvature %v, want %v", c, got, curvature*u.curvature)
			}
		}
	}
	// The greatest gradients and curvatures of all rows do not overflow.
	u := newUnits(slices.Repeat([]float64{1}, MaxObjects))
	for _, gradient := range []float64{1, -1} {
		maker, all := u.rounder(), sum(0)
		for range MaxObjects {
			all += maker.round(gradient, 0.25)
		}
		if got := all.gradient() / u.gradient; all.rows() != MaxObjects || math.Abs(got-gradient*MaxObjects) > 1 {
			t.Errorf("%d rows with gradient %v: %d rows, %v", MaxObjects, gradient, all.rows(), got)
		}
		if got := all.curvature() / u.curvature; math.Abs(got-MaxObjects/4) > 1 {
			t.Errorf("%d rows with curvature 0.25: %v", MaxObjects, got)
		}
	}
}

// TestSumsSkewed: the slopes of light rows count next to a row that weighs half of the total.
func TestSumsSkewed(t *testing.T) {
	weights := slices.Repeat([]float64{1}, MaxObjects)
	weights[0] = MaxObjects - 1
	u := newUnits(weights)
	maker := u.rounder()
	var all, light sum
	for i, w := range weights {
		one := maker.round(w, w/4)
		all += one
		if i > 0 && i <= 20 {
			light += one
		}
	}
	if got := all.gradient() / u.gradient; math.Abs(got-2*(MaxObjects-1)) > 1 || all.rows() != MaxObjects {
		t.Errorf("%d rows with gradient %v, want %d", all.rows(), got, 2*(MaxObjects-1))
	}
	if got := light.gradient() / u.gradient; math.Abs(got-20) > 0.1 {
		t.Errorf("20 light rows have the gradient %v", got)
	}
	if got := light.curvature() / u.curvature; math.Abs(got-5) > 0.1 {
		t.Errorf("20 light rows have the curvature %v, want 5", got)
	}
}

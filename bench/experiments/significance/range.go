package significance

import (
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// studentizedRange is the distribution of the range of a number of independent standard normal
// values. That is the studentized range with infinite degrees of freedom, which gonum lacks.
type studentizedRange struct{ values int }

// far is where the tails of the normal distribution no longer count.
const far = 9

// survival returns the probability of a range above x: that of at most x is, by the least value z,
// the integral of n f(z) (F(z + x) - F(z))^(n-1).
func (s studentizedRange) survival(x float64) float64 {
	if x <= 0 {
		return 1
	}
	const nodes = 200 // 100 give the same fifteen digits
	others := func(z float64) float64 {
		within := float64(distuv.UnitNormal.CDF(z+x)) - float64(distuv.UnitNormal.CDF(z))
		power := 1.0
		for range s.values - 1 {
			power *= within
		}
		return power
	}
	below := quad.Fixed(func(z float64) float64 {
		return float64(float64(s.values)*distuv.UnitNormal.Prob(z)) * others(z)
	}, -far, far, nodes, quad.Legendre{}, 1)
	return max(0, 1-below)
}

// quantile returns the range that is exceeded with a probability.
func (s studentizedRange) quantile(probability float64) float64 {
	low, high := 0.0, float64(2*far)
	for {
		middle := (low + high) / 2
		if middle <= low || middle >= high {
			return middle
		}
		if s.survival(middle) > probability {
			low = middle
		} else {
			high = middle
		}
	}
}

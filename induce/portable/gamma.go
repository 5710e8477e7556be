package portable

import "math"

// GammaTail returns the probability that a gamma variable of scale 1 is at least x: the regularised upper incomplete gamma
// function Q(shape, x), where shape is above 0. See Press et al., Numerical Recipes, section 6.2: a series for P below
// shape+1, a continued fraction for Q above. The number of steps is proportional to the square root of the shape.
func GammaTail(shape, x float64) float64 {
	if x <= 0 {
		return 1
	}
	scale := Exp(float64(shape*Log(x)) - x - LogGamma(shape))
	if x < shape+1 {
		term := 1 / shape
		series := term
		for k := shape + 1; term > 1e-17*series; k++ {
			term = float64(term*x) / k
			series += term
		}
		return min(1, max(0, 1-float64(scale*series)))
	}
	return min(1, float64(scale*gammaFraction(shape, x)))
}

// gammaFraction returns the continued fraction 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- ...))), by Lentz's method.
func gammaFraction(a, x float64) float64 {
	b := x + 1 - a
	c := 1 / Tiny
	d := 1 / Away(b)
	value := d
	for k := 1.0; ; k++ {
		factor := -float64(k * (k - a))
		b += 2
		d = 1 / Away(float64(factor*d)+b)
		c = Away(b + factor/c)
		step := float64(c * d)
		value = float64(value * step)
		if math.Abs(step-1) < 1e-15 {
			return value
		}
	}
}

// Tiny is the least divisor of Lentz's method.
const Tiny = 1e-300

// Away keeps a divisor away from 0.
func Away(x float64) float64 {
	if math.Abs(x) < Tiny {
		return Tiny
	}
	return x
}

// LogGamma returns the logarithm of the gamma function of z > 0: Stirling's series for z >= 16, and
// below that Gamma(z+1) = z Gamma(z).
func LogGamma(z float64) float64 {
	product := 1.0
	for z < 16 {
		product = float64(product * z)
		z++
	}
	r := 1 / float64(z*z)
	series := 1.0/1680 - float64(r/1188)
	series = 1.0/1260 - float64(r*series)
	series = 1.0/360 - float64(r*series)
	series = 1.0/12 - float64(r*series)
	const halfLogTwoPi = 0.918938533204672741780329736406
	return float64((z-0.5)*Log(z)) - z + halfLogTwoPi + series/z - Log(product)
}

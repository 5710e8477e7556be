package drift

import (
	"math"

	"github.com/espalier-ml/espalier/induce/portable"
)

// chiSquare returns the likelihood-ratio statistic (G) of a table of two rows, whose counts are divided by
// the design effects, and its degrees of freedom. Williams' correction (1976) makes its tail nearly that of
// chi-square even in bins of ten rows; the tail of Pearson's statistic is too thick there if one sample is
// much larger. Each bin must have a row.
func chiSquare(before, now []float64, effectBefore, effectNow float64) (statistic float64, freedom int) {
	if len(before) < 2 {
		return 0, 0
	}
	freedom = len(before) - 1
	b := portable.Sum(before) / effectBefore
	n := portable.Sum(now) / effectNow
	all := b + n
	inverses := 0.0
	for i := range before {
		x, y := before[i]/effectBefore, now[i]/effectNow
		inverses += 1 / (x + y)
		for _, cell := range []struct{ rows, all float64 }{{x, b}, {y, n}} {
			if cell.rows > 0 {
				statistic += float64(float64(2*cell.rows) * portable.Log(float64(cell.rows*all)/float64((x+y)*cell.all)))
			}
		}
	}
	if n == 0 {
		return 0, freedom
	}
	williams := 1 + float64((float64(all*(1/b+1/n))-1)*(float64(all*inverses)-1))/float64(6*all*float64(freedom))
	return max(0, statistic/williams), freedom
}

// binomialTail returns the probability that a negative binomial variable is at least x: it is the number of
// successes, at the given odds of a success, before a number of failures that is given by shape and need
// not be an integer. It is the regularised incomplete beta function I_p(x, shape) for the probability p of
// a success. See Press et al., Numerical Recipes, section 6.4.
func binomialTail(x, shape, odds float64) float64 {
	if x <= 0 {
		return 1
	}
	p, q := odds/(1+odds), 1/(1+odds)
	scale := portable.Exp(portable.LogGamma(x+shape) - portable.LogGamma(x) - portable.LogGamma(shape) +
		float64(x*portable.Log(p)) + float64(shape*portable.Log(q)))
	if float64(p*(x+shape+2)) < x+1 {
		return min(1, float64(scale*betaFraction(x, shape, p))/x)
	}
	return max(0, 1-float64(scale*betaFraction(shape, x, q))/shape)
}

// betaFraction returns the continued fraction of the incomplete beta function, by Lentz's method. The number of
// steps is proportional to the square root of the greater of a and b.
func betaFraction(a, b, x float64) float64 {
	const most = 1e7
	c := 1.0
	d := 1 / portable.Away(1-float64((a+b)*x)/(a+1))
	value := d
	for k := 1.0; k < most; k++ {
		twice := a + float64(2*k)
		even := float64(float64(k*(b-k))*x) / float64((twice-1)*twice)
		odd := -float64(float64((a+k)*(a+b+k))*x) / float64(twice*(twice+1))
		for _, factor := range []float64{even, odd} {
			d = 1 / portable.Away(1+float64(factor*d))
			c = portable.Away(1 + factor/c)
			value = float64(value * float64(c*d))
		}
		if math.Abs(float64(c*d)-1) < 1e-15 {
			break
		}
	}
	return value
}

// chiSquareTail returns the probability that a chi-square variable is at least x.
func chiSquareTail(x float64, freedom int) float64 {
	if freedom == 0 {
		return 1
	}
	return portable.GammaTail(float64(float64(freedom)/2), float64(x/2)) // halving is also a product: none may be fused
}

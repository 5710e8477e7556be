package portable

import "math"

// Exp returns e^x, within 1.5 units of the last place. It is 0 for x below about
// -745.13, and +Inf for x above about 709.78.
//
// x is k log 2 + r with r within log(2)/2 of 0. The remainder is FreeBSD's e_exp.c:
// e^r = 1 + r + r c/(2-c) with a polynomial c.
func Exp(x float64) float64 {
	const toWhole = 0x1.8p52 // a sum with it is a whole number, with k in its lowest bits
	switch {
	case x != x: // NaN
		return x
	case x > 0x1.62e42fefa39efp+9:
		return math.Inf(1)
	case x < -0x1.74910d52d3052p+9:
		return 0
	}
	sum := float64(x*math.Log2E) + toWhole
	k := sum - toWhole
	high, low := x-float64(k*ln2High), float64(k*ln2Low)
	r := high - low
	t := float64(r * r)
	p := expP4 + float64(t*expP5)
	p = expP3 + float64(t*p)
	p = expP2 + float64(t*p)
	p = expP1 + float64(t*p)
	c := r - float64(t*p)
	y := 1 - ((low - float64(r*c)/(2-c)) - high)
	if x < -708 || x > 709 { // 2^k may be no normal number
		return math.Ldexp(y, int(k))
	}
	return float64(y * math.Float64frombits((math.Float64bits(sum)+1023)<<52))
}

// The coefficients of t^1 to t^5, t = r^2, in r - c.
const (
	expP1 = 1.66666666666666657415e-01
	expP2 = -2.77777777770155933842e-03
	expP3 = 6.61375632143793436117e-05
	expP4 = -1.65339022054652515390e-06
	expP5 = 4.13813679705723846039e-08
)

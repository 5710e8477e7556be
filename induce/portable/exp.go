package portable

import "math"

// expSteps is the number of steps in expTable from one power of 2 to the next.
const expSteps = 128

const (
	expLeast, expMost = -708, 709 // 2^k of others may be no normal number

	toWhole  = 0x1.8p52 // a sum with it is a whole number, with k in its lowest bits
	perLn2   = expSteps * math.Log2E
	stepHigh = ln2High / expSteps
	stepLow  = ln2Low / expSteps
)

// Exp returns e^x, within 1.5 units of the last place. It is 0 for x below about
// -745.13, and +Inf for x above about 709.78.
//
// x is k log(2)/128 + r with r within log(2)/256 of 0, and e^x is 2^(k/128) from a table
// times Taylor's series of e^r. The first term that the series leaves out, r^6/720, is
// below 2^-60.
func Exp(x float64) float64 {
	if !(x >= expLeast && x <= expMost) {
		return farExp(x)
	}
	sum := float64(x*perLn2) + toWhole
	k := sum - toWhole
	return expOf(math.Float64bits(sum), (x-float64(k*stepHigh))-float64(k*stepLow))
}

// ExpEach replaces each x by Exp(x). It takes less time than as many calls of Exp.
func ExpEach(list []float64) {
	for i, x := range list {
		if !(x >= expLeast && x <= expMost) {
			list[i] = farExp(x)
			continue
		}
		sum := float64(x*perLn2) + toWhole
		k := sum - toWhole
		list[i] = expOf(math.Float64bits(sum), (x-float64(k*stepHigh))-float64(k*stepLow))
	}
}

// expOf returns 2^(k/128) e^r, for k in the lowest bits.
func expOf(k uint64, r float64) float64 {
	s := float64(r * r)
	p := r + float64(s*((0.5+float64(r*(1.0/6)))+float64(s*(1.0/24+float64(r*(1.0/120))))))
	power := math.Float64frombits(expTable[k%expSteps] + k/expSteps<<52)
	return power + float64(power*p)
}

// farExp is Exp for numbers whose exponentials may not be normal numbers.
func farExp(x float64) float64 {
	switch {
	case x != x: // NaN
		return x
	case x > 0x1.62e42fefa39efp+9:
		return math.Inf(1)
	case x < -0x1.74910d52d3052p+9:
		return 0
	}
	sum := float64(x*perLn2) + toWhole
	k := sum - toWhole
	y := expOf(math.Float64bits(sum)%expSteps, (x-float64(k*stepHigh))-float64(k*stepLow))
	return math.Ldexp(y, int(k)>>7) // by 2^7 = expSteps
}

// Package portable has elementary functions, sums and random numbers with the same bits on every processor,
// for results that reach a file or a decision. The functions of package math differ
// between processors: some processors have assembly versions, and on some the
// compiler fuses products with sums.
//
// All elementary functions consist of sums, products and quotients, each rounded separately. By the language
// specification, an explicit conversion keeps a product from being fused with a sum.
package portable

import "math"

// Log2 returns the binary logarithm of x, within 1.5 units of the last place. It is
// exact for powers of two, -Inf for 0, and NaN for negative x.
func Log2(x float64) float64 {
	if !(x > 0) || x > math.MaxFloat64 {
		return limit(x)
	}
	e, s := reduced(x)
	return e + float64((2/math.Ln2)*s)
}

// Log returns the natural logarithm of x, within 1.5 units of the last place. It is
// -Inf for 0, and NaN for negative x.
func Log(x float64) float64 {
	if !(x > 0) || x > math.MaxFloat64 {
		return limit(x)
	}
	e, s := reduced(x)
	return float64(e*ln2High) + (float64(e*ln2Low) + float64(2*s))
}

// ln2High and ln2Low add up to the natural logarithm of 2. The first has 32 bits, so
// that its product with an exponent is exact.
const (
	ln2High = 0x1.62e42feep-1
	ln2Low  = math.Ln2 - ln2High
)

// limit returns the logarithm of 0, of infinity, and NaN for other x.
func limit(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case x > 0:
		return x
	default:
		return math.NaN()
	}
}

// reduced returns e and atanh(s) such that log x = e log 2 + 2 atanh(s), for finite x > 0. The
// significand f is in [sqrt(1/2), sqrt(2)), and s = (f-1)/(f+1). The first omitted term of the
// series is below 2^-57 of the sum.
func reduced(x float64) (e, atanh float64) {
	f, exponent := significand(x)
	if f < math.Sqrt2/2 {
		f *= 2
		exponent--
	}
	s := (f - 1) / (f + 1)
	z := float64(s * s)
	p := 1.0/21 + float64(z*(1.0/23))
	p = 1.0/19 + float64(p*z)
	p = 1.0/17 + float64(p*z)
	p = 1.0/15 + float64(p*z)
	p = 1.0/13 + float64(p*z)
	p = 1.0/11 + float64(p*z)
	p = 1.0/9 + float64(p*z)
	p = 1.0/7 + float64(p*z)
	p = 1.0/5 + float64(p*z)
	p = 1.0/3 + float64(p*z)
	return float64(exponent), s + float64(float64(p*z)*s) // the product is the series without its first term
}

// significand is math.Frexp for finite x > 0.
func significand(x float64) (f float64, exponent int) {
	const one = 1022 // exponent of numbers in [1/2, 1)
	bits := math.Float64bits(x)
	if exponent = int(bits >> 52); exponent == 0 { // a subnormal number
		return math.Frexp(x)
	}
	return math.Float64frombits(bits&(1<<52-1) | one<<52), exponent - one
}

// Exp2 returns 2^x, within 1.5 units of the last place. It is 0 for x < -1022, and +Inf for x >=
// 1024.
func Exp2(x float64) float64 {
	switch {
	case x != x: // NaN
		return x
	case x >= 1024:
		return math.Inf(1)
	case x < -1022:
		return 0
	}
	whole := math.Round(x)
	r := float64((x - whole) * math.Ln2) // within log(2)/2 of 0
	p := 1.0
	for k := 18; k >= 2; k-- { // Taylor's series; r^18/18! < 2^-80
		p = 1 + float64(p*r)/float64(k)
	}
	return math.Ldexp(1+float64(p*r), int(whole))
}

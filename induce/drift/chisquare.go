package drift

import (
	"math"

	"github.com/espalier-ml/espalier/induce/portable"
)

// leastExpected is the least number of rows that the chi-square test expects in a bin: Cochran's
// rule.
const leastExpected = 5

// pooled returns the same rows in bins in which both lists expect at least leastExpected rows.
// Rarer bins are merged into a single bin. If that bin is itself rare, the bin with the fewest rows
// joins it (ties: the first). Which bins are rare only depends on the sums of both lists.
func pooled(before, now []int64, b, n int64) (few, many []int64) {
	small := min(b, n)
	least := (leastExpected*(b+n) + small - 1) / small // rows of both lists
	var rare [2]int64
	for i := range before {
		if before[i]+now[i] < least {
			rare[0], rare[1] = rare[0]+before[i], rare[1]+now[i]
			continue
		}
		few, many = append(few, before[i]), append(many, now[i])
	}
	switch {
	case rare[0]+rare[1] == 0:
		return few, many
	case rare[0]+rare[1] >= least || len(few) == 0:
		return append(few, rare[0]), append(many, rare[1])
	}
	at := 0
	for i := range few {
		if few[i]+many[i] < few[at]+many[at] {
			at = i
		}
	}
	few[at], many[at] = few[at]+rare[0], many[at]+rare[1]
	return few, many
}

// chiSquare returns Pearson's statistic of a table of two rows, and its degrees of freedom. Each
// column must have a row in at least one list.
func chiSquare(before, now []int64) (statistic float64, freedom int) {
	b, n := float64(Rows(before)), float64(Rows(now))
	for i := range before {
		both := float64(before[i] + now[i])
		for _, cell := range []struct{ rows, all float64 }{{float64(before[i]), b}, {float64(now[i]), n}} {
			expected := float64(both*cell.all) / (b + n)
			apart := cell.rows - expected
			statistic += float64(apart*apart) / expected
		}
	}
	return statistic, max(0, len(before)-1)
}

// chiSquareTail returns the probability that a chi-square variable is at least x: the regularised upper
// incomplete gamma function Q(a, y) of a = freedom/2 and y = x/2. See Press et al., Numerical
// Recipes, section 6.2: a series for P below a+1, a continued fraction for Q above.
func chiSquareTail(x float64, freedom int) float64 {
	if freedom == 0 || x <= 0 {
		return 1
	}
	a, y := float64(float64(freedom)/2), float64(x/2) // halving is also a product: none may be fused
	scale := portable.Exp(float64(a*portable.Log(y)) - y - logGamma(a))
	if y < a+1 {
		term := 1 / a
		series := term
		for k := a + 1; term > 1e-17*series; k++ {
			term = float64(term*y) / k
			series += term
		}
		return min(1, max(0, 1-float64(scale*series)))
	}
	return min(1, float64(scale*fraction(a, y)))
}

// fraction returns the continued fraction 1/(y+1-a- 1(1-a)/(y+3-a- 2(2-a)/(y+5-a- ...))), by
// Lentz's method. The number of steps is proportional to the square root of a.
func fraction(a, y float64) float64 {
	const tiny = 1e-300
	b := y + 1 - a
	c, d := 1/tiny, 1/b
	value := d
	for k := 1.0; ; k++ {
		factor := -float64(k * (k - a))
		b += 2
		d = 1 / away(float64(factor*d)+b, tiny)
		c = away(b+factor/c, tiny)
		step := float64(c * d)
		value = float64(value * step)
		if math.Abs(step-1) < 1e-15 {
			return value
		}
	}
}

// away keeps a divisor away from 0.
func away(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}

// logGamma returns the logarithm of the gamma function of z > 0: Stirling's series for z >= 16, and
// below that Gamma(z+1) = z Gamma(z).
func logGamma(z float64) float64 {
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
	return float64((z-0.5)*portable.Log(z)) - z + halfLogTwoPi + series/z - portable.Log(product)
}

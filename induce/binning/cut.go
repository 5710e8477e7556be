package binning

import (
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// cutBefore appends the cut between values i-1 and i, if there is one.
func (f *Fitter) cutBefore(cuts []float64, i int) []float64 {
	if cut, ok := f.cut(i); ok {
		return append(cuts, cut)
	}
	return cuts
}

// cut returns the cut between values i-1 and i, or the lower edge of the right bucket.
func (f *Fitter) cut(i int) (float64, bool) {
	if f.shift == 0 {
		a, b := f.gap(i)
		m, ok := midpoint(a, b)
		if ok && !f.midpoints && !math.IsInf(b-a, 0) {
			m = shortest(a, b, m)
		}
		return m, ok
	}
	if !math.IsInf(f.values[i], 1) {
		return f.values[i], true
	}
	end := keyNumber(numberKey(f.values[i-1]) + 1<<f.shift) // end of the left bucket
	return end, !math.IsInf(end, 1)
}

// gap returns the ends of the gap between values i-1 and i: cuts c with a < c <= b part the two values. They part also the
// decimals that the values stand for if they are float32s: the same rows may come back as doubles or texts, and 2.1 is
// above its float32. Cuts of k-means are midpoints.
func (f *Fitter) gap(i int) (a, b float64) {
	a, b = f.values[i-1], f.values[i]
	if f.midpoints || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return a, b
	}
	low, high := max(a, dataset.SingleDecimal(a)), min(b, dataset.SingleDecimal(b))
	if low < high {
		return low, high
	}
	return a, b
}

// midpoint returns a finite number m with a < m <= b: the midpoint, rounded. ok is false if there is
// no such number, as beyond the greatest float64.
func midpoint(a, b float64) (m float64, ok bool) {
	switch {
	case math.IsInf(a, -1) && math.IsInf(b, 1):
		return 0, true
	case math.IsInf(a, -1):
		return -math.MaxFloat64, true
	case math.IsInf(b, 1):
		return math.MaxFloat64, a < math.MaxFloat64
	}
	m = (a + b) / 2
	if math.IsInf(m, 0) {
		m = float64(a/2) + float64(b/2)
	}
	if m <= a { // rounded down: the two are neighbours
		m = b
	}
	return m, true
}

// Decimals are computed by one division or multiplication of two exact numbers, so they are what their text stands for.
const (
	exactTen   = 22      // 10^22 is the greatest power of ten that is a float64
	exactWhole = 1 << 53 // whole numbers up to it are float64
)

// shortest returns a decimal c of few digits with a < c <= b. It is the multiple nearest to the midpoint m of the greatest
// power of ten that is at most b-a; while it has several digits, trailing zeros aside, a multiple of the next power
// takes its place if there is one. If it has one digit, it is the one-digit decimal nearest to m. For numbers of magnitudes beyond 10^22, it is m.
func shortest(a, b, m float64) float64 {
	if a < 0 && b >= 0 {
		return 0
	}
	_, binary := math.Frexp(b - a)
	k := max(-exactTen, min(int(math.Floor(float64(binary)*math.Log10E*math.Ln2)), exactTen)) // or next to it: see the loops
	for k < exactTen && math.Pow10(k+1) <= b-a {
		k++
	}
	for k > -exactTen && math.Pow10(k) > b-a {
		k--
	}
	for k < exactTen && max(-a, b) > exactWhole*math.Pow10(k) {
		k++ // multiples of a smaller power are not exact
	}
	found := m
	for ; ; k++ {
		c, digits, ok := nearestMultiple(a, b, m, k)
		if !ok {
			return found
		}
		found = c
		if digits < 10 { // one digit
			break
		}
	}
	if c, digits, ok := nearestMultiple(a, b, m, k-1); ok && digits < 10 {
		return c // such as 7 between 0 and 14, not 10
	}
	return found
}

// nearestMultiple returns the multiple c of 10^k with a < c <= b that is nearest to m, and c / 10^k without its sign. ok is
// false if no multiple lies there, or if it cannot be computed with a single rounding.
func nearestMultiple(a, b, m float64, k int) (c, digits float64, ok bool) {
	if k < -exactTen || k > exactTen {
		return 0, 0, false
	}
	power := math.Pow10(max(k, -k))
	scaled := m / power
	if k < 0 {
		scaled = float64(m * power)
	}
	nearest := math.Round(scaled)
	for _, whole := range [3]float64{nearest, nearest + 1, nearest - 1} {
		c = whole / power
		if k >= 0 {
			c = float64(whole * power)
		}
		if a < c && c <= b {
			return c, math.Abs(whole), true
		}
	}
	return 0, 0, false
}

package drift

import (
	"math"

	"github.com/espalier-ml/espalier/induce/portable"
)

// Measures quantify how far two sets of rows are apart in one column. Each distance is 0 if both
// have the same shares in all bins.
type Measures struct {
	PSI float64 `json:"psi"` // population stability index
	// KolmogorovSmirnov is the greatest difference of the cumulated shares, from 0 to 1. It has a
	// meaning for ordered bins only.
	KolmogorovSmirnov float64 `json:"kolmogorov_smirnov"`
	JensenShannon     float64 `json:"jensen_shannon"` // distance to base 2, from 0 to 1
	ChiSquare         float64 `json:"chi_square"`     // statistic of the test of homogeneity
	Freedom           int     `json:"freedom"`        // its degrees of freedom
	P                 float64 `json:"p"`              // probability of a statistic at least as great without drift
}

// Measure compares numbers of rows by bin. Both lists must have the same bins. If a list has no
// rows, all figures are 0, and P is 1.
//
//   - PSI is the sum over bins of (q - p) ln(q/p), for the shares p before and q now. Half a row is
//     added to each bin that has rows in at least one list, so that no share is 0.
//   - KolmogorovSmirnov is max |P - Q| over the cumulated shares P and Q.
//   - JensenShannon is the root of half the sum of p log2(p/m) + q log2(q/m), with m = (p+q)/2.
//   - ChiSquare is Pearson's statistic of the table of two rows, without a correction. Bins in which
//     either list expects fewer than 5 rows are merged, because the test needs more.
func Measure(before, now []int64) Measures {
	m := Measures{P: 1}
	b, n := Rows(before), Rows(now)
	if b == 0 || n == 0 {
		return m
	}
	m.PSI = stability(before, now, b, n)
	m.KolmogorovSmirnov = greatestGap(before, now, b, n)
	m.JensenShannon = jensenShannon(before, now, b, n)
	m.ChiSquare, m.Freedom = chiSquare(pooled(before, now, b, n))
	m.P = chiSquareTail(m.ChiSquare, m.Freedom)
	return m
}

// Rows returns the rows of all bins.
func Rows(counts []int64) int64 {
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	return total
}

// stability returns the population stability index.
func stability(before, now []int64, b, n int64) float64 {
	bins := 0
	for i := range before {
		if before[i]+now[i] > 0 {
			bins++
		}
	}
	index, half := 0.0, float64(float64(bins)/2)
	for i := range before {
		if before[i]+now[i] == 0 {
			continue
		}
		p := (float64(before[i]) + 0.5) / (float64(b) + half)
		q := (float64(now[i]) + 0.5) / (float64(n) + half)
		index += float64((q - p) * portable.Log(q/p))
	}
	return index
}

// greatestGap returns the Kolmogorov-Smirnov statistic.
func greatestGap(before, now []int64, b, n int64) float64 {
	greatest, p, q := 0.0, int64(0), int64(0)
	for i := range before {
		p, q = p+before[i], q+now[i]
		greatest = max(greatest, math.Abs(float64(p)/float64(b)-float64(q)/float64(n)))
	}
	return greatest
}

// jensenShannon returns the Jensen-Shannon distance.
func jensenShannon(before, now []int64, b, n int64) float64 {
	divergence := 0.0
	for i := range before {
		p, q := float64(before[i])/float64(b), float64(now[i])/float64(n)
		middle := (p + q) / 2
		for _, share := range []float64{p, q} {
			if share > 0 {
				divergence += float64(float64(share*portable.Log2(share/middle)) / 2)
			}
		}
	}
	return math.Sqrt(max(0, divergence))
}

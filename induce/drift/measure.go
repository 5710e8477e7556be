package drift

import "github.com/espalier-ml/espalier/induce/portable"

// Measures quantify how far two samples of rows are apart in one column. Each distance is 0 if both
// have the same shares in all bins.
type Measures struct {
	PSI       float64 `json:"psi"`        // population stability index, less what chance brings
	ChiSquare float64 `json:"chi_square"` // statistic of the test of homogeneity
	Freedom   int     `json:"freedom"`    // its degrees of freedom
	P         float64 `json:"p"`          // probability of samples at least as far apart without drift
	LeftOut   string  `json:"left_out"`   // reason why the column has nothing to compare; empty: it has

	Rare []bool `json:"-"` // by code: whether its values are rare: unseen before, or hardly seen
	// RareBefore and RareNow are the shares of the rows with a rare value; expected before, as unseen values have no rows.
	RareBefore, RareNow float64 `json:"-"`
}

// apartLevel is the part of the level of a column's test that is spent on codes apart from the bins.
const apartLevel = 0.1

// Measure compares rows by code. Both samples must have the same codes. If a sample has no rows, all
// figures are 0, and P is 1. Neighbouring codes are merged to bins by the rows before and the number
// of rows now.
//
//   - PSI is the sum over bins of (q - p) ln(q/p), for the shares p before and q now. Half a row is
//     added to each bin that has rows in at least one sample, so that no share is 0. Its expectation
//     without drift is subtracted: the number of bins, less 1, times 1/b + 1/n for b and n independent
//     rows.
//   - ChiSquare is the likelihood-ratio statistic of the table of two rows (G), with Williams' correction.
//   - P is the P value of ChiSquare divided by 0.9. Codes that are too rare for bins have a test of their own, whether they
//     have become more frequent: the distribution of their rows now is negative binomial. If its probability divided by
//     0.1 is less, that is P.
//
// Rows are divided by the design effect wherever independent rows are meant.
func (c *Column) Measure(before, now Sample) Measures {
	m := Measures{P: 1}
	b := float64(Rows(before.Rows))
	n := float64(Rows(now.Rows))
	if b == 0 || n == 0 {
		return m
	}
	of := c.bins(&before, n/now.effect())
	came := make([]float64, len(of.expected))
	few := 0.0
	for code, k := range now.Rows {
		if bin := of.of[code]; bin == apart {
			few += float64(k)
		} else {
			came[bin] += float64(k)
		}
	}
	m.LeftOut = of.leftOut
	m.ChiSquare, m.Freedom = chiSquare(of.expected, came, of.effect, now.effect())
	shape := (of.apart/before.effect() + 1) / of.spread
	odds := float64(of.spread*(n/now.effect())) / (b / before.effect())
	if m.P = binomialTail(few/now.effect(), shape, odds); m.Freedom > 0 {
		m.P = min(1, chiSquareTail(m.ChiSquare, m.Freedom)/(1-apartLevel), m.P/apartLevel)
	}
	chance := float64(float64(len(came)) * (of.effect/b + now.effect()/n))
	of.expected = append(of.expected, of.apart)
	came = append(came, few)
	m.PSI = max(0, stability(of.expected, came)-chance)
	if c.Other >= 0 {
		m.Rare = of.seldom
		m.RareBefore = of.rare / b
		for code, is := range of.seldom {
			if is {
				m.RareNow += float64(now.Rows[code]) / n
			}
		}
	}
	return m
}

// Rows returns the rows of all codes.
func Rows(counts []int64) int64 { return portable.Sum(counts) }

// stability returns the population stability index.
func stability(before, now []float64) float64 {
	occupied := 0.0
	for i := range before {
		if before[i]+now[i] > 0 {
			occupied++
		}
	}
	half := float64(occupied / 2)
	index := 0.0
	b := portable.Sum(before) + half
	n := portable.Sum(now) + half
	for i := range before {
		if before[i]+now[i] == 0 {
			continue
		}
		p, q := (before[i]+0.5)/b, (now[i]+0.5)/n
		index += float64((q - p) * portable.Log(q/p))
	}
	return index
}

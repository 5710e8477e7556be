package significance

import (
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Friedman is the result of Friedman's test. Its hypothesis is that all methods are equal.
type Friedman struct {
	ChiSquared float64 `json:"chi_squared"` // corrected for equal ranks
	P          float64 `json:"p"`           // by the chi-squared distribution

	// F is the statistic of Iman and Davenport, which is less conservative. It is nil if it is
	// infinite, because all data sets rank the methods in the same way.
	F  *float64 `json:"f"`
	FP float64  `json:"f_p"` // its p value
}

// NewFriedman tests ranks: one row for each data set, with a rank for each of at least two methods.
func NewFriedman(ranks [][]float64) Friedman {
	sets := float64(len(ranks))
	methods := float64(len(ranks[0]))
	spread := 0.0 // sum of the squared deviations of the rank sums from their mean
	for m := range ranks[0] {
		sum := 0.0
		for _, row := range ranks {
			sum += row[m]
		}
		d := sum - float64(sets*(methods+1)/2)
		spread += float64(d * d)
	}
	most := float64(sets * sets * methods * (float64(methods*methods) - 1) / 12) // spread of equal rows without ties
	most -= float64(sets * tied(ranks) / 12)
	if most == 0 { // all methods are equal on all data sets
		zero := 0.0
		return Friedman{P: 1, F: &zero, FP: 1}
	}
	share := spread / most // Kendall's coefficient of concordance
	chi := float64(share * sets * (methods - 1))
	test := Friedman{ChiSquared: rounded(chi), P: rounded(mathext.GammaIncRegComp((methods-1)/2, chi/2))}
	if share >= 1 || sets < 2 {
		return test
	}
	f := float64((sets-1)*share) / (1 - share)
	test.F = new(rounded(f))
	// The survival function of gonum's F distribution is 1 less a sum, and loses small p values.
	between, within := methods-1, float64((methods-1)*(sets-1)) // degrees of freedom
	test.FP = rounded(mathext.RegIncBeta(within/2, between/2, within/(within+float64(between*f))))
	return test
}

// tied returns the sum of t^3 - t over all groups of t methods that share a rank on a data set.
func tied(ranks [][]float64) float64 {
	sum := 0
	for _, row := range ranks {
		sorted := slices.Sorted(slices.Values(row))
		for from := 0; from < len(sorted); {
			to := from + 1
			for to < len(sorted) && sorted[to] == sorted[from] {
				to++
			}
			t := to - from
			sum += t*t*t - t
			from = to
		}
	}
	return float64(sum)
}

// Package weighing decides on the factors by which classes multiply the weights of training rows.
package weighing

import (
	"errors"
	"math"
	"math/big"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Totals returns the weight of each class, from a summary of the label. The classes are those of
// the summary, and maybe others.
func Totals(s *binning.Summary, classes []string) []int64 {
	totals := make([]int64, len(classes))
	at := 0
	names, weights := s.Spelled() // in the order of classes, which has more
	for i, name := range names {
		for classes[at] != name {
			at++
		}
		totals[at] = weights[i]
	}
	return totals
}

// Balanced returns W / (K W_k) in units of 1/FractionScale, of the K
// classes that have weight: so all weigh the same, and all together what they did
// (scikit-learn's compute_class_weight).
func Balanced(totals []int64) []int64 {
	sum, classes := new(big.Int), int64(0)
	for _, w := range totals {
		if w > 0 {
			classes++
		}
		sum.Add(sum, big.NewInt(w))
	}
	factors := make([]int64, len(totals))
	for k, w := range totals {
		factors[k] = jobs.FractionScale
		if w == 0 {
			continue
		}
		over := new(big.Int).Mul(big.NewInt(w), big.NewInt(classes))
		x := new(big.Int).Mul(sum, big.NewInt(2*jobs.FractionScale))
		x.Add(x, over)
		x.Div(x, over.Lsh(over, 1)) // to the nearest
		factors[k] = math.MaxInt64
		if x.IsInt64() {
			factors[k] = x.Int64()
		}
	}
	return factors
}

// Factor returns a factor in units of 1/FractionScale.
func Factor(x float64) int64 { return int64(math.RoundToEven(float64(x * jobs.FractionScale))) }

// Settle sets TrainScale of the rows, whose ClassWeights are set. The totals are the weight of the
// training rows by class, and scale is the number of their units in a weight of 1. It returns the
// weight of all weighted rows, and refuses weights that cannot be counted.
func Settle(rows *jobs.RowSpec, totals []int64, scale int64) (int64, error) {
	rows.TrainScale = trainScale(rows)
	return checkTotal(totals, rows, scale)
}

// trainScale returns 1 where all weights of training rows are whole numbers.
func trainScale(rows *jobs.RowSpec) int64 {
	if rows.WeightScale != 1 {
		return jobs.FractionScale
	}
	for _, f := range rows.ClassWeights {
		if f%jobs.FractionScale != 0 {
			return jobs.FractionScale
		}
	}
	return 1
}

// checkTotal makes sure that the weighted rows can be counted, and that there are
// some, and returns their weight. scale is that of the totals.
func checkTotal(totals []int64, rows *jobs.RowSpec, scale int64) (int64, error) {
	sum := new(big.Int)
	for k, w := range totals {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(w), big.NewInt(rows.ClassWeights[k])))
	}
	if sum.Sign() == 0 {
		return 0, errors.New("all classes of the training rows have the weight 0")
	}
	sum.Mul(sum, big.NewInt(rows.TrainScale)).Div(sum, big.NewInt(scale)).Div(sum, big.NewInt(jobs.FractionScale))
	if sum.Cmp(big.NewInt(jobs.MaxTotalWeight/2)) >= 0 { // half: what rounding adds
		return 0, errors.New("the weights of all training rows add up to more than can be counted: " +
			"divide them by their mean")
	}
	return sum.Int64(), nil
}

package tables

import (
	"math"
	"math/big"
	"slices"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// The values of --class_weights that are no file.
const (
	NoClassWeights       = "none"
	balancedClassWeights = "balanced"
)

// Classes are what the data owner says about classes. What was not said is
// nil.
type Classes struct {
	weights    *classValues // of a file
	priors     *classValues
	errorCosts *classValues
}

// Digests returns the digests of the files by flag; nil: there are none.
func (s *Classes) Digests() map[string]string {
	var digests map[string]string
	for _, v := range []*classValues{s.weights, s.priors, s.errorCosts} {
		if v != nil && v.digest != "" {
			if digests == nil {
				digests = make(map[string]string)
			}
			digests[v.flag] = v.digest
		}
	}
	return digests
}

// PriorsOf returns the priors of the classes, of sum 1; nil: there are none.
func (s *Classes) PriorsOf(classes []string) ([]float64, error) {
	if s.priors == nil {
		return nil, nil
	}
	priors := make([]float64, len(classes))
	if err := s.priors.each(classes, false, func(at []int, p float64) { priors[at[0]] = p }); err != nil {
		return nil, err
	}
	sum := 0.0
	for k, p := range priors {
		if p == 0 {
			return nil, usage.Errorf("--priors: the class %q has none: give one to each of the %d classes",
				classes[k], len(classes))
		}
		sum += p
	}
	for k := range priors {
		priors[k] /= sum
	}
	return priors, nil
}

// ErrorCostsOf returns the costs by actual and predicted class; nil: there are
// none.
func (s *Classes) ErrorCostsOf(classes []string) ([][]float64, error) {
	if s.errorCosts == nil {
		return nil, nil
	}
	costs := make([][]float64, len(classes))
	for actual := range costs {
		costs[actual] = slices.Repeat([]float64{1}, len(classes))
		costs[actual][actual] = 0
	}
	return costs, s.errorCosts.each(classes, false, func(at []int, cost float64) { costs[at[0]][at[1]] = cost })
}

// classTotals returns the weight of the training rows of each class.
func classTotals(encoded []byte, classes []string) ([]int64, error) {
	totals := make([]int64, len(classes))
	s, _, err := binning.Decode(encoded)
	if err != nil {
		return nil, err
	}
	at := 0
	names, weights := s.Spelled() // in the order of classes, which has more
	for i, name := range names {
		for classes[at] != name {
			at++
		}
		totals[at] = weights[i]
	}
	return totals, nil
}

// balancedFactors returns W / (K W_k) in units of 1/FractionScale, of the K
// classes that have weight: so all weigh the same, and all together what they did
// (scikit-learn's compute_class_weight).
func balancedFactors(totals []int64) []int64 {
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
		return 0, usage.Errorf("--class_weights: all classes of the training rows have the weight 0")
	}
	sum.Mul(sum, big.NewInt(rows.TrainScale)).Div(sum, big.NewInt(scale)).Div(sum, big.NewInt(jobs.FractionScale))
	if sum.Cmp(big.NewInt(jobs.MaxTotalWeight/2)) >= 0 { // half: what rounding adds
		return 0, usage.Errorf("--class_weights: the weights of all training rows add up to more than can be counted: " +
			"divide them by their mean")
	}
	return sum.Int64(), nil
}

// Weigh decides, from the encoded weight of the training rows by class, what the weight
// of a row is multiplied by, and says so in rows. scale is the number of units in a weight
// of 1. absent allows classes in the file that no row has. It returns the weight of all
// weighted rows.
func (s *Classes) Weigh(rows *jobs.RowSpec, encoded []byte, classes []string, scale int64, absent bool) (int64, error) {
	totals, err := classTotals(encoded, classes)
	if err != nil {
		return 0, err
	}
	rows.ClassWeights = balancedFactors(totals)
	if v := s.weights; v != nil {
		for k := range rows.ClassWeights {
			rows.ClassWeights[k] = jobs.FractionScale
		}
		err := v.each(classes, absent, func(at []int, x float64) {
			rows.ClassWeights[at[0]] = int64(math.RoundToEven(float64(x * jobs.FractionScale)))
		})
		if err != nil {
			return 0, err
		}
	}
	rows.TrainScale = trainScale(rows)
	return checkTotal(totals, rows, scale)
}

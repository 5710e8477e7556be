package tables

import (
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

// Weigh decides, from the encoded weight of the training rows by class, what the weight
// of a row is multiplied by, and says so in rows. absent allows classes in the file that no row
// has. It returns the weight of all weighted rows.
func (s *Classes) Weigh(rows *jobs.RowSpec, encoded []byte, classes []string, absent bool) (int64, error) {
	sum, _, err := binning.Decode(encoded)
	if err != nil {
		return 0, err
	}
	totals := jobs.ClassTotals(sum, classes)
	rows.ClassWeights = jobs.BalancedClassWeights(totals)
	if v := s.weights; v != nil {
		for k := range rows.ClassWeights {
			rows.ClassWeights[k] = jobs.FractionScale
		}
		err := v.each(classes, absent, func(at []int, x float64) { rows.ClassWeights[at[0]] = jobs.ClassFactor(x) })
		if err != nil {
			return 0, err
		}
	}
	weight, err := rows.SettleClassWeights(totals)
	if err != nil {
		return 0, usage.Errorf("--class_weights: %v", err)
	}
	return weight, nil
}

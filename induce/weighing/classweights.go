package weighing

import (
	"errors"
	"math"
	"math/big"
	"slices"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/settings"
)

// ClassTotals returns the weight of each class, from a summary of the label. Each value of the summary must be a label of
// one of the classes.
func ClassTotals(s *binning.Summary, classes []string) []int64 {
	totals := make([]int64, len(classes))
	codes := dataset.NewClassCodes(classes)
	labels, weights := s.Spelled()
	for i, label := range labels {
		if code, ok := codes.Read(label); ok {
			totals[code] += weights[i]
		}
	}
	return totals
}

// WeighClasses determines the factors by which classes multiply the weights of training rows. sum
// is the weight of the training rows by class, in their units. It returns the total weight of all
// weighted rows.
func (s *Rule) WeighClasses(
	p *settings.PerClass, sum *binning.Summary, classes []string,
) (int64, error) {
	totals := ClassTotals(sum, classes)
	s.ClassWeights = BalancedClassWeights(totals)
	if !p.BalanceClasses {
		weights, err := p.WeightsOf(classes)
		if err != nil {
			return 0, err
		}
		for k, x := range weights {
			s.ClassWeights[k] = ClassFactor(x)
		}
	}
	weight, err := s.SettleClassWeights(totals)
	if err != nil {
		err = &settings.ClassError{Setting: "class_weights", Problem: err.Error()}
	}
	return weight, err
}

// BalancedClassWeights returns W / (K W_k) in units of 1/FractionScale, for the K classes that have
// weight: all classes then have the same weight, and the total stays the same (scikit-learn's
// compute_class_weight).
func BalancedClassWeights(totals []int64) []int64 {
	sum := new(big.Int)
	classes := int64(0)
	for _, w := range totals {
		if w > 0 {
			classes++
		}
		sum.Add(sum, big.NewInt(w))
	}
	factors := make([]int64, len(totals))
	for k, w := range totals {
		factors[k] = FractionScale
		if w == 0 {
			continue
		}
		over := new(big.Int).Mul(big.NewInt(w), big.NewInt(classes))
		x := new(big.Int).Mul(sum, big.NewInt(2*FractionScale))
		x.Add(x, over)
		x.Div(x, over.Lsh(over, 1)) // to the nearest
		factors[k] = math.MaxInt64
		if x.IsInt64() {
			factors[k] = x.Int64()
		}
	}
	return factors
}

// ClassFactor returns the factor of a class in units of 1/FractionScale.
func ClassFactor(x float64) int64 { return int64(math.RoundToEven(float64(x * FractionScale))) }

// exactScale is the number of units in the average weight from which products of weights and
// factors are rounded to these units.
const exactScale = 1 << 16

// SettleClassWeights sets ClassDivisor and ClassMean of rows that have ClassWeights. totals is the
// weight of the training rows by class, in their units. It returns the total weight of all weighted
// rows, and an error for weights that cannot be counted.
func (s *Rule) SettleClassWeights(totals []int64) (int64, error) {
	s.ClassDivisor = classDivisor(s)
	weight, err := checkTotal(totals, s)
	if err == nil {
		s.ClassMean = meanFactor(totals, s.ClassWeights)
	}
	return weight, err
}

// meanFactor returns the average factor, by weight, of the rows whose class has a factor above 0; 0
// stands for 1. Balanced factors have an average of 1, except for the rounding of each. Some weight
// must be above 0.
func meanFactor(totals, factors []int64) float64 {
	const rounding = 1e-5
	sum := new(big.Int)
	whole := new(big.Int)
	for k, w := range totals {
		if factors[k] > 0 {
			sum.Add(sum, new(big.Int).Mul(big.NewInt(w), big.NewInt(factors[k])))
			whole.Add(whole, big.NewInt(w))
		}
	}
	mean, _ := new(big.Rat).SetFrac(sum, whole.Mul(whole, big.NewInt(FractionScale))).Float64()
	if math.Abs(mean-1) < rounding {
		return 0
	}
	return mean
}

// classDivisor returns FractionScale if products of the weights of training rows and the factors
// are integer numbers of units, or if units are small. Otherwise it returns 1, and the products
// have smaller units.
func classDivisor(rows *Rule) int64 {
	u := rows.Units
	if (u == nil || u[dataset.Train].Scale < exactScale) &&
		slices.ContainsFunc(rows.ClassWeights, func(f int64) bool { return f%FractionScale != 0 }) {
		return 1
	}
	return FractionScale
}

// checkTotal checks that the weighted rows can be counted and that there are some, and returns
// their weight.
func checkTotal(totals []int64, rows *Rule) (int64, error) {
	sum := new(big.Int)
	for k, w := range totals {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(w), big.NewInt(rows.ClassWeights[k])))
	}
	if sum.Sign() == 0 {
		return 0, errors.New("all classes of the training rows have the weight 0")
	}
	sum.Div(sum, big.NewInt(rows.ClassDivisor))
	if sum.Cmp(big.NewInt(MaxTotalWeight/2)) >= 0 { // half, because rounding adds weight
		return 0, errors.New("the weights of all training rows add up to more than can be counted: " +
			"divide the weights of the classes by their mean")
	}
	return sum.Int64(), nil
}

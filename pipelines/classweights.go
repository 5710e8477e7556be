package pipelines

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// The values of --class_weights that are no file.
const (
	noClassWeights       = "none"
	balancedClassWeights = "balanced"
)

// weighsClasses reports whether training rows are weighed by their classes.
func (c *TrainConfig) weighsClasses() bool {
	return c.ClassWeights != "" && c.ClassWeights != noClassWeights
}

// classSettings are what the data owner says about classes. What was not said is
// nil.
type classSettings struct {
	weights    *classValues // of a file
	priors     *classValues
	errorCosts *classValues
}

func readClassSettings(ctx context.Context, from *source.Files, c *TrainConfig) (classSettings, error) {
	var s classSettings
	var err [3]error
	if c.weighsClasses() && c.ClassWeights != balancedClassWeights {
		f := classWeightsFile()
		s.weights, err[0] = f.read(ctx, from, c.ClassWeights)
	}
	if c.Priors != "" {
		s.priors, err[1] = readPriors(ctx, from, c.Priors)
	}
	if c.ErrorCosts != "" {
		f := errorCostsFile()
		s.errorCosts, err[2] = f.read(ctx, from, c.ErrorCosts)
	}
	return s, cmp.Or(err[:]...)
}

// digests returns the digests of the files by flag; nil: there are none.
func (s *classSettings) digests() map[string]string {
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

// describeLabel describes the class column once the classes are known, with priors
// and error costs.
func (t *training) describeLabel() error {
	l := tree.Label{Column: t.config.Label, Classes: t.classes}
	var err error
	if l.Priors, err = t.perClass.priorsOf(t.classes); err != nil {
		return err
	}
	if l.ErrorCosts, err = t.perClass.errorCostsOf(t.classes); err != nil {
		return err
	}
	t.label = l
	return nil
}

// priorsOf returns the priors of the classes, of sum 1; nil: there are none.
func (s *classSettings) priorsOf(classes []string) ([]float64, error) {
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
			return nil, usage.Errorf("--priors: the class %q has none: give one to each of the %d classes", classes[k], len(classes))
		}
		sum += p
	}
	for k := range priors {
		priors[k] /= sum
	}
	return priors, nil
}

// errorCostsOf returns the costs by actual and predicted class; nil: there are
// none.
func (s *classSettings) errorCostsOf(classes []string) ([][]float64, error) {
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

// weighClasses decides, from the weight of the training rows by class, what it is
// multiplied by. scale is the number of units in a weight of 1.
func (t *training) weighClasses(encoded []byte, scale int64) error {
	if !t.config.weighsClasses() {
		return nil
	}
	totals, err := classTotals(encoded, t.classes)
	if err != nil {
		return err
	}
	rows := &t.schema.rows
	rows.ClassWeights = balancedFactors(totals)
	if v := t.perClass.weights; v != nil {
		for k := range rows.ClassWeights {
			rows.ClassWeights[k] = jobs.FractionScale
		}
		err := v.each(t.classes, t.rehearsed != nil, func(at []int, x float64) {
			rows.ClassWeights[at[0]] = int64(math.RoundToEven(float64(x * jobs.FractionScale)))
		})
		if err != nil {
			return err
		}
	}
	rows.TrainScale = trainScale(rows)
	return checkTotal(totals, rows, scale)
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
// some. scale is that of the totals.
func checkTotal(totals []int64, rows *jobs.RowSpec, scale int64) error {
	sum := new(big.Int)
	for k, w := range totals {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(w), big.NewInt(rows.ClassWeights[k])))
	}
	if sum.Sign() == 0 {
		return usage.Errorf("--class_weights: all classes of the training rows have the weight 0")
	}
	sum.Mul(sum, big.NewInt(rows.TrainScale)).Div(sum, big.NewInt(scale)).Div(sum, big.NewInt(jobs.FractionScale))
	if sum.Cmp(big.NewInt(jobs.MaxTotalWeight/2)) >= 0 { // half: what rounding adds
		return usage.Errorf("--class_weights: the weights of all training rows add up to more than can be counted: divide them by their mean")
	}
	return nil
}

// describeWeights says in a tree what its weights are.
func (t *training) describeWeights(d *tree.Training) {
	if len(t.spec.ClassWeights) == 0 {
		return
	}
	d.Weights = runfolder.WeightsByClass
	for _, f := range t.spec.ClassWeights {
		d.ClassWeights = append(d.ClassWeights, float64(f)/jobs.FractionScale)
	}
	d.LeftOutRows = t.rowStats.Train - d.Rows
}

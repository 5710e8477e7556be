package binning

import (
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// FeatureConfig describes how columns become features.
type FeatureConfig struct {
	Method     Method
	Bins       int  // how many bins a numeric feature has
	SingleBins bool // whether tests may ask for single bins
	Categories int  // greatest number of values of a categorical feature; the tail becomes "other"
	// MinRows is how many rows a value of a categorical feature needs; with weights, the weight of
	// this many average rows. Rarer values belong to the tail. The range of a numeric feature, and the values beyond its
	// outermost cuts, need as many. Rows is the number of all rows; 0 if
	// each row weighs 1.
	MinRows, Rows int64

	Cuts []float64 // the cuts of a numeric feature, ascending; nil: by the method. Cuts that part no values are left out

	Order []string // the values of a categorical feature, from the least to the greatest; nil: they have no order

	Unit dataset.Unit // unit of points in time; their numbers are integers, and so are their cuts
	Zone dataset.Zone // zone of timestamps
}

// FitFeature fits a feature to the summary of its column's training rows.
//
// A numeric column with a single value other than null has a single bin, which covers all numbers,
// and tree.json has no condition for it. With SingleBins the feature becomes categorical with a
// single value instead; tests have the same outcomes.
//
// For a categorical column with more values than a summary holds, the error is a *dataset.DataError
// without a hint.
func FitFeature(name string, s *Summary, c FeatureConfig) (dataset.Feature, error) {
	return new(Fitter).FitFeature(name, s, c)
}

// FitFeature is the function FitFeature with reused memory.
func (f *Fitter) FitFeature(name string, s *Summary, c FeatureConfig) (dataset.Feature, error) {
	feature := dataset.Feature{Name: name, Kind: s.Kind(), Type: s.Type(), Unit: c.Unit, Zone: c.Zone, Missing: s.Missing()}
	switch {
	case feature.Kind == dataset.Categorical && s.Overflow():
		return feature, &dataset.DataError{Column: name, Problem: fmt.Sprintf("a categorical column with more than %d "+
			"distinct values, most likely an identifier", s.Limits().Categories)}
	case c.Cuts != nil && (feature.Kind != dataset.Numeric || c.Unit != dataset.Plain):
		return feature, &dataset.DataError{
			Column: name, Problem: "texts and times have no cuts of one's own: expected a column of numbers",
			Hint: "leave out its cuts",
		}
	case c.Order != nil:
		return ordered(feature, s, c.Order)
	case feature.Kind == dataset.Categorical:
		var err error
		feature.Values, feature.Other, err = FitCategorical(s, c.Categories, c.leastWeight(s))
		return feature, err
	case s.Distinct() == 1 && feature.Missing > 0 && c.SingleBins:
		values, _ := s.Numbers()
		feature.Kind, feature.Values = dataset.Categorical, []string{dataset.SpellNumber(values[0])}
	case s.Distinct() > 0:
		feature.Cuts = f.fitCuts(s, &c)
		feature.Range = s.Range()
		if least := c.leastWeight(s); least > 1 && feature.Range != nil {
			feature.Range, feature.Cuts = f.common(feature.Cuts, least, c.Cuts == nil)
		}
	}
	return feature, nil
}

// ordered sets the values of a feature whose values are ordered. A column with a single one has no order. A value of
// the column that is not in the order is an error.
func ordered(f dataset.Feature, s *Summary, order []string) (dataset.Feature, error) {
	fault := &dataset.DataError{Column: f.Name, Hint: "add it to the order, or leave its rows out"}
	if f.Kind != dataset.Categorical {
		fault.Problem = "the column has numbers and an order of texts"
		fault.Hint = "numbers have an order of their own: leave it out"
		return f, fault
	}
	values, _ := s.Spelled()
	for _, value := range values {
		if !slices.Contains(order, value) {
			fault.Value = value
			fault.Problem = fmt.Sprintf("a value that is not in the order of the column: expected one of %q", order)
			return f, fault
		}
	}
	f.Values = values
	if f.Ordered = len(values) > 1; f.Ordered {
		f.Values = slices.Clone(order) // also values that no training row has, so that new rows take the right side
	}
	return f, nil
}

// leastWeight returns the weight that a value needs.
func (c *FeatureConfig) leastWeight(s *Summary) int64 {
	total := s.Weight() + s.Missing()
	if c.Rows == 0 || c.Rows == total {
		return c.MinRows
	}
	return int64(math.Ceil(float64(c.MinRows) * float64(total) / float64(c.Rows)))
}

// common returns ends of the loaded values: the lowest value up to which the values weigh least or more, and the highest
// value from which they do; nil if the first is above the second. If trim is set, common leaves out cuts with less than
// this weight below or above them.
func (f *Fitter) common(cuts []float64, least int64, trim bool) (ends, kept []float64) {
	low, high := 0, len(f.values)-1
	below, above := f.weights[low], f.weights[high]
	for below < least && low < high {
		low++
		below += f.weights[low]
	}
	for above < least && high > 0 {
		high--
		above += f.weights[high]
	}
	if low <= high && below >= least && above >= least {
		ends = []float64{f.values[low], f.values[high]}
	}
	if !trim {
		return ends, cuts
	}
	kept = []float64{}
	for _, cut := range cuts {
		if low < len(f.values) && f.values[low] < cut && cut <= f.values[high] {
			kept = append(kept, cut)
		}
	}
	return ends, kept
}

// fitCuts returns the cuts of the bins.
func (f *Fitter) fitCuts(s *Summary, c *FeatureConfig) []float64 {
	f.load(s)
	if c.Cuts != nil {
		return f.parting(c.Cuts)
	}
	cuts := append([]float64{}, f.cuts(c.Method, c.Bins)...)
	if c.Unit != dataset.Plain {
		roundUp(cuts)
	}
	return cuts
}

// parting returns the cuts that part values from those below the cut, and from the cut before it. A float32 of the
// decimal of a cut belongs above the cut: if it is below the decimal, it is the cut.
func (f *Fitter) parting(cuts []float64) []float64 {
	list := []float64{}
	below := 0
	for _, cut := range cuts {
		at, _ := slices.BinarySearch(f.values, cut)
		if at > 0 && dataset.IsSingle(f.values[at-1], cut) {
			at--
			cut = f.values[at]
		}
		if at > below && at < len(f.values) {
			list = append(list, cut)
			below = at
		}
	}
	return list
}

// roundUp rounds cuts up to integers. This does not change the bin of an integer. A time finer than
// its unit is on the same side of an integer cut as the time rounded down, which need not hold for
// a fractional cut.
func roundUp(cuts []float64) {
	for i, cut := range cuts {
		cuts[i] = math.Ceil(cut) + 0 // turns -0 into 0
	}
}

// FitClasses returns the classes of a label in their order. If there are more than most, the error
// is a *dataset.DataError without a hint.
func FitClasses(label string, s *Summary, most int) ([]string, error) {
	if !s.Overflow() {
		classes, tail, err := FitCategorical(s, most, 0)
		if err != nil || tail == 0 {
			return classes, err
		}
	}
	return nil, &dataset.DataError{Column: label, Problem: fmt.Sprintf("the label has more than %d classes", most)}
}

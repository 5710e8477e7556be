package binning

import (
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// FeatureConfig says how columns become features.
type FeatureConfig struct {
	Method     Method
	Bins       []int // numbers of bins of a numeric feature, at least one; of several, its Subsets are the cuts of each
	SingleBins bool  // tests may ask for single bins
	Categories int   // values of a categorical feature beyond which the tail becomes "other"

	Unit dataset.Unit // what the column's numbers count; all but Plain ones are whole numbers, and so are their cuts
}

// FitFeature fits a feature to the summary of its column's training rows.
//
// A numeric column with a single value beside nulls has the whole line as its only
// bin, for which tree.json has no condition. Where tests ask for single bins, the
// value becomes a category instead, with the same outcomes.
//
// The error is a *dataset.DataError, without a hint, of a categorical column with
// more values than a summary holds.
func FitFeature(name string, s *Summary, c FeatureConfig) (dataset.Feature, error) {
	f := dataset.Feature{Name: name, Kind: s.Kind(), Type: s.Type(), Unit: c.Unit, Missing: s.Missing()}
	switch {
	case f.Kind == dataset.Categorical && s.Overflow():
		return f, &dataset.DataError{Column: name, Problem: fmt.Sprintf("a categorical column with more than %d "+
			"distinct values, most likely an identifier", s.Limits().Categories)}
	case f.Kind == dataset.Categorical:
		var err error
		f.Values, f.Other, err = FitCategorical(s, c.Categories)
		return f, err
	case s.Distinct() == 1 && f.Missing > 0 && c.SingleBins:
		values, _ := s.Numbers()
		f.Kind, f.Values = dataset.Categorical, []string{dataset.SpellNumber(values[0])}
	case s.Distinct() > 0:
		f.Cuts, f.Subsets = fitCuts(s, &c)
		f.Range = s.Range()
	}
	return f, nil
}

// fitCuts returns the cuts of all numbers of bins and, of several, which of them
// are those of each.
func fitCuts(s *Summary, c *FeatureConfig) (cuts []float64, subsets [][]uint16) {
	each := make([][]float64, len(c.Bins))
	cuts = []float64{}
	for i, n := range c.Bins {
		each[i] = FitNumeric(s, c.Method, n)
		if c.Unit != dataset.Plain {
			roundUp(each[i])
		}
		cuts = append(cuts, each[i]...)
	}
	if len(c.Bins) == 1 {
		return cuts, nil
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for _, own := range each {
		subset := make([]uint16, len(own))
		for i, cut := range own {
			at, _ := slices.BinarySearch(cuts, cut)
			subset[i] = uint16(at)
		}
		subsets = append(subsets, subset)
	}
	return cuts, subsets
}

// roundUp makes cuts whole numbers. Between whole numbers they tell the same apart;
// but a time that is finer than its unit, and was rounded down to it, is below a
// whole cut where its unit is, and need not be below one that is not.
func roundUp(cuts []float64) {
	for i, cut := range cuts {
		cuts[i] = math.Ceil(cut) + 0 // turns -0 into 0
	}
}

// FitClasses returns the classes of a label in their order. The error is a
// *dataset.DataError, without a hint, where there are more than so many.
func FitClasses(label string, s *Summary, most int) ([]string, error) {
	if !s.Overflow() {
		classes, tail, err := FitCategorical(s, most)
		if err != nil || tail == 0 {
			return classes, err
		}
	}
	return nil, &dataset.DataError{Column: label, Problem: fmt.Sprintf("the label has more than %d classes", most)}
}

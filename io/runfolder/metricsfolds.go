package runfolder

import (
	"math"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Folds describes how far the chosen tree depends on the choice of the training rows. For each
// fold, a tree is grown with the same parameters without the rows of the fold, pruned to about the
// same expected cost, and measured on the rows of the fold. Stability compares its tests with the
// tests of the chosen tree. All folds have the bins of all training rows. Rows have the weights of
// training.
type Folds struct {
	Count             int           `json:"count"` // number of folds
	Each              []FoldFigures `json:"each"`
	Mean              FoldMeans     `json:"mean"`               // over the folds with the figure
	StandardDeviation FoldMeans     `json:"standard_deviation"` // over the same folds, as of a sample (n-1)

	// Optimism is by how much the mean area is too high because the tree was chosen by its figures on these
	// folds: see crossvalidate.Optimism. nil: not known, or somebody chose the tree in another way.
	Optimism *float64 `json:"optimism,omitempty"`

	// Interval is the 95 % interval of the mean area without its optimism: see Expected. nil: not known.
	Interval *metric.Interval `json:"interval,omitempty"`

	*tree.Stability // as shares of the folds' trees
}

// FoldFigures are the figures of a fold's tree on the rows of the fold; nil if the rows do not
// define the figure.
type FoldFigures struct {
	Rows               int64    `json:"rows"`
	AUCOvRMacro        *float64 `json:"auc_ovr_macro"`
	Accuracy           *float64 `json:"accuracy"`
	ExpectedCost       *float64 `json:"expected_cost"`
	ExpectedBilledCost *float64 `json:"expected_billed_cost"` // ExpectedCost by its name in version 0.3
	Leaves             int      `json:"leaves"`
}

// FoldMeans are means or standard deviations of the figures over folds; nil: too few folds.
type FoldMeans struct {
	AUCOvRMacro        *float64 `json:"auc_ovr_macro"`
	Accuracy           *float64 `json:"accuracy"`
	ExpectedCost       *float64 `json:"expected_cost"`
	ExpectedBilledCost *float64 `json:"expected_billed_cost"` // ExpectedCost by its name in version 0.3
	Leaves             *float64 `json:"leaves"`
}

// rename sets the costs of a document of any version: see metric.Metrics.UnmarshalJSON.
func (r *Folds) rename() {
	for i := range r.Each {
		metric.Rename(&r.Each[i].ExpectedCost, r.Each[i].ExpectedBilledCost)
	}
	for _, m := range []*FoldMeans{&r.Mean, &r.StandardDeviation} {
		metric.Rename(&m.ExpectedCost, m.ExpectedBilledCost)
	}
}

// Expected returns the mean area without its optimism; nil if there is no area.
func (r *Folds) Expected() *float64 {
	area := r.Mean.AUCOvRMacro
	if area == nil || r.Optimism == nil {
		return area
	}
	expected := *area - *r.Optimism
	return &expected
}

// FillMeans fills in means and standard deviations.
func (r *Folds) FillMeans() {
	spread := func(figure func(f *FoldFigures) *float64) (mean, deviation *float64) {
		var defined []float64
		for i := range r.Each {
			if x := figure(&r.Each[i]); x != nil {
				defined = append(defined, *x)
			}
		}
		return meanAndDeviation(defined)
	}
	mean, deviation := &r.Mean, &r.StandardDeviation
	mean.AUCOvRMacro, deviation.AUCOvRMacro = spread(func(f *FoldFigures) *float64 { return f.AUCOvRMacro })
	mean.Accuracy, deviation.Accuracy = spread(func(f *FoldFigures) *float64 { return f.Accuracy })
	mean.ExpectedCost, deviation.ExpectedCost = spread(func(f *FoldFigures) *float64 { return f.ExpectedCost })
	mean.ExpectedBilledCost, deviation.ExpectedBilledCost = mean.ExpectedCost, deviation.ExpectedCost
	mean.Leaves, deviation.Leaves = spread(func(f *FoldFigures) *float64 { x := float64(f.Leaves); return &x })
}

// meanAndDeviation returns the mean, nil of no number, and the standard deviation of a sample
// (n-1), nil of fewer than two numbers.
func meanAndDeviation(xs []float64) (mean, deviation *float64) {
	if len(xs) == 0 {
		return nil, nil
	}
	sum, squares := 0.0, 0.0
	for _, x := range xs {
		sum += x
	}
	m := sum / float64(len(xs))
	if len(xs) < 2 {
		return &m, nil
	}
	for _, x := range xs {
		squares += float64((x - m) * (x - m))
	}
	d := math.Sqrt(squares / float64(len(xs)-1))
	return &m, &d
}

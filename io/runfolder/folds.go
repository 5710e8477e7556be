package runfolder

import (
	"math"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/report"
)

// Folds says how far the chosen tree depends on which training rows there
// were: how good trees of its kind, grown by the same parameters without the rows
// of a fold and pruned at the same alpha, are on the rows of the fold, and how far
// they ask what it asks. The folds share codes: bins are those of all training
// rows, and how far their cuts would move without a fold does not show. Rows weigh
// what they do in training.
type Folds struct {
	Count             int           `json:"count"` // folds that trees were grown without
	Each              []FoldFigures `json:"each"`
	Mean              FoldMeans     `json:"mean"`               // over the folds that define a figure
	StandardDeviation FoldMeans     `json:"standard_deviation"` // of them, as a sample: by one less than their number

	*tree.Stability // shares of the folds' trees
}

// FoldFigures are the figures of one fold's tree on the rows of the fold; nil
// where these do not define them.
type FoldFigures struct {
	Rows               int64    `json:"rows"`
	AUCOvRMacro        *float64 `json:"auc_ovr_macro"`
	Accuracy           *float64 `json:"accuracy"`
	ExpectedCost       *float64 `json:"expected_cost"`
	ExpectedBilledCost *float64 `json:"expected_billed_cost"`
	Leaves             int      `json:"leaves"`
}

// FoldMeans are means of the figures over folds, or how far folds are from them.
type FoldMeans struct {
	AUCOvRMacro        *float64 `json:"auc_ovr_macro"`
	Accuracy           *float64 `json:"accuracy"`
	ExpectedCost       *float64 `json:"expected_cost"`
	ExpectedBilledCost *float64 `json:"expected_billed_cost"`
	Leaves             *float64 `json:"leaves"`
}

// Report returns the figures that are printed.
func (r *Folds) Report() *report.Folds {
	return &report.Folds{Count: r.Count, Area: r.Mean.AUCOvRMacro, Deviation: r.StandardDeviation.AUCOvRMacro, Stability: r.Stability}
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
	mean.ExpectedBilledCost, deviation.ExpectedBilledCost = spread(func(f *FoldFigures) *float64 { return f.ExpectedBilledCost })
	mean.Leaves, deviation.Leaves = spread(func(f *FoldFigures) *float64 { x := float64(f.Leaves); return &x })
}

// meanAndDeviation returns the mean, nil of nothing, and the standard deviation of
// a sample, nil of less than two.
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

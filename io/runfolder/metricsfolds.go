package runfolder

import (
	"encoding/json"
	"math"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Folds describes how far the chosen tree depends on the choice of the training rows. For each
// fold, a tree is grown with the same parameters without the rows of the fold, pruned to about the
// same expected cost, and measured on the rows of the fold. Stability compares its tests with the
// tests of the chosen tree. All folds have the bins of all training rows. Rows have the weights of
// training.
type Folds struct {
	Count int           `json:"count" jsonschema:"minimum=1"` // folds that trees were grown without
	Each  []FoldFigures `json:"each" jsonschema:"minItems=1"` // figures of each fold's tree on the rows of the fold
	Mean  FoldMeans     `json:"mean"`                         // over the folds with the figure
	// StandardDeviation are the deviations over the same folds, as of a sample (n-1); null for fewer than two.
	StandardDeviation FoldMeans `json:"standard_deviation"`

	// Optimism is by how much the mean AUC is too high because the tree was chosen by its figures on these folds: the
	// mean, over the folds, of the tree's AUC minus the AUC of the tree that is chosen without the fold; absent:
	// unknown, or somebody chose the tree in another way.
	Optimism *float64 `json:"optimism,omitempty" jsonschema:"minimum=0"`
	// AccuracyOptimism is the same of the mean accuracy; absent where trees are not compared by accuracy.
	AccuracyOptimism *float64 `json:"accuracy_optimism,omitempty" jsonschema:"minimum=0"`

	// Interval is the 95 % interval of the mean AUC without its optimism, from the intervals on the folds; absent:
	// unknown.
	Interval *metric.Interval `json:"interval,omitempty"`

	*tree.Stability // as shares of the folds' trees
}

// FoldFigures are the figures of a fold's tree on the rows of the fold; nil if the rows do not
// define the figure.
type FoldFigures struct {
	Rows         int64    `json:"rows" jsonschema:"minimum=0"`
	AUCOvRMacro  *float64 `json:"auc_ovr_macro" jsonschema:"nullable,minimum=0,maximum=1"`
	Accuracy     *float64 `json:"accuracy" jsonschema:"nullable,minimum=0,maximum=1"`
	ExpectedCost *float64 `json:"expected_cost" jsonschema:"nullable,minimum=0"`
	Leaves       int      `json:"leaves" jsonschema:"minimum=1"`
}

// FoldMeans are means or standard deviations of the figures over folds; nil: too few folds.
type FoldMeans struct {
	AUCOvRMacro  *float64 `json:"auc_ovr_macro" jsonschema:"nullable,minimum=0"`
	Accuracy     *float64 `json:"accuracy" jsonschema:"nullable,minimum=0"`
	ExpectedCost *float64 `json:"expected_cost" jsonschema:"nullable,minimum=0"`
	Leaves       *float64 `json:"leaves" jsonschema:"nullable,minimum=0"`
}

// UnmarshalJSON decodes figures of any version.
func (r *Folds) UnmarshalJSON(b []byte) error {
	type plain Folds // without this method
	return json.Unmarshal(tree.Renamed(b), (*plain)(r))
}

// Expected returns the mean area without its optimism; nil if there is no area.
func (r *Folds) Expected() *float64 { return less(r.Mean.AUCOvRMacro, r.Optimism) }

// ExpectedAccuracy returns the mean accuracy without its optimism; nil if there is no accuracy.
func (r *Folds) ExpectedAccuracy() *float64 { return less(r.Mean.Accuracy, r.AccuracyOptimism) }

// less returns a figure without its optimism. Both may be nil.
func less(figure, optimism *float64) *float64 {
	if figure == nil || optimism == nil {
		return figure
	}
	return new(*figure - *optimism)
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
	mean := &r.Mean
	deviation := &r.StandardDeviation
	mean.AUCOvRMacro, deviation.AUCOvRMacro = spread(func(f *FoldFigures) *float64 { return f.AUCOvRMacro })
	mean.Accuracy, deviation.Accuracy = spread(func(f *FoldFigures) *float64 { return f.Accuracy })
	mean.ExpectedCost, deviation.ExpectedCost = spread(func(f *FoldFigures) *float64 { return f.ExpectedCost })
	mean.Leaves, deviation.Leaves = spread(func(f *FoldFigures) *float64 { x := float64(f.Leaves); return &x })
}

// meanAndDeviation returns the mean, nil of no number, and the standard deviation of a sample
// (n-1), nil of fewer than two numbers.
func meanAndDeviation(xs []float64) (mean, deviation *float64) {
	if len(xs) == 0 {
		return nil, nil
	}
	m := portable.Sum(xs) / float64(len(xs))
	if len(xs) < 2 {
		return &m, nil
	}
	squares := 0.0
	for _, x := range xs {
		squares += float64((x - m) * (x - m))
	}
	d := math.Sqrt(squares / float64(len(xs)-1))
	return &m, &d
}

package binning_test

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
)

func textSummary(limits binning.Limits, texts ...string) *binning.Summary {
	s := binning.New(dataset.Categorical, dataset.Text, limits)
	rows := allRows(len(texts))
	s.AddVector(&dataset.Vector{Type: dataset.Text, Texts: texts, Index: rows}, rows, nil)
	return s
}

// Expected values are by hand: quantile cuts part the weight into equal shares, and lie
// half-way between neighbours.
func TestFitFeature(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name    string
		summary *binning.Summary
		config  binning.FeatureConfig
		want    dataset.Feature
	}{
		{ // 0 and 5 part no values, and 2.6 parts none that 2.5 does not
			"cuts of one's own", numericSummary([]float64{1, 2, 3, 4, nan}),
			binning.FeatureConfig{Method: binning.Quantile, Bins: 2, Cuts: []float64{0, 2, 2.5, 2.6, 5}},
			dataset.Feature{
				Kind: dataset.Numeric, Type: dataset.Number, Cuts: []float64{2, 2.5}, Range: []float64{1, 4}, Missing: 1,
			},
		},
		{
			"numeric", numericSummary([]float64{1, 2, 3, 4, nan}),
			binning.FeatureConfig{Method: binning.Quantile, Bins: 2},
			dataset.Feature{
				Kind: dataset.Numeric, Type: dataset.Number, Cuts: []float64{3}, Range: []float64{1, 4},
				Missing: 1,
			},
		},
		{
			"one value beside nulls", numericSummary([]float64{7, nan}),
			binning.FeatureConfig{Bins: 2},
			dataset.Feature{
				Kind: dataset.Numeric, Type: dataset.Number, Cuts: []float64{}, Range: []float64{7, 7},
				Missing: 1,
			},
		},
		{
			"one value beside nulls, asked for alone", numericSummary([]float64{7, nan}),
			binning.FeatureConfig{Bins: 2, SingleBins: true},
			dataset.Feature{Kind: dataset.Categorical, Type: dataset.Number, Values: []string{"7"}, Missing: 1},
		},
		{
			"nulls only", numericSummary([]float64{nan, nan}),
			binning.FeatureConfig{Bins: 2},
			dataset.Feature{Kind: dataset.Numeric, Type: dataset.Number, Missing: 2},
		},
		{
			"categorical", textSummary(binning.DefaultLimits(), "a", "b", "b", "c", "c"),
			binning.FeatureConfig{Categories: 2},
			dataset.Feature{Kind: dataset.Categorical, Type: dataset.Text, Values: []string{"b", "c"}, Other: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Name = "x"
			got, err := binning.FitFeature("x", c.summary, c.config)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestFitErrors(t *testing.T) {
	var ids []string
	for i := range 5 {
		ids = append(ids, strconv.Itoa(i))
	}
	few, many := textSummary(binning.DefaultLimits(), ids...),
		textSummary(binning.Limits{Values: 1, Categories: 4}, ids...)
	_, identifier := binning.FitFeature("id", many, binning.FeatureConfig{Categories: 3})
	_, tail := binning.FitClasses("id", few, 4)
	_, overflow := binning.FitClasses("id", many, 4)
	for name, err := range map[string]error{"identifier": identifier, "tail": tail, "overflow": overflow} {
		var fault *dataset.DataError
		if !errors.As(err, &fault) || fault.Column != "id" || fault.Hint != "" {
			t.Errorf("%s: got %#v, want a DataError of the column id, whose hint is the caller's", name, err)
		}
		if err = dataset.WithHint(err, "do this"); !errors.As(err, &fault) || fault.Hint != "do this" {
			t.Errorf("%s: %v has no hint", name, err)
		}
	}
	if classes, err := binning.FitClasses("id", few, 5); err != nil || !reflect.DeepEqual(classes, ids) {
		t.Errorf("classes %q, %v; want %q", classes, err, ids)
	}
}

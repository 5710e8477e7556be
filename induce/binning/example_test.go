package binning_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// Each row group has its own summary. The merged summary gives the bins.
func ExampleFitNumeric() {
	ages := binning.New(dataset.Numeric, dataset.Number, binning.DefaultLimits())
	for _, group := range [][]float64{{20, 22, 23, 80}, {45, 41, 68, 22}} {
		s := binning.New(dataset.Numeric, dataset.Number, binning.DefaultLimits())
		s.AddVector(&dataset.Vector{Type: dataset.Number, Numbers: group}, []int32{0, 1, 2, 3}, nil)
		if err := ages.Merge(s); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(ages.Weight(), "rows,", ages.Distinct(), "distinct values")
	for _, m := range []binning.Method{binning.KMeans, binning.Quantile, binning.Uniform} {
		fmt.Println(m, binning.FitNumeric(ages, m, 3))
	}
	// Output:
	// 8 rows, 7 distinct values
	// kmeans [32.375 58.5]
	// quantile [23 60]
	// uniform [40 60]
}

// The tail of a categorical column is counted and becomes "other".
func ExampleFitCategorical() {
	s := binning.New(dataset.Categorical, dataset.Text, binning.DefaultLimits())
	jobs := &dataset.Vector{
		Type:  dataset.Text,
		Index: []int32{1, 0, 1, 2, 0, 1},
		Texts: []string{"student", "clerk", "astronaut"},
	}
	s.AddVector(jobs, []int32{0, 1, 2, 3, 4, 5}, nil)
	values, tail, err := binning.FitCategorical(s, 2, 0)
	fmt.Println(values, tail, err)
	// Output: [clerk student] 1 <nil>
}

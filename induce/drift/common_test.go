package drift_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/drift"
)

// Two runs have cut the ages at other places; both have cut at 40.
func ExampleCommon() {
	a := dataset.Feature{Name: "age", Kind: dataset.Numeric, Cuts: []float64{20, 40, 60}}
	b := dataset.Feature{Name: "age", Kind: dataset.Numeric, Cuts: []float64{30, 40}}
	common, ofA, ofB := drift.Common(&a, &b)
	fmt.Println(common.Cuts)
	fmt.Println(drift.Merge([]int64{10, 20, 30, 40, 5}, ofA, common.Codes()))
	fmt.Println(drift.Merge([]int64{15, 15, 70, 5}, ofB, common.Codes()))
	// Output:
	// [40]
	// [30 70 5]
	// [30 70 5]
}

// TestCommon: the values are the values of the first feature, and others of the second are other values; without a common cut
// all numbers are in one bin.
func TestCommon(t *testing.T) {
	a := dataset.Feature{Kind: dataset.Categorical, Values: []string{"a", "b", "c"}}
	b := dataset.Feature{Kind: dataset.Categorical, Values: []string{"c", "d", "a"}}
	common, ofA, ofB := drift.Common(&a, &b)
	if !slices.Equal(common.Values, a.Values) || !slices.Equal(ofA, []int{0, 1, 2, 3, 4}) ||
		!slices.Equal(ofB, []int{2, 3, 0, 3, 4}) {
		t.Errorf("values %q, codes %v and %v", common.Values, ofA, ofB)
	}
	x := dataset.Feature{Kind: dataset.Numeric, Cuts: []float64{1, 2}}
	y := dataset.Feature{Kind: dataset.Numeric, Cuts: []float64{1.5}}
	common, ofX, ofY := drift.Common(&x, &y)
	if common.Bins() != 1 || !slices.Equal(ofX, []int{0, 0, 0, 1}) || !slices.Equal(ofY, []int{0, 0, 1}) {
		t.Errorf("%d bins, codes %v and %v", common.Bins(), ofX, ofY)
	}
}

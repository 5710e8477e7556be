package certify_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// TestSubset: the bound for trees over a subset of the cuts equals the bound for
// data with only these cuts. A bin between two cuts of the subset is a test, and
// trees over all cuts do not have it.
func TestSubset(t *testing.T) {
	fine := dataset.Feature{
		Name: "x", Kind: dataset.Numeric, Cuts: []float64{1, 2, 3, 4, 5, 6}, Missing: 1, Cost: 1,
		Subsets: [][]uint16{{0, 1, 2, 3, 4, 5}, {1, 4}},
	}
	coarse := dataset.Feature{Name: "x", Kind: dataset.Numeric, Cuts: []float64{2, 5}, Missing: 1, Cost: 1}
	binOf := []int{0, 0, 1, 1, 1, 2, 2, 3} // by hand; the last is missing
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(21, seed))
		features, confined := []dataset.Feature{fine, fine}, []dataset.Feature{coarse, coarse}
		a := dataset.NewObjects(dataset.NewLayout(features), 2, false, 0)
		b := dataset.NewObjects(dataset.NewLayout(confined), 2, false, 0)
		for range 5 + r.IntN(60) {
			row := []int{r.IntN(8), r.IntN(8)}
			raw := []dataset.ClassWeight{{Class: uint16(r.IntN(2)), Weight: 1}}
			a.Append(row, raw, 1)
			b.Append([]int{binOf[row[0]], binOf[row[1]]}, raw, 1)
		}
		o := certify.Options{
			Algorithm: split.EC45,
			Family:    []split.Family{split.OneHot, split.Both, split.Thresholds}[r.IntN(3)], Theta: 0.01, Lambda: 1,
		}
		want := certify.Certify(certify.Data{Objects: b, Features: confined}, o)
		o.Subset = 2
		if got := certify.Certify(certify.Data{Objects: a, Features: features}, o); !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: %+v\nwant %+v", seed, got, want)
		}
	}
}

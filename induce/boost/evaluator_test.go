package boost_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
)

// TestEvaluator: the sums are those by the definition of the splits, for features of both kinds, missing values
// and values that are not listed, with codes of one and of two bytes.
func TestEvaluator(t *testing.T) {
	cuts := make([]float64, 400)
	for i := range cuts {
		cuts[i] = float64(i)
	}
	features := []dataset.Feature{
		{Name: "narrow", Kind: dataset.Numeric, Cuts: cuts[:9], Missing: 1},
		{Name: "wide", Kind: dataset.Numeric, Cuts: cuts, Missing: 1},
		{Name: "category", Kind: dataset.Categorical, Values: []string{"p", "q", "r", "s", "t", "u", "v", "w"}, Other: 1, Missing: 1},
	}
	for _, classes := range []int{2, 3} {
		width := classes
		if classes == 2 {
			width = 1
		}
		r := rand.New(rand.NewPCG(7, uint64(classes)))
		o := dataset.NewObjects(dataset.NewLayout(features), classes, false, 2000)
		var ids []int32
		for i := range int32(2000) {
			codes := make([]int, len(features))
			for f := range codes {
				codes[f] = r.IntN(features[f].Codes())
			}
			class := (codes[0]/4 + codes[1]/150 + codes[2]) % classes
			o.Append(codes, []dataset.ClassWeight{{Class: uint16(class), Weight: 1}}, 1)
			ids = append(ids, i)
		}
		b := boost.Fit(o, features, []int{0, 1, 2}, ids, make([]float64, len(ids)*width), boost.Options{})
		if used := b.Features(); len(used) < len(features) {
			t.Fatalf("%d classes: only features %v are used", classes, used)
		}
		e := b.Evaluator(features, width)
		for i := range o.Len() {
			want, got := make([]float64, width), make([]float64, width)
			growtest.AddBooster(b, want, features, func(feature int) int { return o.Codes[feature].At(i) })
			if e.AddTo(got, o.Codes, i); !slices.Equal(got, want) {
				t.Fatalf("%d classes, object %d: %v, want %v", classes, i, got, want)
			}
		}
	}
}

package memory_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/memory"
	"github.com/espalier-ml/espalier/induce/split"
)

// BenchmarkWide grows four trees from 1000 objects, of which half are noise. With many features, most have
// few values, as in tables of a warehouse.
func BenchmarkWide(b *testing.B) {
	for _, features := range []int{8, 500} {
		b.Run(fmt.Sprintf("features=%d", features), func(b *testing.B) { benchmarkWide(b, features) })
	}
}

func benchmarkWide(b *testing.B, features int) {
	b.Helper()
	const objects = 1000
	r := rand.New(rand.NewPCG(1, uint64(features)))
	list := make([]dataset.Feature, features)
	for f := range list {
		bins := []int{2, 2, 5, 60}[f%4]
		if features < 10 {
			bins = 60
		}
		list[f] = growtest.Numeric(fmt.Sprint("x", f), bins, 1)
	}
	o := dataset.NewObjects(dataset.NewLayout(list), 2, false, objects)
	codes := make([]int, features)
	for range objects {
		for f := range codes {
			bins := len(list[f].Cuts) + 1
			codes[f] = max(0, r.IntN(bins+bins)-bins) // half of the objects have the first value
		}
		class := r.IntN(2)
		if r.IntN(2) == 0 {
			class = min(1, codes[0]+codes[min(3, features-1)]/30)
		}
		o.Append(codes, []dataset.ClassWeight{{Class: uint16(class), Weight: 1}}, 1)
	}
	var params []induce.Params
	for _, lambda := range []float64{10, 1000} {
		for _, family := range []split.Family{split.Thresholds, split.Both} {
			params = append(params, induce.Params{Algorithm: split.EC45, Lambda: lambda, Theta: 0.005, Family: family})
		}
	}
	columns := split.Columns(list)
	for b.Loop() {
		memory.GrowEach(o, columns, params, objects, memory.Options{Workers: 1})
	}
}

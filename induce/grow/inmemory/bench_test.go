package inmemory_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
)

// BenchmarkWide grows four trees from 1000 objects, of which half are noise, with 500 features, most of which
// have few values.
func BenchmarkWide(b *testing.B) {
	const objects, features = 1000, 500
	r := rand.New(rand.NewPCG(1, features))
	list := make([]dataset.Feature, features)
	for f := range list {
		list[f] = growtest.Numeric(fmt.Sprint("x", f), []int{2, 2, 5, 60}[f%4], 1)
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
			class = min(1, codes[0]+codes[3]/30)
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
		inmemory.GrowEach(o, columns, params, objects, inmemory.Options{Workers: 1})
	}
}

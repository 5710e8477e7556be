package boost_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// Neither x nor y says anything about the class alone; together they determine it.
func Example() {
	features := []dataset.Feature{
		{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1, 2, 3}},
		{Name: "y", Kind: dataset.Numeric, Cuts: []float64{1, 2, 3}},
	}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 0)
	var ids []int32
	for i := range 640 {
		x, y := i%4, i/4%4
		o.Append([]int{x, y}, []dataset.ClassWeight{{Class: uint16(min(1, x*y%4)), Weight: 1}}, 1)
		ids = append(ids, int32(i))
	}
	b := boost.Fit(o, features, []int{0, 1}, ids, make([]float64, o.Len()), boost.Options{})
	e := b.Evaluator(features, 1)
	for y := range 4 {
		for x := range 4 {
			score := []float64{0}
			e.AddTo(score, o.Codes, 4*y+x)
			fmt.Printf("%4.0f", score[0])
		}
		fmt.Println()
	}
	// Output:
	// -5  -5  -5  -5
	//   -5   5   5   5
	//   -5   5  -4   5
	//   -5   5   5   5
}

package certify_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Four objects alternate between two classes along one feature. Every tree that
// separates them asks each object two tests of cost 1, so a tree of expected cost
// 2.25 costs at most an eighth more than the best one.
func ExampleCertify() {
	data := certify.Data{Features: []dataset.Feature{
		{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1, 2, 3}, Cost: 1},
	}}
	data.Objects = dataset.NewObjects(dataset.NewLayout(data.Features), 2, false, 4)
	for code := range 4 {
		class := uint16(code % 2)
		data.Objects.Append([]int{code}, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	bound := certify.Certify(data, certify.Options{Algorithm: split.EC45, Family: split.Thresholds})
	c := bound.Certificate(certify.Grown{ExpectedCost: 2.25, Complete: true})
	fmt.Printf("%s: no tree costs less than %.3f, this one at most %.3f times the best\n",
		c.Method, c.LowerBound, c.Guarantee)
	// Output: kraft: no tree costs less than 2.000, this one at most 1.125 times the best
}

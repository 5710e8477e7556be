package leafmodel_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// A tree asks for x once. Its leaves forget all but the side of the cut, its models do not.
func Example() {
	features := []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1, 2, 3}, Range: []float64{0, 4}}}
	objects := dataset.NewObjects(dataset.NewLayout(features), 2, false, 4)
	for code := range 4 { // the share of the second class rises from 1/5 to 4/5
		objects.Append([]int{code}, []dataset.ClassWeight{{Class: 0, Weight: int64(40 - 10*code)}, {Class: 1, Weight: int64(10 + 10*code)}}, 50)
	}
	t := &tree.Tree{
		Label: tree.Label{Classes: []string{"no", "yes"}}, Features: features,
		Nodes: []tree.Node{
			{
				Test:     &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 2}, Cost: 1},
				Branches: []tree.Branch{{Outcome: 1, Child: 1}, {Child: 2, Missing: true}},
			},
			{Probabilities: []float64{0.3, 0.7}},
			{Probabilities: []float64{0.7, 0.3}},
		},
	}
	models := leafmodel.Fit(leafmodel.Sorted(objects, 0), features, []*tree.Tree{t}, leafmodel.Options{Ridge: 1})
	plain := leafmodel.Evaluate(objects, features, []*tree.Tree{t}, nil, 0)[0]
	with := leafmodel.Evaluate(objects, features, []*tree.Tree{t}, models, 0)[0]
	fmt.Printf("AUC %.3f plain, %.3f with models\n", *plain.AUC, *with.AUC)
	// Output: AUC 0.700 plain, 0.750 with models
}

package dataset_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Five rows of two features become three objects: three young students coalesce, and one
// of the jobs is not listed.
func Example() {
	features := []dataset.Feature{
		{Name: "age", Kind: dataset.Numeric, Type: dataset.Number, Cuts: []float64{30.5, 41}},
		{Name: "job", Kind: dataset.Categorical, Type: dataset.Text, Values: []string{"admin", "student"}},
	}
	columns := []dataset.Vector{
		{Type: dataset.Number, Numbers: []float64{25, 38, 25, 41, 19}},
		{Type: dataset.Text, Index: []int32{1, 0, 1, 2, 1}, Texts: []string{"admin", "student", "astronaut"}},
	}
	classes := []uint16{0, 1, 1, 1, 0}

	layout := dataset.NewLayout(features)
	keys := make([]byte, len(classes)*layout.Stride)
	for i := range features {
		dataset.NewEncoder(&features[i]).Encode(&columns[i], keys, layout.Offsets[i], layout.Stride, nil)
	}
	table := dataset.NewTable(layout, false)
	for r, class := range classes {
		key := keys[r*layout.Stride : (r+1)*layout.Stride]
		table.Add(key, dataset.HashKey(key), class, 1, 1)
	}

	objects := dataset.NewObjects(layout, 2, false, table.Len())
	if err := objects.AppendFrom(table.AppendBlock(nil, 0, table.Len()), layout); err != nil {
		fmt.Println(err)
	}
	for i := range objects.Len() {
		fmt.Printf("age %d, job %d: class %d of weights %v\n",
			objects.Codes[0].At(i), objects.Codes[1].At(i), objects.Class[i], objects.Raw(i))
	}
	// Output:
	// age 0, job 1: class 0 of weights [{0 2} {1 1}]
	// age 1, job 0: class 1 of weights [{1 1}]
	// age 2, job 2: class 1 of weights [{1 1}]
}

package counting_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/counting"
)

// Two workers count rows by leaf and probability, with the weights of two classes.
func ExampleMerge() {
	shape := counting.Shape{Words: 1, Numbers: 1, Counters: 2}
	first, second := counting.New(shape), counting.New(shape)
	first.Add([]uint64{7}, []float64{0.25})[0] += 10
	first.Add([]uint64{4}, []float64{0.5})[1] += 1
	second.Add([]uint64{7}, []float64{0.25})[1] += 5
	b, err := counting.Merge([][]byte{first.Append(nil), second.Append(nil)})
	if err != nil {
		fmt.Println(err)
	}
	all := counting.New(shape)
	if err := all.Merge(b, nil); err != nil {
		fmt.Println(err)
	}
	for _, e := range all.Entries() {
		fmt.Println("leaf", e.Words[0], e.Probabilities, e.Rows, "rows, weights", e.Counters)
	}
	// Output:
	// leaf 4 [0.5] 1 rows, weights [0 1]
	// leaf 7 [0.25] 2 rows, weights [10 5]
}

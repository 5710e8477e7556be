package synth_test

import (
	"fmt"

	"github.com/espalier-ml/espalier/io/synth"
)

// A data set of 1,000 rows. Any group of its rows can be made on its own, and has the
// same values on every machine.
func ExampleNew() {
	c := synth.Default()
	c.Rows, c.Numeric, c.Categorical, c.Noise = 1000, 4, 0, 0
	p, err := synth.New(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	counts := make([]int64, p.CountsLen())
	for first := int64(0); first < c.Rows; first += 250 {
		g := p.NewGroup()
		g.Reset(first, 250)
		g.Labels() // sends the rows through the hidden tree
		g.Count(counts)
	}
	t := p.Tree(counts)
	fmt.Println(len(p.Columns), "columns,", t.Nodes[0].Rows, "rows, classes", p.Classes)
	fmt.Println("tests on a path of the hidden tree: at most", t.Complexity.Depth)
	// Output:
	// 4 columns, 1000 rows, classes [class-0 class-1]
	// tests on a path of the hidden tree: at most 4
}

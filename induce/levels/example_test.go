package levels_test

import (
	"fmt"
	"log"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/induce/memory"
	"github.com/espalier-ml/espalier/induce/split"
)

// Two workers hold four objects each. They emit counts and no objects until the nodes
// have at most two objects, which are then grown in memory.
func Example() {
	features := []dataset.Feature{
		{Name: "x", Kind: dataset.Numeric, Cuts: []float64{0.5}, Cost: 1},
		{Name: "y", Kind: dataset.Numeric, Cuts: []float64{10, 20, 30}, Cost: 3},
	}
	columns, layout := split.Columns(features), dataset.NewLayout(features)
	blocks := []*dataset.Objects{dataset.NewObjects(layout, 2, false, 4), dataset.NewObjects(layout, 2, false, 4)}
	for x := range 2 {
		for y := range 4 {
			class := uint16(x * (y / 2))
			blocks[y%2].Append([]int{x, y}, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
		}
	}
	params := induce.Params{Algorithm: split.EC45, Family: split.Thresholds, Lambda: 1}
	grower := levels.NewGrower(levels.Setting{Params: params, Columns: columns, Classes: 2, Total: 8, Heaviest: 1})

	count := func(growth *levels.Growth, p *levels.Pass) (*levels.Counts, error) {
		counts := grower.NewCounts(p)
		for _, objects := range blocks { // on many machines
			counter := grower.Counter(growth.Root, p)
			counter.Add(objects, 1)
			var failed error
			counter.Pieces(func(key int64, piece []byte) {
				if err := grower.AddPiece(counts, key, piece); err != nil {
					failed = err
				}
			})
			if failed != nil {
				return nil, failed
			}
		}
		return counts, nil
	}
	const budget, bytes = 2, 1 << 20
	growth := levels.NewGrowth([]int64{6, 2}, []int64{6, 2}, budget)
	for level := 0; len(growth.Large) > 0; level++ {
		passes := grower.Passes(growth, bytes)
		fmt.Printf("level %d: %d large nodes, %d passes\n", level, len(growth.Large), len(passes))
		children, err := grower.Expand(growth, passes, bytes, 1, func(p *levels.Pass) (*levels.Counts, error) {
			return count(growth, p)
		})
		if err != nil {
			log.Fatal(err)
		}
		growth.Next(children, budget)
	}
	router, small := levels.NewRouter(growth.Root, columns), growth.Numbered()
	gathered := make([]*dataset.Objects, len(growth.Small))
	for i := range gathered {
		gathered[i] = dataset.NewObjects(layout, 2, false, 0)
	}
	for _, objects := range blocks {
		for i := range objects.Len() {
			if node, ok := small[router.Leaf(objects, i)]; ok {
				codes := []int{objects.Codes[0].At(i), objects.Codes[1].At(i)}
				gathered[node].Append(codes, objects.Raw(i), objects.RowsOf(i))
			}
		}
	}
	for i, open := range growth.Small {
		grown := memory.GrowBelow(gathered[i], columns, []induce.Params{params}, 8, open.Place(), memory.Options{})
		*open.Node = *grown[0]
	}
	growth.Root.SumUp()
	fmt.Println(growth.Root.Leaves(), "leaves, class weights", growth.Root.Raw)
	// Output:
	// level 0: 1 large nodes, 1 passes
	// level 1: 2 large nodes, 1 passes
	// 3 leaves, class weights [6 2]
}

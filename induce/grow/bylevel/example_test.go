package bylevel_test

import (
	"fmt"
	"log"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/bylevel"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
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
	trees := []induce.Params{
		{Algorithm: split.EC45, Family: split.Thresholds, Lambda: 1},
		{Algorithm: split.C45, Family: split.Thresholds},
	}
	grower := bylevel.NewGrower(bylevel.Setting{Trees: trees, Columns: columns, Classes: 2, Total: 8, Heaviest: 1})

	count := func(p *bylevel.Pass) (*bylevel.Counts, error) {
		counts := grower.NewCounts(p)
		for _, objects := range blocks { // on many machines
			counter := grower.Counter(p)
			counter.Add(objects)
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
	growth := bylevel.NewGrowth(len(trees), []int64{6, 2}, []int64{6, 2}, budget)
	for level := 0; len(growth.Large) > 0; level++ {
		passes := grower.Passes(growth, bytes)
		fmt.Printf("level %d: %d large nodes, %d passes\n", level, len(growth.Large), len(passes))
		children, err := grower.Expand(growth, passes, bytes, 1, count)
		if err != nil {
			log.Fatal(err)
		}
		growth.Next(children, budget)
	}
	router := bylevel.NewRouter(growth.Routes(growth.Small), columns)
	gathered := make([]*dataset.Objects, len(growth.Small))
	for i := range gathered {
		gathered[i] = dataset.NewObjects(layout, 2, false, 0)
	}
	for _, objects := range blocks {
		router.Route(objects, func(node int, reached []int32) {
			for _, i := range reached {
				codes := []int{objects.Codes[0].At(int(i)), objects.Codes[1].At(int(i))}
				gathered[node].Append(codes, objects.Raw(int(i)), objects.RowsOf(int(i)))
			}
		})
	}
	for i, open := range growth.Small {
		var params []induce.Params
		for _, number := range open.Trees() {
			params = append(params, trees[number])
		}
		grown := inmemory.GrowBelow(gathered[i], columns, params, 8, open.Place, inmemory.Options{})
		for at, member := range open.Members {
			growth.Nodes.Graft(member, grown[at])
		}
	}
	for _, nodes := range growth.Nodes.Trees() {
		grown := tree.New(features, nodes)
		fmt.Println(grown.CountLeaves(), "leaves, class weights", grown.Nodes[0].RawClassWeights)
	}
	// Output:
	// level 0: 1 large nodes, 1 passes
	// level 1: 2 large nodes, 1 passes
	// 3 leaves, class weights [6 2]
	// 3 leaves, class weights [6 2]
}

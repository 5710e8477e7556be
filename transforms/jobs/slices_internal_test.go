package jobs

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// stump is a tree of one test on a number, with two classes.
func stump() *tree.Tree {
	leaf := tree.Node{Rows: 1, Weight: 1, RawClassWeights: []int64{1, 0}, ClassWeights: []int64{1, 0}, Probabilities: []float64{1, 0}}
	root := leaf
	root.Test = &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 1}, Cost: 1}
	root.Branches = []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2, Missing: true}}
	return &tree.Tree{
		Label:    tree.Label{Column: "class", Classes: []string{"a", "b"}},
		Features: []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: []float64{0.5}, Cost: 1}},
		Nodes:    []tree.Node{root, leaf, leaf},
	}
}

// BenchmarkEvaluateSlices counts scored rows by leaf and class: all of them, and by the values of
// columns.
func BenchmarkEvaluateSlices(b *testing.B) {
	const rows = 1 << 17
	t, random := stump(), rand.New(rand.NewPCG(3, 1))
	for _, columns := range []int{0, 1, 4} {
		spec := new(RowSpec)
		f := &rowEvaluator{
			EvaluateRowsConfig: EvaluateRowsConfig{Parts: []dataset.Part{dataset.Validation, dataset.Test}}, spec: spec,
		}
		if columns > 0 {
			f.Slices = new(Slices)
		}
		f.trees, f.groups = []scannedTree{{Tree: t, scorer: t.Scorer(), inputs: []int{0}}}, 1
		w := &scanWorker{classes: make([]uint16, rows), scores: make([]tree.Scores, 1)}
		g := &rowGroup{spec: spec, rows: rows, parts: make([]dataset.Part, rows)}
		for r := range rows {
			w.rows, w.classes[r], g.parts[r] = append(w.rows, int32(r)), uint16(random.IntN(2)), f.Parts[random.IntN(2)]
		}
		features := []dataset.Feature{
			{Name: "x", Kind: dataset.Numeric, Cuts: []float64{0.25, 0.5, 0.75}},
			{Name: "y", Kind: dataset.Categorical, Type: dataset.Number, Values: []string{"1", "2", "3", "4", "5", "6", "7"}},
		}
		for i := range max(1, columns) {
			v := dataset.Vector{Type: dataset.Number}
			for range rows {
				v.Numbers = append(v.Numbers, []float64{random.Float64(), float64(random.IntN(9))}[i%2])
			}
			w.columns = append(w.columns, v)
			if columns > 0 {
				one := slicedColumn{dataset.NewEncoder(&features[i%2]), i, features[i%2].Codes(), f.groups - 1}
				f.slices, f.groups = append(f.slices, one), f.groups+one.codes
			}
		}
		f.tables = make([]scoreTable, leavesKey(f.groups, 0))
		if err := f.trees[0].scorer.Score(w.columns[:1], rows, &w.scores[0]); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("columns=%d", columns), func(b *testing.B) {
			for b.Loop() {
				if columns > 0 {
					f.countSlices(g, w)
					continue
				}
				for _, part := range f.Parts {
					f.count(0, part, g, w)
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

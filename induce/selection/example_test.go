package selection_test

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// plain is a program that shows no progress.
type plain struct{}

func (plain) Phase(_ context.Context, _ string, _ int64, _ string, work func(*parallel.Steps) error) error {
	return work(new(parallel.Steps))
}

func (plain) Note(text string) { fmt.Println(text) }
func (plain) Warn(text string) { fmt.Println(text) }

func (plain) Setting(name string) string { return name }

// The class is 1 from x = 16 on, but for one object in sixteen. Without pruning the tree tests for each
// of these.
func ExampleInMemory_Train() {
	x := dataset.Feature{Name: "x", Kind: dataset.Numeric, Cost: 1}
	for cut := range 31 {
		x.Cuts = append(x.Cuts, float64(cut)+0.5)
	}
	features := []dataset.Feature{x}
	m := selection.InMemory{
		Host: plain{}, Columns: split.Columns(features),
		Settings: selection.Settings{
			Settings: frontier.Settings{
				Query: frontier.Query{Rule: frontier.Best, Tolerance: 0.001}, Currencies: []prune.Currency{prune.Leaves},
			},
			LeafModel: selection.None, Teacher: selection.Teacher{Kind: distill.None},
		},
		Members: (&grid.Axes{
			Algorithms: []split.Algorithm{split.C45, split.EC45}, Lambdas: []float64{1}, Thetas: []float64{0},
			Families: []split.Family{split.Thresholds}, Record: tree.Algorithm{LeafEstimate: "smoothed"},
		}).Members(),
		Modeller: &grid.Modeller{
			Label: tree.Label{Column: "class", Classes: []string{"0", "1"}}, Features: features,
			Training: tree.Training{Rows: 32, Objects: 32, Weight: 32}, Scale: 1,
		},
	}
	for part := range m.Parts {
		m.Parts[part] = dataset.NewObjects(dataset.NewLayout(features), 2, false, 32)
		for code := range 32 {
			class := uint16(code / 16)
			if noise := []int{5, 9, 12}[part]; code%16 == noise {
				class = 1 - class
			}
			m.Parts[part].Append([]int{code}, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
		}
	}
	t, _, err := m.Train(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Algorithm.Name, "of", t.Complexity.Leaves, "leaves, pruned in", t.Algorithm.Prune)
	// Output:
	// select best: 2 leaves: a tree of 6 leaves would add 0.0000 of AUC on rows that did not grow it, no more than chance or the tolerance
	// c45 of 2 leaves, pruned in leaves
}

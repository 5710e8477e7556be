package selection_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
)

// silent is a program that shows nothing.
type silent struct{}

func (silent) Phase(_ context.Context, _ string, _ int64, _ string, work func(*parallel.Steps) error) error {
	return work(new(parallel.Steps))
}
func (silent) Note(string)                {}
func (silent) Warn(string)                {}
func (silent) Setting(name string) string { return name }

// rows are rows of some features with codes of their own, and a label.
type rows struct {
	features []dataset.Feature
	codes    [][]int
	label    []uint16
	classes  int
}

// drawRows draws rows that have a signal: the class follows the first feature, nine times in ten. The
// features have two to forty codes, numeric and categorical ones.
func drawRows(r *rand.Rand, n int) *rows {
	d := &rows{classes: 2 + r.IntN(3)}
	for f := range 2 + r.IntN(4) {
		codes := 2 + r.IntN(39)
		if f == 0 {
			codes = 40
		}
		one := dataset.Feature{Name: string(rune('a' + f)), Kind: dataset.Numeric, Cost: float64(1 + r.IntN(3))}
		if f > 0 && r.IntN(2) == 0 {
			one.Kind = dataset.Categorical
			for k := range codes {
				one.Values = append(one.Values, string(rune('A'+k)))
			}
		} else {
			for k := range codes - 1 {
				one.Cuts = append(one.Cuts, float64(k))
			}
		}
		d.features = append(d.features, one)
	}
	share := .5 + r.Float64()*.4 // share of the first class
	for range n {
		var codes []int
		for f := range d.features {
			values := len(d.features[f].Cuts) + 1
			if d.features[f].Kind == dataset.Categorical {
				values = len(d.features[f].Values)
			}
			codes = append(codes, r.IntN(values))
		}
		class := 0
		if float64(codes[0]) >= share*40 {
			class = 1 + r.IntN(d.classes-1)
		}
		if r.IntN(10) == 0 {
			class = r.IntN(d.classes)
		}
		d.codes, d.label = append(d.codes, codes), append(d.label, uint16(class))
	}
	return d
}

// train chooses a tree for the rows, as the preset default does: 70 of 100 rows are training rows, 10
// validation rows.
func (d *rows) train(t *testing.T) *tree.Tree {
	t.Helper()
	m := selection.InMemory{
		Host: silent{}, Columns: split.Columns(d.features),
		Settings: selection.Settings{
			Settings: frontier.Settings{
				Query:      frontier.Query{Rule: frontier.Best, Tolerance: .001},
				Currencies: []prune.Currency{prune.Leaves, prune.Cost},
			},
			Folds: crossvalidate.Setting{Auto: true}, Seed: 1,
			LeafModel: selection.None, Teacher: selection.Teacher{Kind: distill.None},
		},
		Members: (&grid.Axes{
			Algorithms: []split.Algorithm{split.EC45, split.C45}, Lambdas: []float64{10, 1000}, Thetas: []float64{.005, .0005},
			Families: []split.Family{split.Thresholds, split.Both},
			Record:   tree.Algorithm{LeafEstimate: tree.Smoothed},
		}).Members(),
	}
	for part := range m.Parts {
		m.Parts[part] = dataset.NewObjects(dataset.NewLayout(d.features), d.classes, false, len(d.codes))
	}
	training := 0
	for i, codes := range d.codes {
		part := dataset.Train
		switch i % 10 {
		case 7:
			part = dataset.Validation
		case 8, 9:
			part = dataset.Test
		default:
			training++
		}
		m.Parts[part].Append(codes, []dataset.ClassWeight{{Class: d.label[i], Weight: 1}}, 1)
	}
	label := tree.Label{Column: "class"}
	for k := range d.classes {
		label.Classes = append(label.Classes, string(rune('0'+k)))
	}
	n := int64(training)
	m.Modeller = &grid.Modeller{
		Label: label, Features: d.features, Training: tree.Training{Rows: n, Objects: n, Weight: n},
		Scale: 1,
	}
	chosen, _, err := m.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return chosen
}

// TestShuffledLabels: whatever the rows, once their labels are shuffled the choice is a single leaf,
// and before it is a tree.
func TestShuffledLabels(t *testing.T) {
	longtest.Skip(t)
	sets := 9
	if testing.Short() {
		sets = 3
	}
	for seed := range sets {
		r := rand.New(rand.NewPCG(uint64(seed), 38))
		d := drawRows(r, []int{300, 1000, 3000}[seed%3])
		if got := d.train(t).Complexity.Leaves; got < 2 {
			t.Errorf("data set %d: %d leaves, though the class follows a feature", seed, got)
		}
		r.Shuffle(len(d.label), func(i, j int) { d.label[i], d.label[j] = d.label[j], d.label[i] })
		if got := d.train(t); got.Complexity.Leaves != 1 {
			t.Errorf("data set %d, %d rows, %d classes: %d leaves of chance", seed, len(d.label), d.classes, got.Complexity.Leaves)
		}
	}
}

package transforms

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

type benchmarkRow struct {
	Age   *float64 `json:"age"`
	Color string   `json:"color"`
	Kind  string   `json:"kind"`
}

type benchmarkMap map[string]any

// benchmarkTree tests the color and, if it is not red, the age.
func benchmarkTree() []byte {
	leaf := func(class int) tree.Node {
		n := tree.Node{
			Rows: 1, Objects: 1, Weight: 1, ClassWeights: []int64{0, 0}, RawClassWeights: []int64{0, 0},
			Class: class, Probabilities: []float64{0, 0},
		}
		n.ClassWeights[class], n.RawClassWeights[class], n.Probabilities[class] = 1, 1, 1
		return n
	}
	ask := func(t split.Test, yes, no int, missing, other bool) tree.Node {
		n := leaf(0)
		n.Test = &tree.Test{Test: t, Cost: 1}
		n.Branches = []tree.Branch{{Outcome: 1, Child: yes}, {Outcome: 0, Child: no, Missing: missing, Other: other}}
		return n
	}
	t := tree.Tree{
		Label: tree.Label{Column: "kind", Classes: []string{"a", "b"}},
		Features: []dataset.Feature{
			{Name: "age", Kind: dataset.Numeric, Cuts: []float64{30}, Cost: 1},
			{Name: "color", Kind: dataset.Categorical, Type: dataset.Text, Values: []string{"green", "red"}, Cost: 1},
		},
		Nodes: []tree.Node{
			ask(split.Test{Feature: 1, Kind: split.Equals, Code: 1}, 1, 2, true, true), leaf(0),
			ask(split.Test{Feature: 0, Kind: split.Threshold, Code: 1}, 3, 4, true, false), leaf(0), leaf(1),
		},
	}
	return t.Encode()
}

// BenchmarkScoreRow measures what Score does with a row, without the runner.
func BenchmarkScoreRow(b *testing.B) {
	age := 41.0
	for name, row := range map[string]any{
		"struct": benchmarkRow{&age, "green", "a"},
		"map":    benchmarkMap{"age": age, "color": "green", "kind": "a"},
	} {
		b.Run("rows="+name, func(b *testing.B) {
			schema, err := rowtype.SchemaOf(reflect.TypeOf(row))
			if err != nil {
				b.Fatal(err)
			}
			encoded, err := json.Marshal(schema)
			if err != nil {
				b.Fatal(err)
			}
			f := &scoring{Schema: encoded}
			if err := f.Setup(); err != nil {
				b.Fatal(err)
			}
			bound, err := newScorer(benchmarkTree(), f.schema)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				p, err := f.predict(bound, row)
				if err != nil || p.Class != "a" || p.Tests != 2 {
					b.Fatal(p, err)
				}
			}
		})
	}
}

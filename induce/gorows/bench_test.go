package gorows_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// reading is a row of numbers, in fields of several types.
type reading struct {
	A float64
	B float32
	C int
	D *float64
	E uint8
	F float64
	G int64
	H float64
	I float64
	J int32
}

// floatReading is a row of numbers in fields of float64.
type floatReading struct {
	A, B, C, D, E, F, G, H, I, J float64
}

// readings returns rows as structs, and the same rows as numbers in the order of the
// features a, b, ..., j.
func readings(n int) (structs []reading, numbers [][]float64) {
	r := rand.New(rand.NewPCG(1, 2))
	whole := func() float64 { return float64(r.IntN(100)) }
	for range n {
		d := whole()
		row := reading{
			whole(), float32(whole()), r.IntN(100), &d, uint8(r.IntN(100)), whole(), r.Int64N(100), whole(), whole(), r.Int32N(100),
		}
		structs = append(structs, row)
		numbers = append(numbers, []float64{
			row.A, float64(row.B), float64(row.C), d, float64(row.E), row.F, float64(row.G), row.H, row.I, float64(row.J),
		})
	}
	return structs, numbers
}

// readingTree is a complete tree of some depth over the fields of readings.
func readingTree(depth int) *tree.Tree {
	t := &tree.Tree{Label: tree.Label{Column: "class", Classes: []string{"no", "yes"}}}
	for _, name := range "ABCDEFGHIJ" {
		f := dataset.Feature{Name: string(name), Kind: dataset.Numeric, Cost: 1}
		for cut := range 99 {
			f.Cuts = append(f.Cuts, float64(cut)+0.5)
		}
		t.Features = append(t.Features, f)
	}
	r := rand.New(rand.NewPCG(3, 4))
	inner := 1<<depth - 1
	for i := range 2*inner + 1 {
		n := tree.Node{Rows: 1, Objects: 1, Weight: 1, ClassWeights: []int64{1, 0}, RawClassWeights: []int64{1, 0}, Probabilities: []float64{1, 0}}
		if i < inner {
			n.Test = &tree.Test{Test: split.Test{Feature: i % 10, Kind: split.Threshold, Code: 30 + r.IntN(40)}, Cost: 1}
			n.Branches = []tree.Branch{{Outcome: 1, Child: 2*i + 1}, {Outcome: 0, Child: 2*i + 2, Missing: true}}
		}
		t.Nodes = append(t.Nodes, n)
	}
	return t
}

// BenchmarkPredict compares rows as structs with the same rows as prepared values.
func BenchmarkPredict(b *testing.B) {
	structs, numbers := readings(1 << 16)
	floats, values := make([]floatReading, len(numbers)), make([][]tree.Value, len(numbers))
	for i, n := range numbers {
		for _, x := range n {
			values[i] = append(values[i], tree.Number(x))
		}
		floats[i] = floatReading{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]}
	}
	for _, depth := range []int{5, 9} {
		t := readingTree(depth)
		plain := t.Scorer()
		measure(b, fmt.Sprintf("depth=%d/rows=values", depth), values, func(row *[]tree.Value) (*tree.Prediction, error) {
			return plain.Predict(*row)
		})
		measure(b, fmt.Sprintf("depth=%d/rows=floats", depth), floats, scorerOf[floatReading](b, t).Predict)
		measure(b, fmt.Sprintf("depth=%d/rows=mixed", depth), structs, scorerOf[reading](b, t).Predict)
	}
}

func scorerOf[T any](tb testing.TB, t *tree.Tree) *gorows.Scorer[T] {
	tb.Helper()
	s, err := gorows.NewScorer[T](t)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func measure[T any](b *testing.B, name string, rows []T, predict func(*T) (*tree.Prediction, error)) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := predict(&rows[i%len(rows)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMapScorer scores maps of 54 keys, of which the tree tests 10.
func BenchmarkMapScorer(b *testing.B) {
	_, numbers := readings(1 << 10)
	names := make([]string, 54)
	for i := range names {
		names[i] = fmt.Sprintf("column %d", i)
		if i < 10 {
			names[i] = "ABCDEFGHIJ"[i : i+1]
		}
	}
	s, err := gorows.NewMapScorer(readingTree(9), names[10:]...)
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]map[string]any, len(numbers))
	for i := range rows {
		rows[i] = make(map[string]any)
		for at, name := range names {
			rows[i][name] = numbers[i][at%10]
		}
	}
	var p tree.Prediction
	measure(b, "Predict", rows, func(row *map[string]any) (*tree.Prediction, error) { return s.Predict(*row) })
	measure(b, "PredictInto", rows, func(row *map[string]any) (*tree.Prediction, error) { return &p, s.PredictInto(*row, &p) })
}

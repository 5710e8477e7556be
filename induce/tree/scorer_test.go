package tree_test

import (
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// values returns a row's values in the order of a scorer's features.
func (v row) values(inputs []tree.Input) []tree.Value {
	values := make([]tree.Value, len(inputs))
	for i, in := range inputs {
		switch x := v[in.Feature].(type) {
		case float64:
			values[i] = tree.Number(x)
		case string:
			values[i] = tree.Text(x)
		}
	}
	return values
}

// routed returns the leaf that a router sends a row to, by the codes of encoders.
func routed(tr *tree.Tree, router *tree.Router, v row) int {
	codes := make([]int, len(tr.Features))
	for i := range tr.Features {
		var key [2]byte
		column := vectorOf([]any{v[i]}, tr.Features[i].Kind)
		dataset.NewEncoder(&tr.Features[i]).Encode(&column, key[:], 0, len(key), nil)
		codes[i] = int(binary.LittleEndian.Uint16(key[:]))
	}
	o := dataset.NewObjects(dataset.NewLayout(tr.Features), 1, false, 1)
	o.Append(codes, []dataset.ClassWeight{{Weight: 1}}, 1)
	return router.Leaf(o, 0)
}

// vectorOf returns values as a column: numbers side by side, categories in a
// dictionary.
func vectorOf(values []any, kind dataset.Kind) dataset.Vector {
	if kind == dataset.Numeric {
		v := dataset.Vector{Type: dataset.Number}
		for _, x := range values {
			number, ok := x.(float64)
			if !ok {
				number = math.NaN()
			}
			v.Numbers = append(v.Numbers, number)
		}
		return v
	}
	return dictionaryOf(values)
}

// dictionaryOf returns values of one type as a column with a dictionary. Each value has
// its own entry.
func dictionaryOf(values []any) dataset.Vector {
	v := dataset.Vector{Type: dataset.Text, Index: []int32{}}
	for _, x := range values {
		switch x := x.(type) {
		case nil:
			v.Index = append(v.Index, -1)
		case float64:
			v.Type = dataset.Number
			v.Index, v.Numbers = append(v.Index, int32(len(v.Numbers))), append(v.Numbers, x)
		case string:
			v.Index, v.Texts = append(v.Index, int32(len(v.Texts))), append(v.Texts, x)
		}
	}
	return v
}

// numberedFeatures are features with categories that are numbers, some of them
// spelled in two ways.
func numberedFeatures() []dataset.Feature {
	return []dataset.Feature{
		{Name: "zip", Kind: dataset.Categorical, Values: []string{
			"-1", "0", "1.0", "1", "1e3", "0x10", "nan", "inf",
			"none",
		}, Cost: 1, Group: "g", GroupCost: 2},
		{Name: "line", Kind: dataset.Numeric, Cost: 1},
		{Name: "x", Kind: dataset.Numeric, Cuts: []float64{-1, 0, 1e3}, Cost: 0.5, Group: "g", GroupCost: 2},
	}
}

// numberedRow draws a row of numbers.
func numberedRow(r *rand.Rand) row {
	values := row{nil, nil, nil}
	for i := range values {
		if r.IntN(5) > 0 {
			values[i] = []float64{-1, 0, math.Copysign(0, -1), 1, 1000, 16, math.Inf(1), math.Inf(-1), 0.5}[r.IntN(9)]
		}
	}
	return values
}

// scored calls check for trees and rows.
func scored(t *testing.T, check func(t *testing.T, tr *tree.Tree, rows []row)) {
	t.Helper()
	for _, family := range families() {
		for seed := range uint64(8) {
			t.Run(fmt.Sprintf("tests=%s/seed=%d", family, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(11, seed))
				tr, numbered := randomTree(r, family, 1<<seed), grownTree(r, family, 1<<seed, numberedFeatures())
				var rows, numbers []row
				for range 150 {
					rows, numbers = append(rows, randomRow(r, tr.Features)), append(numbers, numberedRow(r))
				}
				check(t, tr, rows)
				check(t, numbered, numbers)
			})
		}
	}
}

// TestScorer: rows reach the same leaves as their codes do by the router, and the predictions are
// the predictions of the tree's nodes.
func TestScorer(t *testing.T) {
	scored(t, func(t *testing.T, tr *tree.Tree, rows []row) {
		t.Helper()
		scorer, router := tr.Scorer(), tr.Router()
		tests, costs := tr.PathCosts()
		for _, v := range rows {
			got, err := scorer.Predict(v.values(scorer.Features()))
			if err != nil {
				t.Fatal(err)
			}
			id := routed(tr, router, v)
			n := &tr.Nodes[id]
			want := &tree.Prediction{
				Class: tr.Label.Classes[n.Class], Probabilities: n.Probabilities, Leaf: id, Tests: tests[id],
				Cost: costs[id], Billed: costs[id],
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%v (-want +got):\n%s", v, diff)
			}
			if got != scorer.LeafPrediction(id) {
				t.Errorf("leaf %d: another prediction than that of its node", id)
			}
		}
	})
}

func numericFeatures() []dataset.Feature {
	return slices.DeleteFunc(append(features(), numberedFeatures()...),
		func(f dataset.Feature) bool { return f.Kind != dataset.Numeric })
}

// numbersOf returns numbers as plain ones.
func numbersOf(values []tree.Value) []float64 {
	numbers := make([]float64, len(values))
	for i := range values {
		x, err := strconv.ParseFloat(values[i].String(), 64)
		if err != nil { // missing
			x = math.NaN()
		}
		numbers[i] = x
	}
	return numbers
}

// TestScorerMatrix: numeric trees take rows of plain numbers.
func TestScorerMatrix(t *testing.T) {
	fs := numericFeatures()
	for _, family := range families() {
		for seed := range uint64(8) {
			r := rand.New(rand.NewPCG(13, seed))
			tr := grownTree(r, family, 1<<seed, fs)
			scorer := tr.Scorer()
			var matrix [][]float64
			var want []*tree.Prediction
			for range 200 {
				values := randomRow(r, fs).values(scorer.Features())
				p, err := scorer.Predict(values)
				if err != nil {
					t.Fatal(err)
				}
				matrix, want = append(matrix, numbersOf(values)), append(want, p)
			}
			got := make([]*tree.Prediction, len(matrix))
			if err := scorer.PredictMatrix(matrix, got); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v: %v, %v, want %v", matrix, got, err, want)
			}
		}
	}
}

// TestScorerLeaves: columns of every form give the same leaves as their rows one by one.
func TestScorerLeaves(t *testing.T) {
	scored(t, func(t *testing.T, tr *tree.Tree, rows []row) {
		t.Helper()
		for len(rows) < 5000 { // more than a block
			rows = append(rows, rows...)
		}
		scorer := tr.Scorer()
		var side, dictionaries []dataset.Vector
		for _, in := range scorer.Features() {
			column := make([]any, len(rows))
			for i, v := range rows {
				column[i] = v[in.Feature]
			}
			dictionary := dictionaryOf(column)
			if in.Kind == dataset.Numeric {
				dictionary.Type = dataset.Number
			}
			dictionaries = append(dictionaries, dictionary)
			if _, number := rows[0][in.Feature].(float64); number || dictionary.Type == dataset.Number {
				side = append(side, vectorOf(column, dataset.Numeric))
			} else {
				side = append(side, dictionary)
			}
		}
		for form, columns := range map[string][]dataset.Vector{"side by side": side, "dictionary": dictionaries} {
			leaves := make([]int32, len(rows))
			if err := scorer.Leaves(columns, leaves); err != nil {
				t.Fatal(err)
			}
			for i, v := range rows {
				want, err := scorer.Predict(v.values(scorer.Features()))
				if err != nil {
					t.Fatal(err)
				}
				if int(leaves[i]) != want.Leaf {
					t.Fatalf("%s, row %d, %v: leaf %d, want %d", form, i, v, leaves[i], want.Leaf)
				}
			}
		}
	})
}

// TestScorerShared: goroutines sharing a scorer and questions get the same results as a
// single one. It is meant for the race detector.
func TestScorerShared(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 1))
	tr := randomTree(r, split.Both, 300)
	scorer, questions := tr.Scorer(), tr.Questions()
	rows := make([]row, 200)
	want := make([]int, len(rows))
	for i := range rows {
		rows[i] = randomRow(r, tr.Features)
		want[i] = routed(tr, tr.Router(), rows[i])
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, v := range rows {
				p, err := scorer.Predict(v.values(scorer.Features()))
				inquiry := questions.Start(0)
				for _, in := range scorer.Features() {
					if err == nil {
						err = inquiry.Give(in.Name, v.value(tr, in.Name))
					}
				}
				if err != nil || p.Leaf != want[i] || inquiry.Standing().Node != want[i] {
					t.Errorf("row %d: %v, %v, %v, want leaf %d", i, p, inquiry.Standing(), err, want[i])
				}
			}
		})
	}
	wg.Wait()
}

// TestScorerAllocs: Predict allocates nothing, and Leaves nothing per row.
func TestScorerAllocs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, family := range families() {
		tr := randomTree(r, family, 300)
		scorer := tr.Scorer()
		rows := make([][]tree.Value, 100)
		for i := range rows {
			rows[i] = randomRow(r, tr.Features).values(scorer.Features())
		}
		i := 0
		if n := testing.AllocsPerRun(1000, func() {
			if _, err := scorer.Predict(rows[i%len(rows)]); err != nil {
				t.Error(err)
			}
			i++
		}); n != 0 {
			t.Errorf("tests %s: %v allocations a row", family, n)
		}
	}
}

func TestScorerErrors(t *testing.T) {
	scorer := smallTree().Scorer()
	for _, c := range []struct {
		values []tree.Value
		want   string
	}{
		{nil, "0 values: want one for each of the 2"},
		{[]tree.Value{tree.Text("old"), {}}, `column "age": not a number, as the feature needs (value "old"); give a number`},
		{[]tree.Value{tree.Text(""), tree.Text("a")}, `column "age": not a number, as the feature needs; give a number`},
	} {
		if _, err := scorer.Predict(c.values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.values, err, c.want)
		}
	}
	if err := scorer.PredictMatrix([][]float64{{1, 2}}, make([]*tree.Prediction, 1)); err == nil ||
		!strings.Contains(err.Error(), `"job" is categorical`) {
		t.Errorf("numbers for a category: %v", err)
	}
	numeric := grownTree(rand.New(rand.NewPCG(13, 3)), split.Thresholds, 8, numericFeatures()).Scorer()
	matrix := [][]float64{make([]float64, len(numeric.Features())), nil}
	for want, room := range map[string]int{"row 1: 0 values": 2, "room for 1 predictions": 1} {
		if err := numeric.PredictMatrix(matrix, make([]*tree.Prediction, room)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	age, job := vectorOf([]any{1.}, dataset.Numeric), dictionaryOf([]any{"a"})
	for name, columns := range map[string][]dataset.Vector{
		"column": {age}, "of type text": {job, job},
		"0 rows": {age, dictionaryOf(nil)},
	} {
		if err := scorer.Leaves(columns, make([]int32, 1)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
	for _, id := range []int{-1, 0, 2, 5} {
		if p := scorer.LeafPrediction(id); p != nil {
			t.Errorf("node %d is no leaf: %v", id, p)
		}
	}
}

// TestScorerInputs: the inputs are the tested features only; a bare leaf has none.
func TestScorerInputs(t *testing.T) {
	tr := smallTree()
	tr.Features = append([]dataset.Feature{{Name: "idle", Kind: dataset.Numeric}}, tr.Features...)
	for _, i := range []int{0, 2} {
		tr.Nodes[i].Test.Feature++
	}
	want := []tree.Input{
		{Name: "age", Kind: dataset.Numeric, Feature: 1},
		{Name: "job", Kind: dataset.Categorical, Feature: 2},
	}
	if diff := cmp.Diff(want, tr.Scorer().Features()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	tr.Nodes = tr.Nodes[1:2]
	scorer, leaves := tr.Scorer(), []int32{7, 7}
	if p, err := scorer.Predict(nil); err != nil || p.Leaf != 0 || p.Class != "n" || p.Tests != 0 {
		t.Errorf("a leaf alone: %v, %v", p, err)
	}
	if err := scorer.Leaves(nil, leaves); err != nil || leaves[0] != 0 || leaves[1] != 0 {
		t.Errorf("a leaf alone: leaves %v, %v", leaves, err)
	}
}

func TestValue(t *testing.T) {
	for want, v := range map[string]tree.Value{
		"missing": {}, "0": tree.Number(0), "1.5": tree.Number(1.5), "+Inf": tree.Number(math.Inf(1)),
		`"missing"`: tree.Text("missing"), `""`: tree.Text(""),
	} {
		if v.String() != want || v.Missing() != (want == "missing") {
			t.Errorf("%v, missing %v: want %s", v, v.Missing(), want)
		}
	}
	for _, bits := range []uint64{0x7ff8000000000000, 0x7ff8000000000001, 0x7ff0000000000001, 0xfff8000000000001} {
		if v := tree.Number(math.Float64frombits(bits)); !v.Missing() {
			t.Errorf("NaN of bits %x: %v, want missing", bits, v)
		}
	}
}

// A service loads a tree once and asks it about rows from any goroutine.
func ExampleTree_Scorer() {
	b, err := os.ReadFile(filepath.Join("testdata", "golden", "small.json")) // a tree.json
	if err != nil {
		log.Fatal(err)
	}
	t, err := tree.Decode(b)
	if err != nil {
		log.Fatal(err)
	}
	scorer := t.Scorer()

	for _, in := range scorer.Features() { // the values to pass, in this order
		fmt.Println(in.Name, in.Kind)
	}
	p, err := scorer.Predict([]tree.Value{tree.Number(24), tree.Text("b")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Class, p.Probabilities, "after", p.Tests, "tests for", p.Cost)

	p, err = scorer.Predict([]tree.Value{{}, tree.Text("b")}) // no age
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Class, p.Probabilities, "after", p.Tests, "tests for", p.Cost)
	// Output:
	// age numeric
	// job categorical
	// p [0 1] after 2 tests for 5
	// p [0 1] after 2 tests for 5
}

func BenchmarkScorer(b *testing.B) {
	const rows = 1 << 12
	for _, family := range []split.Family{split.Thresholds, split.Both, split.Multiways} {
		r := rand.New(rand.NewPCG(1, 1))
		tr := randomTree(r, family, 2000)
		scorer := tr.Scorer()
		values, columns := make([][]tree.Value, rows), make([][]any, len(tr.Features))
		for i := range values {
			v := randomRow(r, tr.Features)
			values[i] = v.values(scorer.Features())
			for f := range columns {
				columns[f] = append(columns[f], v[f])
			}
		}
		b.Run("by=row/tests="+family.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, v := range values {
					if _, err := scorer.Predict(v); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
		var vectors []dataset.Vector
		for _, in := range scorer.Features() {
			vectors = append(vectors, vectorOf(columns[in.Feature], in.Kind))
		}
		leaves := make([]int32, rows)
		b.Run("by=column/tests="+family.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := scorer.Leaves(vectors, leaves); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// TestScorerText gives a text to a numeric feature. It is an error if the row's path tests
// the feature, and ignored otherwise, in all kinds of tree.
func TestScorerText(t *testing.T) {
	numeric := smallTree()
	numeric.Features[1] = dataset.Feature{Name: "job", Kind: dataset.Numeric, Cuts: []float64{1}, Cost: 2}
	mixed := smallTree()
	mixed.Features[0], mixed.Features[1] = mixed.Features[1], mixed.Features[0]
	mixed.Features[0].Values = []string{"30.5"}
	mixed.Features[1].Name, mixed.Features[0].Name = "job", "age"
	mixed.Nodes[0].Test.Test = split.Test{Feature: 0, Kind: split.Equals, Code: 0}
	mixed.Nodes[2].Test.Test = split.Test{Feature: 1, Kind: split.Threshold, Code: 1}
	for name, tr := range map[string]*tree.Tree{"numeric": numeric, "mixed": mixed} {
		scorer := tr.Scorer()
		if p, err := scorer.Predict([]tree.Value{tree.Number(30.5), tree.Text("b")}); err != nil || p.Leaf != 1 {
			t.Errorf("%s: a text that is not asked for: %v, %v", name, p, err)
		}
		if _, err := scorer.Predict([]tree.Value{tree.Number(2), tree.Text("b")}); err == nil ||
			!strings.Contains(err.Error(), `column "job": not a number, as the feature needs (value "b")`) {
			t.Errorf("%s: a text that is asked for: %v", name, err)
		}
	}
}

// BenchmarkScorerNumbers scores rows by trees of numeric features only.
func BenchmarkScorerNumbers(b *testing.B) {
	const rows = 1 << 12
	fs := numericFeatures()
	for _, family := range []split.Family{split.Thresholds, split.Both} {
		r := rand.New(rand.NewPCG(1, 1))
		scorer := grownTree(r, family, 2000, fs).Scorer()
		values, numbers, predictions := make([][]tree.Value, rows), make([][]float64, rows), make([]*tree.Prediction, rows)
		for i := range values {
			values[i] = randomRow(r, fs).values(scorer.Features())
			numbers[i] = numbersOf(values[i])
		}
		b.Run("by=values/tests="+family.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, v := range values {
					if _, err := scorer.Predict(v); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
		b.Run("by=matrix/tests="+family.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := scorer.PredictMatrix(numbers, predictions); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

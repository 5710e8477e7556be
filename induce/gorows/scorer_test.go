package gorows_test

import (
	"database/sql"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/gorows"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// goldenTree reads a tree of package tree's tests.
func goldenTree(tb testing.TB, name string) *tree.Tree {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "tree", "testdata", "golden", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	t, err := tree.Decode(b)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// TestStructsAsNumbers: structs are scored as the same rows are as numbers, without
// allocation.
func TestStructsAsNumbers(t *testing.T) {
	structs, numbers := readings(2000)
	structs[0].D, numbers[0][3] = nil, math.NaN()
	structs[1].A, numbers[1][0] = math.NaN(), math.NaN()
	structs[2].H, numbers[2][7] = math.Inf(1), math.Inf(1)
	for _, depth := range []int{0, 1, 6} {
		model := readingTree(depth)
		s, plain := scorerOf[reading](t, model), model.Scorer()
		var into tree.Prediction
		for i := range structs {
			values := make([]tree.Value, 0, len(numbers[i]))
			for _, in := range plain.Features() {
				values = append(values, tree.Number(numbers[i][in.Feature]))
			}
			want, err := plain.Predict(values)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Predict(&structs[i])
			if err != nil {
				t.Fatal(err)
			}
			if err := s.PredictInto(&structs[i], &into); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" || into.Leaf != want.Leaf {
				t.Fatalf("depth %d, row %+v (-numbers +struct):\n%s", depth, structs[i], diff)
			}
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = s.Predict(&structs[0]) }); n > 0 {
			t.Errorf("depth %d: %v allocations for a row", depth, n)
		}
	}
}

// age is a named type.
type age float64

// day is a named type of points in time.
type day time.Time

// visit is a row with a field of each kind that a column may have.
type visit struct {
	base

	Age    age             `beam:"age"`
	Weight sql.NullFloat64 `json:"weight"`
	Pulse  sql.Null[int16] `parquet:"name=pulse, type=INT32"`
	Ward   *string         `json:"ward"`
	Smoker bool            `json:"smoker"`
	Since  day             `espalier:"since,date"`
	Seen   sql.NullTime    `json:"seen"`
	Count  uint64          `json:"count"`
	Other  any             `json:"other"`
	ID     []byte          `json:"id"` // no column that a tree could test
}

type base struct {
	Origin string `json:"origin"`
}

// visitTree tests each column of a visit once, one below the other: the leaf is the column's
// number, or that of no column.
func visitTree() *tree.Tree {
	t := &tree.Tree{
		Label: tree.Label{Column: "class", Classes: []string{"no", "yes"}},
		Features: []dataset.Feature{
			{Name: "age", Kind: dataset.Numeric, Cuts: []float64{60}},
			{Name: "weight", Kind: dataset.Numeric, Cuts: []float64{80.5}},
			{Name: "pulse", Kind: dataset.Numeric, Cuts: []float64{100}},
			{Name: "ward", Kind: dataset.Categorical, Type: dataset.Text, Values: []string{"a", "b"}},
			{Name: "smoker", Kind: dataset.Categorical, Type: dataset.Text, Values: []string{"false", "true"}},
			{Name: "since", Kind: dataset.Numeric, Unit: dataset.Date, Cuts: []float64{20000.5}},
			{Name: "seen", Kind: dataset.Numeric, Unit: dataset.Timestamp, Cuts: []float64{1.5e15}},
			{Name: "count", Kind: dataset.Numeric, Cuts: []float64{7}},
			{Name: "other", Kind: dataset.Numeric, Cuts: []float64{1}},
			{Name: "origin", Kind: dataset.Categorical, Type: dataset.Text, Values: []string{"x", "y"}},
		},
	}
	node := func() tree.Node {
		return tree.Node{
			Rows: 1, Objects: 1, Weight: 1, ClassWeights: []int64{1, 0}, RawClassWeights: []int64{1, 0},
			Probabilities: []float64{1, 0},
		}
	}
	for i := range t.Features {
		n := node()
		n.Test = &tree.Test{Test: split.Test{Feature: i, Kind: split.Threshold, Code: 1}, Cost: 1}
		if t.Features[i].Kind == dataset.Categorical {
			n.Test.Kind = split.Equals
		}
		n.Branches = []tree.Branch{{Outcome: 1, Child: 2*i + 1}, {Outcome: 0, Child: 2*i + 2, Missing: true, Other: true}}
		t.Nodes = append(t.Nodes, n, node())
	}
	t.Nodes = append(t.Nodes, node())
	// The test of feature i is node 2i, its yes leaf node 2i+1.
	return t
}

// TestStructOfAllKinds: a value of each kind leads to the leaf of its column, by a struct
// and by a map with the same values.
func TestStructOfAllKinds(t *testing.T) {
	model := visitTree()
	s := scorerOf[visit](t, model)
	m, err := gorows.NewMapScorer(model)
	if err != nil {
		t.Fatal(err)
	}
	b := "b"
	late := time.Date(2024, 10, 5, 1, 0, 0, 0, time.UTC) // day 20,001
	for i, c := range []struct {
		row  visit
		keys map[string]any
	}{
		{visit{Age: 60}, map[string]any{"age": age(60)}},
		{visit{Weight: sql.NullFloat64{Float64: 81, Valid: true}}, map[string]any{"weight": "81"}},
		{visit{Pulse: sql.Null[int16]{V: 100, Valid: true}}, map[string]any{"pulse": sql.Null[int]{V: 100, Valid: true}}},
		{visit{Ward: &b}, map[string]any{"ward": &b}},
		{visit{Smoker: true}, map[string]any{"smoker": true}},
		{visit{Since: day(late)}, map[string]any{"since": "2024-10-05"}},
		{visit{Seen: sql.NullTime{Time: late, Valid: true}}, map[string]any{"seen": late}},
		{visit{Count: 7}, map[string]any{"count": 7}},
		{visit{Other: 1}, map[string]any{"other": int8(1)}},
		{visit{base: base{"y"}}, map[string]any{"origin": "y"}},
		{visit{Weight: sql.NullFloat64{Float64: 81}, Other: math.NaN()}, map[string]any{"weight": nil}},
	} {
		want := 2*i + 1
		if i == len(model.Features) {
			want-- // no test says yes
		}
		p, err := s.Predict(&c.row)
		if err != nil || p.Leaf != want {
			t.Errorf("%+v: leaf %v, error %v, want leaf %d", c.row, p, err, want)
		}
		if p, err = m.Predict(c.keys); err != nil || p.Leaf != want {
			t.Errorf("%v: leaf %v, error %v, want leaf %d", c.keys, p, err, want)
		}
	}
}

// TestRefusedRows: what cannot be scored is told by its column.
func TestRefusedRows(t *testing.T) {
	model := visitTree()
	s := scorerOf[visit](t, model)
	for _, c := range []struct {
		row  visit
		want string
	}{
		{visit{Count: 1<<53 + 1}, `column "count": a whole number beyond 2^53`},
		{visit{Other: "many"}, `column "other": not a number, as the feature needs (value "many")`},
		{visit{Other: []int{1}}, `column "other": a value of type []int`},
	} {
		if _, err := s.Predict(&c.row); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.row, err, c.want)
		}
	}
	_, err := s.Predict(nil)
	for _, err := range []error{err, s.PredictInto(nil, new(tree.Prediction))} {
		if want := "a nil row of type *gorows_test.visit, expected a row"; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("a nil row: %v, want %s", err, want)
		}
	}
	m, err := gorows.NewMapScorer(model, "id")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Predict(map[string]any{"id": 7, "agee": 1.0, "Age": 1.0}); err == nil ||
		!strings.HasPrefix(err.Error(), "column \"Age\": no column has this name, only [\"age\" \"count\" \"id\"") ||
		!strings.Contains(err.Error(), `"agee"`) {
		t.Errorf("unknown names: %v", err)
	}
	for _, c := range []struct {
		column string
		value  any
		want   string
	}{
		{"age", "old", `not a number, as the feature needs (value "old"); give a number such as 12.5, or no value`},
		{"age", "True", `(value "True")`},
		{"age", []any{1.0}, `column "age": an array, expected a single value (value "[1]"); give a number`},
		{"age", json.Number("9007199254740993"), `(value "9007199254740993")`},
		{"age", json.Number("-9007199254740993"), `(value "-9007199254740993")`},
		{"age", "9007199254740993", `(value "9007199254740993")`},
		{"age", int64(9007199254740993), "a whole number beyond 2^53"},
		{"age", uint64(9007199254740993), "a whole number beyond 2^53"},
		{"since", "20001", "not a date, as the feature needs"},
		{"since", 20001, "the row has one of the numbers, the feature takes dates"},
		{"since", false, "not a date, as the feature needs"},
		{"since", "", ""},
		{"age", "", ""},
		{"age", true, ""},
		{"age", "false", ""},
		{"age", json.Number("9007199254740992"), ""},
		{"age", json.Number("1e300"), ""},
		{"age", "12.5", ""},
		{"age", nil, ""},
	} {
		_, err := m.Predict(map[string]any{c.column: c.value})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %v: %v, want %s", c.column, c.value, err, c.want)
		}
	}
	type few struct {
		Age    string `json:"age"`
		Weight float64
	}
	_, err = gorows.NewScorer[few](model)
	for _, want := range []string{`"age" is a text`, `no field for column "weight"`, `no field for column "since"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a struct without the fields: %v, want %s", err, want)
		}
	}
	if _, err := gorows.NewScorer[map[string]any](model); err == nil {
		t.Error("NewScorer takes a map")
	}
}

// TestStructsAtModels: leaves with models see the values of the struct.
func TestStructsAtModels(t *testing.T) {
	for _, name := range []string{"modelled", "boosted"} {
		model := goldenTree(t, name)
		m, err := gorows.NewMapScorer(model)
		if err != nil {
			t.Fatal(err)
		}
		plain := model.Scorer()
		var into tree.Prediction
		for _, x := range []float64{-3, 0.5, 12, 41, 900} {
			row, values := make(map[string]any), make([]tree.Value, 0)
			for _, in := range plain.Features() {
				value := tree.Number(x)
				if row[in.Name] = x; in.Kind == dataset.Categorical {
					value = tree.Text(model.Features[in.Feature].Values[0])
					row[in.Name] = model.Features[in.Feature].Values[0]
				}
				values = append(values, value)
			}
			want, err := plain.Predict(values)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Predict(row)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s, %v: %v (-values +map):\n%s", name, row, err, diff)
			}
			if err := m.PredictInto(row, &into); err != nil || cmp.Diff(*want, into) != "" {
				t.Errorf("%s, %v: PredictInto gives %+v, %v, want %+v", name, row, into, err, want)
			}
		}
	}
}

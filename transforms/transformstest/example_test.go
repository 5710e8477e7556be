package transformstest_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	//nolint:staticcheck // the runner of tests that need no other
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms"
	"github.com/espalier-ml/espalier/transforms/transformstest"
)

// TestMain runs the tests on direct, unless --runner says otherwise.
func TestMain(m *testing.M) { ptest.MainWithDefault(m, "direct") }

// Visit is a row. Age may be missing.
type Visit struct {
	Age    *float64 `json:"age"`
	Smoker bool     `json:"smoker"`
	City   string   `json:"city"`
	Class  string   `json:"class"`
}

func init() { beam.RegisterType(reflect.TypeFor[Visit]()) }

func config() transforms.TrainConfig { return transforms.SingleTrainConfig("class") }

func visits() []Visit {
	list := make([]Visit, 400)
	for i := range list {
		age := float64(i % 80)
		list[i] = Visit{&age, i%3 == 0, []string{"Oslo", "Rome", "Bonn"}[i%7%3], "well"}
		if age > 50 && i%3 == 0 || age > 60 && list[i].City == "Rome" {
			list[i].Class = "ill"
		}
	}
	return list
}

// grown returns the tree.json of rows.
func grown(runner string, rows []Visit, c transforms.TrainConfig) ([]byte, error) {
	var trees *transformstest.Collected[[]byte]
	err := transformstest.Run(runner, func(s beam.Scope) {
		trees = transformstest.Collect[[]byte](s, transforms.Train(s, beam.CreateList(s, rows), c).Trees)
	})
	if err != nil || len(trees.All()) != 1 {
		return nil, fmt.Errorf("%d trees, error %w", len(trees.All()), err)
	}
	return trees.All()[0], nil
}

// A pipeline grows the same tree of the same rows, and another one of other rows.
func Example() {
	first, err := grown("direct", visits(), config())
	if err != nil {
		fmt.Println(err)
	}
	again, _ := grown("prism", visits(), config())
	fmt.Printf("again: %q\n", transformstest.Diff(first, again))
	other, _ := grown("direct", visits()[:300], config())
	fmt.Println("fewer:", transformstest.Diff(first, other))
	// Output:
	// again: ""
	// fewer: nodes[0].class_weights[0] is 44, want 68
}

// model returns the tree of the visits.
func model(t *testing.T) *tree.Tree {
	t.Helper()
	encoded, err := grown("direct", visits(), config())
	if err != nil {
		t.Fatal(err)
	}
	made, err := tree.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestRows: a pipeline gives each row of a tree the class that the row has, and a tree of many such rows the same.
func TestRows(t *testing.T) {
	model := model(t)
	rows := transformstest.Rows[Visit](t, model, 0, 1)
	many := transformstest.Rows[Visit](t, model, 3*len(rows), 2)
	if len(rows) < 3*len(model.Nodes) || len(many) != 3*len(rows) {
		t.Errorf("%d and %d rows of a tree of %d nodes", len(rows), len(many), len(model.Nodes))
	}
	absent := 0
	for _, r := range rows {
		if r.Age == nil {
			absent++
		}
	}
	if absent == 0 {
		t.Error("no row lacks its age")
	}
	for runner, list := range map[string][]Visit{"direct": rows, "prism": many} {
		var scored *transformstest.Collected[transformstest.Pair[Visit, transforms.Prediction]]
		if err := transformstest.Run(runner, func(s beam.Scope) {
			out := transforms.Score(s, beam.CreateList(s, list), transforms.Model{Tree: model})
			scored = transformstest.CollectPairs[Visit, transforms.Prediction](s, out.Predictions)
		}); err != nil {
			t.Fatal(err)
		}
		if len(scored.All()) != len(list) {
			t.Errorf("%s: %d rows are scored, want %d", runner, len(scored.All()), len(list))
		}
		for _, p := range scored.All() {
			if p.Key.Class != p.Value.Class {
				t.Errorf("%s: %+v is of class %s", runner, p.Key, p.Value.Class)
			}
		}
	}
}

// TestMaps: rows that are maps.
func TestMaps(t *testing.T) {
	seen := make(map[any]int)
	for _, r := range transformstest.Rows[map[string]any](t, model(t), 0, 1) {
		seen[r["class"]]++
	}
	if seen["ill"] == 0 || seen["well"] == 0 || len(seen) != 2 {
		t.Errorf("classes %v", seen)
	}
}

// TestFaults: what goes wrong has an error.
func TestFaults(t *testing.T) {
	if err := transformstest.Run("direct", func(s beam.Scope) {
		transforms.Train(s, beam.CreateList(s, visits()), transforms.SingleTrainConfig("outcome"))
	}); err == nil {
		t.Error("a label that is no column passes")
	}
	if err := transformstest.Run("direct", func(s beam.Scope) { transformstest.Collect[string](s, beam.Create(s, 1)) }); err == nil {
		t.Error("a number is collected as a text")
	}
	if err := transformstest.Run("direct", func(s beam.Scope) {
		transformstest.CollectPairs[string, int](s, beam.AddFixedKey(s, beam.Create(s, 1)))
	}); err == nil {
		t.Error("a pair of numbers is collected as a text and a number")
	}
}

// TestDiff: by hand.
func TestDiff(t *testing.T) {
	for _, c := range []struct{ want, got, diff string }{
		{`{"nodes": [{"rows": 1}]}`, `{"nodes": [{"rows": 1}]}`, ""},
		{`{"a": 1, "nodes": [{"rows": 1}]}`, `{"a": 2, "nodes": [{"rows": 3}]}`, "nodes[0].rows is 3, want 1"},
		{`{"nodes": [{}, {"class": "x"}]}`, `{"nodes": [{}]}`, "nodes has 1 elements, want 2"},
		{`{"nodes": [{"class": "x"}]}`, `{"nodes": [{"test": {"price": 2}}]}`, `nodes[0].class is absent, want "x"`},
		{`{"nodes": [1]}`, `{"nodes": {}}`, "nodes is {}, want [1]"},
		{`{"n": 9007199254740993}`, `{"n": 9007199254740992}`, "n is 9007199254740992, want 9007199254740993"},
		{`{}`, `x`, "the tree is not a tree.json: invalid character 'x' looking for beginning of value"},
	} {
		if got := transformstest.Diff([]byte(c.want), []byte(c.got)); got != c.diff {
			t.Errorf("%s, %s: %q, want %q", c.want, c.got, got, c.diff)
		}
	}
}

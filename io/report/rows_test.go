package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/textview"
)

var update = flag.Bool("update", false, "write testdata/rows.json anew")

// scored is a tree as a page has it, and rows with what the tree gives them.
type scored struct {
	Name string          `json:"name"`
	Data json.RawMessage `json:"data"`
	Rows []scoredRow     `json:"rows"`
}

// scoredRow is a row: its values by feature of the tree (null: missing; of a category its code),
// the leaf, the class, the probabilities, and what was paid for how many tests.
type scoredRow struct {
	Values        map[string]*float64 `json:"values"`
	Leaf          int                 `json:"leaf"`
	Class         string              `json:"class"`
	Probabilities []float64           `json:"probabilities"`
	Tests         int                 `json:"tests"`
	Paid          float64             `json:"paid"`
}

// TestRows: the tests of score.js compare it with testdata/rows.json. This file has what the trees
// give.
func TestRows(t *testing.T) {
	var all []scored
	for _, name := range []string{
		"billed", "boosted_sets", "both", "dated", "modelled", "multiway", "onehot", "set", "threshold", "decided", "decided_boosted",
		"decided_models", unordered,
	} {
		m := treeOf(t, name)
		_, data := parts(t, written(t, &report.Content{Run: runOf(m)}))
		s := scored{Name: name, Data: json.RawMessage(data)}
		r := rand.New(rand.NewPCG(1, uint64(len(name))))
		for range 40 {
			s.Rows = append(s.Rows, scoreRow(t, r, m))
		}
		all = append(all, s)
	}
	got, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/rows.json"
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(append(got, '\n'), want) {
		t.Errorf("%s is not what the trees give: go test ./io/report -run TestRows -update writes it", file)
	}
}

// unordered is the name of unorderedTree among the trees of TestRows.
const unordered = "unordered"

// treeOf returns a tree of TestRows.
func treeOf(t *testing.T, name string) *tree.Tree {
	t.Helper()
	if name == unordered {
		return unorderedTree(t)
	}
	b, err := os.ReadFile(filepath.Join("../../induce/tree/testdata/golden", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := tree.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// scoreRow makes up a row and sends it through a tree.
func scoreRow(t *testing.T, r *rand.Rand, m *tree.Tree) scoredRow {
	t.Helper()
	row := scoredRow{Values: make(map[string]*float64)}
	inquiry := m.Questions().Start(0)
	for q := inquiry.Next(); q != nil; q = inquiry.Next() {
		f := featureOf(t, m, q.Feature)
		v, x := valueOf(r, f)
		row.Values[textview.Name(q.Feature)] = x
		if err := inquiry.Answer(v); err != nil {
			t.Fatal(err)
		}
	}
	s := inquiry.Standing()
	row.Leaf, row.Class, row.Probabilities, row.Tests, row.Paid = s.Node, s.Class, s.Probabilities, s.Tests, s.Paid
	return row
}

func featureOf(t *testing.T, m *tree.Tree, name string) *dataset.Feature {
	t.Helper()
	for i := range m.Features {
		if m.Features[i].Name == name {
			return &m.Features[i]
		}
	}
	t.Fatalf("the tree has no feature %q", name)
	return nil
}

// valueOf makes up a value of a feature: missing, at a cut, beside one, or a category.
func valueOf(r *rand.Rand, f *dataset.Feature) (tree.Value, *float64) {
	if r.IntN(8) == 0 {
		return tree.Value{}, nil
	}
	if f.Kind == dataset.Numeric {
		x := r.NormFloat64() * 10
		if len(f.Cuts) > 0 && r.IntN(4) > 0 {
			x = f.Cuts[r.IntN(len(f.Cuts))] + float64(r.IntN(3)-1)*0.25
		}
		return tree.Number(x), &x
	}
	code := r.IntN(len(f.Values) + 1)
	x := float64(code)
	if code == f.OtherCode() {
		return tree.Text("no value of the training rows"), &x
	}
	return tree.Text(f.Values[code]), &x
}

package train_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// publicSet is a public data set.
type publicSet struct{ name, input, label, categorical string }

// publicSets lists the data sets of the manifest that are there.
func publicSets(t *testing.T) []publicSet {
	t.Helper()
	folder := filepath.Join("..", "..", "bench", "data")
	manifest, err := os.ReadFile(filepath.Join(folder, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var sets []publicSet
	for i, line := range strings.Split(strings.TrimSpace(string(manifest)), "\n") {
		f := strings.Split(line, "\t")
		if _, err := os.Stat(filepath.Join(folder, f[0])); i > 0 && err == nil {
			sets = append(sets, publicSet{f[0], filepath.Join(folder, f[0], "*.parquet"), f[8], strings.Trim(f[9], "-")})
		}
	}
	return sets
}

// quickTree trains the first tree of the default grid, where every third feature
// costs something else and shares a set-up with others.
func (s *publicSet) quickTree(t *testing.T, columns []string, freeRepeats bool) *tree.Tree {
	t.Helper()
	costs := &strings.Builder{}
	fmt.Fprintln(costs, "feature,cost,group,group_cost")
	for i, name := range columns {
		if name != s.label && i%3 == 0 {
			fmt.Fprintf(costs, "%s,%v,visit %d,2.5\n", name, 0.5+float64(i%4), i%2)
		}
	}
	c := oneTree()
	c.CostsFile = filepath.Join(t.TempDir(), "costs.csv")
	if err := os.WriteFile(c.CostsFile, []byte(costs.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	c.Input, c.Label, c.Output, c.FreeRepeats, c.Split = []string{s.input}, s.label, "mem://"+t.Name(), freeRepeats, dataset.Shares{70, 10, 20}
	if s.categorical != "" {
		c.Categorical = strings.Split(s.categorical, ",")
	}
	if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
		t.Fatal(err)
	}
	tr, err := pipelines.ReadTree(t.Context(), c.Output)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestScoredPublicData: on each row of the public data sets the scorer reaches the leaf of
// the router, which goes by codes. It does so row by row and by columns. Asking for one value
// at a time asks for each feature on the path once and for no other, and costs the bill of
// the path.
func TestScoredPublicData(t *testing.T) {
	for i, s := range publicSets(t) {
		t.Run(s.name, func(t *testing.T) {
			if testing.Short() && i%4 != 0 {
				t.Skip("waits for a run without -short: a tree of each of 16 data sets")
			}
			files, err := filepath.Glob(s.input)
			if err != nil || len(files) == 0 {
				t.Fatalf("no files (%v)", err)
			}
			var names []string
			for _, c := range openFile(t, files[0]).Columns() {
				names = append(names, c.Name)
			}
			asking := newAsking(s.quickTree(t, names, i%2 == 1))
			for _, name := range files {
				f := openFile(t, name)
				for g := range f.RowGroups() {
					asking.rowGroup(t, f, g)
				}
			}
		})
	}
}

func openFile(t *testing.T, name string) *parquetio.File {
	t.Helper()
	f, err := parquetio.Open(t.Context(), objectstore.New(), name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// asking is a tree in all forms in which it scores rows.
type asking struct {
	*tree.Tree

	scorer    *tree.Scorer
	router    *tree.Router
	questions *tree.Questions
	names     []string
	encoders  []*dataset.Encoder
	layout    dataset.Layout
	needed    []map[string]bool // by node: the features on the way there
}

func newAsking(t *tree.Tree) *asking {
	a := &asking{Tree: t, scorer: t.Scorer(), router: t.Router(), questions: t.Questions(), layout: dataset.NewLayout(t.Features), needed: make([]map[string]bool, len(t.Nodes))}
	for i := range t.Features {
		a.names, a.encoders = append(a.names, t.Features[i].Name), append(a.encoders, dataset.NewEncoder(&t.Features[i]))
	}
	for i := range t.Nodes {
		for _, b := range t.Nodes[i].Branches {
			below := map[string]bool{t.Features[t.Nodes[i].Test.Feature].Name: true}
			for name := range a.needed[i] {
				below[name] = true
			}
			a.needed[b.Child] = below
		}
	}
	return a
}

func (a *asking) rowGroup(t *testing.T, f *parquetio.File, number int) {
	t.Helper()
	g, err := f.RowGroup(t.Context(), number, a.names)
	if err != nil {
		t.Fatal(err)
	}
	vectors := make([]dataset.Vector, len(a.names))
	keys := make([]byte, g.Rows()*a.layout.Stride)
	for i := range vectors {
		if err := g.ReadColumn(i, &vectors[i]); err != nil {
			t.Fatal(err)
		}
		a.encoders[i].Encode(&vectors[i], keys, a.layout.Offsets[i], a.layout.Stride, nil)
	}
	var columns []dataset.Vector
	for _, in := range a.scorer.Features() {
		columns = append(columns, vectors[in.Feature])
	}
	leaves := make([]int32, g.Rows())
	if err := a.scorer.Leaves(columns, leaves); err != nil {
		t.Fatal(err)
	}
	values := make([]tree.Value, len(columns))
	for r := range leaves {
		codes := make([]int, len(a.names))
		for i, at := range a.layout.Offsets {
			key := keys[r*a.layout.Stride+at:]
			if codes[i] = int(key[0]); a.layout.Widths[i] == 2 {
				codes[i] |= int(key[1]) << 8
			}
		}
		o := dataset.NewObjects(a.layout, 1, false, 1)
		o.Append(codes, []dataset.ClassWeight{{Weight: 1}}, 1)
		want := a.router.Leaf(o, 0)
		for i := range columns {
			values[i] = valueAt(&columns[i], r)
		}
		p, err := a.scorer.Predict(values)
		if err != nil || p.Leaf != want || int(leaves[r]) != want {
			t.Fatalf("row %d: %v, %v, by columns leaf %d, want %d", r, p, err, leaves[r], want)
		}
		a.inquire(t, r, values, p)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
}

func (a *asking) inquire(t *testing.T, r int, values []tree.Value, want *tree.Prediction) {
	t.Helper()
	inquiry, asked := a.questions.Start(0), make(map[string]bool)
	for q := inquiry.Next(); q != nil; q = inquiry.Next() {
		in := 0
		for a.scorer.Features()[in].Name != q.Feature {
			in++
		}
		if asked[q.Feature] || !a.needed[want.Leaf][q.Feature] {
			t.Fatalf("row %d: %q is asked for, which is known or not on the way", r, q.Feature)
		}
		asked[q.Feature] = true
		if err := inquiry.Answer(values[in]); err != nil {
			t.Fatal(err)
		}
	}
	if got := inquiry.Paid(); len(asked) != len(a.needed[want.Leaf]) || math.Abs(got-want.Cost) > 1e-9 {
		t.Fatalf("row %d: %d features asked for %v, want %d for %v", r, len(asked), got, len(a.needed[want.Leaf]), want.Cost)
	}
}

// valueAt returns a row's value.
func valueAt(v *dataset.Vector, r int) tree.Value {
	switch {
	case v.Missing(r):
		return tree.Value{}
	case v.Type == dataset.Text:
		return tree.Text(v.Texts[v.Index[r]])
	case v.Index == nil:
		return tree.Number(v.Numbers[r])
	default:
		return tree.Number(v.Numbers[v.Index[r]])
	}
}

package inmemory_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// golden is one instance with the trees that the object-by-object definition
// of the criterion gives (origin: a separate
// implementation of that definition in Python).
type golden struct {
	Name    string    `json:"name"`
	Classes int       `json:"classes"`
	Theta   float64   `json:"theta"`
	Lambda  float64   `json:"lambda"`
	Costs   []float64 `json:"costs"`
	Objects []struct {
		Tests     []int   `json:"tests"`
		Class     int     `json:"class"`
		Weight    int64   `json:"weight"`
		ClassRows []int64 `json:"class_rows"`
	} `json:"objects"`
	Expected map[string]struct {
		RootScores   map[string]float64 `json:"root_scores"`
		Tree         goldenNode         `json:"tree"`
		ExpectedCost float64            `json:"expected_cost"`
		Nodes        int                `json:"nodes"`
		Leaves       int                `json:"leaves"`
		Depth        int                `json:"depth"`
	} `json:"expected"`
}

type goldenNode struct {
	Objects  int64                 `json:"objects"`
	Weight   int64                 `json:"weight"`
	Classes  []int64               `json:"classes"`
	Test     *int                  `json:"test"`
	Children map[string]goldenNode `json:"children"`
}

func (g *golden) columns() []split.Column {
	columns := make([]split.Column, len(g.Costs))
	for f, cost := range g.Costs {
		codes := 0
		for _, o := range g.Objects {
			codes = max(codes, o.Tests[f]+1)
		}
		columns[f] = split.Column{Codes: codes + 2, Cost: cost}
	}
	return columns
}

func (g *golden) objects(columns []split.Column) (*dataset.Objects, int64) {
	layout := dataset.Layout{Offsets: make([]int, len(columns)), Widths: make([]int, len(columns))}
	for f := range columns {
		layout.Offsets[f], layout.Widths[f] = f, 1
		layout.Stride++
	}
	o := dataset.NewObjects(layout, g.Classes, false, len(g.Objects))
	total := int64(0)
	for _, x := range g.Objects {
		var raw []dataset.ClassWeight
		for k, w := range x.ClassRows {
			if w > 0 {
				raw = append(raw, dataset.ClassWeight{Class: uint16(k), Weight: w})
			}
		}
		o.Append(x.Tests, raw, x.Weight)
		total += x.Weight
	}
	return o, total
}

// TestGolden grows every instance by every algorithm.
func TestGolden(t *testing.T) {
	folder := filepath.Join("testdata", "golden")
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden instances in %s (%v)", folder, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var g golden
		if err := json.Unmarshal(b, &g); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for name := range g.Expected {
			t.Run(g.Name+"/"+name, func(t *testing.T) { testGolden(t, &g, name) })
		}
	}
}

func testGolden(t *testing.T, g *golden, name string) {
	t.Helper()
	algorithm, err := split.ParseAlgorithm(name)
	if err != nil {
		t.Fatal(err)
	}
	want := g.Expected[name]
	columns := g.columns()
	objects, total := g.objects(columns)
	p := induce.Params{Algorithm: algorithm, Family: split.Multiways, Lambda: g.Lambda, Theta: g.Theta}
	for test, score := range want.RootScores {
		f, err := strconv.Atoi(test)
		if err != nil {
			t.Fatal(err)
		}
		only := make([]split.Column, len(columns))
		copy(only, columns)
		got := rootScore(objects, only, f, p, total)
		if math.Abs(got-score) > 1e-9*max(1, math.Abs(score)) {
			t.Errorf("root score of test %d: %v, want %v", f, got, score)
		}
	}
	grown := tree.Tree{Nodes: tree.SumUp(inmemory.Grow(objects, columns, p, total, inmemory.Options{Workers: 2}))}
	compareGolden(t, grown.Nodes, 0, &want.Tree, "root")
	grown.Measure()
	c := grown.Complexity
	if c.Nodes != want.Nodes || c.Leaves != want.Leaves || c.Depth != want.Depth {
		t.Errorf("nodes, leaves, depth: %d, %d, %d, want %d, %d, %d", c.Nodes, c.Leaves, c.Depth,
			want.Nodes, want.Leaves, want.Depth)
	}
	if math.Abs(c.ExpectedCost-want.ExpectedCost) > 1e-9*max(1, want.ExpectedCost) {
		t.Errorf("expected cost %v, want %v", c.ExpectedCost, want.ExpectedCost)
	}
}

// rootScore returns the score of one test at the root: of the tree that has no
// other test.
func rootScore(o *dataset.Objects, columns []split.Column, test int, p induce.Params, total int64) float64 {
	one := *o
	one.Codes = o.Codes[test : test+1]
	p.MaxDepth = 1
	return inmemory.Grow(&one, columns[test:test+1], p, total, inmemory.Options{})[0].Test.Score.Total
}

func compareGolden(t *testing.T, nodes []tree.Node, at int, want *goldenNode, path string) {
	t.Helper()
	got := &nodes[at]
	if got.Objects != want.Objects || got.Weight != want.Weight {
		t.Errorf("%s: %d objects of weight %d, want %d of %d", path, got.Objects, got.Weight, want.Objects, want.Weight)
	}
	for k, w := range want.Classes {
		if got.ClassWeights[k] != w {
			t.Errorf("%s: class %d weighs %d, want %d", path, k, got.ClassWeights[k], w)
		}
	}
	if (got.Test == nil) != (want.Test == nil) {
		t.Fatalf("%s: leaf %v, want %v", path, got.Test == nil, want.Test == nil)
	}
	if got.Test == nil {
		return
	}
	if got.Test.Feature != *want.Test {
		t.Fatalf("%s: test %d, want %d", path, got.Test.Feature, *want.Test)
	}
	if len(got.Branches) != len(want.Children) {
		t.Fatalf("%s: %d children, want %d", path, len(got.Branches), len(want.Children))
	}
	for _, b := range got.Branches {
		outcome := strconv.Itoa(b.Outcome)
		next, ok := want.Children[outcome]
		if !ok {
			t.Fatalf("%s: no outcome %s expected", path, outcome)
		}
		compareGolden(t, nodes, b.Child, &next, path+"/"+outcome)
	}
}

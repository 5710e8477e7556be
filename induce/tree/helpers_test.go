package tree_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares bytes with a golden file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; accept with go test ./induce/tree -update):\n%s", file, diff)
	}
}

// features returns features with names and values that JSON must escape, with all kinds
// of test, and with codes of one and two bytes.
func features() []dataset.Feature {
	many := dataset.Feature{Name: "many", Kind: dataset.Numeric, Cost: 2}
	for i := range 300 {
		many.Cuts = append(many.Cuts, float64(i)/8)
	}
	return []dataset.Feature{
		{Name: "age", Kind: dataset.Numeric, Cuts: []float64{-1e-7, 30.5, 41, 1e21}, Missing: 12, Cost: 1},
		{
			Name: `quote " and \`, Kind: dataset.Categorical, Values: []string{"a", `"`, `\`, "<&>", "\n", "é", "\u2028"},
			Other: 3, Cost: 0.1,
		},
		{Name: "constant", Kind: dataset.Numeric, Cuts: []float64{}, Missing: 3, Cost: 1},
		{Name: "", Kind: dataset.Categorical, Values: []string{"", "no", "yes"}, Cost: 1e-7},
		many,
	}
}

// families are all families of tests.
func families() []split.Family {
	return []split.Family{split.OneHot, split.Thresholds, split.Both, split.Multiways, split.Sets, split.All}
}

// randomTree grows a tree on random objects.
func randomTree(r *rand.Rand, family split.Family, objects int) *tree.Tree {
	return grownTree(r, family, objects, features())
}

// grownTree grows a tree on random objects of these features.
func grownTree(r *rand.Rand, family split.Family, objects int, fs []dataset.Feature) *tree.Tree {
	return billedAs(r, family, objects, fs, "")
}

// billedAs is grownTree with a --repeat_cost.
func billedAs(r *rand.Rand, family split.Family, objects int, fs []dataset.Feature, repeats string) *tree.Tree {
	return grownWith(r, family, objects, fs, repeats, []string{"negative", "positive", `\"`})
}

// grownOf is grownTree with a number of classes.
func grownOf(r *rand.Rand, family split.Family, objects int, fs []dataset.Feature, classes int) *tree.Tree {
	var names []string
	for k := range classes {
		names = append(names, string(rune('a'+k)))
	}
	return grownWith(r, family, objects, fs, "", names)
}

func grownWith(r *rand.Rand, family split.Family, objects int, fs []dataset.Feature, repeats string,
	classes []string,
) *tree.Tree {
	o := dataset.NewObjects(dataset.NewLayout(fs), len(classes), false, objects)
	codes := make([]int, len(fs))
	for range objects {
		for f := range fs {
			codes[f] = r.IntN(fs[f].Codes())
		}
		o.Append(codes, []dataset.ClassWeight{{Class: uint16(r.IntN(len(classes))), Weight: int64(1 + r.IntN(4))}}, 1)
	}
	p := induce.Params{Algorithm: split.EC45, Family: family, Lambda: 1}
	columns := split.Columns(fs)
	for i := range columns {
		columns[i].FreeRepeats = repeats == tree.RepeatFree
		columns[i].Prior = 0.05 // few rows prove no effect of a value
	}
	total := o.TotalWeight()
	nodes := inmemory.Grow(o, columns, p, total, inmemory.Options{})
	t := tree.New(fs, nodes)
	t.Label = tree.Label{Column: "class", Classes: classes}
	t.Algorithm = tree.Algorithm{
		Name: "ec45", Lambda: 1, Tests: family.String(), Bins: 300, Binning: `k-means, "exact": \`,
		LeafEstimate: "smoothed", Prune: "none", Seed: math.MaxUint64,
		RepeatCost: repeats,
	}
	t.Training = tree.Training{Rows: total, Objects: int64(objects), Weight: total}
	t.Bill()
	t.Estimate(tree.Smoothed, 1)
	t.Measure()
	return t
}

// smallTree is a tree by hand: two tests, three leaves.
//
//	0: age >= 30.5 or missing?
//	  1: yes: leaf
//	  2: no: job = "b"?
//	    3: yes: leaf
//	    4: no: leaf
func smallTree() *tree.Tree {
	node := func(rows int64, class, raw []int64) tree.Node {
		return tree.Node{Rows: rows, Objects: rows, Weight: rows, ClassWeights: class, RawClassWeights: raw}
	}
	t := &tree.Tree{
		Label: tree.Label{Column: "y", Classes: []string{"n", "p"}},
		Features: []dataset.Feature{
			{Name: "age", Kind: dataset.Numeric, Cuts: []float64{30.5}, Cost: 3},
			{Name: "job", Kind: dataset.Categorical, Values: []string{"a", "b"}, Cost: 2},
		},
		Nodes: []tree.Node{
			node(20, []int64{13, 7}, []int64{12, 8}),
			node(8, []int64{8, 0}, []int64{8, 0}),
			node(12, []int64{5, 7}, []int64{4, 8}),
			node(2, []int64{0, 2}, []int64{0, 2}),
			node(10, []int64{5, 5}, []int64{4, 6}),
		},
	}
	t.Nodes[0].Test = &tree.Test{Test: split.Test{Feature: 0, Kind: split.Threshold, Code: 1}, Cost: 3}
	t.Nodes[0].Branches = []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2, Missing: true}}
	t.Nodes[2].Test = &tree.Test{Test: split.Test{Feature: 1, Kind: split.Equals, Code: 1}, Cost: 2}
	t.Nodes[2].Branches = []tree.Branch{{Outcome: 1, Child: 3}, {Outcome: 0, Child: 4, Missing: true, Other: true}}
	t.Estimate(tree.Raw, 1)
	t.Measure()
	return t
}

// row is a row of raw values by feature: nil, a float64 or a string.
type row []any

// randomRow draws values on, between and beyond the cuts, listed and unlisted
// values, and nulls.
func randomRow(r *rand.Rand, fs []dataset.Feature) row {
	values := make(row, len(fs))
	for i := range fs {
		f := &fs[i]
		switch {
		case r.IntN(5) == 0: // null
		case f.Kind == dataset.Numeric:
			x := []float64{0, math.Inf(1), math.Inf(-1), r.NormFloat64() * 50}[r.IntN(4)]
			if len(f.Cuts) > 0 && r.IntN(2) == 0 {
				x = f.Cuts[r.IntN(len(f.Cuts))]
			}
			values[i] = []float64{x, math.Nextafter(x, math.Inf(-1))}[r.IntN(2)]
		default:
			values[i] = append(f.Values, "unseen")[r.IntN(len(f.Values)+1)]
		}
	}
	return values
}

// codes returns the codes of a row as the glossary of dataset defines them.
func (v row) codes(fs []dataset.Feature) []int {
	codes := make([]int, len(fs))
	for i := range fs {
		f := &fs[i]
		switch x := v[i].(type) {
		case nil:
			codes[i] = f.Codes() - 1
		case float64:
			for _, cut := range f.Cuts {
				if cut <= x {
					codes[i]++
				}
			}
		case string:
			if codes[i] = slices.Index(f.Values, x); codes[i] < 0 {
				codes[i] = len(f.Values)
			}
		}
	}
	return codes
}

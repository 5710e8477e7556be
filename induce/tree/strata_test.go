package tree_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// askedByAge returns a tree that asks for a lab, whose value 80 % of the old and 20 % of the young have, and its rows. Age is a
// number or a text. all has the weights by code of the lab and class if all rows had the value:
//
//	lab           well  ill
//	low, young     700  100
//	high, young    100   50
//	low, old       200  150
//	high, old      100  350
func askedByAge(t *testing.T, kind dataset.Kind) (made *tree.Tree, o *dataset.Objects, all [2][]int64) {
	t.Helper()
	age := dataset.Feature{Name: "age", Kind: dataset.Numeric, Cuts: []float64{50}}
	if kind == dataset.Categorical {
		age = dataset.Feature{Name: "age", Kind: kind, Type: dataset.Text, Values: []string{"young", "old"}}
	}
	features := []dataset.Feature{age, {Name: "lab", Kind: dataset.Numeric, Cuts: []float64{1.5}, Missing: 930, Cost: 30, Unordered: true}}
	o = dataset.NewObjects(dataset.NewLayout(features), 2, true, 6)
	for age, share := range []int64{20, 80} {
		absent := []int64{0, 0}
		for lab, weights := range [][2]int64{{[]int64{700, 200}[age], []int64{100, 150}[age]}, {100, []int64{50, 350}[age]}} {
			known := []int64{weights[0] * share / 100, weights[1] * share / 100}
			all[lab] = append(all[lab], 0, 0)[:2]
			for class, w := range weights {
				all[lab][class] += w
				absent[class] += w - known[class]
			}
			o.Append([]int{age, lab}, []dataset.ClassWeight{{Class: 0, Weight: known[0]}, {Class: 1, Weight: known[1]}}, known[0]+known[1])
		}
		o.Append([]int{age, 2}, []dataset.ClassWeight{{Class: 0, Weight: absent[0]}, {Class: 1, Weight: absent[1]}}, absent[0]+absent[1])
	}
	columns := split.Columns(features)
	p := induce.Params{Algorithm: split.C45, Family: split.Thresholds, Classes: split.OfRows, MaxDepth: 1}
	columns[1].First = 1
	made = tree.New(features, inmemory.Grow(o, columns, p, o.TotalWeight(), inmemory.Options{}))
	made.Label = tree.Label{Column: "class", Classes: []string{"well", "ill"}}
	made.Algorithm = tree.Algorithm{Name: "c45", LeafEstimate: tree.Raw, Prune: "none", Classes: tree.ClassesOfRows}
	made.Training = tree.Training{Rows: 1750, Objects: 6, Weight: 1750}
	made.Bill()
	made.Estimate(tree.Raw, 1)
	return made, o, all
}

// TestStrata: whether a value was ordered depends on a feature that the tree does not ask. In the strata of the feature the known
// weights equal the weights of a world in which all rows have the value; without strata the weights differ.
func TestStrata(t *testing.T) {
	for _, kind := range []dataset.Kind{dataset.Numeric, dataset.Categorical} {
		made, o, all := askedByAge(t, kind)
		strata := made.Stratify(o, o.TotalWeight())
		if strata == nil {
			t.Fatal("no strata")
		}
		counts := made.CountObjects(o)
		leaves := func() (weights [2][]int64) {
			known := made.KnownCounts(counts)
			for i := range made.Nodes {
				if n := &made.Nodes[i]; n.Leaf() && i > 1 {
					lab := 1 - slices.IndexFunc(made.Nodes[2].Branches, func(b tree.Branch) bool { return b.Child == i })
					weights[lab] = known.Weights[i]
				}
			}
			return weights
		}
		if diff := cmp.Diff(all, leaves()); diff == "" {
			t.Error("without strata the known weights are those of all rows: the test shows nothing")
		}
		counts.Strata = &tree.StrataCounts{Strata: strata, Counts: strata.Counting.CountObjects(o)}
		if diff := cmp.Diff(all, leaves()); diff != "" {
			t.Errorf("known weights in strata by a feature of kind %v (-want +got):\n%s", kind, diff)
		}
		counting, err := tree.Decode(strata.Counting.Encode())
		if err != nil {
			t.Fatalf("the counting tree cannot be sent to workers: %v", err)
		}
		again, err := made.StrataBy(counting)
		if err != nil {
			t.Fatal(err)
		}
		counts.Strata = &tree.StrataCounts{Strata: again, Counts: counting.CountObjects(o)}
		if diff := cmp.Diff(all, leaves()); diff != "" {
			t.Errorf("known weights by a counting tree that was sent (-want +got):\n%s", diff)
		}
		renamed := *made
		renamed.Label.Classes = []string{"well", "sick", "dead"}
		moved := *made
		moved.Features = slices.Clone(made.Features)
		for f := range moved.Features {
			moved.Features[f].Cuts = slices.Clone(moved.Features[f].Cuts)
			for i := range moved.Features[f].Cuts {
				moved.Features[f].Cuts[i]++
			}
		}
		for _, other := range []*tree.Tree{orderedLab(t, false), &renamed, &moved} {
			if _, err := other.StrataBy(counting); err == nil {
				t.Error("strata of another tree are accepted")
			}
		}
	}
}

// TestStrataOfRareClass: no ill young row has the lab, so the rows of all strata divide the class, 30 to 10. Below it, as few
// rows as 4 would divide it by chance; a class with enough rows is divided in its stratum.
func TestStrataOfRareClass(t *testing.T) {
	made, o, _ := askedByAge(t, dataset.Numeric)
	strata := made.Stratify(o, o.TotalWeight())
	for _, ill := range []int64{0, 4} { // ill young rows with a high lab
		judged := dataset.NewObjects(dataset.NewLayout(made.Features), 2, true, 6)
		for _, row := range []struct {
			age, lab  int
			well, ill int64
		}{{0, 0, 90, 0}, {0, 1, 10, ill}, {0, 2, 100, 40 - ill}, {1, 0, 10, 30}, {1, 1, 30, 10 - ill}} {
			judged.Append([]int{row.age, row.lab}, []dataset.ClassWeight{{Class: 0, Weight: row.well}, {Class: 1, Weight: row.ill}}, row.well+row.ill)
		}
		counts := made.CountObjects(judged)
		counts.Strata = &tree.StrataCounts{Strata: strata, Counts: strata.Counting.CountObjects(judged)}
		old := 40 - ill // ill old rows, all with the lab
		want := [][]int64{{180 + 10, 30 + 30}, {20 + 30, 10 + old - 30}}
		var got [][]int64
		for _, b := range made.Nodes[2].Branches {
			got = append(got, made.KnownCounts(counts).Weights[b.Child])
		}
		slices.SortFunc(got, func(a, b []int64) int { return int(b[0] - a[0]) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d ill young rows have a high lab: known weights by lab (-want +got):\n%s", ill, diff)
		}
	}
}

// TestStrataOfNothing: there are no strata where the value was ordered at random, where all rows have it, and for trees
// without presence tests.
func TestStrataOfNothing(t *testing.T) {
	made, o, _ := askedByAge(t, dataset.Numeric)
	random := dataset.NewObjects(dataset.NewLayout(made.Features), 2, true, 6)
	for age := range 2 {
		for lab := range 3 {
			random.Append([]int{age, lab}, []dataset.ClassWeight{{Class: 0, Weight: 100}, {Class: 1, Weight: 100}}, 200)
		}
	}
	if made.Stratify(random, random.TotalWeight()) != nil {
		t.Error("strata though nothing tells who has the value")
	}
	if orderedLab(t, false).Stratify(o, 100) != nil {
		t.Error("strata without presence tests")
	}
}

package comparison_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// golden reads a tree of package tree.
func golden(t *testing.T, name string) *tree.Tree {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "tree", "testdata", "golden", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := tree.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// drawn scores random rows by a tree. Every code of a feature is as likely.
func drawn(t *testing.T, r *rand.Rand, m *tree.Tree, n int) *tree.Scores {
	t.Helper()
	scorer := m.Scorer()
	var columns []dataset.Vector
	for _, in := range scorer.Features() {
		f := &m.Features[in.Feature]
		v := dataset.Vector{Type: dataset.Number}
		if f.Kind == dataset.Categorical {
			v.Type = dataset.Text
		}
		for range n {
			switch {
			case f.Kind == dataset.Categorical:
				v.Texts = append(v.Texts, append(slices.Clone(f.Values), "another")[r.IntN(len(f.Values)+1)])
			case r.IntN(8) == 0:
				v.Numbers = append(v.Numbers, math.NaN())
			default:
				v.Numbers = append(v.Numbers, append([]float64{-1e9}, f.Cuts...)[r.IntN(len(f.Cuts)+1)]+float64(r.IntN(3)))
			}
		}
		if f.Kind == dataset.Categorical { // texts have a dictionary
			for i := range n {
				v.Index = append(v.Index, int32(i))
			}
		}
		columns = append(columns, v)
	}
	var s tree.Scores
	if err := scorer.Score(columns, n, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// TestCounts: the counts equal the counts of a map of single rows, for trees with and without
// models, and their bytes do not depend on the order of rows and merges.
func TestCounts(t *testing.T) {
	for _, names := range [][2]string{{"modelled", "modelled"}, {"modelled", "both"}, {"both", "both"}, {"boosted", "modelled"}} {
		a, b := golden(t, names[0]), golden(t, names[1])
		labelled := comparison.SameClasses(a, b)
		r, n := rand.New(rand.NewPCG(81, 2)), 300
		sa, sb := drawn(t, r, a, n), drawn(t, r, b, n)
		count := func(rows []int) *comparison.Counts {
			c, err := comparison.NewCounts(a, b, labelled)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range rows {
				class := 0
				if labelled {
					class = i % len(a.Label.Classes)
				}
				c.Count(sa, sb, i, class, int64(i%5), 1, 0)
			}
			return c
		}
		var all []int
		want := make(map[string]int64)
		describe := func(m *tree.Tree, s *tree.Scores, i int) string {
			leaf := &m.Nodes[s.Leaves[i]]
			if leaf.Model == nil {
				return fmt.Sprint(s.Leaves[i], leaf.Class, leaf.Probabilities)
			}
			return fmt.Sprint(s.Leaves[i], s.Classes[i], s.Of(i))
		}
		for i := range n {
			all = append(all, i)
			want[describe(a, sa, i)+" "+describe(b, sb, i)] += 1e6 + int64(i%5)
		}
		whole, got := count(all), make(map[string]int64)
		for _, r := range whole.List() {
			key := fmt.Sprint(r.A.Leaf, r.A.Class, r.A.Probabilities) + " " + fmt.Sprint(r.B.Leaf, r.B.Class, r.B.Probabilities)
			for k, w := range r.Weights {
				got[key] += 1e6*r.ByClass[k] + w
			}
			if r.Rows != sum(r.ByClass) {
				t.Errorf("%d rows, by class %d", r.Rows, r.ByClass)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: rows (-map +counts):\n%s", names, diff)
		}
		r.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		merged, parts := count(nil), [][]byte(nil)
		for part := range slices.Chunk(all, 70) {
			parts = append(parts, count(part).Encode())
			if err := merged.Merge(parts[len(parts)-1]); err != nil {
				t.Fatal(err)
			}
		}
		without, err := comparison.MergeCounts(parts)
		if err != nil || !bytes.Equal(without, whole.Encode()) || !bytes.Equal(merged.Encode(), whole.Encode()) {
			t.Errorf("%v: merged, the bytes differ (%v)", names, err)
		}
		if err := merged.Merge(parts[0][:len(parts[0])-1]); err == nil {
			t.Errorf("%v: bytes that are cut short are taken", names)
		}
	}
}

func sum(list []int64) int64 {
	total := int64(0)
	for _, x := range list {
		total += x
	}
	return total
}

// TestRounded: beyond the bound leaves, classes and weights stay exact, and probabilities sum to 1.
func TestRounded(t *testing.T) {
	a := golden(t, "modelled")
	s := drawn(t, rand.New(rand.NewPCG(82, 1)), a, 400)
	exact, err := comparison.NewCounts(a, a, true)
	if err != nil {
		t.Fatal(err)
	}
	rounded, _ := comparison.NewCounts(a, a, true)
	rounded.Bound(3)
	for i := range 400 {
		exact.Count(s, s, i, i%2, 1, 1, 0)
		rounded.Count(s, s, i, i%2, 1, 1, 0)
	}
	if rounded.LostBits() == 0 || exact.LostBits() != 0 {
		t.Fatalf("lost bits: %d and %d", rounded.LostBits(), exact.LostBits())
	}
	for _, r := range rounded.List() {
		total := 0.0
		for _, p := range r.A.Probabilities {
			total += p
		}
		if math.Abs(total-1) > 1e-12 || !slices.Equal(r.A.Probabilities, r.B.Probabilities) {
			t.Errorf("probabilities %v and %v", r.A.Probabilities, r.B.Probabilities)
		}
	}
	if x, y := comparison.PredictedClasses(a, a, exact.List()), comparison.PredictedClasses(a, a, rounded.List()); !slices.Equal(x, y) {
		t.Errorf("predicted %v, exact %v", y, x)
	}
}

// TestClassOrder: another order of the same classes changes nothing; other classes are refused with
// labels.
func TestClassOrder(t *testing.T) {
	a, b, c := stump(3), stump(3), stump(3)
	b.Label.Classes = []string{"yes", "no"}
	for i := 1; i < 3; i++ {
		slices.Reverse(b.Nodes[i].Probabilities)
		b.Nodes[i].Class = 1 - b.Nodes[i].Class
	}
	counts, err := comparison.NewCounts(a, b, true)
	if err != nil {
		t.Fatal(err)
	}
	counts.Count(&tree.Scores{Leaves: []int32{1}}, &tree.Scores{Leaves: []int32{1}}, 0, 1, 1, 1, 0)
	list := counts.List()
	if r := list[0]; r.A.Known != r.B.Known || !slices.Equal(r.A.Probabilities, r.B.Probabilities) {
		t.Errorf("%+v", r)
	}
	if f := comparison.NewFlips(a, b, list, true); f.Rows != 0 || *f.PValue != 1 {
		t.Errorf("%+v", f)
	}
	if m := comparison.Match(a, b, list); m.Unchanged != 3 || m.Estimates != 0 {
		t.Errorf("%+v", m)
	}
	c.Label.Classes = []string{"no", "perhaps"}
	if _, err := comparison.NewCounts(a, c, true); err == nil {
		t.Error("other classes are taken with labels")
	}
	if got := comparison.Missing(c, a); !slices.Equal(got, []string{"perhaps"}) {
		t.Errorf("missing %q", got)
	}
}

// question is a node of a made-up tree: an equality, a threshold, or a leaf of a class.
type question struct {
	feature string
	cut     float64
	value   string
	class   int
	yes, no *question
}

func leaf(class int) *question { return &question{class: class} }

func above(feature string, cut float64, yes, no *question) *question {
	return &question{feature: feature, cut: cut, yes: yes, no: no}
}

func is(feature, value string, yes, no *question) *question {
	return &question{feature: feature, value: value, yes: yes, no: no}
}

// grown makes a tree of three classes over x and y, with the given cuts of each, and a color.
func grown(root *question, cuts ...float64) *tree.Tree {
	t := &tree.Tree{
		Label: tree.Label{Classes: []string{"a", "b", "c"}},
		Features: []dataset.Feature{
			{Name: "x", Kind: dataset.Numeric, Cuts: cuts},
			{Name: "y", Kind: dataset.Numeric, Cuts: cuts},
			{Name: "color", Kind: dataset.Categorical, Values: []string{"blue", "red"}, Type: dataset.Text},
		},
	}
	list := []*question{root}
	for at := 0; at < len(list); at++ {
		q := list[at]
		n := tree.Node{Class: q.class, Probabilities: []float64{.2, .2, .2}}
		n.Probabilities[q.class] += .4
		if q.yes != nil {
			n.Test = &tree.Test{Test: split.Test{Kind: split.Threshold, Code: slices.Index(cuts, q.cut) + 1}}
			switch q.feature {
			case "y":
				n.Test.Feature = 1
			case "color":
				n.Test.Test = split.Test{Feature: 2, Kind: split.Equals, Code: slices.Index(t.Features[2].Values, q.value)}
			}
			n.Branches = []tree.Branch{
				{Outcome: 1, Child: len(list)},
				{Outcome: 0, Child: len(list) + 1, Missing: true, Other: q.feature == "color"},
			}
			list = append(list, q.yes, q.no)
		}
		t.Nodes = append(t.Nodes, n)
	}
	return t
}

// leavesOf returns the leaf of a row, and the nodes on its way.
func wayOf(t *tree.Tree, x, y float64, color string) (way []int) {
	for at := 0; ; {
		way = append(way, at)
		n := &t.Nodes[at]
		if n.Leaf() {
			return way
		}
		f := &t.Features[n.Test.Feature]
		yes := 0
		switch {
		case f.Kind == dataset.Categorical && f.Values[n.Test.Code] == color,
			f.Name == "x" && x >= f.Cuts[n.Test.Code-1], f.Name == "y" && y >= f.Cuts[n.Test.Code-1]:
			yes = 1
		}
		at = n.Branches[1-yes].Child
	}
}

// TestMatch: made-up pairs of trees have the differences that were made.
func TestMatch(t *testing.T) {
	base := func() *question {
		return above("x", 2, above("y", 1, leaf(0), leaf(1)), is("color", "red", leaf(1), leaf(2)))
	}
	for name, c := range map[string]struct {
		b    *question
		cuts []float64
		want string // unchanged changed removed added, then the differences: kind, node of A, of B, nodes alone
	}{
		"the same":            {base(), []float64{1, 2}, "7 0 0 0"},
		"another cut between": {base(), []float64{1, 1.5, 2, 3}, "7 0 0 0"},
		"a moved cut": {
			above("x", 3, base().yes, base().no), []float64{1, 3}, "6 1 0 0 moved_cut 0 0 0 0",
		},
		"a leaf grown": {
			above("x", 2, above("y", 1, above("x", 4, leaf(0), leaf(1)), leaf(1)), base().no),
			[]float64{1, 2, 4},
			"6 1 0 2 added 3 3 0 2",
		},
		"a branch cut": {above("x", 2, base().yes, leaf(2)), []float64{1, 2}, "4 1 2 0 removed 2 2 2 0"},
		"another class": {
			above("x", 2, base().yes, is("color", "red", leaf(0), leaf(2))), []float64{1, 2}, "6 1 0 0 other_class 5 5 0 0",
		},
		"another value": {
			above("x", 2, base().yes, is("color", "blue", leaf(1), leaf(2))), []float64{1, 2}, "4 1 2 2 other_test 2 2 2 2",
		},
		"another feature": {
			above("x", 2, is("color", "red", leaf(0), leaf(1)), base().no), []float64{1, 2}, "4 1 2 2 other_test 1 1 2 2",
		},
		// The quarters below are reached by the same rows.
		"another order": {
			above("y", 1, above("x", 2, leaf(0), leaf(2)), above("x", 2, leaf(1), leaf(2))),
			[]float64{1, 2},
			"2 1 4 4 other_test 0 0 4 4",
		},
	} {
		a, b := grown(base(), 1, 2), grown(c.b, c.cuts...)
		counts, err := comparison.NewCounts(a, b, true)
		if err != nil {
			t.Fatal(err)
		}
		var ways [][2][]int
		r := rand.New(rand.NewPCG(83, 1))
		for range 200 {
			x, y, color := 5*r.Float64(), 2*r.Float64(), []string{"red", "blue", "green"}[r.IntN(3)]
			way := [2][]int{wayOf(a, x, y, color), wayOf(b, x, y, color)}
			ways = append(ways, way)
			end := func(side int) *tree.Scores { return &tree.Scores{Leaves: []int32{int32(way[side][len(way[side])-1])}} }
			counts.Count(end(0), end(1), 0, r.IntN(3), 2, 1, 0)
		}
		m := comparison.Match(a, b, counts.List())
		parts := []string{fmt.Sprint(m.Unchanged, m.Changed, m.Removed, m.Added)}
		for _, d := range m.Differences {
			parts = append(parts, fmt.Sprint(d.Kind, " ", d.A, d.B, d.NodesA, d.NodesB))
			checkRows(t, name, &d, ways)
		}
		got := strings.Join(parts, " ")
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if len(a.Nodes) != m.Unchanged+m.Changed+m.Removed || len(b.Nodes) != m.Unchanged+m.Changed+m.Added {
			t.Errorf("%s: %s do not sum to %d and %d nodes", name, got, len(a.Nodes), len(b.Nodes))
		}
	}
}

// checkRows counts the rows of a difference by the way of each.
func checkRows(t *testing.T, name string, d *comparison.Difference, ways [][2][]int) {
	t.Helper()
	var rows, other int64
	for _, way := range ways {
		inA, inB := slices.Index(way[0], d.A), slices.Index(way[1], d.B)
		if inA >= 0 || inB >= 0 {
			rows++
		}
		if d.Kind == comparison.MovedCut && inA >= 0 && inB >= 0 && way[0][inA+1] != way[1][inB+1] { // numbered alike here
			other++
		}
	}
	if d.Rows != rows || d.Weight != 2*rows || d.OtherWay != other || d.OtherWayWeight != 2*other {
		t.Errorf("%s: %+v, want %d rows and %d", name, d, rows, other)
	}
}

// TestMatchGolden: golden trees, of every kind of test, are the same as themselves, and have no node in
// common with trees of other features but the root.
func TestMatchGolden(t *testing.T) {
	names := []string{"billed", "boosted", "both", "dated", "modelled", "multiway", "onehot", "small", "threshold", "wishful"}
	for _, name := range names {
		a, b := golden(t, name), golden(t, name)
		if m := comparison.Match(a, b, nil); m.Unchanged != len(a.Nodes) || len(m.Differences) != 0 {
			t.Errorf("%s: %+v", name, m)
		}
		for i := range b.Features {
			b.Features[i].Name += "'"
		}
		m := comparison.Match(a, b, nil)
		if len(m.Differences) != 1 || m.Differences[0].Kind != comparison.OtherTest || m.Unchanged != 0 {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// TestMultiway: a value that one tree alone lists is a branch of its own.
func TestMultiway(t *testing.T) {
	fan := func(values ...string) *tree.Tree {
		m := &tree.Tree{
			Label:    tree.Label{Classes: []string{"a", "b"}},
			Features: []dataset.Feature{{Name: "color", Kind: dataset.Categorical, Values: values, Type: dataset.Text}},
			Nodes:    []tree.Node{{Test: &tree.Test{Test: split.Test{Kind: split.Multiway}}}},
		}
		for k := range values {
			last := k == len(values)-1
			m.Nodes[0].Branches = append(m.Nodes[0].Branches, tree.Branch{Outcome: k, Child: k + 1, Missing: last, Other: last})
			m.Nodes = append(m.Nodes, tree.Node{Class: k % 2, Probabilities: []float64{.5, .5}})
		}
		return m
	}
	m := comparison.Match(fan("a", "b", "d", "z"), fan("a", "c", "d", "z"), nil)
	var got []string
	for _, d := range m.Differences {
		got = append(got, fmt.Sprint(d.Kind, d.A, d.B, d.NodesA, d.NodesB))
	}
	if text := strings.Join(got, ", "); text != "added-1 2 0 1, removed2 -1 1 0" || m.Unchanged != 4 {
		t.Errorf("%s; %+v", text, m)
	}
}

// TestMcNemar has the expected values of scipy 1.17.1: binomtest(a, a+b, 0.5).pvalue.
func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		a, b int64
		want float64
	}{
		{0, 0, 1},
		{1, 0, 1},
		{7, 7, 1},
		{3, 10, 0.09228515625},
		{100, 140, 0.01166409231767769},
		{0, 5000, 0},
		{20000, 20500, 0.013153825113144245},
		{1000000, 1003000, 0.034088365079432},
	} {
		for _, got := range []float64{comparison.McNemar(c.a, c.b), comparison.McNemar(c.b, c.a)} {
			if math.Abs(got-c.want) > 1e-10*c.want {
				t.Errorf("%d and %d: %v, want %v", c.a, c.b, got, c.want)
			}
		}
	}
}

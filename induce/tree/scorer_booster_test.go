package tree_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// withBoosters gives leaves random boosters over the features of their paths. Each inner node
// has one with the given probability, for the leaves that have none of a node in between. A
// booster has at most these numbers of trees and of splits in a tree.
func withBoosters(r *rand.Rand, tr *tree.Tree, share float64, trees, splits int) *tree.Tree {
	width := portable.Scores(len(tr.Label.Classes))
	paths, boosters := make([][]int, len(tr.Nodes)), make([]*boost.Booster, len(tr.Nodes))
	for i := range tr.Nodes {
		n := &tr.Nodes[i]
		if n.Leaf() {
			if boosters[i] != nil && n.Model == nil {
				n.Model = &tree.LeafModel{Intercept: make([]float64, width)}
			}
			if n.Model != nil {
				n.Model.Booster = boosters[i]
			}
			continue
		}
		path := paths[i]
		if f := n.Test.Feature; len(tr.Features[f].Cuts)+len(tr.Features[f].Values) > 0 && !slices.Contains(path, f) {
			path = append(slices.Clone(path), f)
		}
		if len(path) > 0 && r.Float64() < share {
			boosters[i] = randomBooster(r, tr.Features, path, width, 1+r.IntN(trees), 1+r.IntN(splits), r.IntN)
		}
		for _, b := range n.Branches {
			paths[b.Child], boosters[b.Child] = path, boosters[i]
		}
	}
	return tr
}

// randomBooster returns a booster of these numbers of trees and of splits in each. pick picks
// the side of a new split among open sides.
func randomBooster(r *rand.Rand, fs []dataset.Feature, among []int, width, trees, splits int,
	pick func(open int) int,
) *boost.Booster {
	b := new(boost.Booster)
	for range trees {
		t := make(boost.Tree, splits)
		var open []*int // numbers of splits to come
		for i := range t {
			s := &t[i]
			s.Feature, s.Missing = among[r.IntN(len(among))], r.IntN(2) == 0
			if f := &fs[s.Feature]; f.Kind == dataset.Numeric {
				s.Code = 1 + r.IntN(len(f.Cuts))
			} else {
				only := r.IntN(len(f.Values))
				for code := range uint16(len(f.Values)) {
					if int(code) == only || r.IntN(3) == 0 {
						s.Codes = append(s.Codes, code)
					}
				}
			}
			if i > 0 {
				k := pick(len(open))
				*open[k] = i
				open = slices.Delete(open, k, k+1)
			}
			open = append(open, &s.Yes.Split, &s.No.Split)
		}
		for i := range t {
			for _, side := range []*boost.Side{&t[i].Yes, &t[i].No} {
				if side.Split > 0 {
					continue
				}
				side.Values = make([]float64, width)
				for k := range side.Values {
					side.Values[k] = r.NormFloat64()
				}
			}
		}
		b.Trees = append(b.Trees, t)
	}
	return b
}

// boostedTree is modelledTree with a booster at leaf 1 and one of leaves 3 and 4.
func boostedTree() *tree.Tree {
	tr := modelledTree()
	tr.Nodes[1].Model = &tree.LeafModel{Intercept: []float64{-1}, Booster: &boost.Booster{Trees: []boost.Tree{
		{{Feature: 0, Code: 1, Yes: boost.Side{Values: []float64{2}}, No: boost.Side{Values: []float64{-3}}}},
	}}}
	both := &boost.Booster{Trees: []boost.Tree{
		{
			{Feature: 0, Code: 1, Missing: true, Yes: boost.Side{Values: []float64{0.5}}, No: boost.Side{Split: 1}},
			{Feature: 1, Codes: []uint16{1}, Yes: boost.Side{Values: []float64{1.5}}, No: boost.Side{Values: []float64{-0.25}}},
		},
		{{
			Feature: 1, Codes: []uint16{0}, Missing: true, Yes: boost.Side{Values: []float64{0.125}},
			No: boost.Side{Values: []float64{-1}},
		}},
	}}
	tr.Nodes[3].Model = &tree.LeafModel{Intercept: []float64{1}, Booster: both}
	tr.Nodes[4].Model.Booster = both
	return tr
}

// setsTree is boostedTree with more values, and splits by sets of them.
func setsTree() *tree.Tree {
	tr := boostedTree()
	tr.Features[1].Values = []string{"a", "b", "c", "d \"e\", 'f'"}
	of := tr.Nodes[4].Model.Booster.Trees
	of[0][1].Codes = []uint16{0, 1, 3}
	of[1][0].Codes = []uint16{0, 3}
	return tr
}

// TestBoosterBits: a leaf's scores are the intercept, the terms and the booster, added in this
// order.
func TestBoosterBits(t *testing.T) {
	golden(t, "boosted.json", boostedTree().Encode())
	golden(t, "boosted_sets.json", setsTree().Encode())
	golden(t, "decided_boosted.json", boostedTree().WithDecision(&tree.Decision{Positive: "p", Threshold: .3}).Encode())
	boosted := 0
	modelTrees(t, func(t *testing.T, tr *tree.Tree, rows []row) {
		t.Helper()
		tr.Label.Priors = nil
		scorer := tr.Scorer()
		for _, v := range rows {
			p, err := scorer.Predict(v.values(scorer.Features()))
			if err != nil {
				t.Fatal(err)
			}
			m := tr.Nodes[p.Leaf].Model
			if m == nil || m.Booster == nil {
				continue
			}
			scores := slices.Clone(m.Intercept)
			for i := range m.Terms {
				x, ok := v[m.Terms[i].Feature].(float64)
				if !ok {
					x = math.NaN()
				}
				m.Terms[i].AddTo(scores, x)
			}
			codes := v.codes(tr.Features)
			growtest.AddBooster(m.Booster, scores, tr.Features, func(feature int) int { return codes[feature] })
			want := make([]float64, len(tr.Label.Classes))
			portable.FillProbabilities(want, scores)
			if !slices.Equal(p.Probabilities, want) {
				t.Errorf("%v: %v, want %v", v, p.Probabilities, want)
			}
			boosted++
		}
	})
	if boosted < 500 {
		t.Errorf("%d rows at leaves with boosters: the test shows little", boosted)
	}
}

// TestBoosterOfManySplits: many trees, of few splits and of as many as a tree may have, and categories of
// many values.
func TestBoosterOfManySplits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	tr := boostedTree()
	for i := range 300 {
		tr.Features[1].Values = append(tr.Features[1].Values, string(rune('a'+2+i)))
	}
	all := tr.Nodes[4].Model.Booster
	for _, splits := range []int{31, 30, 1, 31, 2} {
		all.Trees = append(all.Trees, randomBooster(r, tr.Features, []int{0, 1}, 1, 40, splits, r.IntN).Trees...)
	}
	scorer := tr.Scorer()
	for range 500 {
		v := randomRow(r, tr.Features)
		p, err := scorer.Predict(v.values(scorer.Features()))
		if want := expected(tr, p.Leaf, v); err != nil || !near12(p.Probabilities, want) {
			t.Fatalf("%v: %v, %v, want %v", v, p, err, want)
		}
	}
}

// TestBoosterOfZeros: a booster that raises no score.
func TestBoosterOfZeros(t *testing.T) {
	tr := boostedTree()
	first := &tr.Nodes[1].Model.Booster.Trees[0][0]
	first.Yes.Values[0], first.No.Values[0] = 0, 0
	scorer := tr.Scorer()
	p, err := scorer.Predict([]tree.Value{tree.Number(50), {}})
	if want := 1 / (1 + math.Exp(1)); err != nil || p.Leaf != 1 || math.Abs(p.Probabilities[1]-want) > 1e-12 {
		t.Errorf("%+v, %v, want %v", p, err, want)
	}
	if inputs, ok := scorer.ModelOf(1); !ok || len(inputs) != 1 {
		t.Errorf("inputs %v, %v, want one", inputs, ok)
	}
}

// TestBoostersShared: leaves that share a booster do so after Decode and Tested, and only
// features that are used stay.
func TestBoostersShared(t *testing.T) {
	tr := boostedTree()
	tr.Features = slices.Insert(tr.Features, 0, dataset.Feature{Name: "pay", Kind: dataset.Numeric, Cuts: []float64{1}})
	after := func(f int) int { return f + 1 }
	seen := make(map[*boost.Booster]*boost.Booster)
	for i := range tr.Nodes {
		if n := &tr.Nodes[i]; !n.Leaf() {
			n.Test.Feature++
		} else {
			if n.Model.Terms != nil {
				n.Model.Terms[0].Feature++
			}
			if seen[n.Model.Booster] == nil {
				seen[n.Model.Booster] = n.Model.Booster.Renumbered(after)
			}
			n.Model.Booster = seen[n.Model.Booster]
		}
	}
	if diff := cmp.Diff(string(boostedTree().Encode()), string(tr.Tested().Encode())); diff != "" {
		t.Errorf("Tested (-want +got):\n%s", diff)
	}
	decoded, err := tree.Decode(tr.Encode())
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]*tree.Tree{"Decode": decoded, "Tested": tr.Tested(), "both": decoded.Tested()} {
		of := func(node int) *boost.Booster { return got.Nodes[node].Model.Booster }
		if of(3) != of(4) || of(1) == of(3) || of(1) == nil {
			t.Errorf("%s: boosters %p, %p, %p, want one of leaf 1 and one of leaves 3 and 4", what, of(1), of(3), of(4))
		}
	}
	checkTexts(t, tr, tr.Tested(), firstTrees(tr), firstTrees(tr.Tested()))
}

// firstTrees returns the tree with the first tree of each booster.
func firstTrees(tr *tree.Tree) *tree.Tree {
	short := *tr
	short.Nodes = slices.Clone(tr.Nodes)
	for i := range short.Nodes {
		if n := &short.Nodes[i]; n.Leaf() {
			model := *n.Model
			model.Booster = &boost.Booster{Trees: n.Model.Booster.Trees[:1]}
			n.Model = &model
		}
	}
	return &short
}

// checkTexts checks that trees are encoded with the texts of each other as without them.
func checkTexts(t *testing.T, list ...*tree.Tree) {
	t.Helper()
	texts := new(tree.Texts)
	for range 2 {
		for i, tr := range list {
			tr.Texts = nil
			plain := tr.Encode()
			if tr.Texts = texts; !bytes.Equal(tr.Encode(), plain) {
				t.Errorf("tree %d: another encoding with the texts of other trees", i)
			}
		}
	}
}

// TestBoosterFeatures: ModelOf and ModelRanges name the features of the terms, then the features of
// the booster.
func TestBoosterFeatures(t *testing.T) {
	tr := boostedTree()
	scorer, ranges := tr.Scorer(), tr.ModelRanges()
	for leaf, want := range map[int][]int{1: {0}, 3: {0, 1}, 4: {0, 1}} {
		inputs, ok := scorer.ModelOf(leaf)
		var got []int
		for _, in := range inputs {
			got = append(got, in.Feature)
		}
		if !ok || !slices.Equal(got, want) || !slices.Equal(ranges[leaf].Features, want) {
			t.Errorf("leaf %d: %v, %v and %v, want %v", leaf, got, ok, ranges[leaf].Features, want)
		}
	}
	if r := ranges[1]; r.Low != r.High { // the split asks what the path has asked
		t.Errorf("leaf 1: range %+v, want one number", r)
	}
}

// boostedSplit is a split of boostedTree's features.
const boostedSplit = `{"feature":"age","ge":30.5,"yes":[1],"no":[1]}`

// hostileBoosters lists edits of boostedTree that Decode must refuse.
func hostileBoosters() []struct{ name, from, to, want string } {
	const first, last = `"yes": [0.5], "no": 1`, `"yes": [1.5], "no": [-0.25]`
	return []struct{ name, from, to, want string }{
		{"version 1", `"version": 3`, `"version": 1`, "boosters in a file of version 1: want version 3"},
		{"version 2", `"version": 3`, `"version": 2`, "boosters in a file of version 2: want version 3"},
		{"version 5", `"version": 3`, `"version": 5`, "version 5: want \"espalier/tree\" version 1 to 4"},
		{"none", `"boosters": [`, `"others": [`, "node 1: model: booster 0: want one of the 0 of the file"},
		{"after nodes", `"boosters": [`, `"nodes": [], "boosters": [`, "boosters come after nodes: want them before"},
		{"null boosters", `"boosters": [`, `"boosters": null, "others": [`, "want an array"},
		{"empty booster", `"boosters": [`, `"boosters": [[],`, "booster 0: no trees: want at least one"},
		{"empty tree", `"boosters": [`, `"boosters": [[[]],`, "booster 0: tree 0: no splits: want at least one"},
		{
			"33 leaves", `"boosters": [`, `"boosters": [[[` + strings.Repeat(boostedSplit+", ", 31) + boostedSplit + `]],`,
			"booster 0: tree 0: split 31: want at most 31 splits, of a tree of 32 leaves",
		},
		{
			"second split", `"boosters": [`, `"boosters": [[[` + boostedSplit + `, 7]],`,
			"booster 0: tree 0: split 1: not a tree.json",
		},
		{"a number", `"boosters": [`, `"boosters": [[[7]],`, "booster 0: tree 0: split 0: not a tree.json"},
		{
			"unused", `"boosters": [`, `"boosters": [[[{"feature": "age", "ge": 30.5, "yes": [1], "no": [1]}]],`,
			"booster 2: no leaf",
		},
		{"out of range", `"booster": 1`, `"booster": 2`, "node 3: model: booster 2: want one of the 2 of the file"},
		{"below range", `"booster": 1`, `"booster": -1`, "booster -1: want one of the 2"},
		{"a text", `"booster": 1`, `"booster": "1"`, "not a tree.json"},
		{
			"path", `"booster": 0`, `"booster": 1`,
			`node 1: model: feature "job" of the booster is not tested on the leaf's path`,
		},
		{
			"unknown feature", `"feature": "age", "ge": 30.5, "missing"`, `"feature": "agee", "ge": 30.5, "missing"`,
			`booster 1: tree 0: split 0: feature "agee" is not among features`,
		},
		{
			"no cut", `"ge": 30.5, "missing"`, `"ge": 30, "missing"`,
			`split 0: feature "age": want ge, one of the feature's cuts`,
		},
		{"no ge", `"ge": 30.5, "missing"`, `"missing"`, `feature "age": want ge, one of`},
		{"ge and is", `"ge": 30.5, "missing"`, `"ge": 30.5, "is": "a", "missing"`, `feature "age": want ge, one of`},
		{"no is", `"is": "b", `, ``, `booster 1: tree 0: split 1: feature "job": want is or in: one of the feature's values`},
		{"is and ge", `"is": "b", `, `"is": "b", "ge": 1, `, `feature "job": want is or in`},
		{"is and in", `"is": "b", `, `"is": "b", "in": ["a"], `, `feature "job": want is or in`},
		{"none in", `"is": "b", `, `"in": [], `, `feature "job": want is or in`},
		{"twice in", `"is": "b", `, `"in": ["b", "b"], `, `feature "job": in: want different values`},
		{"unknown in", `"is": "b", `, `"in": ["b", "c"], `, `feature "job": "c": want one of the feature's values`},
		{"unknown value", `"is": "b", `, `"is": "c", `, `feature "job": "c": want one of the feature's values`},
		{"no yes", `"yes": [0.5], `, ``, "split 0: yes: want the number of a later split, or a list of numbers"},
		{"no no", `, "no": 1`, ``, "split 0: no: want the number"},
		{"a text as a side", first, `"yes": [0.5], "no": "1"`, "split 0: no: want the number"},
		{"a broken number", first, `"yes": [0.5], "no": 1.5`, "split 0: no: want the number"},
		{"long numbers", first, `"yes": [0.5, 1], "no": 1`, "split 0: yes: 2 numbers: want 1"},
		{"no numbers", first, `"yes": [], "no": 1`, "split 0: yes: 0 numbers: want 1"},
		{"huge number", first, `"yes": [1e39], "no": 1`, "split 0: yes: 1e+39: want numbers from"},
		{"texts", first, `"yes": ["a"], "no": 1`, "booster 1: tree 0: split 0: not a tree.json"},
		{
			"itself", first, `"yes": [0.5], "no": 0`,
			"booster 1: tree 0: split 0: its side is split 0: want a later split of the 2",
		},
		{"null side", first, `"yes": [0.5], "no": null`, "split 0: its side is split 0"},
		{"beyond", first, `"yes": [0.5], "no": 2`, "split 0: its side is split 2: want a later"},
		{"back", last, `"yes": 0, "no": [-0.25]`, "split 1: its side is split 0: want a later"},
		{"two parents", first, `"yes": 1, "no": 1`, "booster 1: tree 0: split 1 has 2 parents: want 1"},
		{"no parent", first, `"yes": [0.5], "no": [1]`, "booster 1: tree 0: split 1 has 0 parents: want 1"},
	}
}

func TestDecodeBoosterErrors(t *testing.T) {
	refuse(t, boostedTree(), hostileBoosters())
	late := strings.Replace(string(boostedTree().Encode()), `"version": 3`, `"v": 3`, 1)
	late = strings.TrimSuffix(late, "\n}\n") + ",\n  \"version\": 2\n}\n"
	if _, err := tree.Decode([]byte(late)); err == nil ||
		!strings.Contains(err.Error(), "boosters in a file of version 2") {
		t.Errorf("a version at the end: %v", err)
	}
	named := strings.Replace(string(modelledTree().Encode()), `"terms": [`, `"booster": 0, "terms": [`, 1)
	if _, err := tree.Decode([]byte(named)); err == nil ||
		!strings.Contains(err.Error(), "node 4: model: boosters in a file of version 2: want version 3") {
		t.Errorf("a booster without boosters: %v", err)
	}
}

// boostersOf returns by leaf a booster of 10 trees of 31 splits: one for each node at depth 3,
// over the features of its path.
func boostersOf(r *rand.Rand, tr *tree.Tree) []*boost.Booster {
	tests, _ := tr.PathCosts()
	paths, boosters := make([][]int, len(tr.Nodes)), make([]*boost.Booster, len(tr.Nodes))
	for i := range tr.Nodes {
		n := &tr.Nodes[i]
		if boosters[i] == nil && (tests[i] == 3 || n.Leaf()) {
			first := func(int) int { return 0 } // trees of depth 5
			boosters[i] = randomBooster(r, tr.Features, paths[i], portable.Scores(len(tr.Label.Classes)), 10, 31, first)
		}
		for _, b := range n.Branches {
			paths[b.Child], boosters[b.Child] = append(slices.Clone(paths[i]), n.Test.Feature), boosters[i]
		}
	}
	return boosters
}

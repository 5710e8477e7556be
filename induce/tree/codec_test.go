package tree_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

func TestGolden(t *testing.T) {
	golden(t, "small.json", smallTree().Encode())
	golden(t, "billed.json", billedTree().Encode())
	golden(t, "wishful.json", wishfulTree().Encode())
	golden(t, "dated.json", datedTree(3).Encode())
	golden(t, "decided.json", decidedTree().Encode())
	golden(t, "decided_models.json", decidedModels().Encode())
	for _, family := range families() {
		objects := 12
		if family == split.Sets { // a value needs two rows
			objects = 40
		}
		golden(t, family.String()+".json", randomTree(rand.New(rand.NewPCG(1, 2)), family, objects).Encode())
	}
}

// TestEarlierComplexity: a tree of version 0.3, with the costs of the tests at their own prices as
// expected_cost and max_cost, is read with the billed costs.
func TestEarlierComplexity(t *testing.T) {
	want := billedTree()
	now := []byte(`"expected_cost": 8.2, "expected_tests": 2.1, "max_cost": 9,`)
	before := []byte(`"expected_cost": 5.7, "expected_tests": 2.1, "max_cost": 8, "expected_billed_cost": 8.2, "max_billed_cost": 9,`)
	document := want.Encode()
	if bytes.Count(document, now) != 1 {
		t.Fatalf("%s has no complexity", document)
	}
	got, err := tree.Decode(bytes.Replace(document, now, before, 1))
	if err != nil || got.Complexity != want.Complexity {
		t.Errorf("read as %+v, %v; want %+v", got.Complexity, err, want.Complexity)
	}
}

// TestRoundTrip: encoding and decoding a tree gives the same tree, encoding that tree
// gives the same bytes, and the text is JSON.
func TestRoundTrip(t *testing.T) {
	for _, family := range families() {
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(3, seed))
			want := randomTree(r, family, 1+r.IntN(80))
			if seed%2 == 0 {
				decideBy(want, []float64{.1, .7, .2}, [][]float64{{0, 1, 2.5}, {10, 0, 1e-9}, {1, 1, 0}})
				want.Training.Weights, want.Training.ClassWeights, want.Training.LeftOutRows = "class_weights",
					[]float64{1, .333333, 0}, 7
			}
			b := want.Encode()
			got, err := tree.Decode(b)
			if err != nil {
				t.Fatalf("tests %s, seed %d: %v\n%s", family, seed, err, b)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("tests %s, seed %d: tree (-want +got):\n%s", family, seed, diff)
			}
			if again := got.Encode(); !bytes.Equal(again, b) {
				t.Errorf("tests %s, seed %d: encoded again:\n%s, want\n%s", family, seed, again, b)
			}
			if !json.Valid(b) || !bytes.HasSuffix(b, []byte("}\n")) {
				t.Errorf("tests %s, seed %d: not JSON with a final newline:\n%s", family, seed, b)
			}
		}
	}
}

// TestKinds makes sure that random trees have all kinds of test.
func TestKinds(t *testing.T) {
	seen := make(map[split.Kind]bool)
	for _, family := range families() {
		tr := randomTree(rand.New(rand.NewPCG(4, 4)), family, 300)
		for i := range tr.Nodes {
			if n := &tr.Nodes[i]; !n.Leaf() {
				seen[n.Test.Kind] = true
			}
		}
	}
	for kind := split.Threshold; kind <= split.Missing; kind++ {
		if !seen[kind] {
			t.Errorf("no test of kind %s", kind)
		}
	}
}

// TestFloats: numbers have the same spelling everywhere in a tree.json, as in encoding/json and
// JavaScript.
func TestFloats(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", 0.1: "0.1", 1e-6: "0.000001", 1.5e-7: "1.5e-7", 1e-10: "1e-10", 1e20: "100000000000000000000",
		1e21: "1e+21", -2.5: "-2.5",
	} {
		tr := smallTree()
		tr.Nodes[0].Test.Cost, tr.Nodes[0].Test.Score.Total = x, x
		if s := string(tr.Encode()); !strings.Contains(s, `"cost": `+want+`, "score"`) ||
			!strings.Contains(s, `"total": `+want+"}") {
			t.Errorf("%v: want %s in\n%s", x, want, strings.Split(s, "\n")[19])
		}
	}
}

// hostile lists trees that Decode must refuse: an edit of smallTree, and a part of the
// error.
func hostile() []struct{ name, from, to, want string } {
	return []struct{ name, from, to, want string }{
		{"empty", "*", "", "not a tree.json"},
		{
			"an unknown unit", `"type": "numeric",`, `"type": "numeric", "unit": "minutes",`,
			`unit "minutes": want date, time, timestamp`,
		},
		{
			"a zone of numbers", `"type": "numeric",`, `"type": "numeric", "zone": "utc",`,
			`zone "utc" of numbers: want utc or local for timestamps`,
		},
		{
			"an unknown zone", `"type": "numeric",`, `"type": "numeric", "unit": "timestamp", "zone": "CET",`,
			`zone "CET" of timestamps: want utc or local`,
		},
		{"null", "*", "null", "format"},
		{"array", "*", "[]", "not a tree.json"},
		{"another format", "espalier/tree", "other/tree", "format"},
		{"another version", `"version": 1`, `"version": 5`, "version 1 to 4"},
		{"bytes after the tree", "\n}\n", "\n}\n{}", "not a tree.json"},
		{"no classes", `"classes": ["n", "p"]`, `"classes": []`, "class"},
		{"another smoothing", `"leaf_estimate": "`, `"smoothing_by": "rows", "leaf_estimate": "`, "algorithm.smoothing_by"},
		{"class twice", `"classes": ["n", "p"]`, `"classes": ["n", "n"]`, "twice"},
		{"no version", `  "version": 1,`, ``, "version"},
		{"nodes twice", "\n}\n", ",\n\"nodes\": []}\n", "twice"},
		{"nodes before features", `  "features": [`, `  "nodes": [], "features": [`, "nodes come before"},
		{"nodes that are numbers", `"nodes": [`, `"nodes": [7, `, "not a tree.json"},
		{"a null node", `"nodes": [`, `"nodes": [null, `, "node 0"},
		{"nodes that are no array", `"nodes": [`, `"nodes": 7, "more": [`, "want an array"},
		{"branches that are no array", `"branches": [`, `"branches": 7, "more": [`, "not a tree.json"},
		{"branches that are numbers", `"branches": [`, `"branches": [7, `, "not a tree.json"},
		{
			"negative cost of a test", `"cost": 3, "score"`, `"cost": -3, "score"`,
			"node 0: cost -3: want a number from 0",
		},
		{"huge cost of a test", `"cost": 3, "score"`, `"cost": 1e39, "score"`, "from 0"},
		{"negative cost of a feature", `"cost": 3}`, `"cost": -3}`, "from 0"},
		{"huge cost of a feature", `"cost": 3}`, `"cost": 1e300}`, "from 0"},
		{"negative missing", `"missing": 0, "cost": 3}`, `"missing": -1, "cost": 3}`, "counts from 0"},
		{"negative rows", `"rows": 20`, `"rows": -20`, "counts from 0"},
		{"negative class weight", `"class_weights": [13, 7]`, `"class_weights": [27, -7]`, "counts from 0"},
		{"negative probability", `"probabilities": [0.6, 0.4]`, `"probabilities": [1.6, -0.6]`, "from 0 to 1"},
		{"probabilities of another sum", `"probabilities": [0.6, 0.4]`, `"probabilities": [0.6, 0.5]`, "add up"},
		{"billed at another price", `"cost": 3, "score"`, `"cost": 3, "billed": 2, "score"`, "billed"},
		{"cycle", `"child": 1}`, `"child": 0}`, "child 0"},
		{"child beyond the nodes", `"child": 1}`, `"child": 5}`, "child 5"},
		{"negative child", `"child": 1}`, `"child": -1}`, "child -1"},
		{"huge child", `"child": 1}`, `"child": 9223372036854775807}`, "child"},
		{"two parents", `"child": 3}`, `"child": 4}`, "parents"},
	}
}

// hostileTests lists further edits of smallTree that Decode must refuse, of tests and
// features.
func hostileTests() []struct{ name, from, to, want string } {
	return []struct{ name, from, to, want string }{
		{"unknown feature", `"test": {"feature": "age"`, `"test": {"feature": "agee"`, "agee"},
		{
			"a runner-up of an unknown kind", `"cost": 3, "score"`,
			`"cost": 3, "runner_up": {"feature": "x", "kind": "thresh", "cost": 1, "total": 1}, "score"`, "runner_up: ",
		},
		{
			"a runner-up without a cut", `"cost": 3, "score"`,
			`"cost": 3, "runner_up": {"feature": "x", "kind": "threshold", "cost": 1, "total": 1}, "score"`, "without",
		},
		{
			"a runner-up without bounds", `"cost": 3, "score"`,
			`"cost": 3, "runner_up": {"feature": "x", "kind": "bin", "cost": 1, "total": 1}, "score"`, "a bin: want",
		},
		{
			"a runner-up without a value", `"cost": 3, "score"`,
			`"cost": 3, "runner_up": {"feature": "x", "kind": "equals", "cost": 1, "total": 1}, "score"`, "0 values: want 1",
		},
		{
			"a runner-up of negative cost", `"cost": 3, "score"`,
			`"cost": 3, "runner_up": {"feature": "x", "kind": "missing", "cost": -1, "total": 1}, "score"`, "cost -1",
		},
		{"unknown kind", `"kind": "threshold"`, `"kind": "thresh"`, "thresh"},
		{"unknown type", `"type": "numeric"`, `"type": "number"`, "numeric or categorical"},
		{"value twice", `"values": ["a", "b"]`, `"values": ["a", "a"]`, "twice"},
		{"feature twice", `"name": "job"`, `"name": "age"`, "age"},
		{"cut that is not listed", `{"ge": 30.5}`, `{"ge": 30}`, "condition"},
		{"bounds that differ", `{"lt": 30.5}`, `{"lt": 30}`, "condition"},
		{"value that is not listed", `{"in": ["b"]}`, `{"in": ["c"]}`, "condition"},
		{"values that differ", `{"not_in": ["b"]}`, `{"not_in": ["a"]}`, "condition"},
		{"no condition", `{"ge": 30.5}`, `{}`, "condition"},
		{"bin of a threshold", `"kind": "threshold"`, `"kind": "bin"`, "condition"},
		{"multiway of a number", `"kind": "threshold"`, `"kind": "multiway"`, "multiway"},
		{"other of a number", `"kind": "threshold"`, `"kind": "other"`, "condition"},
		{"threshold of a category", `"type": "numeric"`, `"type": "categorical", "values": ["x"]`, ""},
		{"equals of a number", `"type": "categorical"`, `"type": "numeric"`, ""},
		{"cuts that fall", `"cuts": [30.5]`, `"cuts": [30.5, 30.5]`, "increase"},
		{"cut beyond float64", `"cuts": [30.5]`, `"cuts": [1e999]`, "not a tree.json"},
		{"cut that is no number", `"cuts": [30.5]`, `"cuts": [NaN]`, "not a tree.json"},
		{"probability of a class too few", `"probabilities": [0.6, 0.4]`, `"probabilities": [1]`, "classes"},
		{"weight of a class too many", `"class_weights": [13, 7]`, `"class_weights": [13, 7, 0]`, "classes"},
		{"class that is not listed", `"class": "n"`, `"class": "m"`, "label.classes"},
		{"id out of order", `"id": 1`, `"id": 2`, "order"},
		{"nobody takes missing values", `"child": 2, "missing": true`, `"child": 2`, "missing"},
		{"two branches take missing values", `"child": 1}`, `"child": 1, "missing": true}`, "missing"},
		{"missing values on the branch that the test does not send them to", `"child": 1},
        {"when": {"lt": 30.5}, "child": 2, "missing": true}`, `"child": 1, "missing": true},
        {"when": {"lt": 30.5}, "child": 2}`, "missing"},
		{"unseen values on the branch that the test does not send them to", `"child": 3},
        {"when": {"not_in": ["b"]}, "child": 4, "missing": true, "other": true}`, `"child": 3, "other": true},
        {"when": {"not_in": ["b"]}, "child": 4, "missing": true}`, ""},
		{
			"branches without a test", `"test": {"feature": "age"`, `"tset": {"feature": "age"`,
			"branches without a test",
		},
		{"count beyond int64", `"rows": 20`, `"rows": 9223372036854775808`, "not a tree.json"},
	}
}

// decideBy estimates a tree again, by priors and error costs.
func decideBy(tr *tree.Tree, priors []float64, costs [][]float64) *tree.Tree {
	tr.Label.Priors, tr.Label.ErrorCosts = priors, costs
	tr.Estimate(tree.Smoothed, 1)
	return tr
}

// hostileDecisions lists edits of smallTree with priors and error costs that Decode
// must refuse.
func hostileDecisions() []struct{ name, from, to, want string } {
	return []struct{ name, from, to, want string }{
		{"prior of a class too few", `"priors": [0.75, 0.25]`, `"priors": [1]`, "add up to 1"},
		{"priors of another sum", `"priors": [0.75, 0.25]`, `"priors": [0.75, 0.5]`, "add up to 1"},
		{"no prior", `"priors": [0.75, 0.25]`, `"priors": [1, 0]`, "above 0"},
		{"negative prior", `"priors": [0.75, 0.25]`, `"priors": [1.5, -0.5]`, "above 0"},
		{"other priors than the root's", `"priors": [0.75, 0.25]`, `"priors": [0.5, 0.5]`, "node 0"},
		{"row of costs too few", `[[0, 1], [4, 0]]`, `[[0, 1]]`, "want 2 rows of 2"},
		{"cost too few", `[[0, 1], [4, 0]]`, `[[0, 1], [4]]`, "want 2 rows of 2"},
		{"negative cost", `[[0, 1], [4, 0]]`, `[[0, -1], [4, 0]]`, "from 0 on"},
		{"costs by which other classes are decided for", `[[0, 1], [4, 0]]`, `[[0, 4], [1, 0]]`, "does not follow"},
	}
}

// decidedTree is a tree of three classes with a threshold that a leaf's probability equals.
func decidedTree() *tree.Tree {
	tr := randomTree(rand.New(rand.NewPCG(1, 2)), split.Both, 12)
	threshold := 0.0
	for i := range tr.Nodes {
		if n := &tr.Nodes[i]; n.Leaf() && n.Class != 1 {
			threshold = max(threshold, n.Probabilities[1])
		}
	}
	return tr.WithDecision(&tree.Decision{Positive: tr.Label.Classes[1], Threshold: threshold})
}

// decidedModels is a tree of three classes whose leaves have models and a threshold. The probability at the first leaf
// is the threshold, however exp is rounded.
func decidedModels() *tree.Tree {
	tr := randomTree(rand.New(rand.NewPCG(1, 2)), split.Both, 12)
	intercepts := [][]float64{{0, 0, 0}, {1, 0, 2}, {2, 1.75, 1}, {2, 0, 2}, {-1, 3, 0}}
	next := 0
	for i := range tr.Nodes {
		if n := &tr.Nodes[i]; n.Leaf() {
			n.Model = &tree.LeafModel{Intercept: intercepts[next%len(intercepts)]}
			next++
		}
	}
	many := slices.IndexFunc(tr.Features, func(f dataset.Feature) bool { return f.Name == "many" }) // tested above node 8
	tr.Nodes[8].Model.Terms = []tree.Term{
		{Feature: many, At: []float64{3, 4}, Values: [][]float64{{0, 1, 0}, {0, 3, 1}}, Missing: []float64{0, 0, 1}},
	}
	return tr.WithDecision(&tree.Decision{Positive: tr.Label.Classes[1], Threshold: 1. / 3})
}

// undecided lists edits of smallTree with a threshold that Decode must refuse.
func undecided() []struct{ name, from, to, want string } {
	return []struct{ name, from, to, want string }{
		{"positive is no class", `"positive": "p"`, `"positive": "q"`, "want one of the classes"},
		{"no positive", `"positive": "p", `, ``, "want one of the classes"},
		{"negative threshold", `"threshold": 0.25`, `"threshold": -0.25`, "above 0"},
		{"threshold above 1", `"threshold": 0.25`, `"threshold": 1.5`, "up to 1"},
		{"threshold of other classes", `"threshold": 0.25`, `"threshold": 1`, "does not follow"},
	}
}

// wishfulTree is smallTree with all wishes.
func wishfulTree() *tree.Tree {
	tr := smallTree()
	tr.Algorithm.First, tr.Algorithm.Forbid = []string{"age", "job, or none"}, []string{"race"}
	tr.Algorithm.Monotone = map[string]int8{"income": 1, "age": -1}
	tr.Estimate(tree.Raw, 1)
	return tr
}

// unfulfilled lists edits of wishfulTree that Decode must refuse.
func unfulfilled() []struct{ name, from, to, want string } {
	return []struct{ name, from, to, want string }{
		{"forbidden feature", `"forbid": ["race"]`, `"forbid": ["age"]`, "forbidden"},
		{"constraint of 2", `"income": 1`, `"income": 2`, "want 1 or -1"},
		{"constraint of 0", `"income": 1`, `"income": 0`, "want 1 or -1"},
		{"constraint beyond a byte", `"income": 1`, `"income": 300`, "not a tree.json"},
	}
}

// misbilled lists edits of billedTree that Decode must refuse.
func misbilled() []struct{ name, from, to, want string } {
	return []struct{ name, from, to, want string }{
		{"group not paid", `"billed": 7, `, ``, "billed at 3: want 7"},
		{"group paid in part", `"billed": 7, `, `"billed": 6, `, "billed at 6: want 7"},
		{
			"group paid twice", `"kind": "equals", "cost": 2`, `"kind": "equals", "cost": 2, "billed": 6`,
			"billed at 6: want 2",
		},
		{"nothing paid for a first test", `"billed": 7, `, `"billed": 0, `, "billed at 0: want 7"},
		{"free where repeats are paid", `"repeat_cost": "free", `, ``, "billed at 0: want 3"},
		{"repeats at half the price", `"repeat_cost": "free"`, `"repeat_cost": "half"`, "repeat_cost"},
		{
			"two prices of a group", `"cost": 3, "group": "visit", "group_cost": 4`,
			`"cost": 3, "group": "visit", "group_cost": 5`, "group",
		},
		{"price of no group", `"cost": 3, "group": "visit", "group_cost": 4`, `"cost": 3, "group_cost": 4`, "group"},
		{
			"negative price of a group", `"cost": 3, "group": "visit", "group_cost": 4`,
			`"cost": 3, "group": "visit", "group_cost": -4`, "group",
		},
	}
}

func TestDecodeErrors(t *testing.T) {
	refuse(t, smallTree(), slices.Concat(hostile(), hostileTests()))
	refuse(t, decideBy(smallTree(), []float64{.75, .25}, [][]float64{{0, 1}, {4, 0}}), hostileDecisions())
	refuse(t, smallTree().WithDecision(&tree.Decision{Positive: "p", Threshold: .25}), undecided())
	refuse(t, decidedModels(), []struct{ name, from, to, want string }{
		{"models and a threshold in version 3", `"version": 4`, `"version": 3`, "want version 4"},
	})
	refuse(t, billedTree(), misbilled())
	refuse(t, wishfulTree(), unfulfilled())
}

// refuse makes edits of a valid tree, which Decode must refuse.
func refuse(t *testing.T, tr *tree.Tree, edits []struct{ name, from, to, want string }) {
	t.Helper()
	valid := string(tr.Encode())
	for _, test := range edits {
		t.Run(test.name, func(t *testing.T) {
			bad := test.to
			if test.from != "*" {
				if bad = strings.Replace(valid, test.from, test.to, 1); bad == valid {
					t.Fatalf("%q is not in\n%s", test.from, valid)
				}
			}
			got, err := tree.Decode([]byte(bad))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if err != nil && got != nil {
				t.Error("a tree beside the error")
			}
		})
	}
}

// TestDecodeCut: Decode refuses every beginning of a tree.json.
func TestDecodeCut(t *testing.T) {
	b := smallTree().Encode()
	for size := range len(b) - 1 { // the last byte is the final newline
		if _, err := tree.Decode(b[:size]); err == nil {
			t.Errorf("cut to %d of %d bytes: no error", size, len(b))
		}
	}
}

// TestDecodeManyValues: a multiway test may have as many branches as two bytes can
// number. BenchmarkDecode has the same tree.
func TestDecodeManyValues(t *testing.T) {
	want := wideTree(60_000).Encode()
	got, err := tree.Decode(want)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Encode(), want) {
		t.Error("encoded again: other bytes")
	}
}

// wideTree returns a tree of one multiway test on the given number of values.
func wideTree(values int) *tree.Tree {
	tr := smallTree()
	tr.Nodes = slices.Grow(tr.Nodes[:1], values)
	f := &dataset.Feature{Name: "id", Kind: dataset.Categorical, Cost: 1}
	root := &tr.Nodes[0]
	root.Test.Kind, root.Test.Code, root.Branches = split.Multiway, 0, nil
	for i := range values {
		f.Values = append(f.Values, fmt.Sprintf("an identifier, number %d", i))
		root.Branches = append(root.Branches, tree.Branch{Outcome: i, Child: i + 1, Missing: i == 0, Other: i == 0})
		tr.Nodes = append(tr.Nodes, tree.Node{
			ClassWeights: []int64{1, 0}, RawClassWeights: []int64{1, 0},
			Probabilities: []float64{1, 0},
		})
	}
	tr.Features[0] = *f
	return tr
}

// datedTree is a random tree of features that are points in time.
func datedTree(seed uint64) *tree.Tree {
	fs := []dataset.Feature{
		{
			Name: "day", Kind: dataset.Numeric, Unit: dataset.Date, Cuts: []float64{-3, 20778, 3e6},
			Range: []float64{-1e6, 1e7}, Cost: 1,
		},
		{
			Name: "clock", Kind: dataset.Numeric, Unit: dataset.Time, Cuts: []float64{1, 34200e6, 1e12}, Missing: 2,
			Cost: 1,
		},
		{
			Name: "at", Kind: dataset.Numeric, Unit: dataset.Timestamp, Cuts: []float64{-1.5, 1795253400000001, 1e300},
			Cost: 1,
		},
		{
			Name: "since", Kind: dataset.Categorical, Unit: dataset.Date, Values: []string{"-1", "20778", "no date"},
			Cost: 1,
		},
	}
	return grownTree(rand.New(rand.NewPCG(23, seed)), split.Both, 12, fs)
}

// FuzzDecode: any input gives an error or a valid tree. Encoding, decoding and encoding
// the tree gives the same bytes, and all codes lead to leaves.
func FuzzDecode(f *testing.F) {
	for i, family := range families() {
		f.Add(randomTree(rand.New(rand.NewPCG(5, uint64(i))), family, 8).Encode())
	}
	valid := string(smallTree().Encode())
	f.Add([]byte(valid))
	f.Add(billedTree().Encode())
	f.Add(wishfulTree().Encode())
	for seed := range uint64(4) {
		f.Add(datedTree(seed).Encode())
	}
	for _, test := range slices.Concat(hostile(), hostileTests()) {
		f.Add([]byte(strings.Replace(valid, test.from, test.to, 1)))
	}
	valid = string(decideBy(smallTree(), []float64{.75, .25}, [][]float64{{0, 1}, {4, 0}}).Encode())
	f.Add([]byte(valid))
	for _, test := range hostileDecisions() {
		f.Add([]byte(strings.Replace(valid, test.from, test.to, 1)))
	}
	f.Add(decidedTree().Encode())
	f.Add(decidedModels().Encode())
	valid = string(smallTree().WithDecision(&tree.Decision{Positive: "p", Threshold: .25}).Encode())
	for _, test := range undecided() {
		f.Add([]byte(strings.Replace(valid, test.from, test.to, 1)))
	}
	valid = string(modelledTree().Encode())
	f.Add([]byte(valid))
	for _, test := range hostileModels() {
		f.Add([]byte(strings.Replace(valid, test.from, test.to, 1)))
	}
	valid = string(boostedTree().Encode())
	f.Add([]byte(valid))
	for _, test := range hostileBoosters() {
		f.Add([]byte(strings.Replace(valid, test.from, test.to, 1)))
	}
	for i, family := range families() {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		f.Add(withModels(r, randomTree(r, family, 8), .5, 3).Encode())
		f.Add(withBoosters(r, withModels(r, randomTree(r, family, 8), .5, 3), .5, 3, 4).Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := tree.Decode(b)
		if err != nil {
			return
		}
		once := tr.Encode()
		again, err := tree.Decode(once)
		if err != nil {
			t.Fatalf("its own encoding: %v\n%s", err, once)
		}
		if twice := again.Encode(); !bytes.Equal(once, twice) {
			t.Fatalf("encoded twice:\n%s, then\n%s", once, twice)
		}
		scores(t, tr, rand.New(rand.NewPCG(6, 6)))
		again.Measure()
		again.Encode() // the figures are numbers
		textview.Paths(tr)
		if err := textview.Text(io.Discard, tr, 80); err != nil {
			t.Fatal(err)
		}
	})
}

// scores sends random rows through a tree in all ways.
func scores(t *testing.T, tr *tree.Tree, r *rand.Rand) {
	t.Helper()
	router, scorer, questions := tr.Router(), tr.Scorer(), tr.Questions()
	for range 10 {
		v := randomRow(r, tr.Features)
		want := routed(tr, router, v)
		p, err := scorer.Predict(v.values(scorer.Features()))
		if err != nil || p.Leaf != want || !tr.Nodes[want].Leaf() {
			t.Fatalf("%v: %v, %v, want leaf %d", v, p, err, want)
		}
		var columns []dataset.Vector
		for _, in := range scorer.Features() {
			columns = append(columns, vectorOf([]any{v[in.Feature]}, in.Kind))
		}
		leaves := []int32{-1}
		if err := scorer.Leaves(columns, leaves); err != nil || int(leaves[0]) != want {
			t.Fatalf("%v: by columns %v, %v, want leaf %d", v, leaves, err, want)
		}
		var all tree.Scores
		if err := scorer.Score(columns, 1, &all); err != nil || tr.Modelled() && !slices.Equal(all.Of(0), p.Probabilities) {
			t.Fatalf("%v: by columns %+v, %v, want %+v", v, all, err, p)
		}
		i := questions.Start(0)
		for q := i.Next(); q != nil; q = i.Next() {
			if err := i.Answer(v.value(tr, q.Feature)); err != nil {
				t.Fatal(err)
			}
		}
		if s := i.Standing(); s.Node != want || s.Paid < 0 || math.IsInf(s.Paid, 0) {
			t.Fatalf("%v: asked for, %+v, want leaf %d", v, s, want)
		}
	}
}

// TestDecodeMemory: the memory of Decode, and of the use of a tree, is bounded by the
// size of the file, for any content.
func TestDecodeMemory(t *testing.T) {
	const size = 1 << 20
	valid, modelled := string(smallTree().Encode()), string(modelledTree().Encode())
	boosted := string(boostedTree().Encode())
	many := func(of string) string { return strings.Repeat(of+",", size/(len(of)+1)) }
	for name, b := range map[string]string{
		"empty nodes":       strings.Replace(valid, `"nodes": [`, `"nodes": [`+many("{}"), 1),
		"nodes of numbers":  strings.Replace(valid, `"nodes": [`, `"nodes": [`+many("0"), 1),
		"null nodes":        strings.Replace(valid, `"nodes": [`, `"nodes": [`+many("null"), 1),
		"empty branches":    strings.Replace(valid, `"branches": [`, `"branches": [`+many("{}"), 1),
		"branches of null":  strings.Replace(valid, `"branches": [`, `"branches": [`+many("null"), 1),
		"branches, numbers": strings.Replace(valid, `"branches": [`, `"branches": [`+many("0"), 1),
		"branches, no cases": strings.Replace(valid, `"branches": [`, `"branches": [`+many(`{"when":{"missing":true}}`),
			1),
		"empty features": strings.Replace(valid, `"features": [`, `"features": [`+many("{}"), 1),
		"empty classes":  strings.Replace(valid, `"classes": [`, `"classes": [`+many(`""`), 1),
		"error costs":    strings.Replace(valid, `"classes":`, `"error_costs": [`+many("[]")+`[]], "classes":`, 1),
		"assumptions": strings.Replace(valid, `"nodes": [`,
			`"certificate": {"assumptions": [`+many("{}")+`{}]}, "nodes": [`, 1),
		"nested":          strings.Repeat("[", size),
		"nested unknown":  `{"x": ` + strings.Repeat(`{"x":`, size/5),
		"terms":           strings.Replace(modelled, `"terms": [`, `"terms": [`+many("{}"), 1),
		"null terms":      strings.Replace(modelled, `"terms": [`, `"terms": [`+many("null"), 1),
		"values":          strings.Replace(modelled, `"values": [`, `"values": [`+many("[]"), 1),
		"values, numbers": strings.Replace(modelled, `"values": [`, `"values": [`+many("[0]"), 1),
		"knots":           strings.Replace(modelled, `"at": [`, `"at": [`+many("0"), 1),
		"models":          strings.Replace(modelled, `"nodes": [`, `"nodes": [`+many(`{"model":{}}`), 1),
		"boosters":        strings.Replace(boosted, `"boosters": [`, `"boosters": [`+many("[]"), 1),
		"booster trees":   strings.Replace(boosted, `"boosters": [`, `"boosters": [[`+many("[]"), 1),
		"booster splits":  strings.Replace(boosted, `"boosters": [`, `"boosters": [[[`+many("{}"), 1),
		"good splits":     strings.Replace(boosted, `"boosters": [`, `"boosters": [[[`+many(boostedSplit)+"]]]", 1),
		"good trees":      strings.Replace(boosted, `"boosters": [`, `"boosters": [[`+many("["+boostedSplit+"]")+"]]", 1),
		"booster numbers": strings.Replace(boosted, `"yes": [`, `"yes": [`+many("0"), 1),
		"cuts":            strings.Replace(valid, `"cuts": [`, `"cuts": [`+many("0"), 1),
		"wide":            string(wideTree(20_000).Encode()),
		"many wide tests": string(multiwayChain(1000, 20_000).Encode()),
		"deep":            string(deepTree(3000).Encode()),
		"too deep":        string(deepTree(5000).Encode()),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			tr, err := tree.Decode([]byte(b))
			if err == nil {
				tr.Measure()
				tr.Router()
				tr.Questions().Start(0).Standing()
			}
			runtime.ReadMemStats(&after)
			// A list that grows by doubling has at most half of its memory at a time.
			if times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(b)); times > 64 {
				t.Errorf("%.0f bytes for each of the file's (%v)", times, err)
			}
			if fine := name == "wide" || name == "many wide tests" || name == "deep"; fine != (err == nil) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

// TestCertificateBounds: a certificate has at most 100 assumptions, of any length.
func TestCertificateBounds(t *testing.T) {
	valid := string(smallTree().Encode())
	with := func(assumptions string) string {
		return strings.Replace(valid, `"nodes": [`, `"certificate": {"method": "kraft", "assumptions": `+assumptions+`}, "nodes": [`, 1)
	}
	list := func(n int, of string) string { return "[" + strings.TrimSuffix(strings.Repeat(of+",", n), ",") + "]" }
	long := list(100, `{"name": "`+strings.Repeat("x", 1000)+`"}`)
	for text, want := range map[string]int{list(0, ""): 0, "null": 0, list(100, "null"): 100, long: 100, list(101, "{}"): -1, "{}": -1, "[1]": -1} {
		tr, err := tree.Decode([]byte(with(text)))
		if (err == nil) != (want >= 0) || err == nil && len(tr.Certificate.Assumptions) != want {
			t.Errorf("%.40s: error %v, want %d assumptions", text, err, want)
		}
	}
}

// multiwayChain returns a chain of multiway tests on one feature, each with two
// branches.
func multiwayChain(tests, values int) *tree.Tree {
	tr := deepTree(tests)
	f := &dataset.Feature{Name: "id", Kind: dataset.Categorical, Cost: 3}
	for i := range values {
		f.Values = append(f.Values, strconv.Itoa(i))
	}
	tr.Features[0] = *f
	for i := range tr.Nodes {
		if n := &tr.Nodes[i]; !n.Leaf() {
			n.Test.Kind, n.Test.Code = split.Multiway, 0
			n.Branches[0].Outcome, n.Branches[1].Outcome = i, i+1
			n.Branches[1].Other = true
		}
	}
	return tr
}

// deepTree returns a chain of tests.
func deepTree(tests int) *tree.Tree {
	tr := smallTree()
	inner, leaf := tr.Nodes[0], tr.Nodes[1]
	tr.Nodes = nil
	for i := range tests {
		n := inner
		test := *inner.Test
		n.Test = &test
		n.Branches = []tree.Branch{{Outcome: 1, Child: 2*i + 1}, {Outcome: 0, Child: 2*i + 2, Missing: true}}
		tr.Nodes = append(tr.Nodes, n, leaf)
	}
	tr.Nodes = append(tr.Nodes, leaf)
	return tr
}

// FuzzScorer: in any tree accepted by Decode, rows reach the same leaf in all ways.
func FuzzScorer(f *testing.F) {
	for i, family := range families() {
		f.Add(randomTree(rand.New(rand.NewPCG(15, uint64(i))), family, 8).Encode(), uint64(i))
		f.Add(grownTree(rand.New(rand.NewPCG(16, uint64(i))), family, 8, numberedFeatures()).Encode(), uint64(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		if tr, err := tree.Decode(b); err == nil {
			scores(t, tr, rand.New(rand.NewPCG(seed, 1)))
		}
	})
}

// TestRenamed: only members that have an earlier name next to the present one are renamed, because users choose the names
// of features.
func TestRenamed(t *testing.T) {
	for document, want := range map[string]string{
		`{"points": [{"max_billed_cost": 2, "max_cost": 3}]}`: `{"points":[{"max_cost":2}]}`,
		`{"monotone": {"max_billed_cost": 1}}`:                `{"monotone":{"max_billed_cost":1}}`,
		`{"max_billed_cost": `:                                `{"max_billed_cost": `,
		`{"max_cost": 3}`:                                     `{"max_cost": 3}`,
	} {
		if got := string(tree.Renamed([]byte(document))); got != want {
			t.Errorf("%s became %s, want %s", document, got, want)
		}
	}
}

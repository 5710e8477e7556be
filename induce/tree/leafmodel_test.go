package tree_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
)

// withModels gives leaves random models over the numeric features of their paths: about
// a share of the leaves, with at most a number of terms.
func withModels(r *rand.Rand, tr *tree.Tree, share float64, terms int) *tree.Tree {
	paths := make([][]int, len(tr.Nodes)) // numeric features tested above a node
	width := portable.Scores(len(tr.Label.Classes))
	scores := func(spread float64) []float64 {
		list := make([]float64, width)
		for k := range list {
			list[k] = spread * r.NormFloat64()
		}
		return list
	}
	for i := range tr.Nodes {
		n := &tr.Nodes[i]
		for _, b := range n.Branches {
			paths[b.Child] = paths[i]
			if f := n.Test.Feature; tr.Features[f].Kind == dataset.Numeric && !slices.Contains(paths[i], f) {
				paths[b.Child] = append(slices.Clone(paths[i]), f)
			}
		}
		if !n.Leaf() || r.Float64() >= share {
			continue
		}
		n.Model = &tree.LeafModel{Intercept: scores(1)}
		for _, k := range r.Perm(len(paths[i]))[:min(terms, len(paths[i]))] {
			term := tree.Term{Feature: paths[i][k], Missing: scores(1)}
			at := 100 * r.NormFloat64()
			for range 1 + r.IntN(12) {
				term.At, term.Values = append(term.At, at), append(term.Values, scores(2))
				at += 1e-3 + 20*r.ExpFloat64()
			}
			n.Model.Terms = append(n.Model.Terms, term)
		}
	}
	return tr
}

// modelledTree is smallTree with a model at leaf 4.
func modelledTree() *tree.Tree {
	tr := smallTree()
	tr.Algorithm = tree.Algorithm{
		Name: "cart", Tests: "both", Bins: 2, Binning: "quantile", LeafEstimate: "raw", Prune: "none",
	}
	tr.Nodes[4].Model = &tree.LeafModel{Intercept: []float64{0.25}, Terms: []tree.Term{{
		Feature: 0, At: []float64{20, 30}, Values: [][]float64{{-1}, {2}}, Missing: []float64{0.5},
	}}}
	return tr
}

// expected returns a row's probabilities by the definition of leaf models.
func expected(tr *tree.Tree, leaf int, v row) []float64 {
	m := tr.Nodes[leaf].Model
	if m == nil {
		return tr.Nodes[leaf].Probabilities
	}
	scores := slices.Clone(m.Intercept)
	for i := range m.Terms {
		t := &m.Terms[i]
		x, ok := v[t.Feature].(float64)
		last := len(t.At) - 1
		for k := range scores {
			switch {
			case !ok:
				scores[k] += t.Missing[k]
			case x <= t.At[0]:
				scores[k] += t.Values[0][k]
			case x >= t.At[last]:
				scores[k] += t.Values[last][k]
			default:
				j := 0
				for t.At[j+1] < x {
					j++
				}
				share := (x - t.At[j]) / (t.At[j+1] - t.At[j])
				scores[k] += (1-share)*t.Values[j][k] + share*t.Values[j+1][k]
			}
		}
	}
	if m.Booster != nil {
		codes := v.codes(tr.Features)
		growtest.AddBooster(m.Booster, scores, tr.Features, func(feature int) int { return codes[feature] })
	}
	var p []float64
	if len(tr.Label.Classes) == 2 {
		p = []float64{1 / (1 + math.Exp(scores[0])), 1 / (1 + math.Exp(-scores[0]))}
	} else {
		for _, z := range scores {
			p = append(p, math.Exp(z))
		}
	}
	root := tr.Nodes[0].RawClassWeights
	sum, total := 0.0, int64(0)
	for _, w := range root {
		total += w
	}
	for k := range p {
		if tr.Label.Priors != nil {
			p[k] *= tr.Label.Priors[k] / (float64(root[k]) / float64(total))
		}
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// modelTrees calls check with trees with models: of two and three classes, with all
// families of tests, numeric features only and not, with priors and error costs, without
// and with boosters.
func modelTrees(t *testing.T, check func(t *testing.T, tr *tree.Tree, rows []row)) {
	t.Helper()
	for _, family := range families() {
		for seed := range uint64(24) {
			r := rand.New(rand.NewPCG(31, seed))
			fs := features()
			if seed%3 == 0 {
				fs = numericFeatures()
			}
			tr := grownTree(r, family, 10+r.IntN(30), fs)
			if seed%2 == 0 {
				twoClasses(tr)
			}
			if seed%4 > 1 {
				classes := len(tr.Label.Classes)
				priors, costs := make([]float64, classes), make([][]float64, classes)
				for k := range priors {
					priors[k] = 1 / float64(classes)
					for range classes {
						costs[k] = append(costs[k], math.Trunc(5*r.Float64()))
					}
					costs[k][k] = 0
				}
				tr = decideBy(tr, priors, costs)
			}
			withModels(r, tr, .7, 6)
			switch {
			case seed >= 22:
				withBoosters(r, tr, .3, 40, 31) // of up to 32 ends; some boosters take two parts of a scorer
			case seed >= 12:
				withBoosters(r, tr, .3, 6, 12)
			}
			rows := make([]row, 50)
			for i := range rows {
				rows[i] = randomRow(r, fs)
			}
			t.Run(fmt.Sprintf("tests=%s/seed=%d", family, seed), func(t *testing.T) { check(t, tr, rows) })
		}
	}
}

// twoClasses joins the third class to the second.
func twoClasses(tr *tree.Tree) {
	tr.Label.Classes = tr.Label.Classes[:2]
	for i := range tr.Nodes {
		n := &tr.Nodes[i]
		for _, list := range []*[]int64{&n.ClassWeights, &n.RawClassWeights} {
			*list = []int64{(*list)[0], (*list)[1] + (*list)[2]}
		}
	}
	tr.Estimate(tree.Smoothed, 1)
}

// TestModels: all ways to score a row give the same bits, and the probabilities of the
// definition.
func TestModels(t *testing.T) {
	refined, moved := 0, 0
	modelTrees(t, func(t *testing.T, tr *tree.Tree, rows []row) {
		t.Helper()
		scorer := tr.Scorer()
		decoded, err := tree.Decode(tr.Encode())
		if err != nil {
			t.Fatal(err)
		}
		again, questions, router := decoded.Tested().Scorer(), tr.Questions(), tr.Router()
		vectors := make([]dataset.Vector, 0, len(scorer.Features()))
		for _, in := range scorer.Features() {
			var column []any
			for _, v := range rows {
				column = append(column, v[in.Feature])
			}
			vectors = append(vectors, vectorOf(column, in.Kind))
		}
		var scores tree.Scores
		if err := scorer.Score(vectors, len(rows), &scores); err != nil {
			t.Fatal(err)
		}
		var into tree.Prediction
		for i, v := range rows {
			leaf := routed(tr, router, v)
			want := expected(tr, leaf, v)
			values := v.values(scorer.Features())
			p, err := scorer.Predict(values)
			if err != nil || p.Leaf != leaf || !near12(p.Probabilities, want) {
				t.Fatalf("%v: %+v, %v, want leaf %d with %v", v, p, err, leaf, want)
			}
			if tr.Nodes[leaf].Model != nil {
				refined++
			}
			if p.Class != tr.Label.Classes[tr.Nodes[leaf].Class] {
				moved++
			}
			if got := tr.Label.Classes[tr.Label.Decide(p.Probabilities)]; p.Class != got {
				t.Errorf("%v: class %s of %v, want %s", v, p.Class, p.Probabilities, got)
			}
			if err := scorer.PredictInto(values, &into); err != nil || cmp.Diff(*p, into) != "" {
				t.Errorf("%v: %v\n%s", v, err, cmp.Diff(*p, into))
			}
			if q, err := again.Predict(v.valuesOf(tr, again.Features())); err != nil || cmp.Diff(p, q) != "" {
				t.Errorf("%v: decoded: %v\n%s", v, err, cmp.Diff(p, q))
			}
			if !slices.ContainsFunc(scorer.Features(), func(in tree.Input) bool { return in.Kind == dataset.Categorical }) {
				q := make([]*tree.Prediction, 1)
				if err := scorer.PredictMatrix([][]float64{numbersOf(values)}, q); err != nil || cmp.Diff(p, q[0]) != "" {
					t.Errorf("%v: by numbers: %v\n%s", v, err, cmp.Diff(p, q[0]))
				}
			}
			if int(scores.Leaves[i]) != leaf || tr.Label.Classes[scores.Classes[i]] != p.Class ||
				!slices.Equal(scores.Of(i), p.Probabilities) {
				t.Errorf("%v: by columns leaf %d, %v, want %+v", v, scores.Leaves[i], scores.Of(i), p)
			}
			inquiry := questions.Start(0)
			for q := inquiry.Next(); q != nil; q = inquiry.Next() {
				if err := inquiry.Answer(v.value(tr, q.Feature)); err != nil {
					t.Fatal(err)
				}
			}
			if s := inquiry.Standing(); s.Class != p.Class || !slices.Equal(s.Probabilities, p.Probabilities) {
				t.Errorf("%v: asked for, %+v, want %+v", v, s, p)
			}
		}
	})
	if refined < 1000 || moved < 100 {
		t.Errorf("%d rows at leaves with models, %d of them of another class: the test shows little", refined, moved)
	}
}

// valuesOf returns the values of inputs by their names.
func (v row) valuesOf(tr *tree.Tree, inputs []tree.Input) []tree.Value {
	var values []tree.Value
	for _, in := range inputs {
		values = append(values, v.value(tr, in.Name))
	}
	return values
}

// near12 reports whether lists agree within 1e-12.
func near12(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-12 })
}

// TestModelByHand: a score by hand, and its sigmoid.
func TestModelByHand(t *testing.T) {
	scorer := modelledTree().Scorer()
	for _, c := range []struct {
		age   tree.Value
		score float64
	}{
		{tree.Number(10), -0.75},
		{tree.Number(20), -0.75},
		{tree.Number(25), 0.75},
		{tree.Number(29), 1.95},
		{tree.Number(30.25), 2.25},
		{tree.Value{}, 0.75},
		{tree.Number(math.Inf(-1)), -0.75},
	} {
		p, err := scorer.Predict([]tree.Value{c.age, tree.Text("a")})
		second := 1 / (1 + math.Exp(-c.score))
		if err != nil || p.Leaf != 4 || !near12(p.Probabilities, []float64{1 - second, second}) {
			t.Errorf("age %s: %+v, %v, want %v", c.age, p, err, second)
		}
	}
	if p, err := scorer.Predict([]tree.Value{tree.Number(40), {}}); err != nil || p.Leaf != 1 || p.Probabilities[0] != 1 {
		t.Errorf("a leaf without a model: %+v, %v", p, err)
	}
}

// TestModelVersions: only a tree with a leaf model is version 2, or 3 with a booster; it round-trips, and its
// unused features go.
func TestModelVersions(t *testing.T) {
	longtest.Skip(t)
	inner := smallTree()
	inner.Nodes[2].Model = modelledTree().Nodes[4].Model
	if !bytes.Equal(inner.Encode(), smallTree().Encode()) {
		t.Error("the model of an inner node has an effect")
	}
	golden(t, "modelled.json", modelledTree().Encode())
	modelTrees(t, func(t *testing.T, tr *tree.Tree, _ []row) {
		t.Helper()
		b := tr.Encode()
		want := `"version": 1`
		if tr.Modelled() {
			want = `"version": 2`
		}
		if slices.ContainsFunc(tr.Nodes, func(n tree.Node) bool { return n.Model != nil && n.Model.Booster != nil }) {
			want = `"version": 3`
		}
		decoded, err := tree.Decode(b)
		if err != nil || !bytes.Contains(b, []byte(want)) || decoded.Modelled() != tr.Modelled() {
			t.Fatalf("%v\n%s", err, b)
		}
		if again := decoded.Encode(); !bytes.Equal(again, b) {
			t.Error(cmp.Diff(string(b), string(again)))
		}
		decided := tr.WithDecision(&tree.Decision{Positive: tr.Label.Classes[0], Threshold: .5}).Encode()
		if got, err := tree.Decode(decided); err != nil || bytes.Contains(decided, []byte(`"version": 4`)) != tr.Modelled() ||
			!bytes.Equal(got.Encode(), decided) {
			t.Fatalf("with a threshold: %v\n%s", err, decided)
		}
		lean := decoded.Tested()
		if !bytes.Equal(decoded.Encode(), b) {
			t.Error("Tested has changed the tree itself")
		}
		if _, err := tree.Decode(lean.Encode()); err != nil {
			t.Error(err)
		}
	})
}

// hostileModels lists edits of modelledTree that Decode must refuse.
func hostileModels() []struct{ name, from, to, want string } {
	return []struct{ name, from, to, want string }{
		{"version 1", `"version": 2`, `"version": 1`, "node 4: a model in a file of version 1: want version 2"},
		{"version 5", `"version": 2`, `"version": 5`, "version 5: want \"espalier/tree\" version 1 to 4"},
		{
			"inner node", `"test": {"feature": "age"`, `"model": {"intercept": [0], "terms": []}, "test": {"feature": "age"`,
			"node 0: a node has a model and a test",
		},
		{"no intercept", `"intercept": [0.25], `, ``, "node 4: model: intercept: 0 numbers: want 1"},
		{"long intercept", `"intercept": [0.25]`, `"intercept": [0.25, 1]`, "intercept: 2 numbers: want 1"},
		{"huge intercept", `"intercept": [0.25]`, `"intercept": [1e39]`, "intercept: 1e+39: want numbers from"},
		{"no terms", `"terms": [`, `"others": [`, "no terms"},
		{"null terms", `"terms": [`, `"terms": null, "others": [`, "want an array"},
		{"terms that are numbers", `"terms": [`, `"terms": [7, `, "not a tree.json"},
		{"unknown feature", `{"feature": "age", "at"`, `{"feature": "agee", "at"`, `feature "agee" is not among features`},
		{"category", `{"feature": "age", "at"`, `{"feature": "job", "at"`, `feature "job" is categorical`},
		{
			"feature twice", `"missing": [0.5]}`,
			`"missing": [0.5]}, {"feature": "age", "at": [1], "values": [[1]], "missing": [0]}`, `feature "age": two terms`,
		},
		{"no knots", `"at": [20, 30]`, `"at": []`, `feature "age": 0 knots in at, 2 entries`},
		{"knots that fall", `"at": [20, 30]`, `"at": [30, 20]`, "at: the knot 20: want finite numbers, each above"},
		{"equal knots", `"at": [20, 30]`, `"at": [20, 20]`, "at: the knot 20"},
		{"huge knot", `"at": [20, 30]`, `"at": [20, 1.7e308]`, "at: the knot 1.7e+308"},
		{"infinite knot", `"at": [20, 30]`, `"at": [20, 1e999]`, "not a tree.json"},
		{"a value too few", `"values": [[-1], [2]]`, `"values": [[-1]]`, "2 knots in at, 1 entries"},
		{"long value", `"values": [[-1], [2]]`, `"values": [[-1], [2, 3]]`, `"age": values: 2 numbers: want 1`},
		{"null value", `"values": [[-1], [2]]`, `"values": [null, [2]]`, "values: 0 numbers: want 1"},
		{"long missing", `"missing": [0.5]`, `"missing": [0.5, 1]`, "missing: 2 numbers: want 1"},
		{"no missing", `, "missing": [0.5]`, ``, "missing: 0 numbers: want 1"},
	}
}

func TestDecodeModelErrors(t *testing.T) {
	refuse(t, modelledTree(), hostileModels())
	off := modelledTree()
	off.Features = append(off.Features, dataset.Feature{Name: "pay", Kind: dataset.Numeric, Cuts: []float64{1}})
	off.Nodes[4].Model.Terms[0].Feature = 2
	if _, err := tree.Decode(off.Encode()); err == nil ||
		!strings.Contains(err.Error(), `node 4: model: feature "pay" is not tested on the leaf's path`) {
		t.Errorf("a feature off the path: %v", err)
	}
}

// TestModelRangesOfNumbers: the greatest numbers that a file may have give
// probabilities.
func TestModelRangesOfNumbers(t *testing.T) {
	tr := modelledTree()
	term := &tr.Nodes[4].Model.Terms[0]
	for _, c := range [][2]float64{{math.MaxFloat32, -math.MaxFloat32}, {-math.MaxFloat32, math.MaxFloat32}, {5e-324, 0}} {
		term.At = []float64{-math.MaxFloat64 / 2, math.MaxFloat64 / 2}
		term.Values = [][]float64{{c[0]}, {c[1]}}
		decoded, err := tree.Decode(tr.Encode())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []float64{math.Inf(-1), -math.MaxFloat64, -1e300, 0, 29} {
			p, err := decoded.Scorer().Predict([]tree.Value{tree.Number(x), tree.Text("a")})
			if err != nil || !(math.Abs(p.Probabilities[0]+p.Probabilities[1]-1) < 1e-9) {
				t.Errorf("%v: %v, %v", x, p, err)
			}
		}
	}
}

// TestModelAllocs: PredictInto allocates nothing.
func TestModelAllocs(t *testing.T) {
	modelTrees(t, func(t *testing.T, tr *tree.Tree, rows []row) {
		t.Helper()
		scorer := tr.Scorer()
		var values [][]tree.Value
		for _, v := range rows {
			values = append(values, v.values(scorer.Features()))
		}
		var p tree.Prediction
		i := 0
		if n := testing.AllocsPerRun(200, func() {
			if err := scorer.PredictInto(values[i%len(values)], &p); err != nil {
				t.Error(err)
			}
			i++
		}); n != 0 {
			t.Errorf("%v allocations a row", n)
		}
	})
}

// BenchmarkModels scores rows by trees of numeric features: without models, with models of at
// most 6 terms, and with boosters of 10 trees of 31 splits beside these.
func BenchmarkModels(b *testing.B) {
	const rows = 1 << 16
	var fs []dataset.Feature
	for i := range 12 {
		f := dataset.Feature{Name: fmt.Sprint("x", i), Kind: dataset.Numeric, Cost: 1}
		for k := range 20 {
			f.Cuts = append(f.Cuts, 12*float64(k-10))
		}
		fs = append(fs, f)
	}
	for _, classes := range []int{2, 7} {
		r := rand.New(rand.NewPCG(1, uint64(classes)))
		tr := grownOf(r, split.Thresholds, 300, fs, classes)
		boosters := boostersOf(r, tr)
		values := make([][]tree.Value, rows)
		columns, inputs := make([][]any, len(fs)), tr.Scorer().Features()
		for i := range values {
			v := make(row, len(fs))
			for f := range fs {
				v[f] = 60 * r.NormFloat64()
				columns[f] = append(columns[f], v[f])
			}
			values[i] = v.values(inputs)
		}
		for _, models := range []string{"none", "all", "boosted"} {
			switch models {
			case "all":
				withModels(r, tr, 1, 6)
			case "boosted":
				for i := range tr.Nodes {
					if n := &tr.Nodes[i]; n.Leaf() {
						n.Model.Booster = boosters[i]
					}
				}
			}
			scorer := tr.Scorer()
			var vectors []dataset.Vector
			for _, in := range scorer.Features() {
				vectors = append(vectors, vectorOf(columns[in.Feature], in.Kind))
			}
			b.Run(fmt.Sprintf("by=row/classes=%d/models=%s", classes, models), func(b *testing.B) {
				b.ReportAllocs()
				var p tree.Prediction
				for b.Loop() {
					for _, v := range values {
						if err := scorer.PredictInto(v, &p); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows*b.N), "ns/row")
			})
			var scores tree.Scores
			b.Run(fmt.Sprintf("by=column/classes=%d/models=%s", classes, models), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := scorer.Score(vectors, rows, &scores); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows*b.N), "ns/row")
			})
		}
	}
}

// TestModelRanges: no row's probability is beyond the range of its leaf. The range of one
// leaf is by hand.
func TestModelRanges(t *testing.T) {
	tr := modelledTree()
	tr.Features[0].Range = []float64{22, 70}
	second := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	r := tr.ModelRanges()
	want := &tree.ModelRange{Features: []int{0}, Low: second(.25 - .4), High: second(2.25)} // 22 <= age < 30.5
	if diff := cmp.Diff(want, r[4], cmpopts.EquateApprox(0, 1e-12)); diff != "" || r[1] != nil || r[0] != nil {
		t.Errorf("by hand (-want +got):\n%s", diff)
	}
	inside := 0
	modelTrees(t, func(t *testing.T, tr *tree.Tree, rows []row) {
		t.Helper()
		scorer := tr.Scorer()
		for i := range tr.Features { // missing values are among those of training
			tr.Features[i].Missing = 1
		}
		ranges := tr.ModelRanges()
		for _, v := range rows {
			p, err := scorer.Predict(v.values(scorer.Features()))
			if err != nil {
				t.Fatal(err)
			}
			r := ranges[p.Leaf]
			if (r == nil) != (tr.Nodes[p.Leaf].Model == nil) {
				t.Fatalf("leaf %d: range %v", p.Leaf, r)
			}
			if r == nil {
				continue
			}
			if q := p.Probabilities[tr.Nodes[p.Leaf].Class]; q < r.Low-1e-12 || q > r.High+1e-12 {
				t.Errorf("%v: probability %v, range %+v", v, q, r)
			}
			if r.High-r.Low < .9 {
				inside++
			}
		}
	})
	if inside < 200 {
		t.Errorf("%d rows at leaves with a narrow range: the test shows little", inside)
	}
}

// TestModelMutations: no change of some bytes of a tree with models makes Decode or the
// use of the tree panic.
func TestModelMutations(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 1))
	const characters = `0123456789-.e,[]{}" `
	decoded := 0
	for i := range 6000 {
		valid := [][]byte{modelledTree().Encode(), boostedTree().Encode()}[i%2]
		from := bytes.Index(valid, []byte([]string{`"model"`, `"boosters"`}[i%2]))
		b := slices.Clone(valid)
		for range 1 + r.IntN(2) {
			at := from + r.IntN(len(b)-from)
			b[at] = characters[r.IntN(len(characters))]
		}
		tr, err := tree.Decode(b)
		if err != nil {
			continue
		}
		decoded++
		scores(t, tr, r)
		tr.ModelRanges()
	}
	if decoded < 200 {
		t.Errorf("%d trees were decoded: the test shows little", decoded)
	}
}

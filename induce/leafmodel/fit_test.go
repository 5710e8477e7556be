package leafmodel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// forest returns objects and trees that share some of their paths.
func forest(seed uint64, classes, objects int) (*growtest.Data, []*tree.Tree) {
	d := growtest.New(rand.New(rand.NewPCG(seed, 1)), growtest.SomeFeatures(), classes, objects, true)
	var trees []*tree.Tree
	for _, a := range []split.Algorithm{split.EC45, split.C45, split.CART} {
		for _, theta := range []float64{0.02, 0.1} {
			p := induce.Params{Algorithm: a, Family: split.Both, Lambda: 3, Theta: theta}
			trees = append(trees, d.Model(d.Grow(p, 1)))
		}
	}
	return d, trees
}

func attached(d *growtest.Data, o *dataset.Objects, trees []*tree.Tree, opts leafmodel.Options) []*tree.Tree {
	var list []*tree.Tree
	for i, models := range leafmodel.Fit(leafmodel.Sorted(o, 0), d.Features, trees, opts) {
		list = append(list, leafmodel.Attach(trees[i], models))
	}
	return list
}

// TestFitAlone: the models of a tree depend neither on the other trees, nor on the order of
// the objects, nor on the number of goroutines.
func TestFitAlone(t *testing.T) {
	for _, c := range []struct{ classes, broad int }{{2, 0}, {4, 0}, {2, 500}, {4, 500}} {
		t.Run(fmt.Sprintf("classes=%d/broad=%d", c.classes, c.broad), func(t *testing.T) {
			d, trees := forest(uint64(c.classes), c.classes, 12000)
			opts := leafmodel.Options{Ridge: 3, Broad: c.broad, Workers: 4}
			together := attached(d, d.Objects, trees, opts)
			shuffled := d.Shuffled(rand.New(rand.NewPCG(5, 5))).Objects
			opts.Workers = 1
			models := 0
			for i := range trees {
				alone := attached(d, shuffled, trees[i:i+1], opts)
				if !reflect.DeepEqual(alone[0].Nodes, together[i].Nodes) {
					t.Errorf("tree %d has other models alone", i)
				}
				for k := range together[i].Nodes {
					if together[i].Nodes[k].Model != nil {
						models++
					}
				}
			}
			if models == 0 {
				t.Error("no leaf has a model")
			}
		})
	}
}

// TestBroad: where each feature means the same everywhere, the objects of the root tell more of a
// path's features than the few of its leaf. For fresh objects the log loss falls.
func TestBroad(t *testing.T) {
	features := []dataset.Feature{growtest.Numeric("a", 8, 1), growtest.Numeric("b", 8, 1), growtest.Numeric("c", 8, 1)}
	r := rand.New(rand.NewPCG(40, 1))
	draw := func(objects int) *growtest.Data {
		d := &growtest.Data{Features: features, Columns: split.Columns(features)}
		d.Objects = dataset.NewObjects(dataset.NewLayout(features), 2, false, objects)
		for range objects {
			codes, score := make([]int, len(features)), 0.0
			for f := range codes {
				codes[f] = r.IntN(8)
				score += float64(codes[f]) - 3.5
			}
			class := uint16(0)
			if r.Float64() < 1/(1+math.Exp(-score/3)) {
				class = 1
			}
			d.Objects.Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
		}
		d.Total = d.Objects.TotalWeight()
		return d
	}
	d, fresh := draw(600), draw(5000)
	trees := []*tree.Tree{d.Model(d.Grow(induce.Params{Algorithm: split.C45, Family: split.Thresholds, Theta: 0.05}, 1))}
	var losses []float64
	for _, broad := range []int{0, 1000} {
		models := leafmodel.Fit(leafmodel.Sorted(d.Objects, 0), features, trees, leafmodel.Options{Ridge: 3, Broad: broad})
		losses = append(losses, *leafmodel.Evaluate(fresh.Objects, features, trees, models, 0)[0].LogLoss)
	}
	if losses[1] > 0.98*losses[0] {
		t.Errorf("log loss %.4f, without broad fits %.4f: want less", losses[1], losses[0])
	}
}

// TestModels: models name numeric features of their paths alone, have ascending knots, and
// are as good for the training objects as the frequencies in the leaves.
func TestModels(t *testing.T) {
	for _, classes := range []int{2, 3} {
		d, trees := forest(uint64(10+classes), classes, 4000)
		o := leafmodel.Sorted(d.Objects, 0)
		for i, models := range leafmodel.Fit(o, d.Features, trees, leafmodel.Options{Ridge: 1}) {
			with := leafmodel.Attach(trees[i], models)
			plain, modelled := 0.0, 0.0
			router, p := trees[i].Router(), make([]float64, classes)
			for id := range o.Len() {
				leaf := router.Leaf(o, id)
				frequencies := trees[i].Nodes[leaf].RawClassWeights
				sum := int64(0)
				for _, w := range frequencies {
					sum += w
				}
				for k := range p {
					p[k] = float64(frequencies[k]) / float64(sum)
				}
				plain += logLoss(o, id, p)
				if models[leaf] != nil {
					models[leaf].Probabilities(o, id, p)
				}
				modelled += logLoss(o, id, p)
			}
			if modelled > 1.02*plain {
				t.Errorf("tree %d: the training rows' loss is %.1f with models, %.1f without", i, modelled, plain)
			}
			checkModels(t, with)
		}
	}
}

func logLoss(o *dataset.Objects, i int, p []float64) float64 {
	loss := 0.0
	for _, w := range o.Raw(i) {
		loss -= float64(w.Weight) * math.Log(max(p[w.Class], 1e-15))
	}
	return loss
}

// checkModels walks the paths of a tree.
func checkModels(t *testing.T, with *tree.Tree) {
	t.Helper()
	var visit func(at int, asked []int)
	visit = func(at int, asked []int) {
		n := &with.Nodes[at]
		if n.Model != nil {
			for _, term := range n.Model.Terms {
				f := &with.Features[term.Feature]
				if !slices.Contains(asked, term.Feature) || f.Kind != dataset.Numeric {
					t.Errorf("leaf %d has a term of %s", at, f.Name)
				}
				if len(term.At) == 0 || len(term.At) != len(term.Values) || !slices.IsSorted(term.At) {
					t.Errorf("leaf %d, %s: knots %v", at, f.Name, term.At)
				}
			}
		}
		for _, b := range n.Branches {
			visit(b.Child, append(slices.Clone(asked), n.Test.Feature))
		}
	}
	visit(0, nil)
}

// TestLeaf: a model in tree.json gives the scores of the codes at the middles of bins.
func TestLeaf(t *testing.T) {
	d, trees := forest(20, 2, 4000)
	o := leafmodel.Sorted(d.Objects, 0)
	models := leafmodel.Fit(o, d.Features, trees[:1], leafmodel.Options{Ridge: 1})[0]
	router, p := trees[0].Router(), make([]float64, 2)
	compared := 0
	for id := range min(500, o.Len()) {
		m := models[router.Leaf(o, id)]
		if m == nil {
			continue
		}
		m.Probabilities(o, id, p)
		z := slices.Clone(m.Leaf.Intercept)
		for i := range m.Leaf.Terms {
			term := &m.Leaf.Terms[i]
			term.AddTo(z, middle(&d.Features[term.Feature], o.Codes[term.Feature].At(id)))
		}
		if got := 1 / (1 + math.Exp(-z[0])); math.Abs(got-p[1]) > 1e-9 {
			t.Errorf("object %d: %.9f by tree.json, %.9f by codes", id, got, p[1])
		}
		compared++
	}
	if compared == 0 {
		t.Error("no leaf has a model")
	}
}

// middle returns a value of a code: of the outer bins one beyond all knots.
func middle(f *dataset.Feature, code int) float64 {
	switch {
	case code == f.MissingCode():
		return math.NaN()
	case code == 0:
		return f.Cuts[0] - 1e9
	case code == len(f.Cuts):
		return f.Cuts[len(f.Cuts)-1] + 1e9
	default:
		return (f.Cuts[code-1] + f.Cuts[code]) / 2
	}
}

// TestKnots: a term has few knots. TestTerm has their exactness.
func TestKnots(t *testing.T) {
	d, trees := forest(20, 2, 4000)
	terms, knots := 0, 0
	for _, m := range leafmodel.Fit(leafmodel.Sorted(d.Objects, 0), d.Features, trees[:1], leafmodel.Options{Ridge: 1})[0] {
		if m != nil {
			for _, term := range m.Leaf.Terms {
				terms, knots = terms+1, knots+len(term.At)
			}
		}
	}
	if terms == 0 || knots > 8*terms {
		t.Errorf("%d knots of %d terms", knots, terms)
	}
}

// TestDraft: drafts are nearly as good as models.
func TestDraft(t *testing.T) {
	for _, classes := range []int{2, 3} {
		d, trees := forest(uint64(70+classes), classes, 20000)
		all := leafmodel.Sorted(d.Objects, 0)
		opts := leafmodel.Options{Ridge: 3, Broad: 500}
		models := leafmodel.Fit(all, d.Features, trees, opts)
		opts.Draft = true
		drafts := leafmodel.Fit(all, d.Features, trees, opts)
		want := leafmodel.Evaluate(all, d.Features, trees, models, 0)
		for i, got := range leafmodel.Evaluate(all, d.Features, trees, drafts, 0) {
			if *got.LogLoss == *want[i].LogLoss || *got.LogLoss > 1.02**want[i].LogLoss {
				t.Errorf("classes %d, tree %d: log loss %.4f, want about %.4f", classes, i, *got.LogLoss, *want[i].LogLoss)
			}
		}
	}
}

// TestEvaluateFitted: trees without models are not scored.
func TestEvaluateFitted(t *testing.T) {
	d, trees := forest(3, 2, 3000)
	o := leafmodel.Sorted(d.Objects, 0)
	models := leafmodel.Fit(o, d.Features, trees, leafmodel.Options{Ridge: 1})
	want := leafmodel.Evaluate(o, d.Features, trees, models, 0)
	models[1] = nil
	got := leafmodel.EvaluateFitted(o, d.Features, trees, models, 0)
	want[1] = metric.Judgement{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestStop: a stopped fit returns.
func TestStop(t *testing.T) {
	d, trees := forest(30, 2, 1000)
	models := leafmodel.Fit(d.Objects, d.Features, trees, leafmodel.Options{Ridge: 1, Stop: func() bool { return true }})
	if len(models) != len(trees) {
		t.Errorf("%d lists of models of %d trees", len(models), len(trees))
	}
}

// BenchmarkFit fits the models of six trees that share paths.
func BenchmarkFit(b *testing.B) {
	for _, classes := range []int{2, 7} {
		d, trees := forest(1, classes, 50_000)
		o := leafmodel.Sorted(d.Objects, 0)
		b.Run(fmt.Sprintf("classes=%d", classes), func(b *testing.B) {
			for b.Loop() {
				leafmodel.Fit(o, d.Features, trees, leafmodel.Options{Ridge: 3})
			}
		})
	}
}

// BenchmarkEvaluate scores six trees with models on few objects and on many.
func BenchmarkEvaluate(b *testing.B) {
	d, trees := forest(1, 2, 8000)
	models := leafmodel.Fit(leafmodel.Sorted(d.Objects, 0), d.Features, trees, leafmodel.Options{Ridge: 3})
	for _, n := range []int{100, 8000} {
		o := leafmodel.Sorted(d.Objects, n)
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				leafmodel.Evaluate(o, d.Features, trees, models, 1)
			}
		})
	}
}

// sharpened returns trees whose leaves are surer: of some classes they have probabilities down to 1e-20,
// as pure leaves have of rare ones.
func sharpened(trees []*tree.Tree) []*tree.Tree {
	var list []*tree.Tree
	for _, t := range trees {
		sharp := *t
		sharp.Nodes = slices.Clone(t.Nodes)
		for i := range sharp.Nodes {
			p, sum := slices.Clone(sharp.Nodes[i].Probabilities), 0.0
			for k := range p {
				p[k] = math.Pow(p[k], 10)
				sum += p[k]
			}
			for k := range p {
				p[k] /= sum
			}
			sharp.Nodes[i].Probabilities = p
		}
		list = append(list, &sharp)
	}
	return list
}

// withErrorCosts returns trees whose predictions cost 2 for the first class, if wrong, and 1 else.
func withErrorCosts(trees []*tree.Tree, classes int) []*tree.Tree {
	costs := make([][]float64, classes)
	for c := range costs {
		costs[c] = slices.Repeat([]float64{1}, classes)
		costs[c][0], costs[c][c] = 2, 0
	}
	list := make([]*tree.Tree, len(trees))
	for i, t := range trees {
		priced := *t
		priced.Label.ErrorCosts = costs
		list[i] = &priced
	}
	return list
}

// TestEvaluate compares the scores of several trees with those of package metric, which
// ranks each object by itself.
func TestEvaluate(t *testing.T) {
	for _, classes := range []int{2, 4} {
		d, trees := forest(uint64(40+classes), classes, 3000)
		o := leafmodel.Sorted(d.Objects, 0)
		all := leafmodel.Fit(o, d.Features, trees, leafmodel.Options{Ridge: 1})
		for _, of := range []struct {
			trees  []*tree.Tree
			models [][]*leafmodel.Model
		}{
			{trees, nil},
			{trees, all},
			{sharpened(trees), nil},
			{withErrorCosts(trees, classes), nil},
			{withErrorCosts(trees, classes), all},
		} {
			trees, models := of.trees, of.models
			for i, score := range leafmodel.Evaluate(o, d.Features, trees, models, 3) {
				router, leaves := trees[i].Router(), make([]metric.Leaf, o.Len())
				for id := range leaves {
					at := router.Leaf(o, id)
					l := metric.Leaf{Probabilities: slices.Clone(trees[i].Nodes[at].Probabilities), Weights: make([]int64, classes), Rows: 1}
					if models != nil && models[i][at] != nil {
						models[i][at].Probabilities(o, id, l.Probabilities)
					}
					for _, w := range o.Raw(id) {
						l.Weights[w.Class] = w.Weight
					}
					l.Class = trees[i].Label.Decide(l.Probabilities)
					leaves[id] = l
				}
				want := metric.Evaluate(leaves, trees[i].Label.Classes, 1)
				if math.Abs(*score.AUC-*want.AUCOvRMacro) > 1e-4 || math.Abs(*score.LogLoss-*want.LogLoss) > 1e-9 {
					t.Errorf("tree %d: AUC %v, log loss %v, want %v, %v", i, *score.AUC, *score.LogLoss, *want.AUCOvRMacro, *want.LogLoss)
				}
				mistakes := 0.
				costs := trees[i].Label.ErrorCosts
				for actual := range costs {
					for predicted, w := range want.Confusion[actual] {
						mistakes += float64(w) * costs[actual][predicted] / float64(want.Weight)
					}
				}
				if (score.ErrorCost == nil) != (costs == nil) ||
					score.ErrorCost != nil && math.Abs(*score.ErrorCost-mistakes) > 1e-9 || *score.Accuracy != *want.Accuracy {
					t.Errorf("tree %d: accuracy %v, want %v; error cost %v, want %v", i, *score.Accuracy, *want.Accuracy, score.ErrorCost, mistakes)
				}
			}
		}
	}
}

package crossvalidate_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// data are objects over two features with the codes 0..3 and 0..15, without a missing
// value. The second feature leans to the second class.
type data struct {
	features []dataset.Feature
	objects  *dataset.Objects
	weight   int64
	classes  int
	params   []induce.Params
}

func newData(codes [][]int, classes []int) *data {
	cuts := make([]float64, 15)
	for i := range cuts {
		cuts[i] = float64(i)
	}
	d := &data{
		features: []dataset.Feature{
			{Name: "x", Kind: dataset.Numeric, Cuts: cuts[:3], Cost: 1}, {Name: "y", Kind: dataset.Numeric, Cuts: cuts, Cost: 2},
		},
		params: []induce.Params{
			{Algorithm: split.C45, Family: split.Thresholds},
			{Algorithm: split.CART, Family: split.Both, Theta: 0.1},
		},
	}
	d.classes = max(2, slices.Max(classes)+1)
	d.objects = dataset.NewObjects(dataset.NewLayout(d.features), d.classes, false, len(codes))
	for i, c := range codes {
		weight := int64(1 + c[0])
		d.weight += weight
		d.objects.Append(c, []dataset.ClassWeight{{Class: uint16(classes[i]), Weight: weight}}, weight)
	}
	return d
}

// every draws one object of two classes for each of the 64 pairs of codes.
func every(seed uint64) *data { return everyOf(seed, 2) }

// everyOf is every for a number of classes.
func everyOf(seed uint64, most int) *data {
	r := rand.New(rand.NewPCG(seed, 1))
	var codes [][]int
	var classes []int
	for i := range 64 {
		codes = append(codes, []int{i % 4, i / 4})
		classes = append(classes, min(most-1, (i/4+r.IntN(16))*most/32))
	}
	return newData(codes, classes)
}

// model makes a tree of nodes, with smoothed leaves.
func (d *data) model(nodes []tree.Node, candidate int) *tree.Tree {
	t := tree.New(d.features, nodes)
	t.Label.Classes = []string{"a", "b", "c"}[:d.classes]
	if d.classes == 2 {
		t.Label.ErrorCosts = [][]float64{{0, 1}, {4, 0}}
	}
	t.Algorithm.Name, t.Algorithm.LeafEstimate = d.params[candidate].Algorithm.String(), tree.Smoothed
	t.Estimate(tree.Smoothed, 1)
	t.Measure()
	return t
}

func (d *data) growth(folds int) *crossvalidate.Growth {
	return &crossvalidate.Growth{
		Objects: d.objects, Columns: split.Columns(d.features), Folds: folds, Seed: 1, Model: d.model,
	}
}

// pool has the trees of all objects, in all currencies. The training objects are also the
// validation rows.
func (d *data) pool(t *testing.T) *frontier.Pool {
	t.Helper()
	var candidates []frontier.Candidate
	for i, root := range inmemory.GrowEach(d.objects, split.Columns(d.features), d.params, d.weight, inmemory.Options{}) {
		c := frontier.NewCandidate(d.model(root, i), d.params[i])
		c.Counts[dataset.Validation], c.Counts[dataset.Test] = c.Counts[dataset.Train], c.Tree.NewLeafCounts()
		candidates = append(candidates, c)
	}
	settings := frontier.Settings{Currencies: []prune.Currency{prune.Leaves, prune.Cost, prune.MaxCost}}
	p, err := frontier.NewPool(t.Context(), candidates, &settings, new(atomic.Int64))
	if err == nil {
		err = p.Score(t.Context(), new(atomic.Int64))
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// list returns the weights of objects by codes and class.
func list(o *dataset.Objects) map[[3]int]int64 {
	weights := map[[3]int]int64{}
	for i := range o.Len() {
		for _, s := range o.Raw(i) {
			weights[[3]int{o.Codes[0].At(i), o.Codes[1].At(i), int(s.Class)}] += s.Weight
		}
	}
	return weights
}

// TestDeal: each row is in one fold, and in which one depends on the seed and on the rows, but not on
// the order of the objects. Rows with equal codes are in all folds.
func TestDeal(t *testing.T) {
	d := every(1)
	d.objects.Append([]int{3, 15}, []dataset.ClassWeight{{Class: 0, Weight: 700}, {Class: 1, Weight: 300}}, 1000)
	backwards := make([]int32, d.objects.Len())
	for i := range backwards {
		backwards[i] = int32(len(backwards) - 1 - i)
	}
	turned := d.objects.Select(backwards)
	for _, folds := range []int{2, 5, 100} {
		sum, other := map[[3]int]int64{}, false
		for fold := range folds {
			rest, held := crossvalidate.Deal(d.objects, folds, 1).Fold(fold)
			of := list(held)
			all := list(rest)
			for place, w := range of {
				sum[place] += w
				all[place] += w
			}
			if diff := cmp.Diff(list(d.objects), all); diff != "" {
				t.Errorf("fold %d of %d and the others (-all +got):\n%s", fold, folds, diff)
			}
			for class, w := range []float64{700, 300} { // within five standard deviations
				share := w / float64(folds)
				if got := float64(of[[3]int{3, 15, class}]); math.Abs(got-share) > 4+5*math.Sqrt(share) {
					t.Errorf("fold %d of %d has %v of %v equal rows of class %d", fold, folds, got, w, class)
				}
			}
			_, again := crossvalidate.Deal(turned, folds, 1).Fold(fold)
			if diff := cmp.Diff(of, list(again)); diff != "" {
				t.Errorf("fold %d of %d (-held +objects backwards):\n%s", fold, folds, diff)
			}
			_, seeded := crossvalidate.Deal(d.objects, folds, 2).Fold(fold)
			other = other || !cmp.Equal(of, list(seeded))
		}
		if diff := cmp.Diff(list(d.objects), sum); diff != "" {
			t.Errorf("%d folds hold (-all +got):\n%s", folds, diff)
		}
		if !other {
			t.Errorf("%d folds: another seed deals the same", folds)
		}
	}
}

// grown grows folds and scores them.
func grown(t *testing.T, g *crossvalidate.Growth, p *frontier.Pool, settled *atomic.Int64) ([]crossvalidate.Fold, error) {
	t.Helper()
	folds, err := g.Grow(t.Context(), p, settled)
	for i := range folds {
		folds[i].Score()
	}
	return folds, err
}

// TestGrow: the tree of a fold is the one that memory grows from the other objects, and
// its figures are those of package metric on the objects of the fold.
func TestGrow(t *testing.T) {
	d := every(2)
	p := d.pool(t)
	var settled atomic.Int64
	folds, err := grown(t, d.growth(4), p, &settled)
	if err != nil || len(folds) != 4 {
		t.Fatalf("%d folds, %v", len(folds), err)
	}
	want := d.weight * 6 // two trees, which have each object three times
	if settled.Load() != want || d.growth(4).Weight(p) != want {
		t.Errorf("weight %d settled, want %d", settled.Load(), want)
	}
	for i, q := range p.Points {
		if q.Step != 0 {
			continue
		}
		for fold := range 4 {
			want, score := d.byHand(4, fold, q.Tree)
			got := crossvalidate.Counterparts(folds, p, &p.Points[i])[fold]
			if diff := cmp.Diff(want, got.Tree); diff != "" {
				t.Errorf("fold %d, point %d (-want +got):\n%s", fold, i, diff)
			}
			if got.Rows != score.Rows || math.Abs(*got.Score.AUC-*score.AUCOvRMacro) > 1e-12 ||
				math.Abs(*got.Score.ExpectedCost-*score.ExpectedCost) > 1e-12 {
				t.Errorf("fold %d, point %d: %d rows, %v, want %d rows, area %v", fold, i, got.Rows, *got.Score.AUC, score.Rows,
					*score.AUCOvRMacro)
			}
		}
	}
}

// byHand grows a tree without the rows of a fold and measures it on them.
func (d *data) byHand(folds, fold, candidate int) (*tree.Tree, metric.Metrics) {
	rest, held := crossvalidate.Deal(d.objects, folds, 1).Fold(fold)
	nodes := inmemory.Grow(rest, split.Columns(d.features), d.params[candidate], rest.TotalWeight(), inmemory.Options{})
	t := d.model(nodes, candidate)
	counts, router := t.NewLeafCounts(), t.Router()
	for i := range held.Len() {
		counts.Count(router.Leaf(held, i), held, i)
	}
	return t, metric.Evaluate(metric.Leaves(t, counts), t.Label.Classes, 1)
}

// TestCounterparts: the un-pruned trees and the roots alone correspond to each other. A
// step between them corresponds to the step of the fold's tree whose expected cost is
// nearest, the cheaper one of two. The area of a point is the mean over the folds, and its other
// figures are means weighted by the folds' rows. A counterpart that costs over 1.2 times as much counts with
// figures between it and the root, if there is no step between them. Each training row is in a fold.
func TestCounterparts(t *testing.T) {
	d := every(3)
	p := d.pool(t)
	folds, err := grown(t, d.growth(5), p, new(atomic.Int64))
	if err != nil {
		t.Fatal(err)
	}
	crossvalidate.SetAreas(folds, p)
	between, dear := 0, 0
	for i := range p.Points {
		q := &p.Points[i]
		steps := p.Prunings[p.PruningOf(q)].Sequence.Steps
		sum, n := 0.0, 0
		var rows, loss, hits, wrong, total float64
		for fold, one := range crossvalidate.Counterparts(folds, p, q) {
			grown, _ := d.byHand(5, fold, q.Tree)
			own := p.Candidates[q.Tree].Prune(grown, q.Currency)[0]
			at := 0
			switch {
			case q.Step == len(steps)-1:
				at = len(own.Steps) - 1
			case q.Step > 0:
				off := func(step int) float64 { return math.Abs(own.Steps[step].ExpectedCost - q.ExpectedCost) }
				for step := range own.Steps {
					if off(step) <= off(at) {
						at = step
					}
				}
				between++
			}
			if got, want := one.Tree.Complexity, own.Tree(at).Complexity; got != want {
				t.Errorf("point %d, fold %d: %+v, want that of step %d, %+v", i, fold, got, at, want)
			}
			weight := float64(one.Rows)
			rows += weight
			add := func(s *prune.Score, share float64) {
				sum += share * *s.AUC
				total += share * weight * (*s.ErrorCost + *s.ExpectedCost)
				loss += share * weight * *s.LogLoss
				hits += share * weight * *s.Accuracy
				wrong += share * weight * *s.ErrorCost
			}
			n++
			share := 1.0
			last := len(own.Steps) - 1
			cost := own.Steps[at].ExpectedCost
			if q.Step > 0 && cost > 1.2*q.ExpectedCost && (last == 0 || own.Steps[last-1].ExpectedCost > q.ExpectedCost) {
				share = math.Sqrt(q.ExpectedCost / cost)
				add(&crossvalidate.ScoresOf(&folds[fold], p, q)[last], 1-share)
				dear++
			}
			add(&one.Score, share)
		}
		for name, got := range map[string][2]float64{
			"log loss": {*q.Folds.LogLoss, loss / rows}, "accuracy": {*q.Folds.Accuracy, hits / rows},
			"error cost": {*q.Folds.ErrorCost, wrong / rows}, "total cost": {*q.Folds.TotalCost, total / rows},
		} {
			if math.Abs(got[0]-got[1]) > 1e-12 {
				t.Errorf("point %d: %s %v on the folds, want %v", i, name, got[0], got[1])
			}
		}
		if want := sum / float64(n); math.Abs(*q.Folds.AUC-want) > 1e-15 {
			t.Errorf("point %d: area %v, want the mean %v", i, *q.Folds.AUC, want)
		}
		validation := float64(p.Candidates[0].Counts[dataset.Validation].TotalRows())
		if want := float64(d.weight) / (float64(d.weight) + validation); math.Abs(q.FoldShare-want) > 1e-15 {
			t.Errorf("point %d: share %v of the folds, want %v", i, q.FoldShare, want)
		}
	}
	if dear < 3 {
		t.Errorf("only %d counterparts cost much more than their points", dear)
	}
	if between < 20 {
		t.Errorf("only %d counterparts between the first and the last step", between)
	}
}

// TestOptimism: by a choice among the same points with the figures of the other folds alone.
func TestOptimism(t *testing.T) {
	seen := 0
	for number := 2; number <= 6; number++ {
		d := every(uint64(number))
		p := d.pool(t)
		for i := range p.Points { // without validation rows the folds alone decide
			p.Points[i].Validation = metric.Judgement{}
		}
		folds, err := grown(t, d.growth(number), p, new(atomic.Int64))
		if err != nil {
			t.Fatal(err)
		}
		crossvalidate.SetAreas(folds, p)
		s := &frontier.Settings{Query: frontier.Query{Rule: frontier.Highest}}
		choice, err := p.Choose(s)
		if err != nil {
			t.Fatal(err)
		}
		area := func(q *frontier.Point, fold int) float64 {
			return *crossvalidate.Counterparts(folds[fold:fold+1], p, q)[0].Score.AUC
		}
		sum := 0.0
		for k := range folds {
			other := *p
			other.Points = slices.Clone(p.Points)
			crossvalidate.SetAreas(slices.Concat(folds[:k], folds[k+1:]), &other)
			without, err := other.Choose(s)
			if err != nil {
				t.Fatal(err)
			}
			sum += area(&choice.Chosen, k) - area(&without.Chosen, k)
		}
		want := max(0, sum/float64(len(folds)))
		got, err := crossvalidate.Optimism(folds, p, s, choice.Listed)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range choice.Listed { // the highest points within a cost are the frontier
			o := got[i].AUC
			if q.Chosen && (o == nil || math.Abs(*o-want) > 1e-12) {
				t.Errorf("%d folds: optimism %v, want %v", number, o, want)
			}
			if o == nil || q.Leaves == 1 && *o != 0 || got[i].Accuracy != nil {
				t.Errorf("%d folds: optimism %v of a tree of %d leaves, %v of its accuracy", number, o, q.Leaves, got[i].Accuracy)
			}
		}
		s.Merit = frontier.Accuracy
		if choice, err = p.Choose(s); err != nil {
			t.Fatal(err)
		}
		if got, err = crossvalidate.Optimism(folds, p, s, choice.Listed); err != nil {
			t.Fatal(err)
		}
		for i, q := range choice.Listed { // the area did not choose the tree
			if o := got[i].Accuracy; q.Chosen && (o == nil || *o < 0 || *got[i].AUC != 0) {
				t.Errorf("%d folds: optimism %v of the accuracy, %v of the area", number, o, *got[i].AUC)
			}
		}
		if want > 0 {
			seen++
		}
	}
	if seen == 0 {
		t.Error("no choice was optimistic")
	}
}

// TestFewObjects: the folds of few objects that have none are left out, and a fold that
// has all.
func TestFewObjects(t *testing.T) {
	for n := 1; n <= 6; n++ {
		var codes [][]int
		var classes []int
		for i := range n {
			codes, classes = append(codes, []int{i % 4, i}), append(classes, i%2)
		}
		d := newData(codes, classes)
		p := d.pool(t)
		for _, number := range []int{2, 5, 20} {
			want := 0
			for fold := range number {
				if rest, held := crossvalidate.Deal(d.objects, number, 1).Fold(fold); rest.Len() > 0 && held.Len() > 0 {
					want++
				}
			}
			folds, err := grown(t, d.growth(number), p, new(atomic.Int64))
			if err != nil || len(folds) != want || n == 1 && want != 0 {
				t.Errorf("%d objects: %d of %d folds, want %d, %v", n, len(folds), number, want, err)
			}
			crossvalidate.SetAreas(folds, p)
			rows := int64(0)
			for _, one := range crossvalidate.Counterparts(folds, p, &p.Points[0]) {
				rows += one.Rows
			}
			if want > 0 && rows != d.weight {
				t.Errorf("%d objects in %d folds: %d rows of %d", n, number, rows, d.weight)
			}
			if n == 1 && p.Points[0].Folds.AUC != nil {
				t.Errorf("the area %v of no folds", *p.Points[0].Folds.AUC)
			}
		}
	}
}

// TestStability: a tree agrees with itself in each split, and in half of the trees if
// every second one is a single leaf.
func TestStability(t *testing.T) {
	p := every(4).pool(t)
	whole := p.Candidates[0].Tree
	last := p.Prunings[0].Sequence
	leaf := last.Tree(len(last.Steps) - 1)
	for want, trees := range map[float64][]*tree.Tree{1: {whole, whole}, .5: {whole, leaf}, 0: {leaf}} {
		var counterparts []crossvalidate.Counterpart
		for _, one := range trees {
			counterparts = append(counterparts, crossvalidate.Counterpart{Tree: one})
		}
		s := crossvalidate.Stability(whole, counterparts)
		if *s.SameFeature != want || *s.SameTest != want || len(s.Splits) != whole.Complexity.Leaves-1 {
			t.Errorf("%d trees: %v, %v, %d splits, want %v", len(trees), *s.SameFeature, *s.SameTest, len(s.Splits), want)
		}
	}
}

// TestGrowStops: the end of the context ends the growth, before it and in the middle,
// and nothing half grown is given out.
func TestGrowStops(t *testing.T) {
	d := every(5)
	p := d.pool(t)
	cause := errors.New("interrupted")
	for _, at := range []int32{0, 1, 5} {
		ctx, cancel := context.WithCancelCause(t.Context())
		g := d.growth(3)
		var trees atomic.Int32
		g.Model = func(nodes []tree.Node, candidate int) *tree.Tree {
			if trees.Add(1) == at {
				cancel(cause)
			}
			return d.model(nodes, candidate)
		}
		if at == 0 {
			cancel(cause)
		}
		if folds, err := g.Grow(ctx, p, new(atomic.Int64)); folds != nil || !errors.Is(err, cause) {
			t.Errorf("after %d trees: %d folds, %v", at, len(folds), err)
		}
		cancel(nil)
	}
}

func ExampleSetting_Decide() {
	auto, _ := crossvalidate.ParseSetting("auto")
	fmt.Println(auto.Decide(900, 20_000).Folds, "folds: there are few training objects")
	fmt.Println(auto.Decide(150, 40_000).Folds, "folds: the rarest class has few validation rows")
	fmt.Println(auto.Decide(900, 40_000).Folds, "folds: it has enough")
	// Output:
	// 5 folds: there are few training objects
	// 5 folds: the rarest class has few validation rows
	// 0 folds: it has enough
}

package inmemory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/longtest"
)

// grid is trees that share nodes with each other, more or less.
func grid() []induce.Params {
	var ps []induce.Params
	for _, theta := range []float64{0.05, 0.002, 0} {
		for _, p := range []induce.Params{
			{Algorithm: split.EC45, Lambda: 1},
			{Algorithm: split.EC45, Lambda: 100},
			{Algorithm: split.C45},
			{Algorithm: split.CCART},
			{Algorithm: split.ASR},
			{Algorithm: split.C45, MaxDepth: 3},
			{Algorithm: split.C45, MinRows: 40},
		} {
			p.Theta = theta
			for _, p.Family = range []split.Family{split.Thresholds, split.Multiways, split.OneHot, split.Both, split.Sets, split.All} {
				ps = append(ps, p)
			}
		}
	}
	return ps
}

// TestGrowEach: trees are the same whether they are grown side by side or one by one.
func TestGrowEach(t *testing.T) {
	longtest.Skip(t)
	var wide []dataset.Feature
	for f := range 20 {
		wide = append(wide, growtest.Numeric(fmt.Sprintf("n%d", f), 3+f, float64(1+f%2)))
		wide = append(wide, growtest.Categorical(fmt.Sprintf("c%d", f), 2+f%4, 1))
	}
	for _, test := range []struct {
		features         []dataset.Feature
		classes, objects int
		soft             bool
		by               split.Classes
	}{
		{growtest.SomeFeatures(), 2, 60, false, split.OfObjects},
		{growtest.SomeFeatures(), 2, 60, false, split.OfRows},
		{growtest.SomeFeatures(), 7, 300, false, split.OfObjects},
		{growtest.SomeFeatures(), 7, 300, false, split.OfRows},
		{growtest.SomeFeatures(), 7, 300, true, split.OfObjects},
		{growtest.SomeFeatures(), 7, 300, true, split.OfRows},
		{wide, 3, 20_000, false, split.OfObjects}, // large enough for all workers on one node, and for gathering
		{wide, 3, 20_000, false, split.OfRows},
		{wide, 3, 14_000, true, split.OfObjects},
	} {
		if testing.Short() && test.objects > 1000 {
			test.objects = 14_000
		}
		d := growtest.New(rand.New(rand.NewPCG(8, uint64(test.classes))), test.features, test.classes, test.objects, true)
		if test.soft {
			d = d.Softened(rand.New(rand.NewPCG(8, 9)))
		}
		if test.by == split.OfRows && !test.soft {
			d = d.Rare(rand.New(rand.NewPCG(8, 10)))
		}
		ps := grid()
		for i := range ps {
			ps[i].Classes = test.by
		}
		if test.soft {
			ps = ps[:2]
		} else if test.objects > 1000 { // all families, at two of the thetas
			ps = slices.Concat(ps[:16], ps[28:36])
		}
		var want []string
		for _, p := range ps {
			want = append(want, growtest.Encode(t, d.Grow(p, 1)))
		}
		for _, opts := range []inmemory.Options{{Workers: 1}, {Workers: 3}, {Workers: 2, Memory: 1 << 20}} {
			for i, n := range inmemory.GrowEach(d.Objects, d.Columns, ps, d.Total, opts) {
				if growtest.Encode(t, n) != want[i] {
					t.Errorf("%d objects, %+v, %+v: another tree", test.objects, opts, ps[i])
				}
			}
		}
	}
}

// TestGrowEachPriced is TestGrowEach for tests whose costs depend on the path, and for features that have
// to be tested first.
func TestGrowEachPriced(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(77, seed))
		d := growtest.New(r, growtest.PricedFeatures(), 2+r.IntN(4), 150, false)
		if seed%2 == 1 {
			d = d.Constrained(r)
		}
		algorithms, families := growtest.Algorithms(), growtest.AllFamilies()
		var ps []induce.Params
		for range 12 {
			p := growtest.RandomParams(r, algorithms[r.IntN(len(algorithms))], families[r.IntN(len(families))])
			p.Theta = 0.05
			if seed%3 == 0 {
				p.Classes = split.OfRows
			}
			ps = append(ps, p)
		}
		for i, n := range inmemory.GrowEach(d.Objects, d.Columns, ps, d.Total, inmemory.Options{}) {
			if got, want := growtest.Encode(t, n), growtest.Encode(t, d.Grow(ps[i], 1)); got != want {
				t.Errorf("seed %d, tree %d of %+v:\n%s, want\n%s", seed, i, ps, got, want)
			}
		}
	}
}

func BenchmarkGrow(b *testing.B) {
	var features []dataset.Feature
	for f := range 40 {
		features = append(features, growtest.Numeric(fmt.Sprintf("n%d", f), 2+f%3*60, 1))
	}
	d := growtest.New(rand.New(rand.NewPCG(1, 2)), features, 4, 100_000, false)
	for _, trees := range []int{1, 12} {
		var ps []induce.Params
		for i := range trees {
			ps = append(ps, induce.Params{
				Algorithm: split.EC45, Family: split.Thresholds,
				Theta: []float64{0.005, 0.01, 0.002}[i%3], Lambda: []float64{10, 1, 100, 1000}[i/3],
			})
		}
		b.Run(fmt.Sprintf("objects=1e5/features=40/trees=%d", trees), func(b *testing.B) {
			for b.Loop() {
				inmemory.GrowEach(d.Objects, d.Columns, ps, d.Total, inmemory.Options{Workers: 2})
			}
		})
	}
}

// BenchmarkGrid grows trees as the default grid does: by two algorithms, of two families of
// tests.
func BenchmarkGrid(b *testing.B) {
	var ps []induce.Params
	for _, family := range []split.Family{split.Thresholds, split.Both} {
		for _, theta := range []float64{0.005, 0.0005} {
			for _, lambda := range []float64{10, 3, 30, 1000} {
				ps = append(ps, induce.Params{Algorithm: split.EC45, Lambda: lambda, Theta: theta, Family: family})
			}
			ps = append(ps, induce.Params{Algorithm: split.C45, Theta: theta, Family: family})
		}
	}
	for _, shape := range []struct{ objects, features, bins, classes int }{
		{50_000, 20, 500, 2}, {50_000, 20, 500, 7}, {3000, 400, 100, 2}, {50_000, 60, 3, 2},
	} {
		var features []dataset.Feature
		for f := range shape.features {
			features = append(features, growtest.Numeric(fmt.Sprintf("n%d", f), shape.bins, 1))
		}
		d := growtest.New(rand.New(rand.NewPCG(1, 2)), features, shape.classes, shape.objects, false)
		name := fmt.Sprintf("objects=%d/features=%d/bins=%d/classes=%d",
			shape.objects, shape.features, shape.bins, shape.classes)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				inmemory.GrowEach(d.Objects, d.Columns, ps, d.Total, inmemory.Options{Workers: 2})
			}
		})
	}
}

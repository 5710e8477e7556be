package crossvalidate

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Fit fits models of several variants to the leaves of the trees of points. It returns the earlier
// models on which they are based, by point and node (nil if absent), and the models of each
// variant (nil for points of which no models are fitted).
type Fit func(f *distill.Fitting) (before [][]*leafmodel.Model, variants [][][]*leafmodel.Model)

// Gained adds up, by variant and point, the changes of the figures on folds from the earlier models to the models.
type Gained [][]means

// NewGained returns sums for this many variants and points.
func NewGained(variants, points int) Gained {
	g := make(Gained, variants)
	for v := range g {
		g[v] = make([]means, points)
	}
	return g
}

// Mean returns the average change over the folds that define it, for a variant and a point.
func (g Gained) Mean(variant, point int) metric.Judgement { return g[variant][point].judgement() }

// Gains adds to gained what the models of each variant change for some of the points, given by their
// indexes in at. The models of a fold are fitted in the counterparts of the points, to the objects
// of the other folds, with the scale of o. done counts folds times variants. If the context ends
// first, Gains returns its cause.
func (g *Growth) Gains(
	ctx context.Context, pool *frontier.Pool, folds []Fold, points []frontier.Point, at []int, o leafmodel.Options,
	fit Fit, gained Gained, done *atomic.Int64,
) error {
	dealt := g.deal()
	changes := make([][]metric.Judgement, len(folds)*len(gained)) // by fold and variant
	err := parallel.EachUntil(ctx, len(folds), new(atomic.Int64), func(i int) {
		f := &folds[i]
		trees := make([]*tree.Tree, len(at))
		for k, p := range at {
			pruning, step := f.counterpart(pool, &points[p])
			trees[k] = f.sequences[pruning].Tree(step)
		}
		o := o
		o.Workers = runtime.GOMAXPROCS(0) // while one fold ends, another keeps the processors busy
		o.Stop = func() bool { return ctx.Err() != nil }
		features := trees[0].Features
		rest, held := dealt.Fold(f.number)
		before, models := fit(&distill.Fitting{
			Training: leafmodel.Sorted(rest, 0), Transfer: f.transfer,
			Features: features, Trees: trees, Options: o,
		})
		out := leafmodel.Sorted(held, 0)
		plain := leafmodel.Evaluate(out, features, trees, before, o.Workers)
		for v := range gained {
			if ctx.Err() != nil {
				return
			}
			change := leafmodel.EvaluateFitted(out, features, trees, models[v], o.Workers)
			for k := range change {
				change[k] = change[k].Minus(plain[k])
			}
			changes[i*len(gained)+v] = change
			done.Add(1)
		}
	})
	if err != nil {
		return err
	}
	for i := range folds {
		for v := range gained {
			for k, p := range at {
				gained[v][p].add(&changes[i*len(gained)+v][k], 1, 1)
			}
		}
	}
	return nil
}

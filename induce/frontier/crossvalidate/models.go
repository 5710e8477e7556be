package crossvalidate

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Fit fits models of several variants to the leaves of the trees of points. It returns the earlier
// models on which they are based, by point and node (nil if absent), and the models of each
// variant (nil for points of which no models are fitted).
type Fit func(f *distill.Fitting) (before [][]*leafmodel.Model, variants [][][]*leafmodel.Model)

// Gained adds up, by variant and point, what models gain over the earlier models on folds.
type Gained [][]gainSum

// NewGained returns sums for this many variants and points.
func NewGained(variants, points int) Gained {
	g := make(Gained, variants)
	for v := range g {
		g[v] = make([]gainSum, points)
	}
	return g
}

// Mean returns the averages over the folds that define them, by variant and point.
func (g Gained) Mean() [][]frontier.Gain {
	gains := make([][]frontier.Gain, len(g))
	for v := range g {
		for k := range g[v] {
			gains[v] = append(gains[v], g[v][k].mean())
		}
	}
	return gains
}

// Gains adds to gained what the models of each variant gain for some of the points, given by their
// indexes in at. The models of a fold are fitted in the counterparts of the points, to the objects
// of the other folds, with the scale of o. done counts folds times variants. If the context ends
// first, Gains returns its cause.
func (g *Growth) Gains(
	ctx context.Context, pool *frontier.Pool, folds []Fold, points []frontier.Point, at []int, o leafmodel.Options,
	fit Fit, gained Gained, done *atomic.Int64,
) error {
	dealt := Deal(g.Objects, g.Folds, g.Seed)
	sums := make([][]gainSum, len(folds)*len(gained)) // by fold and variant
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
			sums[i*len(gained)+v] = compare(plain, leafmodel.EvaluateFitted(out, features, trees, models[v], o.Workers))
			done.Add(1)
		}
	})
	if err != nil {
		return err
	}
	for i := range folds {
		for v := range gained {
			for k, p := range at {
				gained[v][p].add(&sums[i*len(gained)+v][k])
			}
		}
	}
	return nil
}

// gainSum adds up the gains of folds.
type gainSum struct{ auc, loss, accuracy, mistakes mean }

// compare returns the gains of trees on the objects of a fold.
func compare(plain, modelled []leafmodel.Score) []gainSum {
	sums := make([]gainSum, len(plain))
	for i := range plain {
		gain := modelled[i].Gain(&plain[i])
		sums[i].auc.add(gain.AUC, 1)
		sums[i].loss.add(gain.LogLoss, 1)
		sums[i].accuracy.add(gain.Accuracy, 1)
		sums[i].mistakes.add(gain.ErrorCost, 1)
	}
	return sums
}

func (s *gainSum) add(other *gainSum) {
	s.auc.join(other.auc)
	s.loss.join(other.loss)
	s.accuracy.join(other.accuracy)
	s.mistakes.join(other.mistakes)
}

// mean returns the average over the folds.
func (s *gainSum) mean() frontier.Gain {
	return frontier.Gain{
		AUC: s.auc.value(), LogLoss: s.loss.value(), Accuracy: s.accuracy.value(), ErrorCost: s.mistakes.value(),
	}
}

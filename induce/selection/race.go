package selection

import (
	"context"
	"slices"

	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/parallel"
)

// firstFolds is the number of folds of the first round of a race.
const firstFolds = 2

// race returns the gains of the models of a stage on the folds, by variant and point; nil without
// folds. Most time of a choice goes into the models of the folds, so models drop out as soon as
// they are behind the frontier by more than chance: on the validation rows, then on the first folds
// as well.
func (c *Chooser) race(
	ctx context.Context, pool *frontier.Pool, number int, folds []crossvalidate.Fold, m *modelled,
) ([][]frontier.Gain, error) {
	if len(folds) == 0 {
		return nil, nil
	}
	what, fits := "folds of leaf models", int64(len(folds)*len(m.variants))
	if m.below != nil {
		what = "folds of boosters"
	}
	return compute(ctx, c.Host, what, fits, "fits", func(s *parallel.Steps) ([][]frontier.Gain, error) {
		g, err := c.growth(ctx, number)
		if err != nil {
			return nil, err
		}
		gained := crossvalidate.NewGained(len(m.variants), len(m.points))
		first := min(firstFolds, len(folds))
		for done, round := range [][]crossvalidate.Fold{folds[:first], folds[first:]} {
			at := c.narrow(m, gained, float64(done*first)/float64(len(folds)))
			if len(at) == 0 || len(round) == 0 {
				break
			}
			fit := func(f *distill.Fitting) (before [][]*leafmodel.Model, variants [][][]*leafmodel.Model) {
				return m.refit(f, at)
			}
			if err := g.Gains(ctx, pool, round, m.points, at, c.fitOptions(), fit, gained, &s.Done); err != nil {
				return nil, err
			}
		}
		return gained.Mean(), nil
	})
}

// narrow drops the models that are no contenders, given their gains on a share of the folds. It
// returns the indexes of the points of which some models are left.
func (c *Chooser) narrow(m *modelled, gained crossvalidate.Gained, share float64) []int {
	gains := gained.Mean()
	type entry struct{ variant, point int }
	var entries []entry
	var list []frontier.Point
	if !c.always(m) { // points without models compete as well
		list = slices.Concat(m.others, m.points)
	}
	for v := range m.variants {
		for i := range m.points {
			if m.able(i) && !m.isOut(v, i) {
				entries = append(entries, entry{v, i})
				list = append(list, m.point(i, v, gains[v][i]))
			}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	folds := m.points[0].OfFolds
	contends := frontier.Contenders(list, c.Settings.Query, 1-float64(folds*(1-share)), false)[len(list)-len(entries):]
	if m.out == nil {
		m.out = make([][]bool, len(m.variants))
		for v := range m.out {
			m.out[v] = make([]bool, len(m.points))
		}
	}
	left := make(map[int]bool)
	for k, e := range entries {
		m.out[e.variant][e.point] = !contends[k]
		left[e.point] = left[e.point] || contends[k]
	}
	var at []int
	for i := range m.points {
		if left[i] {
			at = append(at, i)
		}
	}
	return at
}

// isOut reports whether models of a variant at a point are out of the race.
func (m *modelled) isOut(variant, point int) bool { return m.out != nil && m.out[variant][point] }

// indexes returns 0 to n-1.
func indexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

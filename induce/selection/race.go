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

// Margins of the race, in standard errors of the area: how far behind the frontier a contender may be.
const (
	marginOfPlain = 0.5  // without models
	marginOfFew   = 1    // with models, up to fewObjects training objects
	marginOfMany  = 0.5  // with models, beyond
	marginOnFolds = 0.25 // instead of marginOfMany, after the first folds
)

// fewObjects is the number of training objects up to which a race has the wider margin, and the whole grid is
// taught. Few objects take little time, and chance decides more among them.
const fewObjects = 2000

// margin returns the margin for contenders with models. share is the share of the folds on which they have
// competed.
func (c *Chooser) margin(share float64) float64 {
	switch {
	case c.Training.Objects <= fewObjects:
		return marginOfFew
	case share > 0:
		return marginOnFolds
	default:
		return marginOfMany
	}
}

// race returns what the models of a stage gain on the folds; nil without folds. Most time of a choice goes into the
// models of the folds, so models drop out as soon as they are behind the frontier by more than chance: on the
// validation rows, then on the first folds as well.
func (c *Chooser) race(
	ctx context.Context, pool *frontier.Pool, number int, folds []crossvalidate.Fold, m *modelled,
) (crossvalidate.Gained, error) {
	if len(folds) == 0 {
		return nil, nil
	}
	fits := int64(len(folds) * len(m.variants))
	return compute(ctx, c.Host, "folds of "+m.what(), fits, "fits", func(s *parallel.Steps) (crossvalidate.Gained, error) {
		g, err := c.growth(ctx, number)
		if err != nil {
			return nil, err
		}
		gained := crossvalidate.NewGained(len(m.variants), len(m.points))
		first := min(firstFolds, len(folds))
		for done, round := range [][]crossvalidate.Fold{folds[:first], folds[first:]} {
			at := c.eliminate(m, gained, float64(done*first)/float64(len(folds)))
			if len(at) == 0 || len(round) == 0 || done > 0 && c.enoughFolds(m, first, len(folds)) {
				break
			}
			fit := func(f *distill.Fitting) (before [][]*leafmodel.Model, variants [][][]*leafmodel.Model) {
				return m.refit(f, at)
			}
			o := c.fitOptions()
			o.Draft = c.drafts()
			if err := g.Gains(ctx, pool, round, m.points, at, o, fit, gained, &s.Done); err != nil {
				return nil, err
			}
		}
		return gained, nil
	})
}

// enoughRows is the number of rows of the rarest class, on the validation rows and the first folds, that
// suffice to judge boosters. What boosters gain differs little from fold to fold.
const enoughRows = 400

// enoughFolds reports whether the first folds have enough rows to judge the stage.
func (c *Chooser) enoughFolds(m *modelled, first, all int) bool {
	p := &m.points[0]
	if m.base == nil || p.Score == nil {
		return false
	}
	share := 1 - float64(p.FoldShare*(1-float64(first)/float64(all)))
	return share*slices.Min(p.Score.Rows) >= enoughRows
}

// eliminate drops the models that are no contenders, given their gains on a share of the folds. It
// returns the indexes of the points of which some models are left.
func (c *Chooser) eliminate(m *modelled, gained crossvalidate.Gained, share float64) []int {
	type entry struct{ variant, point int }
	var entries []entry
	var list []frontier.Point
	if !c.always(m) { // points without models compete as well
		list = slices.Concat(m.others, m.points)
	}
	for v := range m.variants {
		for i := range m.points {
			if !m.eliminated[v][i] {
				entries = append(entries, entry{v, i})
				list = append(list, m.point(i, v, gained))
			}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	folds := m.points[0].FoldShare
	contends := frontier.Contenders(
		list, c.Settings.Query, 1-float64(folds*(1-share)), c.margin(share), false)[len(list)-len(entries):]
	for k, e := range entries {
		if !contends[k] && !m.stays(e.point) {
			m.drop(e.variant, e.point)
		}
	}
	return m.remaining()
}

// drop takes the models of a variant at a point out of the race. With the last variant, the memory of the
// tree is free.
func (m *modelled) drop(variant, point int) {
	m.eliminated[variant][point], m.models[variant][point] = true, nil
	if !slices.ContainsFunc(m.eliminated, func(eliminated []bool) bool { return !eliminated[point] }) {
		m.trees[point] = nil
	}
}

// keep drops the models at points that are listed neither with models nor without. A listed point keeps
// the models of all variants that are in the race, as drafts do not tell well which of them is the best.
func (m *modelled) keep(listed []frontier.Listed) {
	for i, p := range m.points {
		kept := slices.ContainsFunc(listed, func(l frontier.Listed) bool {
			p.Ridge = l.Ridge
			p.Boosted = l.Boosted
			return p.Same(&l.Point) && (m.base == nil || l.Ridge == m.points[i].Ridge)
		})
		for v := range m.variants {
			if !kept && !m.stays(i) {
				m.drop(v, i)
			}
		}
	}
}

// stays reports whether the models of a point are in the race to its end.
func (m *modelled) stays(point int) bool { return m.complete != nil && m.complete[point] }

// remaining returns the indexes of the points of which some models are left in the race.
func (m *modelled) remaining() []int {
	var at []int
	for i := range m.points {
		if slices.ContainsFunc(m.eliminated, func(eliminated []bool) bool { return !eliminated[i] }) {
			at = append(at, i)
		}
	}
	return at
}

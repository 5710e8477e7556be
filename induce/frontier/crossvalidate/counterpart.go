package crossvalidate

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sort"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Counterpart is the tree of a fold that corresponds to a point of the pool: grown with the same
// parameters, and pruned in the same currency to about the same expected cost.
type Counterpart struct {
	Rows  int64 // number of rows of the fold's objects
	Tree  *tree.Tree
	Score prune.Score // on the objects of the fold
	Leaf  prune.Score // score of the root of this tree as a single leaf

	Area *metric.Estimate // area on the objects of the fold; nil if they do not define it
}

// Counterparts returns the counterpart of a point in each fold.
func Counterparts(folds []Fold, pool *frontier.Pool, p *frontier.Point) []Counterpart {
	list := make([]Counterpart, len(folds))
	for i := range folds {
		f := &folds[i]
		at, step := f.counterpart(pool, p)
		scores := f.scores[at]
		t := f.sequences[at].Tree(step)
		counts := f.sequences[at].Counts(t, step, f.held[pool.Prunings[at].Candidate])
		list[i] = Counterpart{
			Rows: f.rows, Tree: t, Score: scores[step], Leaf: scores[len(scores)-1],
			Area: metric.Area(metric.Leaves(t, counts)),
		}
	}
	return list
}

// Stability compares a tree with its counterparts, at least one.
func Stability(t *tree.Tree, counterparts []Counterpart) *tree.Stability {
	trees := make([]*tree.Tree, len(counterparts))
	for i := range counterparts {
		trees[i] = counterparts[i].Tree
	}
	return t.Stability(trees)
}

// SetAreas sets the Folds and the FoldShare of the pool's points. The area is the average area of a
// point's counterparts, over the folds whose objects define an area. The other figures are averages
// over all folds, weighted by their rows. The figures on the folds and on the validation rows are weighted
// by their numbers of rows.
func SetAreas(folds []Fold, pool *frontier.Pool) {
	setAreas(folds, pool, pool.Points, noFold)
}

const noFold = -1

// setAreas is SetAreas for points of the pool, leaving out the figures of the fold with index
// without.
func setAreas(folds []Fold, pool *frontier.Pool, points []frontier.Point, without int) {
	rows := int64(0)
	for k := range folds {
		if k != without {
			rows += folds[k].rows
		}
	}
	if rows == 0 {
		return
	}
	validation := pool.Candidates[0].Counts[dataset.Validation].TotalRows()
	share := float64(rows) / float64(rows+validation)
	for i := range points {
		p := &points[i]
		var figures means
		for k := range folds {
			if k != without {
				figures.add(&folds[k].scoreOf(pool, p).Judgement, 1, float64(folds[k].rows))
			}
		}
		p.Folds = figures.judgement()
		p.FoldShare = share
	}
}

// costlier is the ratio of expected costs up to which the score of a counterpart counts for a cheaper point
// where the only cheaper step is the root alone.
const costlier = 1.2

// scoreOf returns the score of a point on the objects of the fold: the score of its counterpart. If the
// counterpart costs much more, and pruning turns it into the root alone at once, the score is between these two, at
// the square root of the ratio of the costs. Otherwise a tree of one feature would get the score of a tree of two.
func (f *Fold) scoreOf(pool *frontier.Pool, p *frontier.Point) *prune.Score {
	at, step := f.counterpart(pool, p)
	steps := f.sequences[at].Steps
	scores := f.scores[at]
	want := p.ExpectedCost
	cost := steps[step].ExpectedCost
	root := len(steps) - 1
	if p.Step == 0 || cost <= float64(costlier*want) || firstUpTo(steps, want) < root {
		return &scores[step]
	}
	return between(&scores[root], &scores[step], math.Sqrt(want/cost))
}

// between returns the score at a share of the way from a to b.
func between(a, b *prune.Score, share float64) *prune.Score {
	s := &prune.Score{Judgement: a.Mix(b.Judgement, share)}
	if a.ExpectedCost != nil && b.ExpectedCost != nil {
		s.ExpectedCost = new(float64((1-share)**a.ExpectedCost) + float64(share**b.ExpectedCost))
	}
	s.AddUp()
	return s
}

// Optimism returns, for each point, by how much figures on the folds are too good because the folds took part in the choice
// of the point. The figure is the area, but the accuracy where points are compared by accuracy; then the area has no optimism.
// If the rule Total chose the point, it is the total cost as well. Other figures are nil. The chosen point is the choice by
// the settings. Any other point is taken as the choice of the rule Highest within its own expected cost, by the criterion
// on whose front it is.
//
// The optimism is the average, over the folds, of the gain in the figure from the point chosen without the fold to
// this point, and at least 0. It is nil if no fold defines both figures. (R. J. Tibshirani and R.
// Tibshirani, A bias correction for the minimum error rate in cross-validation, Annals of Applied Statistics
// 3, 2009; here the choice on all other folds replaces the choice on the single fold.)
func Optimism(folds []Fold, pool *frontier.Pool, s *frontier.Settings, listed []frontier.Listed) ([]metric.Judgement, error) {
	criteria := make([]frontier.Criterion, len(listed))
	for i := range listed {
		criteria[i] = frontOf(pool.Points, &listed[i].Point)
	}
	gains := make([][]metric.Judgement, len(folds)) // by fold and point
	errs := make([]error, len(folds))
	parallel.Each(len(folds), runtime.GOMAXPROCS(0), func(k int) {
		points := slices.Clone(pool.Points)
		setAreas(folds, pool, points, k)
		chosen, err := pool.ChoosePoint(points, s)
		if err != nil {
			errs[k] = err
			return
		}
		gains[k] = make([]metric.Judgement, len(listed))
		for i := range listed {
			p := &listed[i]
			other := chosen
			if !p.Chosen {
				other, err = frontier.HighestWithin(points, criteria[i], p.ExpectedCost)
				errs[k] = errors.Join(errs[k], err)
			}
			gains[k][i] = folds[k].scoreOf(pool, &p.Point).Minus(folds[k].scoreOf(pool, &other).Judgement)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	values := make([]metric.Judgement, len(listed))
	for i := range values {
		var gain means
		for k := range gains {
			gain.add(&gains[k][i], 1, 1)
		}
		mean := gain.judgement()
		atLeast0 := func(figure *float64, sign float64) *float64 {
			if figure == nil {
				return nil
			}
			return new(max(0, sign**figure))
		}
		v := &values[i]
		v.AUC = atLeast0(mean.AUC, 1)
		switch {
		case s.Rule == frontier.Total && listed[i].Chosen:
			v.TotalCost = atLeast0(mean.TotalCost, -1)
		case criteria[i] == frontier.Accuracy:
			v.Accuracy = atLeast0(mean.Accuracy, 1)
			v.AUC = atLeast0(mean.AUC, 0)
		}
	}
	return values, nil
}

// mean is a weighted mean of the defined figures.
type mean struct{ sum, weight float64 }

func (m *mean) add(figure *float64, weight float64) {
	if figure != nil {
		m.sum += float64(weight * *figure)
		m.weight += weight
	}
}

// value returns the mean; nil if there are no figures.
func (m *mean) value() *float64 {
	if m.weight == 0 {
		return nil
	}
	value := m.sum / m.weight
	return &value
}

// means has a weighted mean for each figure of a judgement.
type means [5]mean

// add adds a judgement, given the weight of its area and of the other figures.
func (m *means) add(j *metric.Judgement, area, others float64) {
	weight := area
	for i, figure := range j.Figures() {
		m[i].add(*figure, weight)
		weight = others
	}
}

func (m *means) judgement() (j metric.Judgement) {
	for i, figure := range j.Figures() {
		*figure = m[i].value()
	}
	return j
}

// counterpart returns the pruning and the step of the fold's own sequence that correspond to a
// point: among the steps whose expected billed cost is nearest to the point's, the step whose alpha
// is nearest. Matching on alpha alone could pick a costlier tree and overstate the merit. The
// unpruned tree and the root alone correspond to themselves.
func (f *Fold) counterpart(pool *frontier.Pool, p *frontier.Point) (pruning, step int) {
	pruning = pool.PruningOf(p)
	own := pool.Prunings[pruning].Sequence
	steps := f.sequences[pruning].Steps
	switch p.Step {
	case 0:
		return pruning, 0
	case len(own.Steps) - 1:
		return pruning, len(steps) - 1
	}
	want := p.ExpectedCost
	first := firstUpTo(steps, want)
	if first == len(steps) {
		first-- // the root alone
	}
	cost := steps[first].ExpectedCost
	if first > 0 {
		if above := steps[first-1].ExpectedCost; above-want < want-cost {
			cost = above
		}
	}
	from := firstUpTo(steps, cost)
	to := from + sort.Search(len(steps)-from, func(i int) bool { return steps[from+i].ExpectedCost < cost })
	return pruning, min(max(f.sequences[pruning].At(middle(own, p.Step)), from), max(from, to-1))
}

// firstUpTo returns the index of the first step whose expected billed cost is at most cost;
// len(steps) if absent. Costs fall from step to step.
func firstUpTo(steps []prune.Step, cost float64) int {
	return sort.Search(len(steps), func(i int) bool { return steps[i].ExpectedCost <= cost })
}

// middle returns the geometric mean of the least and the greatest alpha at which a step is optimal;
// the least alpha if the greatest is infinite.
func middle(s *prune.Sequence, step int) float64 {
	alpha := s.Steps[step].Alpha
	if step+1 < len(s.Steps) && !math.IsInf(s.Steps[step+1].Alpha, 1) {
		alpha = math.Sqrt(alpha * s.Steps[step+1].Alpha)
	}
	return alpha
}

// frontOf returns a criterion by which a point has the highest merit within its cost; by default the criterion of the
// choice.
func frontOf(points []frontier.Point, p *frontier.Point) frontier.Criterion {
	for _, by := range []frontier.Criterion{p.By, frontier.AUC, frontier.Accuracy, frontier.LogLoss} {
		if q, err := frontier.HighestWithin(points, by, p.ExpectedCost); err == nil && q.Merits[by] <= p.Merits[by] {
			return by
		}
	}
	return p.By
}

package frontier

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
)

// ErrNoErrorCosts is the error of the rule Total if errors have no costs.
var ErrNoErrorCosts = errors.New("errors have no costs to add to the costs of tests")

// setCosts averages the judged costs over similar prunings, if the rows define the costs of all points.
func setCosts(points []Point, sequences [][]int) {
	every := priced(points)
	for _, figure := range []func(p *Point) **float64{
		func(p *Point) **float64 { return &p.Judged.ErrorCost },
		func(p *Point) **float64 { return &p.Judged.TotalCost },
	} {
		raw := make([]float64, len(points))
		for i := range points {
			at := figure(&points[i])
			if every {
				raw[i] = **at
			}
			*at = nil
		}
		if every {
			for i, mean := range smoothed(points, raw, sequences) {
				*figure(&points[i]) = &mean
			}
		}
	}
}

// priced reports whether all points have costs.
func priced(points []Point) bool {
	return !slices.ContainsFunc(points, func(p Point) bool { return p.Judged.TotalCost == nil })
}

// enoughGain is by how many standard errors of its cost a single leaf must cost more than another tree if the rows have no
// signal, but an association is suspected. Where errors of a rare class are expensive, tests may pay before an association is
// beyond chance. Of 81 draws of noise (300 to 4,000 rows, 7 columns), 4 trees have more than one leaf; 72 had before the rule
// asked for a signal.
const enoughGain = 0.5

// byTotal returns the point that the rule Total chooses, and the point with the least total cost. They differ if the rows
// have no signal: among thousands of prunings, some have a lower total by luck, and a single leaf is chosen.
func byTotal(list []Point) (chosen, lowest Point, err error) {
	if !priced(list) {
		return chosen, lowest, ErrNoErrorCosts
	}
	lowest = *leastTotal(list)
	if leaf := singleLeaf(list); leaf != nil && leaf.Score != nil && !least(list, byScore, nil).believed() &&
		(!leaf.Score.Suspected || *leaf.Judged.TotalCost-*lowest.Judged.TotalCost < enoughGain*leaf.errorOfCost()) {
		return *leaf, lowest, nil
	}
	return lowest, lowest, nil
}

// errorOfCost returns about the standard error of the cost of the errors of a single leaf: as if the rows of all classes but
// the most frequent one were its errors, each of the same cost, and their number followed a Poisson distribution.
func (p *Point) errorOfCost() float64 {
	wrong := portable.Sum(p.Score.Rows) - slices.Max(p.Score.Rows)
	if p.Folds.ErrorCost == nil { // the validation rows alone tell the costs
		wrong *= 1 - p.FoldShare
	}
	return *p.Judged.ErrorCost / math.Sqrt(max(1, wrong))
}

// leastTotal returns the point with the least total cost; ties: the cheapest point, then the one with the fewest leaves, as
// further leaves of equal totals decide nothing.
func leastTotal(list []Point) *Point {
	lowest := *list[0].Judged.TotalCost
	for i := range list {
		lowest = min(lowest, *list[i].Judged.TotalCost)
	}
	order := func(a, b *Point) int {
		return cmp.Or(cmp.Compare(a.ExpectedCost, b.ExpectedCost), cmp.Compare(a.Leaves, b.Leaves), better(a, b))
	}
	return least(list, order, func(p *Point) bool { return *p.Judged.TotalCost <= lowest*(1+slack) })
}

// LeastTotal returns the point with the least total cost within the limits, whether the rows have a signal or not; nil
// without error costs. The error is ErrLimits if no point is within the limits.
func LeastTotal(points []Point, limits Limits) (*Point, error) {
	if !priced(points) {
		return nil, nil //nolint:nilnil // nil without error costs
	}
	list, err := limits.within(points)
	if err != nil {
		return nil, err
	}
	return leastTotal(list), nil
}

// dearerOrEqual reports whether a point q costs at least as much as p, in tests and in errors, but for rounding.
func (p *Point) dearerOrEqual(q *Point) bool {
	return q.ExpectedCost >= p.ExpectedCost*(1-slack) && *q.Judged.ErrorCost >= *p.Judged.ErrorCost*(1-slack)
}

// isSingleLeaf reports whether a point is a single leaf.
func (p *Point) isSingleLeaf() bool { return p.Leaves == 1 }

// singleLeaf returns a point that is a single leaf, which only costs its errors; nil if absent.
func singleLeaf(points []Point) *Point {
	return least(points, cheaper, (*Point).isSingleLeaf)
}

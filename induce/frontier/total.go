package frontier

import (
	"cmp"
	"errors"
	"slices"
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

// byTotal returns the point that the rule Total chooses, and the point with the least total cost. They differ if the rows
// have no signal: among thousands of prunings, some have a lower total by luck, and a single leaf is chosen.
func byTotal(list []Point) (chosen, lowest Point, err error) {
	if !priced(list) {
		return chosen, lowest, ErrNoErrorCosts
	}
	lowest = *leastTotal(list)
	if leaf := singleLeaf(list); leaf != nil && list[0].Score != nil && !least(list, byScore, nil).believed() {
		return *leaf, lowest, nil
	}
	return lowest, lowest, nil
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

// leastWithin returns the point with the least total cost within the limits; nil without error
// costs.
func leastWithin(points []Point, limits Limits) (*Point, error) {
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

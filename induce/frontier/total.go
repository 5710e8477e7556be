package frontier

import (
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

// leastTotal returns the point with the least total cost; ties: the cheapest point.
func leastTotal(list []Point) (Point, error) {
	if !priced(list) {
		return Point{}, ErrNoErrorCosts
	}
	lowest := *list[0].Judged.TotalCost
	for i := range list {
		lowest = min(lowest, *list[i].Judged.TotalCost)
	}
	return *least(list, cheaper, func(p *Point) bool { return *p.Judged.TotalCost <= lowest*(1+slack) }), nil
}

// leastWithin returns the point with the least total cost within the limits; nil without error
// costs.
func leastWithin(points []Point, limits Limits) (*Point, error) {
	if !priced(points) {
		return nil, nil //nolint:nilnil // nil without error costs
	}
	found, err := Select(points, Query{Rule: Total, Limits: limits})
	return &found, err
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

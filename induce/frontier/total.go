package frontier

import (
	"errors"
	"slices"
)

// Costs are expected costs of a row, in the unit of the costs of tests and errors. They are
// estimated on the validation rows and on the folds: see Judge.
type Costs struct {
	Errors float64 // cost of the predictions
	Total  float64 // cost of the predictions and of the tests, as billed
}

// ErrNoErrorCosts is the error of the rule Total if errors have no costs.
var ErrNoErrorCosts = errors.New("errors have no costs to add to the costs of tests")

// setCosts sets the costs of the points, if the rows define the costs of all points.
func setCosts(points []Point, sequences [][]int) {
	errorCosts, totals := make([]float64, len(points)), make([]float64, len(points))
	for i := range points {
		p := &points[i]
		mistakes, total := p.together(p.ErrorCost, p.FoldsErrorCost), p.together(p.TotalCost, p.FoldsTotalCost)
		if mistakes == nil || total == nil {
			return
		}
		errorCosts[i], totals[i] = *mistakes, *total
	}
	errorCosts, totals = smoothed(points, errorCosts, sequences), smoothed(points, totals, sequences)
	for i := range points {
		points[i].Costs = &Costs{Errors: errorCosts[i], Total: totals[i]}
	}
}

// priced reports whether all points have costs.
func priced(points []Point) bool {
	return !slices.ContainsFunc(points, func(p Point) bool { return p.Costs == nil })
}

// leastTotal returns the point with the least total cost; ties: the cheapest point.
func leastTotal(list []Point) (Point, error) {
	if !priced(list) {
		return Point{}, ErrNoErrorCosts
	}
	lowest := list[0].Costs.Total
	for i := range list {
		lowest = min(lowest, list[i].Costs.Total)
	}
	return *least(list, cheaper, func(p *Point) bool { return p.Costs.Total <= lowest*(1+slack) }), nil
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

// isBare reports whether a point is a single leaf.
func (p *Point) isBare() bool { return p.Leaves == 1 }

// bareLeaf returns a point that is a single leaf, which only costs its errors; nil if absent.
func bareLeaf(points []Point) *Point {
	return least(points, cheaper, (*Point).isBare)
}

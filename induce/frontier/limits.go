package frontier

import (
	"fmt"
	"math"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Limits bound the billed cost and the size of a tree. 0: no limit.
type Limits struct {
	// ExpectedCost is the expected billed cost of a training row.
	ExpectedCost float64 `json:"max_expected_cost,omitempty" jsonschema:"exclusiveMinimum=0"`
	MaxCost      float64 `json:"max_cost,omitempty" jsonschema:"exclusiveMinimum=0"` // billed cost of the most expensive path
	// Tests is the number of tests that cost something, on the path with most of them.
	Tests int `json:"max_tests,omitempty" jsonschema:"minimum=1"`
	// Further are limits of costs in further currencies; absent: none.
	Further dataset.FurtherCosts `json:"further_costs,omitzero"`
	Leaves  int                  `json:"max_leaves,omitempty" jsonschema:"minimum=1"` // number of leaves
}

// slack is the rounding error that a cost (relative) or merit may have at a limit.
const slack = 1e-12

// Allow reports whether a tree keeps within all limits. paid is the number of its paid tests, see tree.Tree.PaidTests.
func (l Limits) Allow(c *tree.Complexity, paid int) bool {
	return (l.ExpectedCost == 0 || c.ExpectedCost <= l.ExpectedCost*(1+slack)) &&
		(l.MaxCost == 0 || c.MaxCost <= l.MaxCost*(1+slack)) &&
		(l.Tests == 0 || paid <= l.Tests) &&
		(l.Leaves == 0 || c.Leaves <= l.Leaves) && l.allowFurther(&c.Further)
}

// allowFurther reports whether costs in further currencies keep within the limits.
func (l *Limits) allowFurther(costs *dataset.FurtherCosts) bool {
	for _, limit := range l.Further.List() {
		is := costs.Of(limit.Unit)
		if limit.ExpectedCost != 0 && is.ExpectedCost > limit.ExpectedCost*(1+slack) ||
			limit.MaxCost != 0 && is.MaxCost > limit.MaxCost*(1+slack) {
			return false
		}
	}
	return true
}

// PathFurther returns the limits of paths in further currencies, in the order of units.
func (l *Limits) PathFurther(units []string) (limits dataset.Amounts) {
	for i, unit := range units {
		limits[i] = l.Further.Of(unit).MaxCost
	}
	return limits
}

// limitsFurther reports whether means, or else what each path costs, are limited in further currencies.
func (l *Limits) limitsFurther() (means, paths bool) {
	for _, limit := range l.Further.List() {
		means = means || limit.ExpectedCost != 0
		paths = paths || limit.MaxCost != 0
	}
	return means, paths
}

// within returns the points within the limits: the given slice, if nothing is limited. If no point
// is within the limits, the error wraps ErrLimits and names the least cost and size among the points.
func (l Limits) within(points []Point) ([]Point, error) {
	if l == (Limits{}) && len(points) > 0 {
		return points, nil
	}
	var allowed []Point
	for i := range points {
		if l.Allow(&points[i].Complexity, points[i].PaidTests) {
			allowed = append(allowed, points[i])
		}
	}
	if len(allowed) > 0 {
		return allowed, nil
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("%w: there are no trees", ErrLimits)
	}
	return nil, l.excludes(points)
}

// PathsAlone reports whether what each path may cost is limited, but not what rows cost on average.
func (l Limits) PathsAlone() bool {
	means, paths := l.limitsFurther()
	return (l.MaxCost != 0 || l.Tests != 0 || paths) && l.ExpectedCost == 0 && !means
}

// priced reports whether a cost, or the number of tests that cost something, is limited.
func (l Limits) priced() bool {
	return l.ExpectedCost != 0 || l.MaxCost != 0 || l.Tests != 0 || l.Further != dataset.FurtherCosts{}
}

// excludes returns the error of limits that no point keeps. It names the least cost and size among the points.
func (l Limits) excludes(points []Point) error {
	cheapest := math.Inf(1)
	dearest := math.Inf(1)
	tests := math.MaxInt
	leaves := math.MaxInt
	for i := range points {
		c := &points[i].Complexity
		tests = min(tests, points[i].PaidTests)
		cheapest = min(cheapest, c.ExpectedCost)
		dearest = min(dearest, c.MaxCost)
		leaves = min(leaves, c.Leaves)
	}
	var others strings.Builder
	if l.Tests != 0 {
		fmt.Fprintf(&others, "the fewest paid tests are %d, ", tests)
	}
	for _, limit := range l.Further.List() {
		mean := math.Inf(1)
		most := math.Inf(1)
		for i := range points {
			c := points[i].Further.Of(limit.Unit)
			mean = min(mean, c.ExpectedCost)
			most = min(most, c.MaxCost)
		}
		fmt.Fprintf(&others, "in %s the least expected cost is %v and the least maximum %v, ", limit.Unit, mean, most)
	}
	return fmt.Errorf("%w of %s: of %d trees the cheapest has expected cost %v, the shortest worst path costs %v, "+
		"%sthe smallest has %d leaves; raise the limits, or prune in leaves and cost for smaller trees",
		ErrLimits, l, len(points), cheapest, dearest, others.String(), leaves)
}

// String names each limit that is set, and its number. A limit of 0 is not set.
func (l Limits) String() string {
	var list []string
	if l.ExpectedCost != 0 {
		list = append(list, fmt.Sprintf("an expected cost of %v", l.ExpectedCost))
	}
	if l.MaxCost != 0 {
		list = append(list, fmt.Sprintf("a maximum cost of %v", l.MaxCost))
	}
	if l.Tests != 0 {
		list = append(list, counted(l.Tests, "paid test", "paid tests"))
	}
	for _, limit := range l.Further.List() {
		if limit.ExpectedCost != 0 {
			list = append(list, fmt.Sprintf("an expected cost of %v %s", limit.ExpectedCost, limit.Unit))
		}
		if limit.MaxCost != 0 {
			list = append(list, fmt.Sprintf("a maximum cost of %v %s", limit.MaxCost, limit.Unit))
		}
	}
	if l.Leaves != 0 {
		list = append(list, counted(l.Leaves, "leaf", "leaves"))
	}
	return strings.Join(list, ", ")
}

// counted writes a number of things.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

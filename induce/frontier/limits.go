package frontier

import (
	"fmt"
	"math"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
)

// Limits bound the billed cost and the size of a tree. 0: no limit.
type Limits struct {
	// ExpectedCost is the expected billed cost of a training row.
	ExpectedCost float64 `json:"max_expected_cost,omitempty" jsonschema:"exclusiveMinimum=0"`
	MaxCost      float64 `json:"max_cost,omitempty" jsonschema:"exclusiveMinimum=0"` // billed cost of the most expensive path
	// Tests is the number of tests that cost something, on the path with most of them.
	Tests  int `json:"max_tests,omitempty" jsonschema:"minimum=1"`
	Leaves int `json:"max_leaves,omitempty" jsonschema:"minimum=1"` // number of leaves
}

// slack is the rounding error that a cost (relative) or merit may have at a limit.
const slack = 1e-12

// Allow reports whether a tree keeps within all limits. paid is the number of its paid tests, see tree.Tree.PaidTests.
func (l Limits) Allow(c *tree.Complexity, paid int) bool {
	return (l.ExpectedCost == 0 || c.ExpectedCost <= l.ExpectedCost*(1+slack)) &&
		(l.MaxCost == 0 || c.MaxCost <= l.MaxCost*(1+slack)) &&
		(l.Tests == 0 || paid <= l.Tests) &&
		(l.Leaves == 0 || c.Leaves <= l.Leaves)
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
func (l Limits) PathsAlone() bool { return (l.MaxCost != 0 || l.Tests != 0) && l.ExpectedCost == 0 }

// priced reports whether a cost, or the number of tests that cost something, is limited.
func (l Limits) priced() bool { return l.ExpectedCost != 0 || l.MaxCost != 0 || l.Tests != 0 }

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
	paid := ""
	if l.Tests != 0 {
		paid = fmt.Sprintf("the fewest paid tests are %d, ", tests)
	}
	return fmt.Errorf("%w of %s: of %d trees the cheapest has expected cost %v, the shortest worst path costs %v, "+
		"%sthe smallest has %d leaves; raise the limits, or prune in leaves and cost for smaller trees",
		ErrLimits, l, len(points), cheapest, dearest, paid, leaves)
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

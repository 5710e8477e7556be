package train

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/split"
)

// whyLeaf returns the reason why the chosen tree is a single leaf; empty if another warning gives it.
func (c *choosing) whyLeaf(candidates []frontier.Candidate, w *winner, reversed []string) string {
	const none = "the tree is a single leaf: "
	if excluded := c.limitsExclude(w); excluded != "" {
		return none + excluded
	}
	root := &candidates[0].Grown.Nodes[0]
	grown := slices.ContainsFunc(candidates, func(t frontier.Candidate) bool { return len(t.Grown.Nodes) > 1 })
	switch {
	case grown && w.Competition != nil:
		return "no test is worth asking: " + c.asked() + c.bestOf(w)
	case grown && c.config.Alpha != nil:
		return fmt.Sprintf("no test is worth asking: --alpha %v prunes all of them", *c.config.Alpha)
	case len(reversed) > 0:
		return none + "no other feature separates the training rows than " + strings.Join(reversed, ", ") +
			", whose sign excludes all thresholds"
	case c.config.Classes == split.OfObjects && onlyClass(root.ClassWeights) && !onlyClass(root.RawClassWeights):
		return "no test is worth asking: all training objects are of one class, as equal rows are one object of their " +
			"most frequent class"
	case c.config.MinRows > root.Rows:
		return none + fmt.Sprintf("--min_rows %d is more than the %d training rows", c.config.MinRows, root.Rows)
	case !slices.ContainsFunc(candidates, func(t frontier.Candidate) bool { return t.Params.Theta < 1 }):
		return none + fmt.Sprintf("--theta %v makes a leaf of every node", c.config.Theta[0])
	default:
		return "no test is worth asking: no feature separates the training objects"
	}
}

func onlyClass(weights []int64) bool {
	classes := 0
	for _, w := range weights {
		if w > 0 {
			classes++
		}
	}
	return classes == 1
}

// limitsExclude returns a text that names the limit that excludes all trees with a test; empty if not all
// are excluded.
func (c *choosing) limitsExclude(w *winner) string {
	if c.config.MaxLeaves == 1 {
		return "--max_leaves 1 allows no test"
	}
	l := c.Settings.Limits
	if w.Competition == nil || l == (frontier.Limits{}) {
		return ""
	}
	if someTestAllowed(w.Competition.Pool.Points, l) {
		return ""
	}
	trees, expected, most, tests, leaves := leastOf(w.Competition.Pool.Points)
	test := c.cheapestTest()
	switch {
	case l.MaxCost > 0 && test > l.MaxCost: // a maximum below all prices ends growth at the root
		return fmt.Sprintf("every test costs at least %v, the budget --max_cost is %v", test, l.MaxCost)
	case c.closedFurther() != "":
		return c.closedFurther()
	case trees == 0:
		return ""
	case l.ExpectedCost > 0 && test > l.ExpectedCost:
		return fmt.Sprintf("every test costs at least %v, the budget --max_expected_cost is %v", test, l.ExpectedCost)
	case l.ExpectedCost > 0 && expected > l.ExpectedCost:
		return fmt.Sprintf("the cheapest of %d trees with a test costs %v per row, the budget --max_expected_cost is %v",
			trees, expected, l.ExpectedCost)
	case l.MaxCost > 0 && most > l.MaxCost:
		return fmt.Sprintf("each of %d trees with a test costs some rows at least %v, the budget --max_cost is %v",
			trees, most, l.MaxCost)
	case l.Tests > 0 && tests > l.Tests:
		return fmt.Sprintf("each of %d trees with a test makes some rows pay for at least %d tests, the budget --max_tests is %d",
			trees, tests, l.Tests)
	default:
		return fmt.Sprintf("each of %d trees with a test breaks one of the limits (%v): the least expected cost is %v, "+
			"the least maximum cost %v, the fewest leaves %d%s", trees, l, expected, most, leaves, leastFurther(w.Competition.Pool.Points, &l))
	}
}

// closedFurther returns a text that names the limit of a path in a further currency that allows no test; empty without
// such a limit.
func (c *choosing) closedFurther() string {
	units := dataset.FurtherUnits(c.Features)
	limits := c.Settings.Limits.PathFurther(units)
	for i, unit := range units {
		least := math.Inf(1)
		for k := range c.Columns {
			least = min(least, c.Columns[k].FurtherDue(split.Paid{})[i])
		}
		if limits[i] > 0 && least > limits[i] {
			return fmt.Sprintf("every test costs at least %v %s, the budget --max_cost is %v", least, unit, limits[i])
		}
	}
	return ""
}

// leastFurther returns a text with the least costs of trees with a test in the further currencies that are limited.
func leastFurther(points []frontier.Point, l *frontier.Limits) string {
	var text strings.Builder
	for _, limit := range l.Further.List() {
		expected := math.Inf(1)
		most := math.Inf(1)
		for i := range points {
			if cost := points[i].Further.Of(limit.Unit); points[i].Leaves > 1 {
				expected = min(expected, cost.ExpectedCost)
				most = min(most, cost.MaxCost)
			}
		}
		fmt.Fprintf(&text, "; in %s the least expected cost is %v, the least maximum cost %v", limit.Unit, expected, most)
	}
	return text.String()
}

// someTestAllowed reports whether a tree with a test is within the limits.
func someTestAllowed(points []frontier.Point, l frontier.Limits) bool {
	return slices.ContainsFunc(points, func(p frontier.Point) bool { return p.Leaves > 1 && l.Allow(&p.Complexity, p.PaidTests) })
}

// leastOf returns the number of trees with a test, and their least expected cost, least maximum cost,
// least number of paid tests and least number of leaves.
func leastOf(points []frontier.Point) (trees int, expected, most float64, tests, leaves int) {
	expected = math.Inf(1)
	most = math.Inf(1)
	tests = math.MaxInt
	leaves = math.MaxInt
	for i := range points {
		p := &points[i]
		if p.Leaves == 1 {
			continue
		}
		trees++
		expected = min(expected, p.ExpectedCost)
		most = min(most, p.MaxCost)
		tests = min(tests, p.PaidTests)
		leaves = min(leaves, p.Leaves)
	}
	return trees, expected, most, tests, leaves
}

// cheapestTest returns the least price of a first test, with the price of its feature's group.
func (c *choosing) cheapestTest() float64 {
	least := math.Inf(1)
	for i := range c.Features {
		f := &c.Features[i]
		price := f.Cost
		for _, cost := range f.ValueCosts {
			price = min(price, cost)
		}
		least = min(least, price+f.GroupCost)
	}
	return least
}

// asked returns a text that names the feature that the root has to test; empty for any feature.
func (c *choosing) asked() string {
	for i := range c.Columns {
		if c.Columns[i].First == 1 {
			return fmt.Sprintf("--first %s allows no other test at the root; ", c.Features[i].Name)
		}
	}
	return ""
}

// before reports whether tree p is better than tree q by the criterion of the run's choice.
func (c *choosing) before(p, q *frontier.Point) bool {
	if c.Settings.Rule == frontier.Total && p.Judged.TotalCost != nil && q.Judged.TotalCost != nil {
		return *p.Judged.TotalCost < *q.Judged.TotalCost
	}
	return p.Merit > q.Merit
}

// bestOf returns a text that compares the best tree with a test within the limits with the chosen leaf.
func (c *choosing) bestOf(w *winner) string {
	pool := w.Competition.Pool
	var best *frontier.Point
	for i := range pool.Points {
		p := &pool.Points[i]
		if p.Leaves > 1 && c.Settings.Limits.Allow(&p.Complexity, p.PaidTests) && (best == nil || c.before(p, best)) {
			best = p
		}
	}
	if best == nil {
		return "no tree has a test"
	}
	within := ""
	if c.Settings.Limits != (frontier.Limits{}) {
		within = " within " + c.Settings.Limits.String()
	}
	chance := ""
	if w.Competition.Choice.Reason != "" {
		chance = ", but chance may give as much"
	}
	chosen := &w.Competition.Choice.Chosen
	if c.Settings.Rule == frontier.Total && best.Judged.TotalCost != nil && chosen.Judged.TotalCost != nil {
		return fmt.Sprintf("with its errors a single leaf costs %.4g per row, and the cheapest of %d prunings of %d trees%s "+
			"%.4g, %.4g of it for tests%s", *chosen.Judged.TotalCost, len(pool.Points), len(pool.Candidates),
			within, *best.Judged.TotalCost, best.ExpectedCost, chance)
	}
	return fmt.Sprintf("the best of %d prunings of %d trees%s has %d leaves, the expected cost %.3g and the merit %s, "+
		"a single leaf has %s%s", len(pool.Points), len(pool.Candidates), within, best.Leaves, best.ExpectedCost,
		best.By.Value(best.Merit), chosen.By.Value(chosen.Merit), chance)
}

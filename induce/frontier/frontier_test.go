package frontier_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

func is(x float64) *float64 { return &x }

// point makes a pruning of grown tree number i.
func point(i int, lambda float64, step int, cost, auc float64) frontier.Point {
	return frontier.Point{
		Tree: i, Lambda: lambda, Currency: prune.Cost, Step: step, Merit: auc,
		Validation: metric.Judgement{AUC: is(auc), LogLoss: is(1 - auc)},
		Complexity: tree.Complexity{
			ExpectedCost: cost, ExpectedTests: cost, MaxCost: 2 * cost,
			Leaves: 1 + int(4*cost),
		},
	}
}

// table is by hand: costs and areas of the prunings of three grown trees. The fourth
// column is the single leaf.
//
//	lambda 100: 8 .930   4 .920   2 .80   0 .5
//	lambda 10:  6 .925   3 .915   1 .75   0 .5
//	lambda 1:   4 .905   2 .850   1 .70   0 .5
func table() []frontier.Point {
	return []frontier.Point{
		point(0, 100, 0, 8, .930), point(0, 100, 1, 4, .920), point(0, 100, 2, 2, .80), point(0, 100, 3, 0, .5),
		point(1, 10, 0, 6, .925), point(1, 10, 1, 3, .915), point(1, 10, 2, 1, .75), point(1, 10, 3, 0, .5),
		point(2, 1, 0, 4, .905), point(2, 1, 1, 2, .850), point(2, 1, 2, 1, .70), point(2, 1, 3, 0, .5),
	}
}

func name(p frontier.Point) string { return fmt.Sprintf("%d/%d", p.Tree, p.Step) }

func names(points []frontier.Point) string {
	var list []string
	for _, p := range points {
		list = append(list, name(p))
	}
	return strings.Join(list, " ")
}

func TestNonDominated(t *testing.T) {
	kept := frontier.NonDominated(table())
	if want := "0/3 1/2 2/1 1/1 0/1 1/0 0/0"; names(kept) != want {
		t.Errorf("kept %s, want %s", names(kept), want)
	}
}

// TestSelect: by hand on table. The highest merit within the limits is chosen by
// Highest, and by Best without a tolerance; without limits it is 0/0 (.930 at 8).
func TestSelect(t *testing.T) {
	for _, c := range []struct {
		rule   frontier.Rule
		limits frontier.Limits
		want   string
	}{
		{frontier.Best, frontier.Limits{}, "0/0"},
		{frontier.Best, frontier.Limits{ExpectedCost: 7.9}, "1/0"},
		{frontier.Best, frontier.Limits{ExpectedCost: 3}, "1/1"},
		{frontier.Best, frontier.Limits{ExpectedCost: 8 * (1 - 1e-15)}, "0/0"}, // below 8 by rounding alone
		{frontier.Best, frontier.Limits{MaxCost: 4}, "2/1"},
		{frontier.Best, frontier.Limits{Leaves: 16}, "1/1"},
		{frontier.Best, frontier.Limits{ExpectedCost: 8, MaxCost: 9, Leaves: 5}, "1/2"},
		{frontier.Best, frontier.Limits{Leaves: 1}, "0/3"}, // the single leaf
		{frontier.Highest, frontier.Limits{}, "0/0"},
		{frontier.Highest, frontier.Limits{ExpectedCost: 3}, "1/1"},
		{frontier.OneSE, frontier.Limits{}, "0/1"},
		{frontier.Paper, frontier.Limits{}, "1/0"},                // .930, .925, then .905 is more than .01 below
		{frontier.Paper, frontier.Limits{ExpectedCost: 4}, "1/1"}, // .920, .915, then .905
		{frontier.Paper, frontier.Limits{ExpectedCost: 2}, "0/2"}, // .80, then .75 ends it before .850
	} {
		points := table()
		points[0].Validation.Interval = &metric.Interval{StandardError: 0.012}
		got, err := frontier.Select(points, frontier.Query{Rule: c.rule, Limits: c.limits})
		if err != nil || name(got) != c.want {
			t.Errorf("%v within %+v: %s, %v, want %s", c.rule, c.limits, name(got), err, c.want)
		}
	}
}

// TestTolerance: by hand on table. The tolerance is applied after the limits: between
// .920 at cost 4 and .915 at cost 3, a tolerance of .005 chooses the cheaper.
func TestTolerance(t *testing.T) {
	for _, c := range []struct {
		tolerance float64
		limits    frontier.Limits
		want      string
	}{
		{0.004, frontier.Limits{}, "0/0"},
		{0.005, frontier.Limits{}, "1/0"}, // .925 at 6, within the tolerance up to rounding
		{0.01, frontier.Limits{}, "0/1"},
		{0.015, frontier.Limits{}, "1/1"},
		{0.004, frontier.Limits{ExpectedCost: 5}, "0/1"},
		{0.005, frontier.Limits{ExpectedCost: 5}, "1/1"},
		{1, frontier.Limits{}, "0/3"}, // the first of three single leaves
	} {
		got, err := frontier.Select(table(),
			frontier.Query{Rule: frontier.Best, Limits: c.limits, Tolerance: c.tolerance})
		if err != nil || name(got) != c.want {
			t.Errorf("tolerance %v within %+v: %s, %v, want %s", c.tolerance, c.limits, name(got), err, c.want)
		}
	}
}

// TestPaper: by hand, for cases not in the table.
func TestPaper(t *testing.T) {
	for _, c := range []struct {
		what   string
		points []frontier.Point
		want   string
	}{
		{"un-pruned trees only", []frontier.Point{
			point(0, 100, 0, 8, .93), point(1, 10, 0, 6, .925), point(2, 1, 0, 4, .92), point(3, .1, 0, 3, .91),
		}, "2/0"},
		{"a rise moves the mark", []frontier.Point{
			point(0, 100, 0, 8, .90), point(1, 10, 0, 6, .95), point(2, 1, 0, 4, .93),
		}, "1/0"},
		{"a drop ends it, whatever comes after", []frontier.Point{
			point(0, 100, 0, 8, .90), point(1, 10, 0, 6, .85), point(2, 1, 0, 4, .95),
		}, "0/0"},
		{"small drops add up to the best seen", []frontier.Point{
			point(0, 100, 0, 8, .900), point(1, 10, 0, 6, .894), point(2, 1, 0, 4, .888),
		}, "1/0"},
		{"a lambda's trees stand for it by their best", []frontier.Point{
			point(0, 100, 0, 8, .90), point(1, 10, 0, 9, .80), point(2, 10, 0, 7, .899), point(3, 1, 0, 4, .80),
		}, "2/0"},
		{"no lambda comes first", []frontier.Point{
			point(0, 0, 0, 2, .70), point(1, 1, 0, 4, .895), point(2, math.Inf(1), 0, 9, .90),
		}, "1/0"},
	} {
		if got, err := frontier.Select(c.points, frontier.Query{Rule: frontier.Paper}); err != nil ||
			name(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.what, name(got), err, c.want)
		}
	}
}

// TestTies: at equal cost and area leaves, grid, currency and step decide.
func TestTies(t *testing.T) {
	p := point(1, 1, 1, 3, .9)
	leaves, grid, currency, step := p, p, p, p
	leaves.Leaves--
	grid.Tree--
	currency.Currency = prune.Leaves
	step.Step--
	last := []frontier.Point{p, step, currency, grid, leaves} // each one is preferred to the one before it
	for i := 1; i < len(last); i++ {
		for _, points := range [][]frontier.Point{last[:i+1], reversed(last[:i+1])} {
			kept := frontier.NonDominated(points)
			if len(kept) != 1 || kept[0] != last[i] {
				t.Errorf("tie %d: kept %+v", i, kept)
			}
			for _, rule := range []frontier.Rule{frontier.Best, frontier.Highest, frontier.Paper} {
				if got, err := frontier.Select(points, frontier.Query{Rule: rule}); err != nil || got != last[i] {
					t.Errorf("tie %d, %v: %+v, %v", i, rule, got, err)
				}
			}
		}
	}
}

func reversed(points []frontier.Point) []frontier.Point {
	points = slices.Clone(points)
	slices.Reverse(points)
	return points
}

func TestErrors(t *testing.T) {
	_, err := frontier.Select(table()[:3],
		frontier.Query{Rule: frontier.Best, Limits: frontier.Limits{ExpectedCost: 1.5, Leaves: 3}})
	const want = "no tree keeps the limits of an expected cost of 1.5, 3 leaves: of 3 trees the cheapest " +
		"has expected cost 2, the shortest worst path costs 4, the smallest has 9 leaves; " +
		"raise the limits, or prune in leaves and cost for smaller trees"
	if !errors.Is(err, frontier.ErrLimits) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := frontier.Select(nil, frontier.Query{
		Rule:   frontier.Best,
		Limits: frontier.Limits{MaxCost: 3},
	}); !errors.Is(err, frontier.ErrLimits) {
		t.Errorf("of no trees: %v", err)
	}
	if _, err := frontier.Select(table(), frontier.Query{Rule: frontier.OneSE}); !errors.Is(err,
		frontier.ErrNoInterval) {
		t.Errorf("without a standard error: %v", err)
	}
	if _, err := frontier.Select(table(), frontier.Query{Rule: 0}); err == nil {
		t.Error("no rule accepted")
	}
}

// TestFallback: rows of one class have a log loss and no area. The log losses of
// table order the points as the areas do.
func TestFallback(t *testing.T) {
	points := table()
	for i := range points {
		points[i].Validation.AUC = nil
	}
	if err := frontier.Judge(points, frontier.AUC); err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[frontier.Rule]string{
		frontier.Best: "0/0", frontier.Highest: "0/0", frontier.OneSE: "0/0", frontier.Paper: "1/0",
	} {
		if got, err := frontier.Select(points, frontier.Query{Rule: rule}); err != nil || name(got) != want {
			t.Errorf("%v by log loss: %s, %v, want %s", rule, name(got), err, want)
		}
	}
	mixed := table()
	mixed[4].Validation.Interval = &metric.Interval{StandardError: 0.5}
	mixed[0].Validation.AUC, mixed[4].Validation.LogLoss = nil, is(0.001) // one point lacks an area, so all are compared by losses
	if err := frontier.Judge(mixed, frontier.AUC); err != nil {
		t.Fatal(err)
	}
	for _, rule := range []frontier.Rule{frontier.Highest, frontier.OneSE} { // log losses have no standard error
		if got, err := frontier.Select(mixed, frontier.Query{Rule: rule}); err != nil || name(got) != "1/0" {
			t.Errorf("%v with some areas: %s, %v", rule, name(got), err)
		}
	}
	points[3].Validation.LogLoss = nil
	if err := frontier.Judge(points, frontier.AUC); !errors.Is(err, frontier.ErrNoMerit) {
		t.Errorf("neither: %v", err)
	}
}

// randomPoints have few costs and areas, hence many ties.
func randomPoints(r *rand.Rand) []frontier.Point {
	points := make([]frontier.Point, 1+r.IntN(30))
	for i := range points {
		points[i] = point(r.IntN(4), math.Pow(10, float64(r.IntN(3))), i, float64(r.IntN(12))/2,
			.5+float64(r.IntN(20))/40)
		points[i].Currency = prune.Currency(1 + r.IntN(2))
		points[i].Leaves = 1 + r.IntN(5)
		points[i].Validation.Interval = &metric.Interval{StandardError: r.Float64() / 10}
	}
	return points
}

// TestLaws: the order of the points never matters. No kept point is dominated, and
// every dropped point is. A choice is within the limits, and, but for the paper's
// rule, no point within them is better at no more cost.
func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 5))
	for range 2000 {
		points := randomPoints(r)
		kept := frontier.NonDominated(points)
		checkFrontier(t, points, kept)
		limits := frontier.Limits{ExpectedCost: float64(r.IntN(7)), Leaves: r.IntN(6)}
		shuffled := slices.Clone(points)
		r.Shuffle(len(points), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if again := frontier.NonDominated(shuffled); !slices.Equal(again, kept) {
			t.Fatalf("order matters: %v and %v", names(kept), names(again))
		}
		for rule := frontier.Best; rule <= frontier.Paper; rule++ {
			got, err := frontier.Select(points, frontier.Query{Rule: rule, Limits: limits})
			again, _ := frontier.Select(shuffled, frontier.Query{Rule: rule, Limits: limits})
			if got != again {
				t.Fatalf("%v: order matters: %+v and %+v", rule, got, again)
			}
			checkChoice(t, points, got, rule, limits, err)
		}
	}
}

func checkFrontier(t *testing.T, points, kept []frontier.Point) {
	t.Helper()
	for i := 1; i < len(kept); i++ {
		if kept[i].ExpectedCost <= kept[i-1].ExpectedCost || *kept[i].Validation.AUC <= *kept[i-1].Validation.AUC {
			t.Fatalf("%+v after %+v", kept[i], kept[i-1])
		}
	}
	for _, p := range points {
		if !slices.ContainsFunc(kept, func(q frontier.Point) bool {
			return q.ExpectedCost <= p.ExpectedCost && *q.Validation.AUC >= *p.Validation.AUC
		}) {
			t.Fatalf("nothing kept is as good as %+v", p)
		}
	}
}

func checkChoice(t *testing.T, points []frontier.Point, got frontier.Point, rule frontier.Rule, limits frontier.Limits,
	err error,
) {
	t.Helper()
	allowed := slices.DeleteFunc(slices.Clone(points),
		func(p frontier.Point) bool { return !limits.Allow(&p.Complexity, p.PaidTests) })
	if len(allowed) == 0 {
		if !errors.Is(err, frontier.ErrLimits) {
			t.Fatalf("%v within %+v: %v", rule, limits, err)
		}
		return
	}
	if err != nil || !slices.Contains(allowed, got) {
		t.Fatalf("%v within %+v: %+v, %v", rule, limits, got, err)
	}
	best := slices.MaxFunc(allowed, func(a, b frontier.Point) int { return cmp.Compare(*a.Validation.AUC, *b.Validation.AUC) })
	if (rule == frontier.Best || rule == frontier.Highest) && *got.Validation.AUC != *best.Validation.AUC {
		t.Fatalf("%v within %+v: %+v, best %+v", rule, limits, got, best)
	}
	for _, p := range allowed {
		if rule != frontier.Paper && p.ExpectedCost <= got.ExpectedCost && *p.Validation.AUC > *got.Validation.AUC {
			t.Fatalf("%v within %+v: %+v is no better than %+v", rule, limits, got, p)
		}
	}
}

func TestRuleNames(t *testing.T) {
	for rule := frontier.First; rule <= frontier.Paper; rule++ {
		if got, err := frontier.ParseRule(rule.String()); got != rule || err != nil {
			t.Errorf("%v: parsed as %v, %v", rule, got, err)
		}
	}
	for _, s := range []string{"", "worst"} {
		if _, err := frontier.ParseRule(s); err == nil {
			t.Errorf("rule %q accepted", s)
		}
	}
	if got := frontier.Rule(9).String(); got != "unknown(9)" {
		t.Error(got)
	}
}

// TestLeastBilled: the error names the least billed costs of all trees (by hand).
func TestLeastBilled(t *testing.T) {
	points := table()[:2]
	for i, billed := range []float64{20, 30} {
		points[i].ExpectedCost, points[i].MaxCost = billed, 2*billed
	}
	_, err := frontier.Select(points, frontier.Query{Rule: frontier.Best, Limits: frontier.Limits{ExpectedCost: 10}})
	if err == nil || !strings.Contains(err.Error(),
		"the cheapest has expected cost 20, the shortest worst path costs 40") {
		t.Errorf("%v", err)
	}
}

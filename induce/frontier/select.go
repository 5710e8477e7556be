package frontier

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/naming"
)

// Rule is a rule of selection among the points within the limits.
type Rule uint8

// The rules.
const (
	First   Rule = iota + 1 // the first point of the first tree, whatever its merit
	Best                    // the cheapest point that is as good as the best point, within chance and the tolerance
	Highest                 // the point of highest merit; ties: the cheapest
	OneSE                   // the cheapest point within one standard error of the highest merit
	Paper                   // lambda from large to small, before the AUC drops
	Total                   // the point of the least expected cost of tests and errors, if the rows have a signal
	ByCosts                 // Total if errors have costs, otherwise Best: see Settled
)

func ruleNames() []string {
	return []string{"first", "best", "highest", "one_se", "paper", "total", "auto"}
}

// String returns the rule's name in flags.
func (r Rule) String() string { return naming.Of(r, First, ruleNames()) }

// ParseRule reads a rule's name.
func ParseRule(s string) (Rule, error) {
	return naming.Parse("rule of selection", s, First, ruleNames())
}

// Settled returns the rule that a choice uses: ByCosts becomes Total if errors have costs, otherwise Best.
func (r Rule) Settled(errorCosts bool) Rule {
	switch {
	case r != ByCosts:
		return r
	case errorCosts:
		return Total
	default:
		return Best
	}
}

// ErrNoInterval is the error of OneSE if the point of highest merit has no interval.
var ErrNoInterval = errors.New("the tree of highest merit has no standard error to choose by")

// significant is the drop in merit that matters: 0.01, as in the paper.
const significant = 0.01

// Query asks for one point.
type Query struct {
	Rule      Rule // not ByCosts
	Limits    Limits
	Tolerance float64 // for Best: score that a cheaper point may lack, whatever chance gives; at least 0
}

// Select returns the point chosen by the query's rule among the points within the
// query's limits. Judge must have set the merits. The errors are ErrLimits, for OneSE
// ErrNoInterval, and for Total ErrNoErrorCosts.
//
// OneSE needs the interval of the area on the validation rows, of one point only: the point of rule Highest.
//
// If merits are by log loss and points have no scores, the tolerance of Best and the 0.01 of Paper are nats, and OneSE is
// the same as Highest.
func Select(points []Point, q Query) (Point, error) {
	list, err := q.Limits.within(points)
	if err != nil {
		return Point{}, err
	}
	highest := least(list, better, nil)
	switch q.Rule {
	case First:
		return *least(list, bySequence, nil), nil
	case Best:
		chosen, _ := best(list, q)
		return chosen, nil
	case Highest:
		return *highest, nil
	case OneSE:
		margin, err := highest.standardError()
		if err != nil {
			return Point{}, err
		}
		return cheapest(list, below(highest.Merit, margin)), nil
	case Paper:
		return beforeDrop(list), nil
	case Total:
		chosen, _, err := byTotal(list)
		return chosen, err
	default:
		return Point{}, fmt.Errorf("%w: %v", errRule, q.Rule)
	}
}

// Among returns a function that chooses among some of the points, given by index in ascending order, and returns an index.
// Its errors are the errors of Select.
func (q *Query) Among(points []Point) func(some []int) (int, error) {
	return func(some []int) (int, error) {
		list := make([]Point, len(some))
		for i, at := range some {
			list[i] = points[at]
		}
		chosen, err := Select(list, *q)
		if err != nil {
			return 0, err
		}
		return some[slices.IndexFunc(list, func(p Point) bool { return p.Same(&chosen) })], nil
	}
}

// HighestWithin returns the point of the highest merit by a criterion whose expected cost is at most cost, which may be
// 0. Judge must have set the merits. The error is ErrLimits if no point is that cheap.
func HighestWithin(points []Point, by Criterion, cost float64) (Point, error) {
	higher := func(a, b *Point) int { return cmp.Or(cmp.Compare(b.Merits[by], a.Merits[by]), better(a, b)) }
	found := least(points, higher, func(p *Point) bool { return p.ExpectedCost <= cost*(1+slack) })
	if found == nil {
		return Point{}, ErrLimits
	}
	return *found, nil
}

var errRule = errors.New("no rule of selection")

// standardError returns the standard error of the area; 0 if the merit is a log loss.
func (p *Point) standardError() (float64, error) {
	switch {
	case p.By == LogLoss:
		return 0, nil
	case p.Validation.Interval == nil:
		return 0, ErrNoInterval
	default:
		return p.Validation.StandardError, nil
	}
}

// below returns the merit that lies a margin below another, with slack for rounding.
func below(merit, margin float64) float64 { return merit - margin - slack }

// cheapest returns the cheapest point of at least the given merit. At least one
// point must have it.
func cheapest(list []Point, merit float64) Point {
	return *least(list, cheaper, func(p *Point) bool { return p.Merit >= merit })
}

// beforeDrop follows the paper's experimental evaluation. Lambda goes from large to
// small; the last tree is taken before the merit falls by more than 0.01 below the
// best seen. Each lambda is represented by the best point of all its trees: the
// best alpha of a pruned tree, or the un-pruned tree.
func beforeDrop(list []Point) Point {
	sorted := slices.SortedFunc(slices.Values(list), func(a, b Point) int {
		return cmp.Or(cmp.Compare(b.Lambda, a.Lambda), better(&a, &b))
	})
	chosen := sorted[0]
	most := math.Inf(-1)
	for i, c := range sorted {
		if i > 0 && c.Lambda == sorted[i-1].Lambda {
			continue
		}
		if c.Merit < below(most, significant) {
			break
		}
		chosen = c
		most = max(most, c.Merit)
	}
	return chosen
}

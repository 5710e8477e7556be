package frontier

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Rule says which of the points that the limits allow is chosen.
type Rule uint8

// The rules.
const (
	Best       Rule = iota + 1 // highest validation AUC; ties: the cheapest
	Knee                       // farthest above the chord from the cheapest to the best
	OneSE                      // cheapest within one standard error of the best
	OnePercent                 // cheapest within 0.01 of the best
	Paper                      // lambda from large to small, before the AUC drops
)

func ruleNames() []string { return []string{"", "best", "knee", "one_se", "one_percent", "paper"} }

// String returns the rule's name in flags.
func (r Rule) String() string {
	if names := ruleNames(); r > 0 && int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("unknown(%d)", uint8(r))
}

// ParseRule reads a rule's name.
func ParseRule(s string) (Rule, error) {
	names := ruleNames()
	if i := slices.Index(names, s); i > 0 {
		return Rule(i), nil
	}
	return 0, fmt.Errorf("rule of selection %q: want one of %s", s, strings.Join(names[1:], ", "))
}

// ErrNoInterval is the error of OneSE where the best point has no Interval.
var ErrNoInterval = errors.New("the best tree has no standard error to choose by")

// significant is the drop in merit that matters: 0.01, as in the paper.
const significant = 0.01

// Select returns the point that a rule chooses among those within the limits.
// Its errors are ErrLimits, ErrNoMerit and, by OneSE, ErrNoInterval.
//
// OneSE needs the Interval of one point only, that which Best chooses.
//
// Where areas are undefined (see the package), OnePercent and Paper allow for
// 0.01 nats of log loss, and OneSE for nothing: it is Best.
func Select(points []Point, rule Rule, limits Limits) (Point, error) {
	allowed, err := limits.within(points)
	if err != nil {
		return Point{}, err
	}
	list, err := candidates(allowed)
	if err != nil {
		return Point{}, err
	}
	best := slices.MinFunc(list, better)
	switch rule {
	case Best:
		return best.Point, nil
	case Knee:
		return knee(nonDominated(list)).Point, nil
	case OneSE:
		margin, err := best.standardError()
		if err != nil {
			return Point{}, err
		}
		return cheapest(list, below(best.merit, margin)).Point, nil
	case OnePercent:
		return cheapest(list, below(best.merit, significant)).Point, nil
	case Paper:
		return beforeDrop(list).Point, nil
	default:
		return Point{}, fmt.Errorf("%w: %v", errRule, rule)
	}
}

var errRule = errors.New("no rule of selection")

// standardError returns that of the merit.
func (c *candidate) standardError() (float64, error) {
	switch {
	case !c.byArea:
		return 0, nil
	case c.Interval == nil:
		return 0, ErrNoInterval
	default:
		return c.Interval.SE, nil
	}
}

// below returns the least merit that is below another by no more than a margin,
// but for rounding.
func below(merit, margin float64) float64 { return merit - margin - slack }

// cheapest returns the cheapest point of at least some merit, which one has.
func cheapest(list []candidate, merit float64) candidate {
	good := slices.DeleteFunc(slices.Clone(list), func(c candidate) bool { return c.merit < merit })
	return slices.MinFunc(good, cheaper)
}

// knee returns the point farthest above the chord from the first point, the
// cheapest, to the last, the best, with both axes scaled to 0..1 between the
// two. If none is above, the best.
func knee(line []candidate) candidate {
	first, last := line[0], line[len(line)-1]
	chosen, most := last, 0.0
	cost, merit := last.cost()-first.cost(), last.merit-first.merit
	for _, c := range line[:len(line)-1] {
		above := (c.merit-first.merit)/merit - (c.cost()-first.cost())/cost
		if above > most {
			chosen, most = c, above
		}
	}
	return chosen
}

// beforeDrop follows the paper's experimental evaluation: lambda goes from
// large to small, and the last tree before validation merit falls by more than
// 0.01 below the best seen is taken. Each grown tree stands for itself by its
// best point, which is its own best alpha, or the un-pruned tree if that is all
// there is of it; each lambda by the best of its trees.
func beforeDrop(list []candidate) candidate {
	sorted := slices.SortedFunc(slices.Values(list), func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.Lambda, a.Lambda), better(a, b))
	})
	chosen, most := sorted[0], math.Inf(-1)
	for i, c := range sorted {
		if i > 0 && c.Lambda == sorted[i-1].Lambda {
			continue
		}
		if c.merit < below(most, significant) {
			break
		}
		chosen, most = c, max(most, c.merit)
	}
	return chosen
}

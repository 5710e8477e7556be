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
	Best       Rule = iota + 1 // cheapest within the tolerance of the highest merit
	Highest                    // highest merit; ties: the cheapest
	Knee                       // farthest above the chord from the cheapest to the best
	OneSE                      // cheapest within one standard error of the highest merit
	OnePercent                 // cheapest within 0.01 of the highest merit
	Paper                      // lambda from large to small, before the AUC drops
)

func ruleNames() []string {
	return []string{"", "best", "highest", "knee", "one_se", "one_percent", "paper"}
}

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

// ErrNoInterval is the error of OneSE where the point of highest merit has no
// Interval.
var ErrNoInterval = errors.New("the tree of highest merit has no standard error to choose by")

// significant is the drop in merit that matters: 0.01, as in the paper.
const significant = 0.01

// Query says which point is wanted.
type Query struct {
	Rule      Rule
	Limits    Limits
	Tolerance float64 // of Best: merit that a cheaper point may lack, at least 0
}

// Select returns the point that a query's rule chooses among those within its
// limits, by the merits that Judge has given them. Its errors are ErrLimits and,
// by OneSE, ErrNoInterval.
//
// OneSE needs the Interval of one point only, that which Highest chooses.
//
// Where areas are undefined (see the package), the tolerance of Best and the 0.01
// of OnePercent and Paper are nats of log loss, and OneSE is Highest.
func Select(points []Point, q Query) (Point, error) {
	list, err := q.Limits.within(points)
	if err != nil {
		return Point{}, err
	}
	highest := slices.MinFunc(list, better)
	switch q.Rule {
	case Best:
		return cheapest(list, below(highest.Merit, q.Tolerance)), nil
	case Highest:
		return highest, nil
	case Knee:
		return knee(NonDominated(list)), nil
	case OneSE:
		margin, err := highest.standardError()
		if err != nil {
			return Point{}, err
		}
		return cheapest(list, below(highest.Merit, margin)), nil
	case OnePercent:
		return cheapest(list, below(highest.Merit, significant)), nil
	case Paper:
		return beforeDrop(list), nil
	default:
		return Point{}, fmt.Errorf("%w: %v", errRule, q.Rule)
	}
}

var errRule = errors.New("no rule of selection")

// standardError returns that of the merit.
func (p *Point) standardError() (float64, error) {
	switch {
	case p.byLoss:
		return 0, nil
	case p.Interval == nil:
		return 0, ErrNoInterval
	default:
		return p.Interval.SE, nil
	}
}

// below returns the least merit that is below another by no more than a margin,
// but for rounding.
func below(merit, margin float64) float64 { return merit - margin - slack }

// cheapest returns the cheapest point of at least some merit, which one has.
func cheapest(list []Point, merit float64) Point {
	good := slices.DeleteFunc(slices.Clone(list), func(c Point) bool { return c.Merit < merit })
	return slices.MinFunc(good, cheaper)
}

// knee returns the point farthest above the chord from the first point, the
// cheapest, to the last, of the highest merit, with both axes scaled to 0..1
// between the two. If no point is above the chord, it returns the last.
func knee(line []Point) Point {
	first, last := line[0], line[len(line)-1]
	chosen, most := last, 0.0
	cost, merit := last.cost()-first.cost(), last.Merit-first.Merit
	for _, c := range line[:len(line)-1] {
		above := (c.Merit-first.Merit)/merit - (c.cost()-first.cost())/cost
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
func beforeDrop(list []Point) Point {
	sorted := slices.SortedFunc(slices.Values(list), func(a, b Point) int {
		return cmp.Or(cmp.Compare(b.Lambda, a.Lambda), better(a, b))
	})
	chosen, most := sorted[0], math.Inf(-1)
	for i, c := range sorted {
		if i > 0 && c.Lambda == sorted[i-1].Lambda {
			continue
		}
		if c.Merit < below(most, significant) {
			break
		}
		chosen, most = c, max(most, c.Merit)
	}
	return chosen
}

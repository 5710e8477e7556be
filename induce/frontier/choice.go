package frontier

import (
	"cmp"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Choice is the chosen point of a pool, with the points that are listed for a person.
type Choice struct {
	Chosen Point
	Reason string   // why the rule Best has not chosen the point of the highest score; empty: it has
	Listed []Listed // by ascending billed expected cost
}

// Listed is a point of the frontier with its marks. The chosen point, and the point of
// highest merit, may be off the frontier if there is a limit on the most expensive path. So may the point
// that the rule Best chooses, as it compares scores rather than merits. With error costs,
// the point of the least total cost and a single leaf are listed, too, wherever they are.
type Listed struct {
	Point

	Chosen  bool
	Highest bool // the point of highest merit within the limits
	Knee    bool // the knee of the whole frontier, whatever the limits
	// LeastTotal: the least expected cost of tests and errors within the limits. False for all
	// points without error costs.
	LeastTotal bool
}

// Choose sets the merits of the pool's points (see Judge), chooses one of them, and
// lists the marked points and the points of the frontier, thinned (see Thin). The
// errors are those of Judge and Select.
func (p *Pool) Choose(s *Settings) (*Choice, error) {
	if err := p.judge(p.Points); err != nil {
		return nil, err
	}
	return p.ChooseAmong(p.Points, s)
}

// ChoosePoint is Choose for points of the pool whose figures differ, for instance without a fold. It
// sets their merits, and returns the chosen one. Choose must have been called; several goroutines may
// then call ChoosePoint.
func (p *Pool) ChoosePoint(points []Point, s *Settings) (Point, error) {
	if err := p.judge(points); err != nil {
		return Point{}, err
	}
	chosen, _, err := p.choosePoint(points, s)
	return chosen, err
}

// judge sets the merits and the scores of points of the pool.
func (p *Pool) judge(points []Point) error {
	if err := Judge(points); err != nil {
		return err
	}
	p.measureGroups()
	setScores(points, p.evidence())
	return nil
}

// ChooseAmong is Choose for points that have merits. Each is a point of the pool, or one
// with leaf models in its tree.
func (p *Pool) ChooseAmong(all []Point, s *Settings) (*Choice, error) {
	chosen, highest, err := p.choosePoint(all, s)
	if err != nil {
		return nil, err
	}
	reason := ""
	if s.Rule == Best {
		list, _ := s.Limits.within(all) // not empty, as one of them is chosen
		_, top := best(list, s.Tolerance)
		reason = Reason(&chosen, &top)
	}
	front := NonDominated(all)
	bend, err := Select(front, Query{Rule: Knee})
	if err != nil {
		return nil, err
	}
	points, marks := Thin(front, s.Step), []Point{chosen, highest, bend}
	cheapest, err := leastWithin(all, s.Limits)
	if err != nil {
		return nil, err
	}
	if cheapest != nil {
		marks = append(marks, *cheapest)
	}
	if leaf := bareLeaf(all); leaf != nil && cheapest != nil && bareLeaf(points) == nil {
		marks = append(marks, *leaf)
	}
	for _, marked := range marks {
		if !slices.ContainsFunc(points, func(q Point) bool { return q.Same(&marked) }) {
			points = append(points, marked)
		}
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.cost(), b.cost()) })
	choice := &Choice{Chosen: chosen, Reason: reason, Listed: make([]Listed, len(points))}
	for i, q := range points {
		choice.Listed[i] = Listed{
			Point: q, Chosen: q.Same(&chosen), Highest: q.Same(&highest), Knee: q.Same(&bend),
			LeastTotal: cheapest != nil && q.Same(cheapest),
		}
	}
	return choice, nil
}

// choosePoint chooses by the settings, and returns the point of highest merit within
// the limits, too. For the rule OneSE it sets the interval of the point of highest
// merit.
func (p *Pool) choosePoint(all []Point, s *Settings) (chosen, highest Point, err error) {
	query := s.Query
	query.Rule = Highest
	if highest, err = Select(all, query); err != nil {
		return chosen, highest, err
	}
	if s.Rule == OneSE {
		if area := p.Area(&highest, p.Tree(&highest), dataset.Validation); area != nil {
			at := slices.IndexFunc(all, func(q Point) bool { return q.Same(&highest) })
			all[at].Interval = &Interval{SE: area.StandardError, Low: area.Low, High: area.High}
		}
	}
	chosen, err = Select(all, s.Query)
	return chosen, highest, err
}

// Fronts returns the Pareto front of the prunings of each grown tree in each currency (see
// NonDominated), thinned (see Thin). The points must have merits.
func (p *Pool) Fronts(step float64) []Point {
	var sequences [][]Point
	at := make(map[[2]int]int) // of a tree and a currency: position of its sequence
	for _, q := range p.Points {
		key := [2]int{q.Tree, int(q.Currency)}
		if _, found := at[key]; !found {
			at[key], sequences = len(sequences), append(sequences, nil)
		}
		sequences[at[key]] = append(sequences[at[key]], q)
	}
	var points []Point
	for _, all := range sequences {
		points = append(points, Thin(NonDominated(all), step)...)
	}
	return points
}

// Same reports whether two points are the same pruning of the same tree, with the same
// models in its leaves.
func (p *Point) Same(q *Point) bool {
	return p.Tree == q.Tree && p.Currency == q.Currency && p.Step == q.Step &&
		p.Ridge == q.Ridge && p.Boosted == q.Boosted
}

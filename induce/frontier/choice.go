package frontier

import (
	"cmp"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/judging"
)

// Choice is the point chosen from a pool, with the points listed for a person.
type Choice struct {
	Chosen Point
	Reason string   // why Best did not choose the highest score, or Total the least total; empty if they did
	Listed []Listed // by ascending billed expected cost

	ByDemand bool // whether a demand chose among the listed points, see Demand; Choose leaves it false
}

// Listed is a point of the frontier with its marks. If there is a limit on the most expensive path,
// the chosen point and the point of highest merit may be off the frontier. So may a point chosen by
// the rule Best, because it compares scores instead of merits. With error costs, the point with the least total cost is
// also listed. For the rule Total, the frontier has the least cost of errors at each cost of tests.
type Listed struct {
	Point

	Chosen  bool
	Highest bool // the point of highest merit within the limits
	// LeastTotal marks the least expected cost of tests and errors within the limits. It is false
	// for all points without error costs.
	LeastTotal bool
}

// Choose sets the merits of the points in the pool (see Judge), chooses one of the points, and
// lists the marked points and the points of the frontier, thinned (see Thin). It returns the errors
// of Judge and Select.
func (p *Pool) Choose(s *Settings) (*Choice, error) {
	if err := p.judge(p.Points, s); err != nil {
		return nil, err
	}
	return p.ChooseAmong(p.Points, s)
}

// ChoosePoint is Choose for variants of the points in the pool, for instance with figures that
// leave out a fold. It sets their merits, and returns the chosen point. Choose must have been
// called before; then ChoosePoint may be called concurrently.
func (p *Pool) ChoosePoint(points []Point, s *Settings) (Point, error) {
	if err := p.judge(points, s); err != nil {
		return Point{}, err
	}
	chosen, _, err := p.choosePoint(points, s)
	return chosen, err
}

// judge sets the merits and the scores of points of the pool.
func (p *Pool) judge(points []Point, s *Settings) error {
	if err := Judge(points, s.Criterion(p.classes())); err != nil {
		return err
	}
	p.measureGroups()
	setScores(points, p.evidence(), judging.Frequencies(p.Candidates[0].Tree), p.deviation(points))
	MarkSignal(points, p.Association)
	return nil
}

// ChooseAmong is Choose for points that have merits. Each is a point of the pool, possibly with
// leaf models in its tree.
func (p *Pool) ChooseAmong(all []Point, s *Settings) (*Choice, error) {
	chosen, highest, err := p.choosePoint(all, s)
	if err != nil {
		return nil, err
	}
	reason := ""
	list, _ := s.Limits.within(all) // not empty, because one of them is chosen
	switch s.Rule {
	case Best:
		_, top := best(list, s.Query)
		reason = Reason(&chosen, &top)
	case Total:
		if _, lowest, err := byTotal(list); err == nil && !lowest.Same(&chosen) {
			reason = chanceReason(least(list, byScore, func(q *Point) bool { return !q.isSingleLeaf() }))
		}
	default:
	}
	points := p.list(all, s)
	marks := []Point{chosen}
	if s.Rule == Total { // points that differ by rounding have equal costs
		points = slices.DeleteFunc(points, func(q Point) bool { return chosen.dearerOrEqual(&q) })
	} else {
		marks = append(marks, highest)
	}
	cheapest, err := LeastTotal(all, s.Limits)
	if err != nil {
		return nil, err
	}
	if cheapest != nil {
		marks = append(marks, *cheapest)
	}
	for _, marked := range marks {
		if !slices.ContainsFunc(points, func(q Point) bool { return q.Same(&marked) }) {
			points = append(points, marked)
		}
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.ExpectedCost, b.ExpectedCost) })
	choice := &Choice{Chosen: chosen, Reason: reason, Listed: make([]Listed, len(points))}
	for i, q := range points {
		choice.Listed[i] = Listed{
			Point: q, Chosen: q.Same(&chosen), Highest: q.Same(&highest),
			LeastTotal: cheapest != nil && q.Same(cheapest),
		}
	}
	return choice, nil
}

func (p *Pool) classes() int { return len(p.Candidates[0].Tree.Label.Classes) }

// list returns the points of the frontier, thinned. For the rule Total, it is the frontier of errors. With more than two classes, a tree that is worse by one criterion may
// be the best by another one at its cost, so it also returns the frontiers by the other criteria, with larger steps.
func (p *Pool) list(all []Point, s *Settings) []Point {
	step := s.Step
	if s.Rule == Total && priced(all) {
		return frontierOfErrors(all, step)
	}
	points := frontierBy(all, all[0].By, step)
	if p.classes() <= 2 {
		return points
	}
	for c := AUC; c <= Accuracy; c++ {
		if c == all[0].By || math.IsNaN(all[0].Merits[c]) {
			continue
		}
		for _, q := range frontierBy(all, c, float64(coarser*step)) {
			as := func(r Point) bool { // prunings that differ by rounding have equal merits
				return r.ExpectedCost <= q.ExpectedCost*(1+slack) && r.Merits[c] >= q.Merits[c]-slack
			}
			if !slices.ContainsFunc(points, as) {
				points = append(points, q)
			}
		}
	}
	return points
}

// coarser is by how much the steps of the frontiers by other criteria are larger, so that the list is not much longer.
const coarser = 3

// areaRange is most of the range of the area on a front, usually. A step is in units of an area: a figure of another kind
// counts by how far it ranges on the front.
const areaRange = 0.25

// frontierOfErrors returns the Pareto front of the cost of tests and the cost of errors, thinned. All points must have both.
func frontierOfErrors(all []Point, step float64) []Point {
	rated := slices.Clone(all)
	for i := range rated {
		rated[i].Merit = -*rated[i].Judged.ErrorCost
	}
	points := NonDominated(rated)
	points = Thin(points, step*(points[len(points)-1].Merit-points[0].Merit)/areaRange)
	for i := range points {
		points[i].Merit = points[i].Merits[points[i].By]
	}
	return points
}

// frontierBy returns the Pareto front by a criterion, thinned.
func frontierBy(all []Point, by Criterion, step float64) []Point {
	if by == all[0].By && by <= AUC {
		return Thin(NonDominated(all), step)
	}
	points := NonDominated(ratedBy(all, by))
	if by != AUC {
		step *= (points[len(points)-1].Merit - points[0].Merit) / areaRange
	}
	points = Thin(points, step)
	for i := range points {
		points[i].Merit = points[i].Merits[points[i].By]
	}
	return points
}

// ratedBy returns the points with the merits by a criterion.
func ratedBy(points []Point, by Criterion) []Point {
	points = slices.Clone(points)
	for i := range points {
		points[i].Merit = points[i].Merits[by]
	}
	return points
}

// choosePoint chooses by the settings, and returns the chosen point and the point of highest merit
// within the limits. For the rule OneSE it sets the interval of the latter.
func (p *Pool) choosePoint(all []Point, s *Settings) (chosen, highest Point, err error) {
	query := s.Query
	query.Rule = Highest
	if highest, err = Select(all, query); err != nil {
		return chosen, highest, err
	}
	if s.Rule == OneSE {
		at := slices.IndexFunc(all, func(q Point) bool { return q.Same(&highest) })
		all[at].Validation.Interval = p.Interval(&highest, p.Tree(&highest), dataset.Validation)
	}
	chosen, err = Select(all, s.Query)
	return chosen, highest, err
}

// Fronts returns the Pareto front (see NonDominated) of the prunings of each grown tree in each
// currency, thinned (see Thin). The points must have merits.
func (p *Pool) Fronts(step float64) []Point {
	var sequences [][]Point
	at := make(map[[2]int]int) // by tree and currency: index of the sequence
	for _, q := range p.Points {
		key := [2]int{q.Tree, int(q.Currency)}
		if _, found := at[key]; !found {
			at[key] = len(sequences)
			sequences = append(sequences, nil)
		}
		sequences[at[key]] = append(sequences[at[key]], q)
	}
	var points []Point
	for _, all := range sequences {
		points = append(points, Thin(NonDominated(all), step)...)
	}
	return points
}

// Contenders reports for each point whether it may be on the frontier, given merits that are measured
// on a share of the rows so far. It is false if another point has no more billed cost, and a merit that
// is higher by more than the given number of standard errors of the merit. With bySize, the other point
// must also have no more leaves, because leaf models raise the merit of small trees the most. A point
// beyond the limits does not beat a point within them. If the rule is Total, or if points have no
// scores, all points are contenders.
func Contenders(points []Point, q Query, share, standardErrors float64, bySize bool) []bool {
	within := make([]bool, len(points))
	for i := range points {
		within[i] = q.Limits.Allow(&points[i].Complexity, points[i].PaidTests)
	}
	list := make([]bool, len(points))
	for i := range points {
		p := &points[i]
		list[i] = true
		if q.Rule == Total || p.Score == nil {
			continue
		}
		enough := p.Merit + float64(standardErrors*p.error(share, steady))
		for k := range points { // without copies, as points are large
			r := &points[k]
			if r.Merit > enough && r.ExpectedCost <= p.ExpectedCost && (!bySize || r.Leaves <= p.Leaves) && (within[k] || !within[i]) {
				list[i] = false
				break
			}
		}
	}
	return list
}

// steady is the highest area or accuracy whose standard error is trusted: the formulas are too optimistic near 1,
// where a single row of a rare class decides.
const steady = 0.9

// Same reports whether two points are the same pruning of the same tree, with the same leaf models.
func (p *Point) Same(q *Point) bool {
	return p.Tree == q.Tree && p.Currency == q.Currency && p.Step == q.Step &&
		p.Ridge == q.Ridge && p.Boosted == q.Boosted
}

package frontier

import (
	"cmp"
	"errors"
	"slices"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Point is a pruned tree with its cost and its quality.
type Point struct {
	Tree int // index of the grown tree in the grid
	// Lambda is the lambda of the grown tree; 0 for asr. It is +Inf for criteria of impurity alone
	// (c45, cart, ..), the limit of large lambdas.
	Lambda   float64
	Currency prune.Currency // currency of the pruning
	Step     int            // step of the pruning sequence; 0 for the unpruned tree
	Ridge    float64        // regularisation strength of the leaf models; 0: no models
	Boosted  int            // number of trees in the leaves' boosters; 0: no boosters

	tree.Complexity     // measured on the training rows
	PaidTests       int // tests that cost something, on the path with most of them

	Validation metric.Judgement // on the validation rows
	Folds      metric.Judgement // on folds of the training rows: means of trees of the same kind
	Test       metric.Judgement // on the test rows; it takes no part in the choice

	// FoldShare is the weight of the folds where they are judged together with the validation rows, 0 to 1.
	FoldShare float64

	// Judged is the judgement by which points are chosen: see Judge.
	Judged metric.Judgement
	Merit  float64 // quality by which points are compared, higher is better: see Judge
	Score  *Score  // value for the rule Best; nil: only the merit counts
	By     Criterion
	Merits Merits // by criterion; the merit is the one by By
}

// Errors of Judge and Select.
var (
	ErrNoMerit = errors.New("no validation rows to choose a tree by: expected a validation part with rows, " +
		"change the split")
	ErrLimits = errors.New("no tree keeps the limits")
)

// inOrder compares points of equal cost and merit.
func inOrder(a, b *Point) int {
	return cmp.Or(
		cmp.Compare(a.Leaves, b.Leaves),
		cmp.Compare(a.Tree, b.Tree),
		cmp.Compare(a.Currency, b.Currency),
		cmp.Compare(a.Step, b.Step),
		cmp.Compare(a.Ridge, b.Ridge),
		cmp.Compare(a.Boosted, b.Boosted),
	)
}

// cheaper orders by ascending cost, then by descending merit.
func cheaper(a, b *Point) int {
	if c := cmp.Or(cmp.Compare(a.ExpectedCost, b.ExpectedCost), cmp.Compare(b.Merit, a.Merit)); c != 0 {
		return c
	}
	return inOrder(a, b)
}

// better orders by descending merit, then by ascending cost.
func better(a, b *Point) int {
	if c := cmp.Or(cmp.Compare(b.Merit, a.Merit), cmp.Compare(a.ExpectedCost, b.ExpectedCost)); c != 0 {
		return c
	}
	return inOrder(a, b)
}

// least returns the first point in an order, among the points that keep accepts (all if keep is
// nil); nil if there is no such point. It does not copy points, because a pool has thousands of
// them, and they are large.
func least(points []Point, order func(a, b *Point) int, keep func(*Point) bool) *Point {
	var found *Point
	for i := range points {
		p := &points[i]
		if (keep == nil || keep(p)) && (found == nil || order(p, found) < 0) {
			found = p
		}
	}
	return found
}

// NonDominated returns the Pareto front of the points: for each of them, no other point has at
// least its merit at no more billed cost. The result ascends in cost, and strictly in merit. Only one
// of several equal points is kept.
func NonDominated(points []Point) []Point {
	sorted := make([]*Point, len(points))
	for i := range points {
		sorted[i] = &points[i]
	}
	slices.SortFunc(sorted, cheaper)
	var kept []Point
	for _, p := range sorted {
		if len(kept) == 0 || p.Merit > kept[len(kept)-1].Merit {
			kept = append(kept, *p)
		}
	}
	return kept
}

// Thin drops points of a Pareto front in the order of NonDominated. It keeps a point if its merit
// is at least step above the merit of the last kept point. The first and the last point are always
// kept.
func Thin(points []Point, step float64) []Point {
	var kept []Point
	for i := range points {
		if i == 0 || i == len(points)-1 || points[i].Merit-kept[len(kept)-1].Merit >= step {
			kept = append(kept, points[i])
		}
	}
	return kept
}

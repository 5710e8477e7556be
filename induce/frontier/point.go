package frontier

import (
	"cmp"
	"errors"
	"slices"

	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Point is a pruned tree with what it costs and how good it is.
type Point struct {
	Tree int // which grown tree: its index in the grid
	// of that tree: +Inf for criteria of impurity alone (c45, cart, ..), which large lambdas tend
	// to; 0 for asr
	Lambda   float64
	Currency prune.Currency // that the tree is pruned in
	Step     int            // of the sequence; 0: the un-pruned tree
	Alpha    float64        // of the step

	tree.Complexity // on the training rows

	AUC      *float64  // on the validation rows; nil where they have none
	Folds    *float64  // mean AUC of trees of the same kind on folds of the training rows; nil: none were grown
	Interval *Interval // of AUC; nil until it is filled in
	LogLoss  *float64  // on the validation rows, in nats; nil without rows
	TestAUC  *float64  // on the test rows

	Merit  float64 // by which points are compared, the larger the better: see Judge
	byLoss bool    // the merit is of log losses, not of areas
}

// Interval says how sure an area is.
type Interval struct {
	SE        float64 // standard error
	Low, High float64 // 95 % interval
}

// Errors of a choice.
var (
	ErrNoMerit = errors.New("no validation rows to choose a tree by: expected a validation part with rows, " +
		"change the split")
	ErrLimits = errors.New("no tree keeps the limits")
)

// cost returns what the tree is expected to cost a training row, as it is billed.
func (p *Point) cost() float64 {
	expected, _ := p.Billed()
	return expected
}

// inOrder compares what is left when cost and merit are the same.
func inOrder(a, b *Point) int {
	return cmp.Or(
		cmp.Compare(a.Leaves, b.Leaves),
		cmp.Compare(a.Tree, b.Tree),
		cmp.Compare(a.Currency, b.Currency),
		cmp.Compare(a.Step, b.Step),
	)
}

// cheaper orders by ascending cost, then by descending merit.
func cheaper(a, b Point) int {
	return cmp.Or(cmp.Compare(a.cost(), b.cost()), cmp.Compare(b.Merit, a.Merit), inOrder(&a, &b))
}

// better orders by descending merit, then by ascending cost.
func better(a, b Point) int {
	return cmp.Or(cmp.Compare(b.Merit, a.Merit), cmp.Compare(a.cost(), b.cost()), inOrder(&a, &b))
}

// NonDominated returns the points that no other is at least as good as for at
// most the cost: ascending in billed cost and strictly in merit, of equal points
// one.
func NonDominated(points []Point) []Point {
	sorted := slices.SortedFunc(slices.Values(points), cheaper)
	var kept []Point
	for _, p := range sorted {
		if len(kept) == 0 || p.Merit > kept[len(kept)-1].Merit {
			kept = append(kept, p)
		}
	}
	return kept
}

// Thin leaves out of a frontier, as NonDominated returns it, points that are better
// than the one kept before by less than a step of merit; the best stays.
func Thin(points []Point, step float64) []Point {
	var kept []Point
	for i := range points {
		if i == 0 || i == len(points)-1 || points[i].Merit-kept[len(kept)-1].Merit >= step {
			kept = append(kept, points[i])
		}
	}
	return kept
}

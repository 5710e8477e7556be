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
	Tree     int            // which grown tree: its index in the grid
	Lambda   float64        // of that tree: +Inf for criteria of impurity alone (c45, cart, ..), which large lambdas tend to; 0 for asr
	Currency prune.Currency // that the tree is pruned in
	Step     int            // of the sequence; 0: the un-pruned tree
	Alpha    float64        // of the step

	tree.Complexity // on the training rows

	AUC      *float64  // on the validation rows; nil where they have none
	Folds    *float64  // mean AUC of trees of the same kind on folds of the training rows; nil: none were grown
	Interval *Interval // of AUC; nil until it is filled in
	LogLoss  *float64  // on the validation rows, in nats; nil without rows
	TestAUC  *float64  // on the test rows
}

// Interval says how sure an area is.
type Interval struct {
	SE        float64 // standard error
	Low, High float64 // 95 % interval
}

// Errors of a choice.
var (
	ErrNoMerit = errors.New("no validation rows to choose a tree by: expected a validation part with rows, change the split")
	ErrLimits  = errors.New("no tree keeps the limits")
)

// candidate is a point with its merit.
type candidate struct {
	Point

	merit  float64 // the larger the better
	byArea bool    // merit is the AUC
}

// candidates gives points their merits.
func candidates(points []Point) ([]candidate, error) {
	byArea, byLoss := true, true
	for i := range points {
		byArea = byArea && (points[i].AUC != nil || points[i].Folds != nil)
		byLoss = byLoss && points[i].LogLoss != nil
	}
	list := make([]candidate, len(points))
	for i := range points {
		list[i].Point, list[i].byArea = points[i], byArea
		switch {
		case byArea:
			list[i].merit = points[i].area()
		case byLoss:
			list[i].merit = -*points[i].LogLoss
		default:
			return nil, ErrNoMerit
		}
	}
	return list, nil
}

// Merit returns what the point is chosen by: its area, without one minus its log
// loss.
func (p *Point) Merit() float64 {
	if p.AUC != nil || p.Folds != nil {
		return p.area()
	}
	return -*p.LogLoss
}

// area returns the area that a point is chosen by. The validation rows judge
// this very tree, the folds of the training rows more rows but only its like: each
// is right about half of it.
func (p *Point) area() float64 {
	if p.Folds == nil {
		return *p.AUC
	}
	if p.AUC == nil {
		return *p.Folds
	}
	return (*p.AUC + *p.Folds) / 2
}

// inOrder compares what is left when cost and merit are the same.
func inOrder(a, b *candidate) int {
	return cmp.Or(
		cmp.Compare(a.Leaves, b.Leaves),
		cmp.Compare(a.Tree, b.Tree),
		cmp.Compare(a.Currency, b.Currency),
		cmp.Compare(a.Step, b.Step),
	)
}

// cheaper orders by ascending cost, then by descending merit.
func cheaper(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.ExpectedCost, b.ExpectedCost), cmp.Compare(b.merit, a.merit), inOrder(&a, &b))
}

// better orders by descending merit, then by ascending cost.
func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.merit, a.merit), cmp.Compare(a.ExpectedCost, b.ExpectedCost), inOrder(&a, &b))
}

// NonDominated returns the points that no other is at least as good as for at
// most the cost: ascending in expected cost and strictly in validation AUC, of
// equal points one. Its error is ErrNoMerit.
func NonDominated(points []Point) ([]Point, error) {
	list, err := candidates(points)
	if err != nil {
		return nil, err
	}
	var kept []Point
	for _, c := range nonDominated(list) {
		kept = append(kept, c.Point)
	}
	return kept, nil
}

// Thin leaves out of a frontier, as NonDominated returns it, points that are better
// than the one kept before by less than a step of merit; the best stays.
func Thin(points []Point, step float64) []Point {
	var kept []Point
	for i := range points {
		if i == 0 || i == len(points)-1 || points[i].Merit()-kept[len(kept)-1].Merit() >= step {
			kept = append(kept, points[i])
		}
	}
	return kept
}

func nonDominated(list []candidate) []candidate {
	sorted := slices.SortedFunc(slices.Values(list), cheaper)
	var kept []candidate
	for _, c := range sorted {
		if len(kept) == 0 || c.merit > kept[len(kept)-1].merit {
			kept = append(kept, c)
		}
	}
	return kept
}

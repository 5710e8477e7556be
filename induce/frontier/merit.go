package frontier

import (
	"cmp"
	"slices"
)

// Prunings of a tree are alike where one has at most alikeLeaves times the leaves
// and alikeCost times the expected cost of the other.
const (
	alikeLeaves = 1.2
	alikeCost   = 1.05
)

// Judge fills in the merits of points, which are to be all prunings that compete:
// for each tree and currency a run of steps without a gap.
//
// The raw merit of a point is its area under the ROC curve on the validation
// rows, or the mean of that and of its area on the folds. Where some point has
// neither, the raw merit of all points is minus their log loss on the validation
// rows, in nats. Without log losses the error is ErrNoMerit.
//
// The merit of a pruning is the mean raw merit of a run of prunings of the same
// tree and currency: the pruning itself, some just before it and as many just
// after it. The run is as long as all of its prunings are alike to the one in the
// middle (see alikeLeaves). Neighbouring prunings share nearly all of their
// leaves. Their expected merits are almost on a straight line, which such a mean
// keeps; the noise of few validation rows averages out. The highest of many raw
// merits is the luckiest of them. On 16 public data sets a tolerance of 0.001
// costs 0.0002 of test area in the mean by these merits, 0.0006 by raw ones, and
// the choice within a budget loses nothing.
func Judge(points []Point) error {
	byArea, byLoss := true, true
	for i := range points {
		byArea = byArea && (points[i].AUC != nil || points[i].Folds != nil)
		byLoss = byLoss && points[i].LogLoss != nil
	}
	if !byArea && !byLoss {
		return ErrNoMerit
	}
	raw := make([]float64, len(points))
	for i := range points {
		points[i].byLoss = !byArea
		raw[i] = points[i].rawMerit()
	}
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bySequence(&points[a], &points[b]) })
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && sameSequence(&points[order[from]], &points[order[to]]) {
			to++
		}
		smooth(points, raw, order[from:to])
		from = to
	}
	return nil
}

// rawMerit judges the very tree by the validation rows, and its like by the folds
// of the training rows, which are more: each is right about half of it.
func (p *Point) rawMerit() float64 {
	switch {
	case p.byLoss:
		return -*p.LogLoss
	case p.Folds == nil:
		return *p.AUC
	case p.AUC == nil:
		return *p.Folds
	default:
		return (*p.AUC + *p.Folds) / 2
	}
}

func bySequence(a, b *Point) int {
	return cmp.Or(cmp.Compare(a.Tree, b.Tree), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Step, b.Step))
}

func sameSequence(a, b *Point) bool { return a.Tree == b.Tree && a.Currency == b.Currency }

// smooth gives the points of one sequence, listed by ascending step, the mean raw
// merit of the prunings around them. Leaves and costs fall along the sequence, so
// both ends of the run of like prunings only move forward.
func smooth(points []Point, raw []float64, sequence []int) {
	sums := make([]float64, len(sequence)+1)
	for k, i := range sequence {
		sums[k+1] = sums[k] + raw[i]
	}
	first, end := 0, 0
	for k, i := range sequence {
		for !alike(&points[sequence[first]], &points[i]) {
			first++
		}
		for end = max(end, k+1); end < len(sequence) && alike(&points[i], &points[sequence[end]]); {
			end++
		}
		side := min(k-first, end-1-k)
		if side == 0 {
			points[i].Merit = raw[i]
			continue
		}
		points[i].Merit = (sums[k+side+1] - sums[k-side]) / float64(2*side+1)
	}
}

// alike reports whether the smaller of two prunings is nearly as large as the other.
func alike(large, small *Point) bool {
	return float64(large.Leaves) <= alikeLeaves*float64(small.Leaves) && large.cost() <= alikeCost*small.cost()
}

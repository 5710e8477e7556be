package frontier

import (
	"cmp"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/metric"
)

// Two prunings of a tree are similar if the larger has at most alikeLeaves times the leaves and
// alikeCost times the expected cost of the smaller.
const (
	alikeLeaves = 1.2
	alikeCost   = 1.05
)

// Judge sets the merits of the points. The points must be all competing prunings: for each tree and
// currency a run of steps without gaps.
//
// The raw merit of a point by a criterion is its figure on the validation rows, or a weighted mean of this figure and of
// its figure on the folds. Points are compared by the criterion by. If some point has no figure of it, they are compared
// by log loss. If some point has no log loss on the validation rows either, Judge returns ErrNoMerit.
//
// The merit of a pruning is the mean raw merit of a run of prunings of the same tree and currency:
// the pruning in the middle, and equally many before and after it. The run is the longest in which
// all prunings are similar to the middle one (see alikeLeaves). Neighbouring prunings share nearly
// all of their leaves, and their expected merits are almost on a straight line, so the mean keeps
// the expectation and averages out the noise of few validation rows. The highest of many raw merits
// is often high by luck. On 16 public data sets, a tolerance of 0.001 costs 0.0002 of test area on
// average with these merits, and 0.0006 with raw merits. The choice within a budget loses nothing.
//
// Judge also sets the Judged figures: means of the figures on the validation rows and on the folds, weighted by
// FoldShare. The costs are averaged over similar prunings as the merit is, and nil unless all points have costs.
func Judge(points []Point, by Criterion) error {
	defined := true
	byLoss := true
	for i := range points {
		p := &points[i]
		p.Judged = p.Validation.Mix(p.Folds, p.FoldShare)
		defined = defined && figures(&p.Judged)[by] != nil
		byLoss = byLoss && p.Validation.LogLoss != nil
	}
	if !defined && !byLoss {
		return ErrNoMerit
	}
	if !defined {
		by = LogLoss
	}
	sequences := sequencesOf(points)
	for c := AUC; c <= Accuracy; c++ {
		raw := make([]float64, len(points))
		for i := range points {
			raw[i] = math.NaN()
			if figure := figures(&points[i].Judged)[c]; figure != nil {
				raw[i] = *figure
			}
		}
		for i, merit := range smoothed(points, raw, sequences) {
			points[i].Merits[c] = merit
		}
	}
	for i := range points {
		points[i].By = by
		points[i].Merit = points[i].Merits[by]
	}
	setCosts(points, sequences)
	return nil
}

// sequencesOf returns the indexes of the points of each tree and currency, by ascending step.
func sequencesOf(points []Point) [][]int {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bySequence(&points[a], &points[b]) })
	var sequences [][]int
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && sameSequence(&points[order[from]], &points[order[to]]) {
			to++
		}
		sequences = append(sequences, order[from:to])
		from = to
	}
	return sequences
}

// smoothed returns, for each point, the mean of a figure over similar prunings. See Judge.
func smoothed(points []Point, raw []float64, sequences [][]int) []float64 {
	means := make([]float64, len(points))
	for _, sequence := range sequences {
		smooth(points, raw, sequence, means)
	}
	return means
}

// Change adds to the point's figures what models in its leaves change of the figures on the validation rows and on
// the folds. Models do not change the cost of the tests.
func (p *Point) Change(validation, folds metric.Judgement) {
	folds.TotalCost = folds.ErrorCost
	change := validation.Mix(folds, p.FoldShare)
	change.TotalCost = change.ErrorCost
	p.Folds = p.Folds.Plus(folds)
	p.Judged = p.Judged.Plus(change)
	for c, gain := range figures(&change) {
		if gain != nil {
			p.Merits[c] += *gain
		}
	}
	if gain := figures(&change)[p.By]; gain != nil {
		p.Merit += *gain
	}
	if p.Score != nil {
		p.Score = p.Score.changed(&change, p.By)
	}
}

// bySequence compares points by tree, currency and step.
func bySequence(a, b *Point) int {
	return cmp.Or(cmp.Compare(a.Tree, b.Tree), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Step, b.Step))
}

func sameSequence(a, b *Point) bool { return a.Tree == b.Tree && a.Currency == b.Currency }

// smooth sets the means of a figure for the points of one sequence, given by ascending step. Leaves
// and costs fall along the sequence, so both ends of the run of similar prunings only move forward.
func smooth(points []Point, raw []float64, sequence []int, means []float64) {
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
			means[i] = raw[i]
			continue
		}
		means[i] = (sums[k+side+1] - sums[k-side]) / float64(2*side+1)
	}
}

// alike reports whether the smaller of two prunings is nearly as large as the other.
func alike(large, small *Point) bool {
	return float64(large.Leaves) <= alikeLeaves*float64(small.Leaves) && large.ExpectedCost <= alikeCost*small.ExpectedCost
}

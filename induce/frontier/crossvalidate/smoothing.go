package crossvalidate

import (
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/tree"
)

// smoothings are the strengths of smoothing that compete with tree.UsualSmoothing. With more than two classes they depend on
// the classes in a node; with two, the number of classes tells nothing.
func smoothings(classes int) []tree.Smoothing {
	if classes <= 2 {
		return []tree.Smoothing{{Rows: 3}, {Rows: 30}, {Rows: 100}}
	}
	return []tree.Smoothing{
		{Rows: tree.UsualSmoothing, ByClasses: true},
		{Rows: 3, ByClasses: true},
		{Rows: 30, ByClasses: true},
		{Rows: 100, ByClasses: true},
	}
}

// matters is the relative fall of the log loss that justifies a strength other than the usual one.
const matters = 0.001

// probabilities is how many probabilities a comparison of strengths may have. A tree has one for
// each node and class. If all trees have more, only the first trees are compared.
const probabilities = 1 << 24

// Smooth chooses how strongly leaves are smoothed, by the log loss on the validation rows and on the
// folds, weighted by their numbers of rows. The pruning that has the least log loss with the usual
// strength decides: if any pruning could decide, a large tree that expresses noise would find a
// strength that hides its noise, and that distorts the trees of few leaves. If trees are compared by their accuracy, the
// score of frontier.Best decides, of any pruning: a strength with less log loss may change the class of many small
// leaves. All trees must have the
// usual strength; Smooth estimates them again if another strength is better. Without rows nothing
// changes.
//
// A large tree with little smoothing ranks rows well, but is much too confident in its small
// leaves. On 17 public data sets the choice lowers the log loss on test rows by 0.017 on average,
// and raises the area under the ROC curve by 0.001.
func Smooth(folds []Fold, pool *frontier.Pool, by frontier.Criterion) {
	wrong := 0.0
	if by == frontier.Accuracy {
		wrong = frontier.ErrorLoss(pool.Candidates[0].Tree.Nodes[0].Probabilities)
	}
	some := compared(folds, pool)
	all := len(pool.Candidates)
	at := counterparts(folds, pool, some)
	now := tree.Smoothing{Rows: tree.UsualSmoothing} // trees are grown with it
	best := now
	least, decides := leastLoss(folds, pool, at, some, wrong)
	if decides < 0 { // no rows
		return
	}
	if by != frontier.Accuracy {
		at = at[decides : decides+1]
		some = pool.Prunings[at[0][0].pruning].Candidate + 1
	}
	least *= 1 - matters
	for _, other := range smoothings(len(pool.Candidates[0].Tree.Label.Classes)) {
		smooth(folds, pool, other, some)
		now = other
		if loss, _ := leastLoss(folds, pool, at, some, wrong); loss < least {
			best = other
			least = loss
		}
	}
	if best != now || some < all {
		smooth(folds, pool, best, all)
	}
}

// compared returns how many trees are compared.
func compared(folds []Fold, pool *frontier.Pool) int {
	sum := 0
	for i := range pool.Candidates {
		t := pool.Candidates[i].Tree
		sum += len(t.Nodes) * len(t.Label.Classes) * (1 + len(folds))
		if sum > probabilities {
			return max(1, i)
		}
	}
	return len(pool.Candidates)
}

// smooth estimates the first trees candidates again.
func smooth(folds []Fold, pool *frontier.Pool, by tree.Smoothing, trees int) {
	pool.Smooth(by, trees)
	for i := range folds {
		folds[i].smooth(by, trees)
	}
}

func (f *Fold) smooth(by tree.Smoothing, trees int) {
	f.each(trees, func(candidate, _, _ int) { f.trees[candidate].Smooth(by) })
}

// place is a pruning and a step.
type place struct{ pruning, step int }

// counterparts returns, for each point of the first trees candidates, its place in the pool,
// followed by the place of its counterpart in each fold.
func counterparts(folds []Fold, pool *frontier.Pool, trees int) [][]place {
	var list [][]place
	for i := range pool.Points {
		p := &pool.Points[i]
		if p.Tree >= trees {
			continue
		}
		places := []place{{pool.PruningOf(p), p.Step}}
		for k := range folds {
			pruning, step := folds[k].counterpart(pool, p)
			places = append(places, place{pruning, step})
		}
		list = append(list, places)
	}
	return list
}

// leastLoss returns the least log loss (and wrong times the share of errors) of a list of points, given by their places (see counterparts),
// and the index of the point that has it, decides: below 0 without rows. The points are of the first trees
// candidates.
func leastLoss(folds []Fold, pool *frontier.Pool, at [][]place, trees int, wrong float64) (least float64, decides int) {
	losses := [][][]float64{pool.Losses(trees, wrong)}
	weights := []float64{float64(pool.Candidates[0].Counts[dataset.Validation].TotalRows())}
	for k := range folds {
		losses = append(losses, folds[k].losses(trees, wrong))
		weights = append(weights, float64(folds[k].rows))
	}
	least = math.Inf(1)
	decides = -1
	for i, places := range at {
		var loss mean
		for k, p := range places {
			if list := losses[k][p.pruning]; len(list) > 0 {
				loss.add(&list[p.step], weights[k])
			}
		}
		if value := loss.value(); value != nil && *value < least {
			least = *value
			decides = i
		}
	}
	return least, decides
}

package crossvalidate

import (
	"math"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Counterpart is the tree of a fold that corresponds to a point of the pool: grown by
// the same parameters, and pruned in the same currency at the same alpha.
type Counterpart struct {
	Rows  int64 // number of rows of the fold's objects
	Tree  *tree.Tree
	Score prune.Score // on the fold's objects
}

// Counterparts returns a point's counterpart of each fold.
func Counterparts(folds []Fold, pool *frontier.Pool, p *frontier.Point) []Counterpart {
	list := make([]Counterpart, len(folds))
	for i := range folds {
		f := &folds[i]
		at, step := f.counterpart(pool, p)
		list[i] = Counterpart{Rows: f.rows, Tree: f.sequences[at].Tree(step), Score: f.scores[at][step]}
	}
	return list
}

// Stability compares a tree with its counterparts, of which there must be at least one.
func Stability(t *tree.Tree, counterparts []Counterpart) *tree.Stability {
	trees := make([]*tree.Tree, len(counterparts))
	for i := range counterparts {
		trees[i] = counterparts[i].Tree
	}
	return t.Stability(trees)
}

// SetAreas sets Folds of the pool's points: the mean area of a point's counterparts,
// over the folds whose objects define an area. It stays nil if there is no such fold.
func SetAreas(folds []Fold, pool *frontier.Pool) {
	for i := range pool.Points {
		sum, n := 0.0, 0
		for k := range folds {
			f := &folds[k]
			at, step := f.counterpart(pool, &pool.Points[i])
			if area := f.scores[at][step].AUC; area != nil {
				sum += *area
				n++
			}
		}
		if n > 0 {
			mean := sum / float64(n)
			pool.Points[i].Folds = &mean
		}
	}
}

// counterpart returns the pruning and the step of the fold's own sequence that
// correspond to a point. The un-pruned tree and the root alone correspond to
// themselves, whatever the alphas of the fold's sequence are.
func (f *Fold) counterpart(pool *frontier.Pool, p *frontier.Point) (pruning, step int) {
	pruning = pool.PruningOf(p)
	own := pool.Prunings[pruning].Sequence
	switch p.Step {
	case 0:
		return pruning, 0
	case len(own.Steps) - 1:
		return pruning, len(f.sequences[pruning].Steps) - 1
	default:
		return pruning, f.sequences[pruning].At(middle(own, p.Step))
	}
}

// middle returns the geometric mean of the least and the greatest alpha at which a step
// is optimal; the least alpha if there is no finite greatest one.
func middle(s *prune.Sequence, step int) float64 {
	alpha := s.Steps[step].Alpha
	if step+1 < len(s.Steps) && !math.IsInf(s.Steps[step+1].Alpha, 1) {
		alpha = math.Sqrt(alpha * s.Steps[step+1].Alpha)
	}
	return alpha
}

package pipelines

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/memory"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

// foldsAuto cross-validates where the validation rows alone say little: in
// autoFolds folds where the rarest class has fewer than fewRows of them, up to
// foldObjects objects. By measurement on the paper's public data sets rare classes
// and small data gain by it.
const (
	foldsAuto   = "auto"
	autoFolds   = 5
	fewRows     = 200
	foldObjects = 50_000
	maxFolds    = 100
)

// foldsWanted returns the number of folds.
func (t *training) foldsWanted(validation *tree.LeafCounts) int {
	if folds := t.parsed.selection.folds; folds >= 0 {
		return folds
	}
	rows := t.rareRows(validation)
	switch objects := t.objects[dataset.Train].Objects; {
	case rows >= fewRows:
		t.driver.Reporter.Note(fmt.Sprintf("--folds auto: no cross-validation, as the validation rows have %.0f of the rarest class, and %d are enough", rows, fewRows))
		return 0
	case objects > foldObjects:
		t.driver.Reporter.Note(fmt.Sprintf("--folds auto: no cross-validation, as %d training objects are more than %d, though the validation rows have only %.0f of the rarest class: --folds %d cross-validates all the same",
			objects, foldObjects, rows, autoFolds))
		return 0
	default:
		return autoFolds
	}
}

// rareRows returns the validation rows of the rarest class, about: rows have weights.
func (t *training) rareRows(validation *tree.LeafCounts) float64 {
	weights := make([]int64, len(t.classes))
	for _, leaf := range validation.Weights {
		for k, w := range leaf {
			weights[k] += w
		}
	}
	return float64(sum(validation.Rows)) * float64(slices.Min(weights)) / float64(max(1, sum(weights)))
}

// grownFold is what was grown without the objects of a fold, and how good it is on
// them.
type grownFold struct {
	rows      int64             // of its objects
	sequences []*prune.Sequence // by pruning
	scores    [][]prune.Score   // by pruning and step of the fold's own tree
}

// crossValidate grows the trees of the grid on the training objects of all folds
// but one, and scores the prunings on the objects of that one: a point's are
// those that are optimal for its alpha, in the geometric middle of the range in
// which its own tree is. It fills in the points' mean areas. Of few objects a fold may
// have none, or all: such folds are left out.
func (t *training) crossValidate(ctx context.Context, folds int, prunings []pruning, points []frontier.Point) ([]grownFold, error) {
	grown := make([]grownFold, folds)
	weight := t.objects[dataset.Train].Weight * int64(len(t.grid)) * int64(folds-1) // which all folds but one grow
	err := t.driver.Phase(ctx, "folds", weight, "weight settled", func(s *parallel.Steps) error {
		objects, err := t.trainingObjects(ctx)
		if err != nil {
			return err
		}
		held := t.dealFolds(objects, folds)
		return parallel.EachUntil(ctx, folds, new(atomic.Int64), func(fold int) {
			grown[fold] = t.fold(ctx, objects, held, fold, prunings, &s.Done)
		})
	})
	if err != nil {
		return nil, err
	}
	grown = slices.DeleteFunc(grown, func(g grownFold) bool { return g.sequences == nil })
	for i := range points {
		sum, n := 0.0, 0
		for fold := range grown {
			at, step := grown[fold].step(points[i], prunings)
			if area := grown[fold].scores[at][step].AUC; area != nil {
				sum += *area
				n++
			}
		}
		if n > 0 {
			mean := sum / float64(n)
			points[i].Folds = &mean
		}
	}
	return grown, nil
}

// step returns which pruning of the fold's trees is of a point's kind, and its step.
func (g *grownFold) step(p frontier.Point, prunings []pruning) (at, step int) {
	at = slices.IndexFunc(prunings, func(q pruning) bool { return q.candidate == p.Tree && q.sequence.Currency() == p.Currency })
	switch p.Step {
	case 0:
		return at, 0
	case len(prunings[at].sequence.Steps) - 1: // the root alone, whatever alphas the fold's tree has
		return at, len(g.sequences[at].Steps) - 1
	default:
		return at, g.sequences[at].At(middle(prunings[at].sequence, p.Step))
	}
}

// middle returns the geometric middle of the alphas for which a step is optimal.
func middle(s *prune.Sequence, step int) float64 {
	alpha := s.Steps[step].Alpha
	if step+1 < len(s.Steps) && !math.IsInf(s.Steps[step+1].Alpha, 1) {
		alpha = math.Sqrt(alpha * s.Steps[step+1].Alpha)
	}
	return alpha
}

// trainingObjects reads all training objects.
func (t *training) trainingObjects(ctx context.Context) (*dataset.Objects, error) {
	layout := dataset.NewLayout(t.features)
	objects := dataset.NewObjects(layout, len(t.classes), t.spec.Weighted(), int(t.objects[dataset.Train].Objects))
	for _, task := range t.blockTasks(dataset.Train) {
		b, err := t.files.Read(ctx, task.File)
		if err != nil {
			return nil, err
		}
		if err := objects.AppendFrom(b, layout); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// dealFolds returns the objects of each fold, by a seeded hash of their codes.
func (t *training) dealFolds(o *dataset.Objects, folds int) [][]int32 {
	held := make([][]int32, folds)
	key := make([]byte, 0, 2*len(o.Codes))
	for i := range o.Len() {
		key = key[:0]
		for f := range o.Codes {
			code := o.Codes[f].At(i)
			key = append(key, byte(code), byte(code>>8))
		}
		fold := dataset.HashText(t.config.Seed, string(key)) % uint64(folds)
		held[fold] = append(held[fold], int32(i))
	}
	return held
}

// fold grows and prunes the trees of one fold and scores them on its objects. It
// grows none where the fold has no object, or all, and stops with the context. It
// counts the weight that it has settled.
func (t *training) fold(ctx context.Context, o *dataset.Objects, held [][]int32, fold int, prunings []pruning, settled *atomic.Int64) grownFold {
	var g grownFold
	var rest []int32
	for other, ids := range held {
		if other != fold {
			rest = append(rest, ids...)
		}
	}
	if len(rest) == 0 || len(held[fold]) == 0 {
		return g
	}
	slices.Sort(rest)
	grown := o.Select(rest)
	total := int64(0)
	for _, w := range grown.Weight {
		total += w
	}
	params := make([]induce.Params, len(t.grid))
	for i, m := range t.grid {
		params[i] = m.params
	}
	trees := make([]*tree.Tree, len(t.grid))
	counts := make([]*tree.LeafCounts, len(t.grid))
	options := memory.Options{
		Workers: max(1, runtime.GOMAXPROCS(0)/len(held)),
		Settled: func(weight int64) { settled.Add(weight) },
		Stop:    func() bool { return ctx.Err() != nil },
	}
	for i, root := range memory.GrowEach(grown, t.columns(), params, total, options) {
		trees[i] = t.model(root, t.grid[i])
		counts[i] = countObjects(trees[i], o, held[fold])
	}
	for i := range prunings {
		if ctx.Err() != nil { // what was grown is cut short, and nobody looks at it
			return grownFold{}
		}
		s := newSequence(trees[prunings[i].candidate], prunings[i].sequence.Currency())
		g.sequences = append(g.sequences, s)
		g.scores = append(g.scores, s.Sweep(counts[prunings[i].candidate]))
	}
	g.rows = sum(counts[0].Rows)
	return g
}

// countObjects counts some objects by the leaf that they reach.
func countObjects(t *tree.Tree, o *dataset.Objects, ids []int32) *tree.LeafCounts {
	counts, router := t.NewLeafCounts(), t.Router()
	for _, id := range ids {
		counts.Count(router.Leaf(o, int(id)), o, int(id))
	}
	return counts
}

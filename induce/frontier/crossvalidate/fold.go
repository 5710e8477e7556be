package crossvalidate

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Growth describes how the trees of the folds are grown.
type Growth struct {
	Objects *dataset.Objects // training objects
	Columns []split.Column
	Folds   int // at least 2
	Seed    uint64
	Ordered bool  // whether the objects' buckets are blocks of time: see DealInOrder
	Memory  int64 // bytes that the growth may take in addition to the objects, see inmemory.Options; 0: 2 GiB
	// Model makes a tree of a root that was grown with the parameters of a candidate of the pool,
	// including the estimates of the leaves. It is called concurrently.
	Model func(nodes []tree.Node, candidate int) *tree.Tree

	// Transfer is the transfer set from which the taught candidates have grown, see
	// distill.TransferSet.Part; nil if no candidate was taught.
	Transfer *distill.TransferSet

	factors *judging.Factors // how much the classes of held-out rows count
}

// Fold holds the trees grown without the objects of a fold, with their scores on these objects.
type Fold struct {
	number    int                  // index of the fold in the deal
	rows      int64                // number of rows in the objects of the fold
	trees     []*tree.Tree         // by candidate of the pool
	held      []*prune.Rows        // by candidate: rows of the objects of the fold
	sequences []*prune.Sequence    // by pruning of the pool
	scores    [][]prune.Score      // by pruning of the pool, then by step of the fold's own sequence: see Score
	transfer  *distill.TransferSet // nil if no tree was taught
}

// Grow divides the rows into folds, and grows and prunes trees for each. It leaves out folds
// without rows, and a fold that has all rows, which may happen with few objects or groups. settled
// counts the weight of the finished leaves; its sum is Weight if no fold is left out. If the
// context ends first, Grow returns its cause.
func (g *Growth) Grow(ctx context.Context, pool *frontier.Pool, settled *atomic.Int64) ([]Fold, error) {
	dealt := g.deal()
	g.factors = judging.FactorsOf(judging.Frequencies(pool.Candidates[0].Tree), judging.ClassWeightsOf(g.Objects))
	folds := make([]Fold, g.Folds)
	parallel.Each(g.Folds, together, func(fold int) {
		if ctx.Err() != nil {
			return
		}
		if rest, held := dealt.Fold(fold); rest.Len() > 0 && held.Len() > 0 {
			folds[fold] = g.fold(ctx, pool, rest, held, settled)
			folds[fold].number = fold
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.DeleteFunc(folds, func(f Fold) bool { return f.sequences == nil }), nil
}

// together is how many folds are grown at the same time. Each uses all processors; while one of
// them ends, the next keeps the processors busy.
const together = 2

// MaxBytes bounds the codes of the objects from which folds are grown. The objects are in memory,
// and so are copies of most of them for each of the folds grown together.
const MaxBytes = 8 << 30

// Weight returns the weight that the trees of all folds settle: for each fold, each of the trees is
// grown from the rows outside of it, or before it. Taught trees do not count.
func (g *Growth) Weight(pool *frontier.Pool) int64 {
	weight := g.Objects.TotalWeight() * int64(g.Folds-1)
	if g.Ordered {
		dealt := g.deal()
		weight = 0
		for fold := range g.Folds {
			rest, _ := dealt.Fold(fold)
			weight += rest.TotalWeight()
		}
	}
	return weight * int64(untaught(pool))
}

// deal divides the rows into folds.
func (g *Growth) deal() *Dealt {
	if g.Ordered {
		return DealInOrder(g.Objects, g.Folds)
	}
	return Deal(g.Objects, g.Folds, g.Seed)
}

// untaught returns how many candidates were grown without a teacher. They come first.
func untaught(pool *frontier.Pool) int {
	taught := func(c frontier.Candidate) bool { return c.Tree.Algorithm.Teacher != "" }
	if n := slices.IndexFunc(pool.Candidates, taught); n >= 0 {
		return n
	}
	return len(pool.Candidates)
}

// fold grows the trees of a fold from the rest of the objects, prunes them, and counts the
// held-out objects. After the end of the context the fold is empty, because its trees were cut
// short.
func (g *Growth) fold(
	ctx context.Context, pool *frontier.Pool, rest, held *dataset.Objects, settled *atomic.Int64,
) Fold {
	params := make([]induce.Params, len(pool.Candidates))
	for i := range params {
		params[i] = pool.Candidates[i].Params
	}
	options := inmemory.Options{
		Workers: runtime.GOMAXPROCS(0),
		Memory:  g.Memory / together,
		Settled: func(weight int64) { settled.Add(weight) },
		Stop:    func() bool { return ctx.Err() != nil },
	}
	plain := untaught(pool)
	grown := inmemory.GrowEach(rest, g.Columns, params[:plain], rest.TotalWeight(), options)
	var transfer *distill.TransferSet
	if plain < len(params) && ctx.Err() == nil {
		if transfer = g.Transfer.Part(rest, options.Stop); transfer != nil {
			options.Settled = nil
			grown = append(grown, transfer.Grow(g.Columns, params[plain:], options)...)
		}
	}
	if ctx.Err() != nil {
		return Fold{}
	}
	trees := make([]*tree.Tree, len(params))
	for i, nodes := range grown {
		trees[i] = g.Model(nodes, i)
	}
	f := Fold{trees: trees, transfer: transfer}
	f.prune(pool)
	for _, t := range trees {
		if ctx.Err() != nil {
			return Fold{}
		}
		counts := t.CountObjects(held)
		f.rows = counts.TotalRows()
		f.held = append(f.held, prune.NewRows(t, counts, g.factors))
	}
	return f
}

// prune prunes the trees as the candidates of the pool are pruned.
func (f *Fold) prune(pool *frontier.Pool) {
	currencies := make([][]prune.Currency, len(f.trees)) // by candidate, in the order of the prunings
	for i := range pool.Prunings {
		p := &pool.Prunings[i]
		currencies[p.Candidate] = append(currencies[p.Candidate], p.Sequence.Currency())
	}
	for i, t := range f.trees {
		f.sequences = append(f.sequences, pool.Candidates[i].Prune(t, currencies[i]...)...)
	}
}

// Score scores each step of all prunings on the objects of the fold, with the current probabilities
// of the trees.
func (f *Fold) Score() {
	f.scores = make([][]prune.Score, len(f.sequences))
	f.each(len(f.trees), func(candidate, from, to int) {
		copy(f.scores[from:to], prune.Sweep(f.sequences[from:to], f.held[candidate]))
	})
}

// losses is frontier.Pool.Losses on the objects of the fold.
func (f *Fold) losses(trees int, wrong float64) [][]float64 {
	losses := make([][]float64, len(f.sequences))
	f.each(trees, func(candidate, from, to int) {
		copy(losses[from:to], prune.Losses(f.sequences[from:to], f.held[candidate], wrong))
	})
	return losses
}

// each calls work for each of the first trees candidates, with the range [from, to) of its
// prunings.
func (f *Fold) each(trees int, work func(candidate, from, to int)) {
	each := len(f.sequences) / len(f.trees)
	parallel.Each(trees, trees, func(i int) { work(i, i*each, (i+1)*each) })
}

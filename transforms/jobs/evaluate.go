package jobs

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/levels"
	"github.com/espalier-ml/espalier/induce/tree"
)

// EvaluateConfig has the trees to evaluate, and the form of the object blocks. All trees
// have the same features and classes.
type EvaluateConfig struct {
	Trees   []string     // URLs of the tree.json
	Decoded []*tree.Tree `json:"-"` // the same trees; nil in other processes, which read Trees
	Widths  []int        // bytes of each feature's codes in blocks
	Weights bool         // blocks have rows with weights other than 1
	Workers int          // goroutines of a bundle; 1 on engines
	Out     string       // folder of results
	Run     RunName
}

// Evaluate counts the rows of object blocks by leaf and class, for each tree. tasks is a
// PCollection<[]byte> of Task. ReadLeafCounts reads the result.
func Evaluate(s beam.Scope, tasks beam.PCollection, c EvaluateConfig) {
	s = s.Scope("transforms.Evaluate")
	merged := beam.GroupByKey(s, beam.ParDo(s, &evaluateFn{EvaluateConfig: c}, tasks))
	beam.ParDo0(s, &mergeCountsFn{c.Out, c.Run}, merged)
}

// evaluateFn counts the rows of the blocks of a bundle.
type evaluateFn struct {
	EvaluateConfig

	trees   []*tree.Tree
	routers []*tree.Router
	pool    *pool
	counts  [][]*tree.LeafCounts // by worker, then by key
}

// leavesKey returns the key of the counts of a tree and a part.
func leavesKey(at int, part dataset.Part) int64 { return int64(at*int(dataset.Parts) + int(part)) }

func (f *evaluateFn) StartBundle(ctx context.Context, _ func(int64, []byte)) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	f.trees, f.routers = f.Decoded, nil
	if f.trees == nil {
		var err error
		if f.trees, err = readTrees(ctx, f.Trees); err != nil {
			return err
		}
	}
	for _, t := range f.trees {
		f.routers = append(f.routers, t.Router())
	}
	f.pool = newPool(f.Workers, 0)
	f.counts = make([][]*tree.LeafCounts, max(1, f.Workers))
	for i := range f.counts {
		f.counts[i] = make([]*tree.LeafCounts, leavesKey(len(f.trees), 0))
	}
	return nil
}

// readTrees reads and decodes trees.
func readTrees(ctx context.Context, urls []string) ([]*tree.Tree, error) {
	trees := make([]*tree.Tree, len(urls))
	return trees, readEach(ctx, urls, func(i int, b []byte) error {
		if b == nil {
			return fmt.Errorf("the tree %s is gone", urls[i])
		}
		var err error
		trees[i], err = tree.Decode(b)
		return err
	})
}

func (f *evaluateFn) ProcessElement(ctx context.Context, task []byte, _ func(int64, []byte)) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	defer report(ctx)
	return Carry(f.pool.do(ctx, func(worker int) error { return f.addBlock(ctx, task, worker) }))
}

// countsOf returns a worker's counts of a tree and a part.
func (f *evaluateFn) countsOf(worker, at int, part dataset.Part) *tree.LeafCounts {
	key := leavesKey(at, part)
	c := f.counts[worker][key]
	if c == nil {
		c = f.trees[at].NewLeafCounts()
		f.counts[worker][key] = c
	}
	return c
}

// addBlock counts the rows of a block for all trees.
func (f *evaluateFn) addBlock(ctx context.Context, task []byte, worker int) error {
	t, block, err := readBlock(ctx, task)
	if err != nil {
		return err
	}
	g := GrowConfig{Setting: levels.Setting{Classes: len(f.trees[0].Label.Classes)}, Widths: f.Widths, Weighted: f.Weights}
	o, err := g.load(block)
	if err != nil {
		return err
	}
	defer progressOf(ctx).Tasks.Add(1)
	defer progressOf(ctx).Objects.Add(int64(o.Len()))
	for at, router := range f.routers {
		c := f.countsOf(worker, at, t.Part)
		for i := range o.Len() {
			c.Count(router.Leaf(o, i), o, i)
		}
	}
	return nil
}

func (f *evaluateFn) FinishBundle(ctx context.Context, emit func(int64, []byte)) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	if err := reportUntil(ctx, f.pool.wait); err != nil {
		return Carry(err)
	}
	for key := range leavesKey(len(f.trees), 0) {
		for _, counts := range f.counts {
			if counts[key] != nil {
				emit(key, counts[key].Encode())
			}
		}
	}
	return nil
}

// ReadLeafCounts returns the counts of a part by tree, as Evaluate wrote them. They are
// zeros for a part without rows.
func ReadLeafCounts(
	ctx context.Context, out string, part dataset.Part, trees []*tree.Tree,
) ([]*tree.LeafCounts, error) {
	urls, counts := make([]string, len(trees)), make([]*tree.LeafCounts, len(trees))
	for at, t := range trees {
		urls[at], counts[at] = countsURL(out, leavesKey(at, part)), t.NewLeafCounts()
	}
	return counts, readEach(ctx, urls, func(at int, b []byte) error {
		if b == nil {
			return nil
		}
		return counts[at].Add(b)
	})
}

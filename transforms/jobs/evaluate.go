package jobs

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
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
	beam.ParDo0(s, &mergeCountsFn{Out: c.Out, Run: c.Run}, merged)
}

// evaluateFn counts the rows of the blocks of a bundle.
type evaluateFn struct {
	EvaluateConfig

	trees  []*tree.Tree
	forest *tree.Forest
	layout dataset.Layout
	pool   *pool
	tables []evaluateTable // by worker and part
}

// evaluateTable is a worker's counts of a part. Objects wait until there are some: many
// objects pass the trees together faster than few.
type evaluateTable struct {
	counts  *tree.ForestCounts // nil: the worker has no block of the part
	waiting *dataset.Objects
}

// The objects that wait are fewer than waitingObjects,
// and their codes are fewer than waitingBytes.
const (
	waitingObjects = 1 << 15
	waitingBytes   = 8 << 20
)

// leavesKey returns the key of the counts of a tree and a part.
func leavesKey(at int, part dataset.Part) int64 { return int64(at*int(dataset.Parts) + int(part)) }

func (f *evaluateFn) StartBundle(ctx context.Context, _ func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	if f.forest == nil { // else an earlier bundle has made it
		if f.trees = f.Decoded; f.trees == nil {
			if f.trees, err = readTrees(ctx, f.Trees); err != nil {
				return err
			}
		}
		f.forest, f.layout = tree.NewForest(f.trees), (&GrowConfig{Widths: f.Widths}).layout()
	}
	f.pool = newPool(f.Workers, 0)
	f.tables = make([]evaluateTable, max(1, f.Workers)*int(dataset.Parts))
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
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	defer report(ctx)
	return Carry(f.pool.do(ctx, func(worker int) error { return f.addBlock(ctx, task, worker) }))
}

// addBlock counts the rows of a block for all trees.
func (f *evaluateFn) addBlock(ctx context.Context, task []byte, worker int) error {
	t, block, err := readBlock(ctx, task)
	if err != nil {
		return err
	}
	n, err := dataset.BlockLen(block)
	if err != nil {
		return err
	}
	table := &f.tables[worker*int(dataset.Parts)+int(t.Part)]
	if table.counts == nil {
		table.counts = f.forest.NewCounts()
	}
	most := min(waitingObjects, waitingBytes/max(1, f.layout.Stride))
	if table.waiting == nil {
		table.waiting = dataset.NewObjects(f.layout, len(f.trees[0].Label.Classes), f.Weights, n+most)
	}
	if err := table.waiting.AppendFrom(block, f.layout); err != nil {
		return err
	}
	if table.waiting.Len() >= most {
		table.countWaiting()
	}
	progressOf(ctx).Tasks.Add(1)
	progressOf(ctx).Objects.Add(int64(n))
	return nil
}

// countWaiting counts the objects that wait.
func (t *evaluateTable) countWaiting() {
	if t.waiting != nil {
		t.counts.Add(t.waiting)
		t.waiting = nil
	}
}

func (f *evaluateFn) FinishBundle(ctx context.Context, emit func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	if err := reportUntil(ctx, f.wait); err != nil {
		return Carry(err)
	}
	for key := range leavesKey(len(f.trees), 0) {
		for at := int(key) % int(dataset.Parts); at < len(f.tables); at += int(dataset.Parts) {
			if counts := f.tables[at].counts; counts != nil {
				emit(key, counts.Encode(int(key)/int(dataset.Parts)))
			}
		}
	}
	return nil
}

// wait waits until all blocks are read, and counts the rest of the objects.
func (f *evaluateFn) wait() error {
	if err := f.pool.wait(); err != nil {
		return err
	}
	parallel.Each(len(f.tables), f.Workers, func(i int) { f.tables[i].countWaiting() })
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

// mergeCountsFn adds up the encoded counts of each key and writes the sum to a file.
type mergeCountsFn struct {
	Out     string
	Run     RunName
	Numbers int64 // key whose values are not leaf counts but lists of numbers; 0: none
	Scores  bool  // the other values are not leaf counts but values of sendScores
	Pairs   bool  // the other values are not leaf counts but sent counts by two trees
}

func (f *mergeCountsFn) ProcessElement(ctx context.Context, key int64, values func(*[]byte) bool) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	list, merge := Collect(values), tree.MergeLeafCounts
	switch {
	case f.Numbers != 0 && key == f.Numbers:
		merge = mergeNumbers
	case f.Scores || f.Pairs:
		if merge = tree.MergeScoreCounts; f.Pairs {
			merge = comparison.MergeCounts
		}
		for i := range list {
			if list[i], err = receive(ctx, list[i]); err != nil {
				return err
			}
		}
	}
	b, err := merge(list)
	if err != nil {
		return err
	}
	s, err := OpenStorage(ctx)
	if err != nil {
		return err
	}
	return s.Write(ctx, countsURL(f.Out, key), b)
}

// mergeNumbers adds up lists of equally many varints, number by number.
func mergeNumbers(list [][]byte) ([]byte, error) {
	var sums []int64
	for i, b := range list {
		n := 0
		for ; len(b) > 0; n++ {
			x, k := binary.Varint(b)
			if k <= 0 || i > 0 && n >= len(sums) {
				return nil, ErrValue
			}
			b = b[k:]
			if i == 0 {
				sums = append(sums, x)
			} else {
				sums[n] += x
			}
		}
		if n != len(sums) {
			return nil, ErrValue
		}
	}
	var b []byte
	for _, x := range sums {
		b = binary.AppendVarint(b, x)
	}
	return b, nil
}

func countsURL(out string, key int64) string { return fmt.Sprintf("%s/counts-%06d", out, key) }

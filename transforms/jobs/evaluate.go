package jobs

import (
	"context"
	"errors"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// EvaluateConfig has the trees to evaluate, and the form of the object blocks. All trees
// have the same features and classes.
type EvaluateConfig struct {
	Config

	Trees   Trees
	Widths  []int // bytes of each feature's codes in blocks
	Weights bool  // blocks have rows with weights other than 1
}

// Evaluate counts the rows of object blocks by leaf and class, for each tree. tasks is a
// PCollection<[]byte> of Task. ReadLeafCounts reads the result.
func Evaluate(s beam.Scope, tasks beam.PCollection, c EvaluateConfig) {
	addJob(s.Scope("transforms.Evaluate"), tasks, &evaluateFn{taskFn[*leafCounter]{Job: &leafCounter{EvaluateConfig: c}}},
		&mergeCountsFn{mergeFn[*adder[leafCounts]]{Job: &adder[leafCounts]{c.Config}}})
}

type evaluateFn struct{ taskFn[*leafCounter] }

// leafCounter counts the rows of the blocks of a bundle.
type leafCounter struct {
	EvaluateConfig

	trees   []*tree.Tree
	routers []*tree.Router // by tree
	layout  dataset.Layout
	tables  []leafTable // by worker and part
}

// leafTable is a worker's counts of a part. Objects wait until there are some: many objects pass a tree together
// faster than few. Counts are encoded, because lists by leaf and class take much memory with many trees and classes.
type leafTable struct {
	counts  [][]byte // by tree; nil: no object is counted
	waiting *dataset.Objects
}

// The objects that wait are fewer than waitingObjects,
// and their codes are fewer than waitingBytes.
const (
	waitingObjects = 1 << 15
	waitingBytes   = 8 << 20
)

func (f *leafCounter) begin(ctx context.Context) error {
	if f.routers == nil { // else an earlier bundle has made it
		var err error
		if f.trees, err = f.Trees.read(ctx); err != nil {
			return err
		}
		for _, t := range f.trees {
			f.routers = append(f.routers, t.Router())
		}
		f.layout = (&GrowConfig{Widths: f.Widths}).layout()
	}
	f.tables = make([]leafTable, max(1, f.Workers)*int(dataset.Parts))
	return nil
}

func (f *leafCounter) do(ctx context.Context, p *pool, t Task, _ func(int64, []byte)) error {
	return p.do(ctx, func(worker int) error { return f.addBlock(ctx, t, worker) })
}

// addBlock counts the rows of a block for all trees.
func (f *leafCounter) addBlock(ctx context.Context, t Task, worker int) error {
	block, err := readBlock(ctx, t)
	if err != nil {
		return err
	}
	n, err := dataset.BlockLen(block)
	if err != nil {
		return err
	}
	table := &f.tables[worker*int(dataset.Parts)+int(t.Part)]
	most := min(waitingObjects, waitingBytes/max(1, f.layout.Stride))
	if table.waiting == nil {
		table.waiting = dataset.NewObjects(f.layout, len(f.trees[0].Label.Classes), f.Weights, n+most)
	}
	if err := table.waiting.AppendFrom(block, f.layout); err != nil {
		return err
	}
	if table.waiting.Len() >= most {
		if err := f.countWaiting(table); err != nil {
			return err
		}
	}
	progressOf(ctx).Tasks.Add(1)
	progressOf(ctx).Objects.Add(int64(n))
	return nil
}

// countWaiting counts the objects that wait.
func (f *leafCounter) countWaiting(to *leafTable) error {
	if to.waiting == nil {
		return nil
	}
	if to.counts == nil {
		to.counts = make([][]byte, len(f.trees))
	}
	for at, t := range f.trees {
		counts := t.NewLeafCounts()
		if to.counts[at] != nil {
			if err := counts.Add(to.counts[at]); err != nil {
				return err
			}
		}
		counts.CountAll(f.routers[at], to.waiting)
		to.counts[at] = counts.Encode()
	}
	to.waiting = nil
	return nil
}

func (f *leafCounter) end(ctx context.Context, emit func(int64, []byte)) error {
	faults := make([]error, len(f.tables))
	parallel.Each(len(f.tables), f.Workers, func(i int) { faults[i] = f.countWaiting(&f.tables[i]) })
	if err := errors.Join(faults...); err != nil {
		return err
	}
	for key := range leavesKey(len(f.trees), 0) {
		for at := int(key) % int(dataset.Parts); at < len(f.tables); at += int(dataset.Parts) {
			counts := f.tables[at].counts
			if counts == nil {
				continue
			}
			if err := f.sendCounts(ctx, key, counts[int(key)/int(dataset.Parts)], emit); err != nil {
				return err
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
	keys := make([]int64, len(trees))
	counts := make([]*tree.LeafCounts, len(trees))
	for at, t := range trees {
		keys[at], counts[at] = leavesKey(at, part), t.NewLeafCounts()
	}
	return counts, readCounts(ctx, out, keys, func(at int, b []byte) error {
		if b == nil {
			return nil
		}
		return counts[at].Add(b)
	})
}

package transforms

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// EvaluateConfig says which tree is evaluated on what.
type EvaluateConfig struct {
	Tree    string     // URL of the tree.json
	Decoded *tree.Tree `json:"-"` // the same, for DoFns in the driver's own process; elsewhere it is decoded
	Rows    []byte     // RowSpec of row groups; empty: the tasks are object blocks
	Widths  []int      // of blocks: bytes of each feature's codes
	Weights bool       // of blocks: rows weigh other than 1
	Workers int        // goroutines of a bundle; 1 on engines
	Pieces  int        // goroutines that share a row group's columns, for few row groups
	Out     string     // folder of results
}

// Evaluate counts, by leaf and class, the rows of tasks, a PCollection<[]byte>
// of Task. It writes tree.LeafCounts per part, see ReadLeafCounts.
func Evaluate(s beam.Scope, tasks beam.PCollection, c EvaluateConfig) {
	s = s.Scope("transforms.Evaluate")
	merged := beam.GroupByKey(s, beam.ParDo(s, &evaluateFn{EvaluateConfig: c}, tasks))
	beam.ParDo0(s, &mergeLeavesFn{EvaluateConfig: c}, merged)
}

type evaluateFn struct {
	EvaluateConfig

	coder   *coder // of rows; nil: the tasks are object blocks
	tree    *tree.Tree
	router  *tree.Router
	pool    *pool
	scratch []coded
	counts  [][dataset.Parts]*tree.LeafCounts // by worker
}

func (f *evaluateFn) StartBundle(ctx context.Context, _ func(int64, []byte)) error {
	f.tree = f.Decoded
	if f.tree == nil {
		s, err := openStorage()
		if err != nil {
			return err
		}
		b, err := s.Read(ctx, f.Tree)
		if err != nil {
			return err
		}
		if f.tree, err = tree.Decode(b); err != nil {
			return err
		}
	}
	f.router = f.tree.Router()
	if len(f.Rows) > 0 {
		var spec RowSpec
		if err := json.Unmarshal(f.Rows, &spec); err != nil {
			return err
		}
		f.coder = newCoder(spec, f.tree.Features, f.tree.Label.Classes, f.Pieces)
	}
	f.pool = newPool(f.Workers, 0)
	if f.coder != nil {
		f.pool = newPool(f.Workers, rowGroupsAhead)
	}
	f.scratch = make([]coded, max(1, f.Workers))
	f.counts = make([][dataset.Parts]*tree.LeafCounts, max(1, f.Workers))
	return nil
}

func (f *evaluateFn) ProcessElement(ctx context.Context, task []byte, _ func(int64, []byte)) error {
	defer report(ctx)
	if f.coder == nil {
		return carry(f.pool.do(func(worker int) error { return f.addBlock(ctx, task, worker) }))
	}
	g, err := openRowGroup(ctx, &f.coder.spec, task)
	if err != nil {
		return carry(err)
	}
	return carry(f.pool.doWith(g, func(worker int) error { return f.addRows(g, worker) }))
}

func (f *evaluateFn) countsOf(worker int, part dataset.Part) *tree.LeafCounts {
	c := f.counts[worker][part]
	if c == nil {
		c = f.tree.NewLeafCounts()
		f.counts[worker][part] = c
	}
	return c
}

func (f *evaluateFn) addBlock(ctx context.Context, task []byte, worker int) error {
	t, block, err := readBlock(ctx, task)
	if err != nil {
		return err
	}
	g := GrowConfig{Setting: induce.Setting{Classes: len(f.tree.Label.Classes)}, Widths: f.Widths, Weighted: f.Weights}
	o, err := g.load(block)
	if err != nil {
		return err
	}
	defer progress.Tasks.Add(1)
	defer progress.Objects.Add(int64(o.Len()))
	c := f.countsOf(worker, t.Part)
	for i := range o.Len() {
		leaf := f.router.Leaf(o, i)
		c.Rows[leaf] += o.RowsOf(i)
		for _, cw := range o.Raw(i) {
			c.Weights[leaf][cw.Class] += cw.Weight
		}
	}
	return nil
}

func (f *evaluateFn) addRows(g *rowGroup, worker int) error {
	s := &f.scratch[worker]
	if err := f.coder.code(g, s); err != nil {
		return err
	}
	defer progress.Tasks.Add(1)
	stride := f.coder.layout.Stride
	for r, part := range g.parts {
		if part == dataset.None {
			continue
		}
		c := f.countsOf(worker, part)
		leaf := f.router.Row(s.keys[r*stride:], &f.coder.layout)
		c.Rows[leaf]++
		c.Weights[leaf][s.classes[r]] += g.weight(r)
	}
	progress.Rows.Add(int64(g.Rows()))
	return nil
}

func (f *evaluateFn) FinishBundle(ctx context.Context, emit func(int64, []byte)) error {
	if err := reportUntil(ctx, f.pool.wait); err != nil {
		return carry(err)
	}
	for part := range int64(dataset.Parts) {
		for _, counts := range f.counts {
			if counts[part] != nil {
				emit(part, counts[part].Encode())
			}
		}
	}
	return nil
}

type mergeLeavesFn struct{ EvaluateConfig }

func (f *mergeLeavesFn) ProcessElement(ctx context.Context, key int64, values func(*[]byte) bool) error {
	b, err := tree.MergeLeafCounts(collect(values))
	if err != nil {
		return err
	}
	s, err := openStorage()
	if err != nil {
		return err
	}
	return s.Write(ctx, leavesURL(f.Out, dataset.Part(key)), b)
}

func leavesURL(out string, part dataset.Part) string { return fmt.Sprintf("%s/leaves-%s", out, part) }

// ReadLeafCounts returns a part's counts that Evaluate wrote; zeros where it has
// no rows.
func ReadLeafCounts(ctx context.Context, out string, part dataset.Part, t *tree.Tree) (*tree.LeafCounts, error) {
	s, err := openStorage()
	if err != nil {
		return nil, err
	}
	c := t.NewLeafCounts()
	b, err := s.Read(ctx, leavesURL(out, part))
	if isNotExist(err) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	return c, c.Add(b)
}

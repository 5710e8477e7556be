package jobs

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// DistributionConfig says which bins and leaves rows are counted by.
type DistributionConfig struct {
	Rows     []byte     // RowSpec with a column for each of Features
	Features []byte     // as encoded by dataset.EncodeFeatures; the tree's features are among them
	Tree     string     // URL of the tree.json
	Decoded  *tree.Tree `json:"-"` // the same tree; nil in other processes, which read Tree
	Workers  int        // goroutines of a bundle; 1 on engines
	Out      string     // folder of results
	Run      RunName
}

// Distribute counts rows by the codes of each feature, and by the leaf of a tree. tasks is a
// PCollection<[]byte> of Task, one for each row group. It counts all rows that
// are not refused, whatever their label and weight. ReadDistributed reads the counts.
func Distribute(s beam.Scope, tasks beam.PCollection, c DistributionConfig) {
	s = s.Scope("transforms.Distribute")
	counts := beam.ParDo(s, &distributeFn{DistributionConfig: c}, tasks)
	beam.ParDo0(s, &mergeCountsFn{Out: c.Out, Run: c.Run, Numbers: distributed}, beam.GroupByKey(s, counts))
}

// distributed is the key of the counts. mergeCountsFn takes 0 for none.
const distributed = int64(1)

// distributeFn counts the rows of a bundle.
type distributeFn struct {
	DistributionConfig

	spec     RowSpec
	encoders []*dataset.Encoder
	scorer   *tree.Scorer
	inputs   []int // by input of the scorer: its column
	pool     *pool
	workers  []distributeWorker
}

// distributeWorker is the memory of one worker.
type distributeWorker struct {
	counts  [][]int64 // by feature and code; then by node of the tree
	columns []dataset.Vector
	inputs  []dataset.Vector
	leaves  []int32
	keys    []byte // two a row: the code, little endian
	scratch []uint16
}

func (f *distributeFn) StartBundle(ctx context.Context, _ func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	features, err := dataset.DecodeFeatures(f.Features)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(f.Rows, &f.spec); err != nil {
		return err
	}
	t := f.Decoded
	if t == nil {
		trees, err := readTrees(ctx, []string{f.Tree})
		if err != nil {
			return err
		}
		t = trees[0]
	}
	f.encoders, f.scorer, f.inputs = NewEncoders(features), t.Scorer(), nil
	for _, in := range f.scorer.Features() {
		at := slices.IndexFunc(features, func(f dataset.Feature) bool { return f.Name == in.Name })
		if at < 0 {
			return fmt.Errorf("feature %q of the tree: it is none of the run's", in.Name)
		}
		f.inputs = append(f.inputs, at)
	}
	f.pool = newPool(f.Workers, rowGroupsAhead)
	f.workers = make([]distributeWorker, max(1, f.Workers))
	for i := range f.workers {
		w := &f.workers[i]
		w.columns = make([]dataset.Vector, len(features))
		for k := range features {
			w.counts = append(w.counts, make([]int64, features[k].Codes()))
		}
		w.counts = append(w.counts, make([]int64, len(t.Nodes)))
	}
	return nil
}

func (f *distributeFn) ProcessElement(ctx context.Context, task []byte, _ func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	return eachPiece(ctx, f.pool, &f.spec, task, func(ctx context.Context, g *rowGroup, worker int) error {
		return f.add(ctx, g, &f.workers[worker])
	})
}

// add counts the rows of a piece of a row group.
func (f *distributeFn) add(ctx context.Context, g *rowGroup, w *distributeWorker) error {
	const width = 2
	w.keys = Resized(w.keys, width*g.Rows())
	refused := g.refused()
	end, _ := slices.BinarySearch(refused, int32(g.first+g.Rows()))
	refused = refused[:end]
	for i := range w.columns {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := g.feature(i, &w.columns[i]); err != nil {
			return err
		}
		clear(w.keys) // narrow codes set the first byte alone
		w.scratch = f.encoders[i].Encode(&w.columns[i], w.keys, 0, width, w.scratch)
		code := func(r int) uint16 { return binary.LittleEndian.Uint16(w.keys[width*r:]) }
		for r := range g.Rows() {
			w.counts[i][code(r)]++
		}
		for _, r := range refused {
			w.counts[i][code(int(r)-g.first)]--
		}
	}
	w.inputs = w.inputs[:0]
	for _, column := range f.inputs {
		w.inputs = append(w.inputs, w.columns[column])
	}
	w.leaves = Resized(w.leaves, g.Rows())
	if err := f.scorer.Leaves(w.inputs, w.leaves); err != nil {
		return err
	}
	nodes := w.counts[len(w.counts)-1]
	for _, leaf := range w.leaves {
		nodes[leaf]++
	}
	for _, r := range refused {
		nodes[w.leaves[int(r)-g.first]]--
	}
	g.count(ctx)
	return nil
}

func (f *distributeFn) FinishBundle(ctx context.Context, emit func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	if err := reportUntil(ctx, f.pool.wait); err != nil {
		return Carry(err)
	}
	for i := range f.workers {
		var b []byte
		for _, counts := range f.workers[i].counts {
			for _, n := range counts {
				b = binary.AppendVarint(b, n)
			}
		}
		emit(distributed, b)
	}
	return nil
}

// Distributed has the counts of Distribute.
type Distributed struct {
	Codes [][]int64 // rows by feature and code
	Nodes []int64   // rows by node of the tree; 0 at inner nodes
}

// ReadDistributed returns the counts of Distribute.
func ReadDistributed(ctx context.Context, out string, features []dataset.Feature, nodes int) (*Distributed, error) {
	d := new(Distributed)
	urls := []string{countsURL(out, distributed)}
	return d, readEach(ctx, urls, func(_ int, b []byte) error {
		if b == nil {
			return fmt.Errorf("the counts %s are gone", urls[0])
		}
		next := func(n int) []int64 {
			list := make([]int64, n)
			for i := range list {
				x, size := binary.Varint(b)
				list[i], b = x, b[max(size, 0):]
			}
			return list
		}
		for i := range features {
			d.Codes = append(d.Codes, next(features[i].Codes()))
		}
		d.Nodes = next(nodes)
		return nil
	})
}

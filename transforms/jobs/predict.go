package jobs

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// PredictConfig says by which tree rows are scored, and what is written of it.
type PredictConfig struct {
	Tree    string     // URL of tree.json
	Decoded *tree.Tree `json:"-"` // the same, for DoFns in the driver's own process; elsewhere it is decoded
	// RowSpec, whose features are those that the tree tests, in the order of its Scorer; a
	// label is for metrics, and may be none
	Rows    []byte
	Copied  []string // columns that predictions stand beside
	Paths   []string // by leaf, in the order of their nodes: the texts of a column path; nil: there is none
	Workers int      // goroutines of a bundle; 1 on engines
	Pieces  int      // goroutines that share a row group's columns, for few files
	Out     string   // folder of counts
	Run     RunName
}

// Predictions writes the file of predictions for one file of rows.
type Predictions interface {
	// RowGroup writes a row group beside the copied columns of the input's: the
	// number of each row's leaf, in the order of the leaves' nodes.
	RowGroup(group int, leaves []uint16) error
	// Commit makes the file visible.
	Commit() error
	// Abort drops the file. After Commit it does nothing.
	Abort() error
}

// PredictionColumn is a column of predictions: its value at each leaf, in the order
// of their nodes.
type PredictionColumn struct {
	Name   string
	Values any // []string, []float64 or []int32
}

// PredictionColumns lists what is written of each row besides copied columns: class,
// probabilities, leaf, tests asked, what they cost as billed, and
// the path where paths are given by leaf.
func PredictionColumns(t *tree.Tree, paths []string) []PredictionColumn {
	scorer := t.Scorer()
	var classes []string
	var leaves, tests []int32
	var costs []float64
	probabilities := make([][]float64, len(t.Label.Classes))
	for i := range t.Nodes {
		p := scorer.Prediction(i)
		if p == nil {
			continue
		}
		classes, leaves, tests, costs = append(classes, p.Class), append(leaves, int32(p.Leaf)),
			append(tests, int32(p.Tests)), append(costs, p.Billed)
		for k, x := range p.Probabilities {
			probabilities[k] = append(probabilities[k], x)
		}
	}
	columns := []PredictionColumn{{"prediction", classes}}
	for k, class := range t.Label.Classes {
		columns = append(columns, PredictionColumn{"probability_" + class, probabilities[k]})
	}
	columns = append(columns, PredictionColumn{"leaf", leaves}, PredictionColumn{"tests", tests},
		PredictionColumn{"cost", costs})
	if paths != nil {
		columns = append(columns, PredictionColumn{"path", paths})
	}
	return columns
}

// Predict scores the rows of tasks, a PCollection<[]byte> of Task, and writes the
// file that each names as its output, if it does. It counts the rows that reach
// each leaf by class, and what is new about the features' values: see ReadPredicted.
func Predict(s beam.Scope, tasks beam.PCollection, c PredictConfig) {
	s = s.Scope("transforms.Predict")
	results := beam.ParDo(s, &predictFn{PredictConfig: c}, tasks)
	beam.ParDo0(s, &mergeCountsFn{c.Out, c.Run}, beam.GroupByKey(s, results))
}

// The keys of what Predict counts.
const (
	predictedLeaves = int64(iota)
	predictedNovelty
)

type predictFn struct {
	PredictConfig

	tree    *tree.Tree
	scorer  *tree.Scorer
	number  []uint16 // of the leaves, by node
	columns []PredictionColumn
	spec    RowSpec
	classes map[string]uint16
	watches []*dataset.Watch // by input
	pool    *pool
	workers []predictWorker
}

// predictWorker is the memory of one goroutine.
type predictWorker struct {
	vectors []dataset.Vector // by input
	leaves  []int32          // by row
	numbers []uint16         // likewise
	classes []uint16         // likewise
	counts  *tree.LeafCounts
	novelty []dataset.Novelty // by input
	rows    int64
}

func (f *predictFn) StartBundle(ctx context.Context, _ func(int64, []byte)) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	f.tree = f.Decoded
	if f.tree == nil {
		trees, err := readTrees(ctx, []string{f.Tree})
		if err != nil {
			return err
		}
		f.tree = trees[0]
	}
	if err := json.Unmarshal(f.Rows, &f.spec); err != nil {
		return err
	}
	f.scorer, f.columns = f.tree.Scorer(), PredictionColumns(f.tree, f.Paths)
	f.number = make([]uint16, len(f.tree.Nodes))
	leaves := uint16(0)
	for i := range f.tree.Nodes {
		if f.tree.Nodes[i].Leaf() {
			f.number[i] = leaves
			leaves++
		}
	}
	f.classes = ClassCodes(f.tree.Label.Classes)
	f.watches = nil
	for _, input := range f.scorer.Features() {
		f.watches = append(f.watches, dataset.NewWatch(&f.tree.Features[input.Feature]))
	}
	f.pool = newPool(f.Workers, 0)
	f.workers = make([]predictWorker, max(1, f.Workers))
	for i := range f.workers {
		inputs := len(f.watches)
		f.workers[i] = predictWorker{
			vectors: make([]dataset.Vector, inputs), novelty: make([]dataset.Novelty, inputs),
			counts: f.tree.NewLeafCounts(),
		}
	}
	return nil
}

func (f *predictFn) ProcessElement(ctx context.Context, task []byte, _ func(int64, []byte)) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	defer report(ctx)
	t, err := decodeTask(task)
	if err != nil {
		return err
	}
	return Carry(f.pool.do(ctx, func(worker int) error { return f.scoreFile(ctx, t, &f.workers[worker]) }))
}

// scoreFile scores the row groups of a task, one after the other.
func (f *predictFn) scoreFile(ctx context.Context, t Task, w *predictWorker) error {
	s, err := OpenStorage(ctx)
	if err != nil {
		return err
	}
	var out Predictions
	if t.Output != "" {
		if out, err = s.Predictions(ctx, t, f.Copied, f.columns); err != nil {
			return err
		}
		defer out.Abort() //nolint:errcheck // after Commit nothing is left to undo
	}
	groups := t.RowGroups
	if out == nil {
		groups = max(1, groups)
	}
	for n := range groups {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		one := t
		one.RowGroup += n
		if err := f.scoreRowGroup(ctx, one, w, out); err != nil {
			return err
		}
	}
	if out == nil {
		return nil
	}
	return out.Commit()
}

func (f *predictFn) scoreRowGroup(ctx context.Context, t Task, w *predictWorker, out Predictions) error {
	g, err := openRowGroup(ctx, &f.spec, t)
	if err != nil {
		return err
	}
	defer g.Close() //nolint:errcheck // what was read has been looked at
	if g.Rows() == 0 {
		return nil
	}
	if err := f.score(ctx, g, w); err != nil {
		return err
	}
	defer progressOf(ctx).Tasks.Add(1)
	defer progressOf(ctx).Rows.Add(int64(g.Rows()))
	if out == nil {
		return nil
	}
	w.numbers = Resized(w.numbers, g.Rows())
	for r, leaf := range w.leaves {
		w.numbers[r] = f.number[leaf]
	}
	return out.RowGroup(t.RowGroup, w.numbers)
}

// score finds the leaf of each row, and counts.
func (f *predictFn) score(ctx context.Context, g *rowGroup, w *predictWorker) error {
	if f.spec.Label != "" {
		if err := g.prepare(); err != nil {
			return err
		}
	}
	if err := f.readInputs(ctx, g, w); err != nil {
		return err
	}
	w.rows += int64(g.Rows())
	w.leaves = Resized(w.leaves, g.Rows())
	if err := f.scorer.Leaves(w.vectors, w.leaves); err != nil {
		return err
	}
	if f.spec.Label == "" {
		for _, leaf := range w.leaves {
			w.counts.Rows[leaf]++
		}
		return nil
	}
	var err error
	if w.classes, err = g.classNumbers(f.classes, w.classes); err != nil {
		return err
	}
	for r, leaf := range w.leaves {
		if g.parts[r] != dataset.None {
			w.counts.Rows[leaf]++
			w.counts.Weights[leaf][w.classes[r]] += g.weight(r)
		}
	}
	return nil
}

// readInputs decodes the columns that the tree tests.
func (f *predictFn) readInputs(ctx context.Context, g *rowGroup, w *predictWorker) error {
	p := newPool(max(1, min(f.Pieces, len(w.vectors))), 0)
	for i := range w.vectors {
		err := p.do(ctx, func(int) error {
			if err := g.feature(i, &w.vectors[i]); err != nil {
				return err
			}
			w.novelty[i].Add(f.watches[i].Count(&w.vectors[i]))
			return nil
		})
		if err != nil {
			break // wait returns it
		}
	}
	return p.wait()
}

func (f *predictFn) FinishBundle(ctx context.Context, emit func(int64, []byte)) error {
	ctx, err := f.Run.enter(ctx)
	if err != nil {
		return err
	}
	if err := reportUntil(ctx, f.pool.wait); err != nil {
		return Carry(err)
	}
	for i := range f.workers {
		w := &f.workers[i]
		emit(predictedLeaves, w.counts.Encode())
		b := binary.AppendVarint(nil, w.rows)
		for _, n := range w.novelty {
			b = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(b, n.Missing), n.Unseen), n.Outside)
		}
		emit(predictedNovelty, b)
	}
	return nil
}

// Predicted is what Predict has counted.
type Predicted struct {
	Rows    int64
	Counts  *tree.LeafCounts  // of the rows that have a label; where none was asked for, of all, without classes
	Novelty []dataset.Novelty // by feature that the tree tests, in the order of its Scorer
}

// ReadPredicted returns what Predict has counted.
func ReadPredicted(ctx context.Context, out string, t *tree.Tree) (*Predicted, error) {
	p := &Predicted{Counts: t.NewLeafCounts(), Novelty: make([]dataset.Novelty, len(t.Scorer().Features()))}
	urls := []string{countsURL(out, predictedLeaves), countsURL(out, predictedNovelty)}
	return p, readEach(ctx, urls, func(i int, b []byte) error {
		switch {
		case b == nil:
			return fmt.Errorf("the counts %s are gone", urls[i])
		case int64(i) == predictedLeaves:
			return p.Counts.Add(b)
		}
		next := func() int64 {
			x, n := binary.Varint(b)
			b = b[max(n, 0):]
			return x
		}
		p.Rows = next()
		for i := range p.Novelty {
			p.Novelty[i] = dataset.Novelty{Missing: next(), Unseen: next(), Outside: next()}
		}
		return nil
	})
}

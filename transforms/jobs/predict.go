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

// PredictConfig has the tree that scores rows, and the columns of the output.
type PredictConfig struct {
	Tree    string     // URL of the tree.json
	Decoded *tree.Tree `json:"-"` // the same tree; nil in other processes, which read Tree

	// Rows is an encoded RowSpec. Its features are the features of the tree's tests, in
	// the order of the tree's Scorer. With a label, classes are counted for metrics.
	Rows     []byte
	Modelled bool     // the tree has leaf models
	Copied   []string // columns of the input that the output has too
	Paths    []string // texts of the column path by leaf, in the order of nodes; nil: no such column
	Workers  int      // goroutines of a bundle; 1 on engines
	Pieces   int      // goroutines that share a row group's columns, for few files
	Out      string   // folder of counts
	Run      RunName
}

// Predictions writes the file of predictions for one file of rows.
type Predictions interface {
	// RowGroup writes the predictions for a row group of the input, and copies its columns.
	RowGroup(group int, rows *PredictedRows) error
	// Commit makes the file visible.
	Commit() error
	// Abort drops the file. After Commit it does nothing.
	Abort() error
}

// PredictedRows has the predictions of a row group.
type PredictedRows struct {
	// Leaves has the number of each row's leaf: its position among the leaves, in the order
	// of nodes.
	Leaves []uint16
	// Scores has the class and the probabilities of each row; nil for a tree without leaf
	// models.
	Scores *tree.Scores
}

// PredictionColumn is a column of predictions.
type PredictionColumn struct {
	Name   string
	Values any // []string, []float64 or []int32; nil if By is ByRow
	By     ValuesBy
	Class  int // number of the class whose probability the column has, if By is ByRow
}

// ValuesBy says which rows of a column of predictions share a value.
type ValuesBy uint8

// The values of columns of predictions.
const (
	ByLeaf  ValuesBy = iota // a value for each leaf, in the order of nodes
	ByClass                 // a value for each predicted class, in the order of classes
	ByRow                   // a probability for each row
)

// PredictionColumns returns the columns of predictions: class, probabilities, leaf, number
// of tests, billed cost of the tests and, unless paths is nil, the path. With leaf models,
// classes and probabilities are not the same for all rows of a leaf.
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
	columns := []PredictionColumn{{Name: "prediction", Values: classes}}
	if scorer.Modelled() {
		columns[0].Values, columns[0].By = t.Label.Classes, ByClass
	}
	for k, class := range t.Label.Classes {
		column := PredictionColumn{Name: "probability_" + class, Values: probabilities[k]}
		if scorer.Modelled() {
			column.Values, column.By, column.Class = nil, ByRow, k
		}
		columns = append(columns, column)
	}
	columns = append(columns, PredictionColumn{Name: "leaf", Values: leaves},
		PredictionColumn{Name: "tests", Values: tests}, PredictionColumn{Name: "cost", Values: costs})
	if paths != nil {
		columns = append(columns, PredictionColumn{Name: "path", Values: paths})
	}
	return columns
}

// Predict scores the rows of tasks, a PCollection<[]byte> of Task, and writes the output
// file of each task that names one. It counts rows by leaf and class (with leaf models, by
// predicted probabilities too), and values that training did not have. ReadPredicted reads
// the counts.
func Predict(s beam.Scope, tasks beam.PCollection, c PredictConfig) {
	s = s.Scope("transforms.Predict")
	results := beam.ParDo(s, &predictFn{PredictConfig: c}, tasks)
	beam.ParDo0(s, &mergeCountsFn{Out: c.Out, Run: c.Run, Numbers: predictedNovelty, Scores: c.Modelled},
		beam.GroupByKey(s, results))
}

// The keys of the counts of Predict.
const (
	predictedLeaves = int64(iota)
	predictedNovelty
)

// predictFn scores the rows of the tasks of a bundle.
type predictFn struct {
	PredictConfig

	tree    *tree.Tree
	scorer  *tree.Scorer
	number  []uint16 // number of the leaf, by node
	columns []PredictionColumn
	spec    RowSpec
	classes map[string]uint16
	watches []*dataset.Watch // by input
	pool    *pool
	workers []predictWorker
}

// predictWorker is the memory of one worker of the pool.
type predictWorker struct {
	vectors []dataset.Vector // by input
	leaves  []int32          // node of the leaf by row; for a tree with leaf models see scores
	scores  tree.Scores      // for a tree with leaf models
	numbers []uint16         // number of the leaf by row
	classes []uint16         // code of the class by row
	counts  *tree.LeafCounts // for a tree without leaf models
	scored  *tree.ScoreCounts
	novelty []dataset.Novelty // by input
	rows    int64
}

func (f *predictFn) StartBundle(ctx context.Context, _ func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
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
	if f.scorer.Modelled() != f.Modelled {
		return fmt.Errorf("the tree has leaf models: %v, but the job was made for %v", !f.Modelled, f.Modelled)
	}
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
		}
		if f.Modelled {
			f.workers[i].scored = f.tree.NewScoreCounts()
		} else {
			f.workers[i].counts = f.tree.NewLeafCounts()
		}
	}
	return nil
}

func (f *predictFn) ProcessElement(ctx context.Context, task []byte, _ func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
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

// scoreFile scores the row groups of a task one after the other.
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

// scoreRowGroup scores a row group and writes its predictions, unless out is nil.
func (f *predictFn) scoreRowGroup(ctx context.Context, t Task, w *predictWorker, out Predictions) error {
	g, err := openRowGroup(ctx, &f.spec, t)
	if err != nil {
		return err
	}
	defer g.Close() //nolint:errcheck // reading has returned its errors already
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
	rows := &PredictedRows{Leaves: w.numbers}
	if f.Modelled {
		rows.Scores = &w.scores
	}
	return out.RowGroup(t.RowGroup, rows)
}

// score finds the leaf of each row and counts the rows.
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
	if f.Modelled {
		return f.scoreByModels(g, w)
	}
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
	if w.classes, err = g.classCodes(f.classes, w.classes); err != nil {
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

// scoreByModels predicts each row by a tree with leaf models, and counts the rows with a
// label.
func (f *predictFn) scoreByModels(g *rowGroup, w *predictWorker) error {
	err := f.scorer.Score(w.vectors, g.Rows(), &w.scores)
	w.leaves = w.scores.Leaves
	if err != nil || f.spec.Label == "" {
		return err
	}
	if w.classes, err = g.classCodes(f.classes, w.classes); err != nil {
		return err
	}
	for r, part := range g.parts {
		if part != dataset.None {
			w.scored.Count(&w.scores, r, int(w.classes[r]), g.weight(r))
		}
	}
	return nil
}

// readInputs decodes the columns of the tree's tests.
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
			break // wait returns the error
		}
	}
	return p.wait()
}

func (f *predictFn) FinishBundle(ctx context.Context, emit func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	if err := reportUntil(ctx, f.pool.wait); err != nil {
		return Carry(err)
	}
	for i := range f.workers {
		w := &f.workers[i]
		counts, err := f.encode(ctx, w)
		if err != nil {
			return Carry(err)
		}
		emit(predictedLeaves, counts)
		emit(predictedNovelty, appendNovelty(binary.AppendVarint(nil, w.rows), w.novelty))
	}
	return nil
}

// encode returns a worker's counts as a value for mergeCountsFn.
func (f *predictFn) encode(ctx context.Context, w *predictWorker) ([]byte, error) {
	if f.Modelled {
		return sendScores(ctx, w.scored, f.Out)
	}
	return w.counts.Encode(), nil
}

// appendNovelty appends counts by input as numbers that mergeCountsFn adds up.
func appendNovelty(b []byte, list []dataset.Novelty) []byte {
	for _, n := range list {
		b = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(b, n.Missing), n.Unseen), n.Outside)
	}
	return b
}

// readNovelty returns the counts of a number of inputs, and the rest of b.
func readNovelty(b []byte, inputs int) (list []dataset.Novelty, rest []byte) {
	next := func() int64 {
		x, n := binary.Varint(b)
		b = b[max(n, 0):]
		return x
	}
	list = make([]dataset.Novelty, inputs)
	for i := range list {
		list[i] = dataset.Novelty{Missing: next(), Unseen: next(), Outside: next()}
	}
	return list, b
}

// Predicted has the counts of Predict.
type Predicted struct {
	Rows    int64
	Counts  *tree.LeafCounts  // of rows with a label; of all rows, without classes, if RowSpec names no label
	Scores  *tree.ScoreCounts // with leaf models, in place of Counts: of rows with a label
	Novelty []dataset.Novelty // by tested feature, in the order of the tree's Scorer
}

// ReadPredicted returns the counts of Predict.
func ReadPredicted(ctx context.Context, out string, t *tree.Tree) (*Predicted, error) {
	p := &Predicted{Novelty: make([]dataset.Novelty, len(t.Scorer().Features()))}
	if t.Modelled() {
		p.Scores = t.NewScoreCounts()
	} else {
		p.Counts = t.NewLeafCounts()
	}
	urls := []string{countsURL(out, predictedLeaves), countsURL(out, predictedNovelty)}
	return p, readEach(ctx, urls, func(i int, b []byte) error {
		switch {
		case b == nil:
			return fmt.Errorf("the counts %s are gone", urls[i])
		case int64(i) == predictedLeaves && p.Scores != nil:
			return p.Scores.Merge(b)
		case int64(i) == predictedLeaves:
			return p.Counts.Add(b)
		}
		rows, n := binary.Varint(b)
		p.Rows = rows
		p.Novelty, _ = readNovelty(b[max(n, 0):], len(p.Novelty))
		return nil
	})
}

package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// EvaluateRowsConfig has the trees to evaluate on rows, and says what the rows' columns
// serve for. All trees have the same features and classes.
type EvaluateRowsConfig struct {
	Trees   []string     // URLs of the tree.json
	Decoded []*tree.Tree `json:"-"` // the same trees; nil in other processes, which read Trees

	// Rows is an encoded RowSpec with a label, such as that of the training. Only the
	// features that some tree tests are read; they are found by their names.
	Rows  []byte
	Parts []dataset.Part // whose rows are counted; nil: validation and test
	// Slices divides the rows of one tree by their values: ReadScoreCounts then returns the
	// counts of each slice in the place of a tree. nil: the rows are not divided.
	Slices *Slices
	// Distinct bounds the distinct predictions that are counted exactly of a tree and a
	// part; 0: the bound of tree.ScoreCounts. The memory is in proportion to it.
	Distinct int
	// Objects has by part the number of objects of the rows, if it is known: there is room for so
	// many predictions of a tree from the beginning.
	Objects [dataset.Parts]int64
	Workers int    // goroutines of a bundle; 1 on engines
	Out     string // folder of results
	Run     RunName

	// Handover takes results as they are, see GrowConfig; nil: files of Out have them.
	Handover *Handover `json:"-"`
}

// Slices divides rows by their values of some columns. A slice is the rows with one code of one
// column: the codes of the first column come first, with "other" and "missing".
type Slices struct {
	Columns  []FeatureColumn // how they are read
	Features []byte          // what their codes mean, see dataset.EncodeFeatures
}

// EvaluateRows counts rows by leaf, predicted probabilities and true class, for each tree
// and part: see tree.ScoreCounts. It serves trees with leaf models, whose predictions need
// the rows' values; Evaluate counts objects, whose values are codes. tasks is a
// PCollection<[]byte> of Task, one for each row group. ReadScoreCounts reads the result.
func EvaluateRows(s beam.Scope, tasks beam.PCollection, c EvaluateRowsConfig) {
	s = s.Scope("transforms.EvaluateRows")
	merged := beam.GroupByKey(s, beam.ParDo(s, &evaluateRowsFn{EvaluateRowsConfig: c}, tasks))
	beam.ParDo0(s, &mergeCountsFn{Out: c.Out, Run: c.Run, Scores: true}, merged)
}

// evaluateRowsFn counts the rows of a bundle.
type evaluateRowsFn struct {
	EvaluateRowsConfig

	trees   []evaluatedTree
	spec    RowSpec
	classes map[string]uint16
	slices  []slicedColumn
	groups  int // trees, or slices of one tree
	pool    *pool
	workers []evaluateRowsWorker
	tables  []scoreTable // by leavesKey of a tree or slice
}

// slicedColumn is a column by whose values rows are divided.
type slicedColumn struct {
	encoder *dataset.Encoder
	column  int
	codes   int
	first   int // number of the slice of code 0
}

// evaluatedTree is a tree with its scorer.
type evaluatedTree struct {
	*tree.Tree

	scorer *tree.Scorer
	inputs []int // by input of the scorer: its column
}

// scoreTable is the counts of a tree or slice and a part. All workers share it, as a table for each
// of them would take much memory.
type scoreTable struct {
	mu     sync.Mutex
	counts *tree.ScoreCounts // nil: no rows yet
}

// evaluateRowsWorker is the memory of one worker.
type evaluateRowsWorker struct {
	whole   dataset.Vector   // a column of all rows
	columns []dataset.Vector // the rows to count
	rows    []int32          // their positions
	classes []uint16         // code of the class by row
	inputs  []dataset.Vector
	scores  tree.Scores

	codes   []byte  // two of a slicing column, little endian, by row
	byCode  []int32 // the rows to count, by code
	scratch []uint16
}

func (f *evaluateRowsFn) StartBundle(ctx context.Context, _ func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	if f.trees == nil { // else an earlier bundle has made them
		if err := f.prepare(ctx); err != nil {
			return err
		}
	}
	f.pool = newPool(f.Workers, rowGroupsAhead)
	f.workers = make([]evaluateRowsWorker, max(1, f.Workers))
	for i := range f.workers {
		f.workers[i].columns = make([]dataset.Vector, len(f.spec.Features))
	}
	f.tables = make([]scoreTable, leavesKey(f.groups, 0))
	return nil
}

// prepare makes the scorers, and the specification with the columns that they need.
func (f *evaluateRowsFn) prepare(ctx context.Context) error {
	trees := f.Decoded
	if trees == nil {
		var err error
		if trees, err = readTrees(ctx, f.Trees); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(f.Rows, &f.spec); err != nil {
		return err
	}
	if f.Parts == nil {
		f.Parts = []dataset.Part{dataset.Validation, dataset.Test}
	}
	var needed []FeatureColumn
	for _, t := range trees {
		one := evaluatedTree{Tree: t, scorer: t.Scorer()}
		for _, in := range one.scorer.Features() {
			named := func(c FeatureColumn) bool { return c.Name == in.Name }
			at := slices.IndexFunc(needed, named)
			if at < 0 {
				given := slices.IndexFunc(f.spec.Features, named)
				if given < 0 {
					return fmt.Errorf("feature %q of a tree: the rows have none of that name", in.Name)
				}
				at = len(needed)
				needed = append(needed, f.spec.Features[given])
			}
			one.inputs = append(one.inputs, at)
		}
		f.trees = append(f.trees, one)
		f.classes = ClassCodes(t.Label.Classes)
	}
	f.groups, f.spec.Features = len(f.trees), needed
	return f.prepareSlices()
}

// prepareSlices adds the columns of Slices to the needed ones.
func (f *evaluateRowsFn) prepareSlices() error {
	if f.Slices == nil {
		return nil
	}
	features, err := dataset.DecodeFeatures(f.Slices.Features)
	if err != nil {
		return err
	}
	f.groups = 0
	for i, column := range f.Slices.Columns {
		at := slices.Index(f.spec.Features, column)
		if at < 0 {
			at = len(f.spec.Features)
			f.spec.Features = append(f.spec.Features, column)
		}
		f.slices = append(f.slices, slicedColumn{dataset.NewEncoder(&features[i]), at, features[i].Codes(), f.groups})
		f.groups += features[i].Codes()
	}
	return nil
}

func (f *evaluateRowsFn) ProcessElement(ctx context.Context, task []byte, _ func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	return eachPiece(ctx, f.pool, &f.spec, task, func(ctx context.Context, g *rowGroup, worker int) error {
		return f.add(ctx, g, &f.workers[worker])
	})
}

// add counts the rows of a piece of a row group.
func (f *evaluateRowsFn) add(ctx context.Context, g *rowGroup, w *evaluateRowsWorker) error {
	if err := f.read(ctx, g, w); err != nil {
		return err
	}
	for at := range f.trees {
		if len(w.rows) == 0 {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t := &f.trees[at]
		w.inputs = w.inputs[:0]
		for _, column := range t.inputs {
			w.inputs = append(w.inputs, w.columns[column])
		}
		if err := t.scorer.Score(w.inputs, len(w.rows), &w.scores); err != nil {
			return err
		}
		switch {
		case f.Slices != nil:
			f.countSlices(g, w)
		default:
			for _, part := range f.Parts {
				f.count(at, part, g, w)
			}
		}
	}
	g.count(ctx)
	return nil
}

// read decides which rows to count, and reads their columns.
func (f *evaluateRowsFn) read(ctx context.Context, g *rowGroup, w *evaluateRowsWorker) error {
	err := g.prepare()
	if err != nil {
		return err
	}
	if w.classes, err = g.classCodes(f.classes, w.classes); err != nil {
		return err
	}
	g.weighClasses(w.classes)
	w.rows = w.rows[:0]
	for r, part := range g.parts {
		if slices.Contains(f.Parts, part) {
			w.rows = append(w.rows, int32(r))
		}
	}
	for i := range w.columns {
		if len(w.rows) == 0 {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := g.feature(i, &w.whole); err != nil {
			return err
		}
		pick(&w.columns[i], &w.whole, w.rows)
	}
	return nil
}

// pick sets a vector to the rows of another at the given ascending positions.
func pick(to, from *dataset.Vector, rows []int32) {
	to.Type = from.Type
	if from.Index == nil {
		to.Index, to.Texts, to.Numbers = nil, nil, Resized(to.Numbers, len(rows))
		for i, r := range rows {
			to.Numbers[i] = from.Numbers[r]
		}
		return
	}
	to.Numbers, to.Texts = append(to.Numbers[:0], from.Numbers...), append(to.Texts[:0], from.Texts...)
	to.Index = Resized(to.Index, len(rows))
	for i, r := range rows {
		to.Index[i] = from.Index[r]
	}
}

// count adds the scored rows of a part to the counts of a tree.
func (f *evaluateRowsFn) count(at int, part dataset.Part, g *rowGroup, w *evaluateRowsWorker) {
	table := f.open(at, f.trees[at].Tree, part)
	defer table.mu.Unlock()
	for i, r := range w.rows {
		if g.parts[r] == part {
			table.counts.Count(&w.scores, i, int(w.classes[r]), g.weight(int(r)))
		}
	}
}

// open locks the counts of a tree or slice and a part.
func (f *evaluateRowsFn) open(group int, t *tree.Tree, part dataset.Part) *scoreTable {
	table := &f.tables[leavesKey(group, part)]
	table.mu.Lock()
	if table.counts == nil {
		if table.counts = t.NewScoreCounts(); f.Distinct > 0 {
			table.counts.Bound(f.Distinct)
		}
		table.counts.Reserve(f.Objects[part])
	}
	return table
}

// countSlices adds the scored rows to the counts of their slices.
func (f *evaluateRowsFn) countSlices(g *rowGroup, w *evaluateRowsWorker) {
	const width = 2 // bytes of a code
	w.codes, w.byCode = Resized(w.codes, width*len(w.rows)), Resized(w.byCode, len(w.rows))
	for s := range f.slices {
		sliced := &f.slices[s]
		clear(w.codes) // narrow codes set the first byte alone
		w.scratch = sliced.encoder.Encode(&w.columns[sliced.column], w.codes, 0, width, w.scratch)
		code := func(i int) int { return int(w.codes[width*i]) | int(w.codes[width*i+1])<<8 }
		ends := make([]int, sliced.codes+1)
		for i := range w.rows {
			ends[code(i)+1]++
		}
		for c := range sliced.codes {
			ends[c+1] += ends[c]
		}
		for i := range w.rows { // ends become the ends of the code before
			c := code(i)
			w.byCode[ends[c]] = int32(i)
			ends[c]++
		}
		from := 0
		for c, to := range ends[:sliced.codes] {
			f.countSlice(sliced.first+c, w.byCode[from:to], g, w)
			from = to
		}
	}
}

// countSlice adds scored rows to the counts of a slice.
func (f *evaluateRowsFn) countSlice(group int, rows []int32, g *rowGroup, w *evaluateRowsWorker) {
	for _, part := range f.Parts {
		var table *scoreTable
		for _, i := range rows {
			r := w.rows[i]
			if g.parts[r] != part {
				continue
			}
			if table == nil {
				table = f.open(group, f.trees[0].Tree, part)
			}
			table.counts.Count(&w.scores, int(i), int(w.classes[r]), g.weight(int(r)))
		}
		if table != nil {
			table.mu.Unlock()
		}
	}
}

func (f *evaluateRowsFn) FinishBundle(ctx context.Context, emit func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	if err := reportUntil(ctx, f.pool.wait); err != nil {
		return Carry(err)
	}
	for key := range f.tables {
		counts := f.tables[key].counts
		switch {
		case counts == nil:
		case f.Handover != nil:
			f.Handover.score(int64(key), counts)
		default:
			value, err := sendScores(ctx, counts, f.Out)
			if err != nil {
				return Carry(err)
			}
			emit(int64(key), value)
		}
	}
	f.tables = nil
	return nil
}

// inlineScores is the most bytes of encoded scores that go through the runner's shuffle.
const inlineScores = 1 << 20

// sendScores returns the value of counts for mergeCountsFn. Large counts go through a file
// in the folder of results.
func sendScores(ctx context.Context, counts *tree.ScoreCounts, out string) ([]byte, error) {
	b := counts.Encode()
	return exchange{out}.send(ctx, b, len(b) <= inlineScores)
}

// ReadScoreCounts returns the counts of a part by tree, as EvaluateRows counted them. They
// are zeros for a part without rows. Of Slices, trees has the tree once for each slice.
func ReadScoreCounts(
	ctx context.Context, c *EvaluateRowsConfig, part dataset.Part, trees []*tree.Tree,
) ([]*tree.ScoreCounts, error) {
	if c.Handover != nil {
		return c.Handover.scored(part, trees)
	}
	urls, counts := make([]string, len(trees)), make([]*tree.ScoreCounts, len(trees))
	for at, t := range trees {
		urls[at], counts[at] = countsURL(c.Out, leavesKey(at, part)), t.NewScoreCounts()
	}
	return counts, readEach(ctx, urls, func(at int, b []byte) error {
		if b == nil {
			return nil
		}
		return counts[at].Merge(b)
	})
}

package jobs

import (
	"context"
	"iter"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// EvaluateRowsConfig has the trees to evaluate on rows, which have the same features and classes. The rows
// have a label.
type EvaluateRowsConfig struct {
	ScoreConfig

	Parts []dataset.Part // whose rows are counted; nil: validation and test
	// Lax leaves out rows whose label is no class of the trees, as Predict does; otherwise they are an error.
	Lax bool
	// Slices divides the rows of one tree by their values: ReadScoreCounts then returns the
	// counts of each slice in the place of a tree. nil: the rows are not divided.
	Slices *Slices
	// Distinct limits the number of distinct predictions that are counted exactly for a tree and
	// a part; 0: the limit of tree.ScoreCounts. The memory is in proportion to it.
	Distinct int
}

// Slices divides rows by their values of some columns. A slice is the rows with one code of one
// column: the codes of the first column come first, with "other" and "missing".
type Slices struct {
	Columns  []dataset.FeatureColumn // how they are read
	Features []byte                  // what their codes mean, see dataset.EncodeFeatures
}

// EvaluateRows counts rows by leaf, predicted probabilities and true class, for each tree
// and part: see tree.ScoreCounts. It serves trees with leaf models, whose predictions need
// the rows' values; Evaluate counts objects, whose values are codes. tasks is a
// PCollection<[]byte> of Task, one for each row group. ReadScoreCounts reads the result.
func EvaluateRows(s beam.Scope, tasks beam.PCollection, c EvaluateRowsConfig) {
	v := &rowEvaluator{EvaluateRowsConfig: c}
	addJob(s.Scope("transforms.EvaluateRows"), tasks,
		&evaluateRowsFn{taskFn[*scan[*rowEvaluator]]{Job: &scan[*rowEvaluator]{Visitor: v}}},
		&mergeScoresFn{mergeFn[*adder[scoreCounts]]{Job: &adder[scoreCounts]{c.Config}}})
}

type evaluateRowsFn struct{ taskFn[*scan[*rowEvaluator]] }

// rowEvaluator counts rows by their predictions.
type rowEvaluator struct {
	EvaluateRowsConfig

	spec   *RowSpec
	trees  []scannedTree
	slices []slicedColumn
	groups int          // trees, or slices of one tree
	tables []scoreTable // by leavesKey of a tree or slice
}

// slicedColumn is a column by whose values rows are divided.
type slicedColumn struct {
	encoder *dataset.Encoder
	column  int
	codes   int
	first   int // number of the slice of code 0
}

// scoreTable is the counts of a tree or slice and a part. All workers share it, as a table for each
// of them would take much memory.
type scoreTable struct {
	mu     sync.Mutex
	counts *tree.ScoreCounts // nil: no rows yet
}

func (f *rowEvaluator) prepare(s *scanned) error {
	if f.Parts == nil {
		f.Parts = []dataset.Part{dataset.Validation, dataset.Test}
	}
	f.spec = &s.spec
	f.trees = s.trees
	s.parts = f.Parts
	s.lax = f.Lax || f.Slices != nil // as Predict, by which the rows are measured as well
	if f.Slices == nil {
		f.groups = len(s.trees)
		return nil
	}
	features, err := dataset.DecodeFeatures(f.Slices.Features)
	if err != nil {
		return err
	}
	for i, column := range f.Slices.Columns {
		f.slices = append(f.slices, slicedColumn{dataset.NewEncoder(&features[i]), s.need(column), features[i].Codes(), f.groups})
		f.groups += features[i].Codes()
	}
	return nil
}

func (f *rowEvaluator) begin(*scanned) (numbers int) {
	f.tables = make([]scoreTable, leavesKey(f.groups, 0))
	return 0
}

func (f *rowEvaluator) visit(ctx context.Context, s *scanned, g *rowGroup, w *scanWorker) error {
	for at := range s.trees {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.score(at, w, &w.scores[0]); err != nil {
			return err
		}
		if f.Slices != nil {
			f.countSlices(g, w)
			continue
		}
		for _, part := range s.parts {
			f.count(at, part, g, w)
		}
	}
	return nil
}

// count adds the scored rows of a part to the counts of a tree.
func (f *rowEvaluator) count(at int, part dataset.Part, g *rowGroup, w *scanWorker) {
	table := f.open(at, part)
	defer table.mu.Unlock()
	for i, r := range w.rows {
		if g.parts[r] == part {
			g.countScore(table.counts, &w.scores[0], i, int(r), w.classes[r])
		}
	}
}

// open locks the counts of a tree or slice and a part.
func (f *rowEvaluator) open(group int, part dataset.Part) *scoreTable {
	table := &f.tables[leavesKey(group, part)]
	table.mu.Lock()
	if table.counts == nil {
		t := f.trees[0]
		if f.Slices == nil {
			t = f.trees[group]
		}
		table.counts = f.spec.newScoreCounts(t.Tree)
		if f.Distinct > 0 {
			table.counts.Bound(f.Distinct)
		}
	}
	return table
}

// countSlices adds the scored rows to the counts of their slices.
func (f *rowEvaluator) countSlices(g *rowGroup, w *scanWorker) {
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
func (f *rowEvaluator) countSlice(group int, rows []int32, g *rowGroup, w *scanWorker) {
	for _, part := range f.Parts {
		var table *scoreTable
		for _, i := range rows {
			r := w.rows[i]
			if g.parts[r] != part {
				continue
			}
			if table == nil {
				table = f.open(group, part)
			}
			g.countScore(table.counts, &w.scores[0], int(i), int(r), w.classes[r])
		}
		if table != nil {
			table.mu.Unlock()
		}
	}
}

func (f *rowEvaluator) counts() iter.Seq2[int64, encoder] {
	return func(yield func(int64, encoder) bool) {
		for key := range f.tables {
			if counts := f.tables[key].counts; counts != nil && !yield(int64(key), counts) {
				return
			}
		}
		f.tables = nil
	}
}

// ReadScoreCounts returns the counts of a part by tree, as EvaluateRows counted them. They
// are zeros for a part without rows. Of Slices, trees has the tree once for each slice.
func ReadScoreCounts(
	ctx context.Context, c *EvaluateRowsConfig, part dataset.Part, trees []*tree.Tree,
) ([]*tree.ScoreCounts, error) {
	keys := make([]int64, len(trees))
	for at := range trees {
		keys[at] = leavesKey(at, part)
	}
	return c.readScores(ctx, keys, trees)
}

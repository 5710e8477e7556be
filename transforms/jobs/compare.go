package jobs

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// CompareConfig has the two trees to compare, and says what the rows' columns serve for.
type CompareConfig struct {
	Trees   []string     // URLs of the tree.json of A and B
	Decoded []*tree.Tree `json:"-"` // the same trees; nil in other processes, which read Trees

	// Rows is an encoded RowSpec. Its features are the tested features of both trees. With a label,
	// rows are counted by true class; the trees then have the same classes.
	Rows    []byte
	Workers int    // goroutines of a bundle; 1 on engines
	Out     string // folder of results
	Run     RunName
}

// Compare counts rows by their predictions by two trees and by true class, see comparison.Counts,
// and values that the trees' training did not have. tasks is a PCollection<[]byte> of Task, one for
// each row group. ReadCompared reads the result.
func Compare(s beam.Scope, tasks beam.PCollection, c CompareConfig) {
	s = s.Scope("transforms.Compare")
	results := beam.ParDo(s, &compareFn{CompareConfig: c}, tasks)
	beam.ParDo0(s, &mergeCountsFn{Out: c.Out, Run: c.Run, Numbers: predictedNovelty, Pairs: true},
		beam.GroupByKey(s, results))
}

// compareFn counts the rows of a bundle.
type compareFn struct {
	CompareConfig

	sides   []comparedSide
	spec    RowSpec
	classes map[string]uint16
	pool    *pool
	workers []compareWorker

	mu     sync.Mutex // of counts: a table for each worker would take much memory
	counts *comparison.Counts
}

// comparedSide is one of the trees.
type comparedSide struct {
	tree    *tree.Tree
	scorer  *tree.Scorer
	inputs  []int            // by input of the scorer: its column
	watches []*dataset.Watch // by input of the scorer
}

// compareWorker is the memory of one worker.
type compareWorker struct {
	columns []dataset.Vector // of all rows
	rows    []int32          // positions of the rows that are counted
	picked  []dataset.Vector // columns of these rows, unless they are all
	classes []uint16
	inputs  []dataset.Vector
	scores  [2]tree.Scores
	novelty [2][]dataset.Novelty
	read    int64 // rows
}

func (f *compareFn) StartBundle(ctx context.Context, _ func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	if f.sides == nil { // else an earlier bundle has made them
		if err := f.prepare(ctx); err != nil {
			return err
		}
	}
	if f.counts, err = comparison.NewCounts(f.sides[0].tree, f.sides[1].tree, f.spec.Label != ""); err != nil {
		return err
	}
	f.pool = newPool(f.Workers, rowGroupsAhead)
	f.workers = make([]compareWorker, max(1, f.Workers))
	for i := range f.workers {
		w := &f.workers[i]
		w.columns = make([]dataset.Vector, len(f.spec.Features))
		w.picked = make([]dataset.Vector, len(f.spec.Features))
		for side := range f.sides {
			w.novelty[side] = make([]dataset.Novelty, len(f.sides[side].inputs))
		}
	}
	return nil
}

// prepare makes the scorers, and finds their columns.
func (f *compareFn) prepare(ctx context.Context) error {
	trees := f.Decoded
	if trees == nil {
		var err error
		if trees, err = readTrees(ctx, f.Trees); err != nil {
			return err
		}
	}
	if len(trees) != 2 {
		return errors.New("want two trees to compare")
	}
	if err := json.Unmarshal(f.Rows, &f.spec); err != nil {
		return err
	}
	var sides []comparedSide
	for _, t := range trees {
		one := comparedSide{tree: t, scorer: t.Scorer()}
		for _, in := range one.scorer.Features() {
			at := slices.IndexFunc(f.spec.Features, func(c FeatureColumn) bool {
				return c.Name == in.Name && c.Kind == in.Kind && c.Unit == in.Unit
			})
			if at < 0 {
				return fmt.Errorf("feature %q of a tree: the rows have none of that name and kind", in.Name)
			}
			one.inputs = append(one.inputs, at)
			one.watches = append(one.watches, dataset.NewWatch(&t.Features[in.Feature]))
		}
		sides = append(sides, one)
	}
	f.sides, f.classes = sides, ClassCodes(trees[0].Label.Classes)
	return nil
}

func (f *compareFn) ProcessElement(ctx context.Context, task []byte, _ func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	return eachPiece(ctx, f.pool, &f.spec, task, func(ctx context.Context, g *rowGroup, worker int) error {
		return f.add(ctx, g, &f.workers[worker])
	})
}

// add scores the test rows of a piece of a row group by both trees, and counts them. It looks for new values
// in all rows.
func (f *compareFn) add(ctx context.Context, g *rowGroup, w *compareWorker) error {
	err := g.prepare()
	if err != nil {
		return err
	}
	if f.spec.Label != "" {
		if w.classes, err = g.classCodes(f.classes, w.classes); err != nil {
			return err
		}
	}
	w.rows = w.rows[:0]
	for r, part := range g.parts {
		if part == dataset.Test {
			w.rows = append(w.rows, int32(r))
		}
	}
	for i := range w.columns {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := g.feature(i, &w.columns[i]); err != nil {
			return err
		}
		if len(w.rows) < g.Rows() {
			pick(&w.picked[i], &w.columns[i], w.rows)
		}
	}
	counted := w.picked
	if len(w.rows) == g.Rows() {
		counted = w.columns
	}
	for at := range f.sides {
		if err := f.sides[at].score(w, counted, at); err != nil {
			return err
		}
	}
	w.read += int64(g.Rows())
	f.count(g, w)
	g.count(ctx)
	return nil
}

// score scores the counted rows by a tree, one side of the comparison.
func (s *comparedSide) score(w *compareWorker, counted []dataset.Vector, side int) error {
	w.inputs = w.inputs[:0]
	for i, column := range s.inputs {
		w.inputs = append(w.inputs, counted[column])
		w.novelty[side][i].Add(s.watches[i].Count(&w.columns[column]))
	}
	return s.scorer.Score(w.inputs, len(w.rows), &w.scores[side])
}

// count counts the scored test rows that have a label and a weight.
func (f *compareFn) count(g *rowGroup, w *compareWorker) {
	f.mu.Lock()
	defer f.mu.Unlock()
	class := 0
	for i, r := range w.rows {
		if f.spec.Label != "" {
			class = int(w.classes[r])
		}
		f.counts.Count(&w.scores[0], &w.scores[1], i, class, g.weight(int(r)))
	}
}

func (f *compareFn) FinishBundle(ctx context.Context, emit func(int64, []byte)) error {
	ctx, err := f.Run.Enter(ctx)
	if err != nil {
		return err
	}
	if err := reportUntil(ctx, f.pool.wait); err != nil {
		return Carry(err)
	}
	b := f.counts.Encode()
	value, err := exchange{f.Out}.send(ctx, b, len(b) <= inlineScores)
	if err != nil {
		return Carry(err)
	}
	emit(predictedLeaves, value)
	for i := range f.workers {
		w := &f.workers[i]
		numbers := binary.AppendVarint(nil, w.read)
		for _, side := range w.novelty {
			numbers = appendNovelty(numbers, side)
		}
		emit(predictedNovelty, numbers)
	}
	return nil
}

// Compared has the counts of Compare.
type Compared struct {
	Counts  *comparison.Counts
	Rows    int64                // all rows that were read
	Novelty [2][]dataset.Novelty // by tree and tested feature, in the order of its Scorer
}

// ReadCompared returns the counts of Compare.
func ReadCompared(ctx context.Context, out string, trees [2]*tree.Tree, labelled bool) (*Compared, error) {
	counts, err := comparison.NewCounts(trees[0], trees[1], labelled)
	if err != nil {
		return nil, err
	}
	c := &Compared{Counts: counts}
	urls := []string{countsURL(out, predictedLeaves), countsURL(out, predictedNovelty)}
	return c, readEach(ctx, urls, func(i int, b []byte) error {
		switch {
		case b == nil:
			return fmt.Errorf("the counts %s are gone", urls[i])
		case int64(i) == predictedLeaves:
			return counts.Merge(b)
		}
		rows, n := binary.Varint(b)
		c.Rows, b = rows, b[max(n, 0):]
		for side, t := range trees {
			c.Novelty[side], b = readNovelty(b, len(t.Scorer().Features()))
		}
		return nil
	})
}

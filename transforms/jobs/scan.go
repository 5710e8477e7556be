package jobs

import (
	"context"
	"iter"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// ScoreConfig holds the settings of all jobs that score rows.
type ScoreConfig struct {
	Config

	Trees  Trees
	Rows   []byte // encoded RowSpec: only the columns that the job needs are read
	Pieces int    // goroutines that share the columns of a row group, if there are few files
}

func (c *ScoreConfig) scoring() *ScoreConfig { return c }

// visitor is the part of a job that differs between jobs which score rows. Its methods get the scan
// that calls them.
type visitor interface {
	scoring() *ScoreConfig
	// prepare finds the columns that the job needs in addition to the columns tested by the trees.
	prepare(s *scanned) error
	// begin prepares for a bundle. numbers is how many sums each worker has.
	begin(s *scanned) (numbers int)
	// visit scores and counts the rows of a piece, whose columns are in w.
	visit(ctx context.Context, s *scanned, g *rowGroup, w *scanWorker) error
	// counts iterates over the counts of the bundle by their keys.
	counts() iter.Seq2[int64, encoder]
}

// encoder is a set of counts that a combiner adds up.
type encoder interface{ Encode() []byte }

// scanned describes how the rows of a scan are read and scored.
type scanned struct {
	spec    RowSpec // with the columns that the job needs
	given   []dataset.FeatureColumn
	trees   []scannedTree
	classes *dataset.ClassCodes // classes of the trees
	parts   []dataset.Part      // parts whose rows are visited; nil: all rows are visited, including rows that are left out otherwise
	lax     bool                // whether rows whose label is no class of the trees are visited, not measured
	novelty bool                // whether the sums of a worker begin with the rows and the novelty of the trees' inputs
}

// scannedTree is a tree with the columns of its tests.
type scannedTree struct {
	*tree.Tree

	scorer  *tree.Scorer
	inputs  []int            // by input of the scorer: its column
	watches []*dataset.Watch // by input of the scorer
}

// need returns the index of a column in the columns to read, and adds it if it is absent.
func (s *scanned) need(c dataset.FeatureColumn) int {
	at := slices.Index(s.spec.Features, c)
	if at < 0 {
		at = len(s.spec.Features)
		s.spec.Features = append(s.spec.Features, c)
	}
	return at
}

// addTree prepares a tree, and adds the columns of its tests.
func (s *scanned) addTree(t *tree.Tree) error {
	one := scannedTree{Tree: t, scorer: t.Scorer()}
	for _, in := range one.scorer.Features() {
		at := slices.IndexFunc(s.given, func(c dataset.FeatureColumn) bool {
			return c.Name == in.Name && c.Kind == in.Kind && c.Unit == in.Unit
		})
		if at < 0 {
			return &dataset.DataError{
				Column: in.Name, Problem: "the tree tests a feature that the rows do not have by that name and kind",
				Hint: "the documents of the run do not belong together: train again, or take the run from where it was made",
			}
		}
		one.inputs = append(one.inputs, s.need(s.given[at]))
		one.watches = append(one.watches, dataset.NewWatch(&t.Features[in.Feature]))
	}
	s.trees = append(s.trees, one)
	return nil
}

// columns returns the columns of a tree's inputs.
func (s *scanned) columns(at int, w *scanWorker) []dataset.Vector {
	w.inputs = w.inputs[:0]
	for _, column := range s.trees[at].inputs {
		w.inputs = append(w.inputs, w.columns[column])
	}
	return w.inputs
}

// score scores the rows by a tree.
func (s *scanned) score(at int, w *scanWorker, into *tree.Scores) error {
	return s.trees[at].scorer.Score(s.columns(at, w), len(w.rows), into)
}

// scan is the first half of a job that scores rows.
type scan[V visitor] struct {
	Visitor V

	scanned
	workers []scanWorker
}

// scanWorker is the memory of one worker.
type scanWorker struct {
	rows    []int32          // positions of the visited rows
	classes []uint16         // code of the class by row of the piece, if there is a label
	columns []dataset.Vector // columns of the visited rows
	numbers []int64          // sums over all pieces

	decoded []dataset.Vector // by column, if all rows are visited
	whole   []dataset.Vector // a column of all rows, by goroutine
	picked  []dataset.Vector // by column, if not all rows are visited
	inputs  []dataset.Vector

	// Scratch for visitors.
	scores  []tree.Scores // by tree
	leaves  [][]uint16    // by tree
	codes   []byte        // two bytes per row: the code of a value, little endian
	byCode  []int32
	scratch []uint16
}

func (f *scan[V]) config() *Config { return &f.Visitor.scoring().Config }
func (f *scan[V]) ahead() int      { return rowGroupsAhead }

func (f *scan[V]) begin(ctx context.Context) error {
	if f.trees == nil { // otherwise an earlier bundle has prepared them
		if err := f.prepare(ctx); err != nil {
			return err
		}
	}
	numbers := f.Visitor.begin(&f.scanned)
	c := f.Visitor.scoring()
	f.workers = make([]scanWorker, max(1, c.Workers))
	vectors := func(n int) []dataset.Vector { return make([]dataset.Vector, n) }
	for i := range f.workers {
		columns := len(f.spec.Features)
		f.workers[i] = scanWorker{
			columns: vectors(columns), numbers: make([]int64, numbers), scores: make([]tree.Scores, len(f.trees)),
			leaves:  make([][]uint16, len(f.trees)),
			decoded: vectors(columns), whole: vectors(max(1, c.Pieces)), picked: vectors(columns),
		}
	}
	return nil
}

func (f *scan[V]) prepare(ctx context.Context) error {
	c := f.Visitor.scoring()
	trees, err := c.Trees.read(ctx)
	if err != nil {
		return err
	}
	spec, err := readRows(ctx, c.Rows)
	if err != nil {
		return err
	}
	f.spec = *spec
	f.given = f.spec.Features
	f.spec.Features = nil
	for _, t := range trees {
		if err := f.addTree(t); err != nil {
			return err
		}
	}
	f.classes = dataset.NewClassCodes(trees[0].Label.Classes)
	return f.Visitor.prepare(&f.scanned)
}

func (f *scan[V]) do(ctx context.Context, p *pool, t Task, _ func(int64, []byte)) error {
	return eachPiece(ctx, p, &f.spec, t, func(ctx context.Context, g *rowGroup, worker int) error {
		return f.add(ctx, g, &f.workers[worker])
	})
}

// add visits the rows of a piece of a row group.
func (f *scan[V]) add(ctx context.Context, g *rowGroup, w *scanWorker) error {
	if err := f.choose(g, w); err != nil {
		return err
	}
	if len(w.rows) > 0 || f.novelty {
		if err := f.read(ctx, g, w); err != nil {
			return err
		}
	}
	if len(w.rows) > 0 {
		if err := f.Visitor.visit(ctx, &f.scanned, g, w); err != nil {
			return err
		}
	}
	g.count(ctx)
	return nil
}

// choose determines which rows of a piece are visited.
func (s *scanned) choose(g *rowGroup, w *scanWorker) error {
	err := g.prepare()
	if err != nil {
		return err
	}
	if s.spec.Label != "" {
		if w.classes, err = g.classCodes(s.classes, w.classes, s.lax); err != nil {
			return err
		}
		g.weighClasses(w.classes)
	}
	w.rows = w.rows[:0]
	for r, part := range g.parts {
		if s.parts == nil || slices.Contains(s.parts, part) {
			w.rows = append(w.rows, int32(r))
		}
	}
	return nil
}

// read decodes the columns of a piece for the visited rows.
func (s *scanned) read(ctx context.Context, g *rowGroup, w *scanWorker) error {
	all := len(w.rows) == g.Rows()
	p := newPool(min(len(w.whole), len(w.columns)), 0)
	for i := range w.columns {
		err := p.do(ctx, func(goroutine int) error {
			v := &w.decoded[i]
			if !all {
				v = &w.whole[goroutine]
			}
			if err := g.feature(i, v); err != nil {
				return err
			}
			if s.novelty {
				s.countNovelty(i, v, w)
			}
			if !all {
				pick(&w.picked[i], v, w.rows)
				v = &w.picked[i]
			}
			w.columns[i] = *v
			return nil
		})
		if err != nil {
			break // wait returns the error
		}
	}
	if s.novelty {
		w.numbers[rowSum] += int64(g.Rows())
		w.numbers[otherClassSum] += g.otherClass
	}
	return p.wait()
}

// pick sets a vector to the rows of another vector at the given ascending positions.
func pick(to, from *dataset.Vector, rows []int32) {
	to.Type = from.Type
	if from.Index == nil {
		to.Index, to.Texts, to.Numbers = nil, nil, Resized(to.Numbers, len(rows))
		for i, r := range rows {
			to.Numbers[i] = from.Numbers[r]
		}
		return
	}
	to.Numbers = append(to.Numbers[:0], from.Numbers...)
	to.Texts = append(to.Texts[:0], from.Texts...)
	to.Index = Resized(to.Index, len(rows))
	for i, r := range rows {
		to.Index[i] = from.Index[r]
	}
}

// end sends the counts and the sums of the workers.
func (f *scan[V]) end(ctx context.Context, emit func(int64, []byte)) error {
	c := f.config()
	for key, counts := range f.Visitor.counts() {
		if scores, ok := counts.(*tree.ScoreCounts); ok && c.Handover != nil {
			c.Handover.score(key, scores)
			continue
		}
		if err := c.sendCounts(ctx, key, counts.Encode(), emit); err != nil {
			return err
		}
	}
	sums := f.workers[0].numbers
	for i := range f.workers[1:] {
		dataset.AddTo(sums, f.workers[1+i].numbers)
	}
	f.workers = nil
	if len(sums) == 0 {
		return nil
	}
	return c.sendCounts(ctx, numbersKey, appendNumbers(nil, sums), emit)
}

// The sums of a scan with novelty are the number of rows, the number of rows whose label is none of the classes and, for
// each input of each tree, the counts missingSum and following.
const (
	rowSum = iota
	otherClassSum
	rowSums
)

const (
	missingSum = iota
	unseenSum
	outsideSum
	noveltySums
)

// noveltyNumbers returns how many sums a scan with novelty has.
func (s *scanned) noveltyNumbers() int {
	n := rowSums
	for i := range s.trees {
		n += noveltySums * len(s.trees[i].inputs)
	}
	return n
}

// countNovelty counts the values of a column that did not occur in the training of a tree.
func (s *scanned) countNovelty(column int, v *dataset.Vector, w *scanWorker) {
	sums := w.numbers[rowSums:]
	for i := range s.trees {
		t := &s.trees[i]
		for k, at := range t.inputs {
			if at == column {
				n := t.watches[k].Count(v)
				sums[missingSum] += n.Missing
				sums[unseenSum] += n.Unseen
				sums[outsideSum] += n.Outside
			}
			sums = sums[noveltySums:]
		}
	}
}

// noticed are the counts of a scan with novelty.
type noticed struct {
	rows       int64
	otherClass int64               // rows whose label is none of the classes, which are not measured
	novelty    [][]dataset.Novelty // by tree and input of its scorer
}

// readNovelty returns the counts of a scan with novelty, and the further sums of the visitor.
func readNovelty(ctx context.Context, out string, further int, trees ...*tree.Tree) (n noticed, sums []int64, err error) {
	all := rowSums + further
	for _, t := range trees {
		n.novelty = append(n.novelty, make([]dataset.Novelty, len(t.Scorer().Features())))
		all += noveltySums * len(n.novelty[len(n.novelty)-1])
	}
	if sums, err = readNumbers(ctx, out, all); err != nil {
		return n, nil, err
	}
	n.rows = sums[rowSum]
	n.otherClass = sums[otherClassSum]
	sums = sums[rowSums:]
	for _, list := range n.novelty {
		for i := range list {
			list[i] = dataset.Novelty{Missing: sums[missingSum], Unseen: sums[unseenSum], Outside: sums[outsideSum]}
			sums = sums[noveltySums:]
		}
	}
	return n, sums, nil
}

package jobs

import (
	"context"
	"errors"
	"iter"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// PredictConfig has the trees that score rows, and the columns of the output. With a label, classes are
// counted for metrics of the first tree.
type PredictConfig struct {
	ScoreConfig

	Copied []string   // columns of the input that the output has too
	Paths  [][]string // by tree: texts of the column path by leaf, in the order of nodes; nil: no such columns

	Metadata map[string]string // by key, for the footers of the files of predictions
}

// Predict scores the rows of tasks, a PCollection<[]byte> of Task, and writes the output
// file of each task that names one. It counts rows by leaf, predicted probabilities and class of the first
// tree, and values that training did not have. ReadPredicted reads the counts.
func Predict(s beam.Scope, tasks beam.PCollection, c PredictConfig) {
	job := &predictJob{scan[*predictor]{Visitor: &predictor{PredictConfig: c}}}
	addJob(s.Scope("transforms.Predict"), tasks, &predictFn{taskFn[*predictJob]{Job: job}},
		&mergeScoresFn{mergeFn[*adder[scoreCounts]]{Job: &adder[scoreCounts]{c.Config}}})
}

type predictFn struct{ taskFn[*predictJob] }

// predictor scores all rows, and counts the rows of some part if there is a label.
type predictor struct {
	PredictConfig

	trees   []predicting
	columns []PredictionColumn // columns of all trees
	table   scoreTable         // counts by the first tree
}

// predicting is a tree that predicts.
type predicting struct {
	*tree.Tree

	number []uint16 // number of the leaf, by node
	first  int      // number of sums of a worker before the sums of the tree
}

func (f *predictor) prepare(s *scanned) error {
	if len(s.trees) == 0 {
		return errors.New("want a tree to predict by")
	}
	s.novelty = true
	s.lax = true
	for n := range s.trees {
		t := predicting{Tree: s.trees[n].Tree}
		var paths []string
		if f.Paths != nil {
			paths = f.Paths[n]
		}
		f.columns = append(f.columns, PredictionColumns(n, t.Tree, paths)...)
		t.number = make([]uint16, len(t.Nodes))
		leaves := uint16(0)
		for i := range t.Nodes {
			if t.Nodes[i].Leaf() {
				t.number[i] = leaves
				leaves++
			}
		}
		f.trees = append(f.trees, t)
	}
	return nil
}

func (f *predictor) begin(s *scanned) (numbers int) {
	f.table.counts = s.spec.newScoreCounts(f.trees[0].Tree)
	numbers = s.noveltyNumbers()
	for i := range f.trees {
		f.trees[i].first = numbers
		numbers += predictedNumbers(f.trees[i].Tree)
	}
	return numbers
}

func (f *predictor) visit(_ context.Context, s *scanned, g *rowGroup, w *scanWorker) error {
	for i := range f.trees {
		t := &f.trees[i]
		if err := s.score(i, w, &w.scores[i]); err != nil {
			return err
		}
		t.add(w.numbers[t.first:][:predictedNumbers(t.Tree)], &w.scores[i])
	}
	if s.spec.Label == "" {
		return nil
	}
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	for r, part := range g.parts {
		if part != dataset.None {
			g.countScore(f.table.counts, &w.scores[0], r, r, w.classes[r])
		}
	}
	return nil
}

func (f *predictor) counts() iter.Seq2[int64, encoder] {
	return func(yield func(int64, encoder) bool) { yield(predictedKey, f.table.counts) }
}

// predictedKey is the key of the counts of a job that counts all rows together.
const predictedKey = int64(0)

// predictJob is a scan that writes the predictions.
type predictJob struct{ scan[*predictor] }

func (f *predictJob) do(ctx context.Context, p *pool, t Task, emit func(int64, []byte)) error {
	if t.Output == "" {
		return f.scan.do(ctx, p, t, emit)
	}
	return p.do(ctx, func(worker int) error { return f.writeFile(ctx, t, &f.workers[worker]) })
}

// writeFile scores the row groups of a task one after the other, and writes their predictions.
func (f *predictJob) writeFile(ctx context.Context, t Task, w *scanWorker) error {
	s, err := OpenStorage(ctx)
	if err != nil {
		return err
	}
	out, err := s.Predictions(ctx, t, f.Visitor.Copied, f.Visitor.columns, f.Visitor.Metadata)
	if err != nil {
		return err
	}
	defer out.Abort() //nolint:errcheck // after Commit nothing is left to undo
	for n := range t.RowGroups {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		one := t
		one.RowGroup += n
		if err := f.writeRowGroup(ctx, one, w, out); err != nil {
			return err
		}
	}
	return out.Commit()
}

// writeRowGroup scores a row group and writes its predictions.
func (f *predictJob) writeRowGroup(ctx context.Context, t Task, w *scanWorker, out Predictions) error {
	g, err := openRowGroup(ctx, &f.spec, t)
	if err != nil {
		return err
	}
	defer g.Close() //nolint:errcheck // reading has returned its errors already
	if g.Rows() == 0 {
		return nil
	}
	if err := f.add(ctx, g, w); err != nil {
		return err
	}
	rows := make([]*PredictedRows, len(f.trees))
	for i := range f.Visitor.trees {
		leaves := Resized(w.leaves[i], g.Rows())
		for r, leaf := range w.scores[i].Leaves {
			leaves[r] = f.Visitor.trees[i].number[leaf]
		}
		w.leaves[i] = leaves
		rows[i] = &PredictedRows{Leaves: leaves, Scores: &w.scores[i]}
	}
	return out.RowGroup(t.RowGroup, rows...)
}

// probabilityUnit is the unit in which probabilities are added up, so that their order does not matter. 2^31
// rows fit.
const probabilityUnit = 1.0 / (1 << 32)

// predictedNumbers returns how many sums Predict has in addition to the novelty: the rows of each leaf and,
// by class, predicted rows and probabilities. The sums by class are zeros for a tree without leaf models, whose
// leaves have them.
func predictedNumbers(t *tree.Tree) int { return t.CountLeaves() + 2*len(t.Label.Classes) }

// add adds predictions to the sums.
func (t *predicting) add(sums []int64, s *tree.Scores) {
	for _, leaf := range s.Leaves {
		sums[t.number[leaf]]++
	}
	sums = sums[len(sums)-2*len(t.Label.Classes):]
	for r, class := range s.Classes {
		sums[2*class]++
		for k, x := range s.Of(r) {
			sums[2*k+1] += int64(x / probabilityUnit)
		}
	}
}

// Predicted has the counts of Predict for a tree.
type Predicted struct {
	Rows    int64
	Scores  *tree.ScoreCounts // of rows with a label; nil for further trees
	Novelty []dataset.Novelty // by tested feature, in the order of the tree's Scorer
	// OtherClass is the number of rows whose label is none of the tree's classes, of the first tree. They are scored and
	// not measured.
	OtherClass int64
	Cost       float64          // billed cost, summed over all rows
	Classes    []PredictedClass // in the order of the tree's classes
}

// PredictedClass has sums over all rows, for a class.
type PredictedClass struct {
	Rows        int64 // whose prediction is the class
	Probability float64
}

// ReadPredicted returns the counts of Predict, by tree.
func ReadPredicted(ctx context.Context, c *PredictConfig, trees ...*tree.Tree) ([]*Predicted, error) {
	further := 0
	for _, t := range trees {
		further += predictedNumbers(t)
	}
	n, sums, err := readNovelty(ctx, c.Out, further, trees...)
	if err != nil {
		return nil, err
	}
	scores, err := c.readScores(ctx, []int64{predictedKey}, trees[:1])
	if err != nil {
		return nil, err
	}
	list := make([]*Predicted, len(trees))
	for i, t := range trees {
		list[i] = &Predicted{Rows: n.rows, Novelty: n.novelty[i]}
		list[i].sum(t, sums)
		sums = sums[predictedNumbers(t):]
	}
	list[0].Scores = scores[0]
	list[0].OtherClass = n.otherClass
	return list, nil
}

// sum computes cost and classes from the sums of the predictions.
func (p *Predicted) sum(t *tree.Tree, sums []int64) {
	scorer := t.Scorer()
	leaves := sums[:t.CountLeaves()]
	sums = sums[len(leaves):]
	for k := range t.Label.Classes {
		p.Classes = append(p.Classes, PredictedClass{sums[2*k], float64(sums[2*k+1]) * probabilityUnit})
	}
	for i := range t.Nodes {
		leaf := scorer.LeafPrediction(i)
		if leaf == nil {
			continue
		}
		n := leaves[0]
		leaves = leaves[1:]
		p.Cost += float64(float64(n) * leaf.Cost)
		if scorer.Modelled() {
			continue
		}
		for k, x := range leaf.Probabilities {
			p.Classes[k].Probability += float64(float64(n) * x)
			if t.Label.Classes[k] == leaf.Class {
				p.Classes[k].Rows += n
			}
		}
	}
}

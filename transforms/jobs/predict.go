package jobs

import (
	"context"
	"errors"
	"iter"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// PredictConfig has the tree that scores rows, and the columns of the output. With a label, classes are
// counted for metrics.
type PredictConfig struct {
	ScoreConfig

	Copied []string // columns of the input that the output has too
	Paths  []string // texts of the column path by leaf, in the order of nodes; nil: no such column

	Metadata map[string]string // by key, for the footers of the files of predictions
}

// Predict scores the rows of tasks, a PCollection<[]byte> of Task, and writes the output
// file of each task that names one. It counts rows by leaf, predicted probabilities and class, and
// values that training did not have. ReadPredicted reads the counts.
func Predict(s beam.Scope, tasks beam.PCollection, c PredictConfig) {
	job := &predictJob{scan[*predictor]{Visitor: &predictor{PredictConfig: c}}}
	addJob(s.Scope("transforms.Predict"), tasks, &predictFn{taskFn[*predictJob]{Job: job}},
		&mergeScoresFn{mergeFn[*adder[scoreCounts]]{Job: &adder[scoreCounts]{c.Config}}})
}

type predictFn struct{ taskFn[*predictJob] }

// predictor scores all rows, and counts the rows of some part if there is a label.
type predictor struct {
	PredictConfig

	tree    *tree.Tree
	number  []uint16 // number of the leaf, by node
	first   int      // number of sums of a worker before the sums of the predictions
	columns []PredictionColumn
	table   scoreTable
}

func (f *predictor) prepare(s *scanned) error {
	if len(s.trees) != 1 {
		return errors.New("want one tree to predict by")
	}
	s.novelty = true
	f.tree = s.trees[0].Tree
	f.columns = PredictionColumns(f.tree, f.Paths)
	f.number = make([]uint16, len(f.tree.Nodes))
	leaves := uint16(0)
	for i := range f.tree.Nodes {
		if f.tree.Nodes[i].Leaf() {
			f.number[i] = leaves
			leaves++
		}
	}
	return nil
}

func (f *predictor) begin(s *scanned) (numbers int) {
	f.table.counts = f.tree.NewScoreCounts()
	f.first = s.noveltyNumbers()
	return f.first + predictedNumbers(f.tree)
}

func (f *predictor) visit(_ context.Context, s *scanned, g *rowGroup, w *scanWorker) error {
	if err := s.score(0, w, &w.scores[0]); err != nil {
		return err
	}
	f.add(w.numbers[f.first:], &w.scores[0])
	if s.spec.Label == "" {
		return nil
	}
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	for r, part := range g.parts {
		if part != dataset.None {
			f.table.counts.Count(&w.scores[0], r, int(w.classes[r]), g.weight(r))
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
	w.leaves = Resized(w.leaves, g.Rows())
	for r, leaf := range w.scores[0].Leaves {
		w.leaves[r] = f.Visitor.number[leaf]
	}
	return out.RowGroup(t.RowGroup, &PredictedRows{Leaves: w.leaves, Scores: &w.scores[0]})
}

// probabilityUnit is the unit in which probabilities are added up, so that their order does not matter. 2^31
// rows fit.
const probabilityUnit = 1.0 / (1 << 32)

// predictedNumbers returns how many sums Predict has in addition to the novelty: the rows of each leaf and,
// by class, predicted rows and probabilities. The sums by class are zeros for a tree without leaf models, whose
// leaves have them.
func predictedNumbers(t *tree.Tree) int { return t.CountLeaves() + 2*len(t.Label.Classes) }

// add adds predictions to the sums.
func (f *predictor) add(sums []int64, s *tree.Scores) {
	for _, leaf := range s.Leaves {
		sums[f.number[leaf]]++
	}
	sums = sums[len(sums)-2*len(f.tree.Label.Classes):]
	for r, class := range s.Classes {
		sums[2*class]++
		for k, x := range s.Of(r) {
			sums[2*k+1] += int64(x / probabilityUnit)
		}
	}
}

// Predicted has the counts of Predict.
type Predicted struct {
	Rows    int64
	Scores  *tree.ScoreCounts // of rows with a label
	Novelty []dataset.Novelty // by tested feature, in the order of the tree's Scorer
	Cost    float64           // billed cost, summed over all rows
	Classes []PredictedClass  // in the order of the tree's classes
}

// PredictedClass has sums over all rows, for a class.
type PredictedClass struct {
	Rows        int64 // whose prediction is the class
	Probability float64
}

// ReadPredicted returns the counts of Predict.
func ReadPredicted(ctx context.Context, c *PredictConfig, t *tree.Tree) (*Predicted, error) {
	rows, novelty, sums, err := readNovelty(ctx, c.Out, predictedNumbers(t), t)
	if err != nil {
		return nil, err
	}
	scores, err := c.readScores(ctx, []int64{predictedKey}, []*tree.Tree{t})
	if err != nil {
		return nil, err
	}
	p := &Predicted{Rows: rows, Scores: scores[0], Novelty: novelty[0]}
	p.sum(t, sums)
	return p, nil
}

// sum computes cost and classes from the sums of the predictions.
func (p *Predicted) sum(t *tree.Tree, sums []int64) {
	scorer, leaves := t.Scorer(), sums[:t.CountLeaves()]
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
		p.Cost += float64(n) * leaf.Billed
		if scorer.Modelled() {
			continue
		}
		for k, x := range leaf.Probabilities {
			p.Classes[k].Probability += float64(n) * x
			if t.Label.Classes[k] == leaf.Class {
				p.Classes[k].Rows += n
			}
		}
	}
}

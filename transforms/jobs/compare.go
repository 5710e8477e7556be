package jobs

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Compare counts rows by their predictions by two trees and by true class, see comparison.Counts,
// and values that the trees' training did not have. tasks is a PCollection<[]byte> of Task, one for
// each row group. With a label, test rows are counted by true class; the trees then have the same
// classes. ReadCompared reads the result.
func Compare(s beam.Scope, tasks beam.PCollection, c ScoreConfig) {
	v := &comparer{ScoreConfig: c}
	addJob(s.Scope("transforms.Compare"), tasks, &compareFn{taskFn[*scan[*comparer]]{Job: &scan[*comparer]{Visitor: v}}},
		&mergePairsFn{mergeFn[*adder[pairCounts]]{Job: &adder[pairCounts]{c.Config}}})
}

type compareFn struct{ taskFn[*scan[*comparer]] }

// comparer counts the test rows of a bundle by the predictions of both trees. New values are sought in all
// rows.
type comparer struct {
	ScoreConfig

	mu    sync.Mutex // of pairs: a table for each worker would take much memory
	pairs *comparison.Counts
}

func (f *comparer) prepare(s *scanned) error {
	if len(s.trees) != 2 {
		return errors.New("want two trees to compare")
	}
	s.novelty = true
	s.lax = true
	s.parts = []dataset.Part{dataset.Test}
	_, err := newPairs(s)
	return err
}

func newPairs(s *scanned) (*comparison.Counts, error) {
	return comparison.NewCounts(s.trees[0].Tree, s.trees[1].Tree, s.spec.Label != "")
}

func (f *comparer) begin(s *scanned) (numbers int) {
	f.pairs, _ = newPairs(s) // prepare has returned the error
	return s.noveltyNumbers()
}

func (f *comparer) visit(_ context.Context, s *scanned, g *rowGroup, w *scanWorker) error {
	for at := range s.trees {
		if err := s.score(at, w, &w.scores[at]); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	class := 0
	for i, r := range w.rows {
		if s.spec.Label != "" {
			class = int(w.classes[r])
		}
		f.pairs.Count(&w.scores[0], &w.scores[1], i, class, g.weight(int(r)), g.countOf(int(r)), g.bucket(int(r)))
	}
	return nil
}

func (f *comparer) counts() iter.Seq2[int64, encoder] {
	return func(yield func(int64, encoder) bool) { yield(predictedKey, f.pairs) }
}

// Compared has the counts of Compare.
type Compared struct {
	Counts  *comparison.Counts
	Rows    int64               // all rows that were read
	Novelty [][]dataset.Novelty // by tree and tested feature, in the order of its Scorer

	OtherClass int64 // rows whose label is none of the classes, which are not counted
}

// ReadCompared returns the counts of Compare.
func ReadCompared(ctx context.Context, out string, trees [2]*tree.Tree, labelled bool) (*Compared, error) {
	counts, err := comparison.NewCounts(trees[0], trees[1], labelled)
	if err != nil {
		return nil, err
	}
	n, _, err := readNovelty(ctx, out, 0, trees[:]...)
	if err != nil {
		return nil, err
	}
	return &Compared{counts, n.rows, n.novelty, n.otherClass}, readCounts(ctx, out, []int64{predictedKey}, func(_ int, b []byte) error {
		if b == nil {
			return errGone(out, predictedKey)
		}
		return counts.Merge(b)
	})
}

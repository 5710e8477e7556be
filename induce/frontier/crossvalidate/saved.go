package crossvalidate

import (
	"errors"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/wire"
)

// Append appends the trees of folds, with the rows of the folds at their leaves, in a binary form.
func Append(dst []byte, folds []Fold, pool *frontier.Pool) []byte {
	w := wire.Writer(dst).Length(len(folds))
	for i := range folds {
		list := make([]frontier.Candidate, len(folds[i].trees))
		for k, t := range folds[i].trees {
			list[k] = frontier.NewCandidate(t, pool.Candidates[k].Params)
			list[k].Counts[dataset.Validation] = folds[i].counts[k]
		}
		w = w.Bytes(frontier.AppendCandidates(nil, list))
	}
	return w
}

// Cells returns how many probabilities the trees of folds have.
func Cells(folds []Fold) (n int) {
	for i := range folds {
		for _, t := range folds[i].trees {
			n += len(t.Nodes) * len(t.Label.Classes)
		}
	}
	return n
}

// Price decodes bytes written by Append, and sets the figures of the pool's points on the folds as SetAreas does: by the
// label of the pool's trees, which may have other error costs than label, by which they were pruned.
func Price(b []byte, pool *frontier.Pool, label *tree.Label, features []dataset.Feature) error {
	priced := &pool.Candidates[0].Tree.Label
	train := judging.ClassWeights(pool.Candidates[0].Counts[dataset.Train], len(label.Classes))
	factors := judging.FactorsOf(judging.Frequencies(pool.Candidates[0].Tree), train)
	r := &wire.Reader{Rest: b}
	folds := make([]Fold, r.Length(1))
	for i := range folds {
		list, err := frontier.DecodeCandidates(r.Bytes(), *label, features)
		if err == nil && len(list) != len(pool.Candidates) {
			err = errors.New("another number of trees")
		}
		if err != nil {
			return fmt.Errorf("trees of fold %d: %w", i, err)
		}
		f := &folds[i]
		for k := range list {
			f.trees = append(f.trees, list[k].Tree)
			f.counts = append(f.counts, list[k].Counts[dataset.Validation])
		}
		f.prune(pool)
		for _, t := range f.trees {
			t.Label = *priced
			*t = *t.WithDecision(priced.Decision)
		}
		f.count(factors)
		f.Score()
	}
	if r.Bad || len(r.Rest) > 0 {
		return errors.New("trees of folds: bytes left over, or cut short")
	}
	SetAreas(folds, pool)
	return nil
}

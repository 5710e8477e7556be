package crossvalidate

import (
	"errors"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/wire"
)

// Append appends the trees of folds that belong to some candidates of the pool, in order, with the rows of the folds at
// their leaves, in a binary form.
func Append(dst []byte, folds []Fold, pool *frontier.Pool, candidates []int) []byte {
	w := wire.Writer(dst).Length(len(candidates))
	for _, c := range candidates {
		w = w.Count(int64(c))
	}
	w = w.Length(len(folds))
	for i := range folds {
		list := make([]frontier.Candidate, len(candidates))
		for k, c := range candidates {
			list[k] = frontier.Candidate{Params: pool.Candidates[c].Params, Tree: folds[i].trees[c]}
			list[k].Counts[dataset.Validation] = folds[i].held[c].Leaves()
		}
		w = w.Bytes(frontier.AppendCandidates(nil, list))
	}
	return w
}

// Cells returns how many probabilities the trees of folds have that belong to some candidates.
func Cells(folds []Fold, candidates []int) (n int) {
	for i := range folds {
		for _, c := range candidates {
			t := folds[i].trees[c]
			n += len(t.Nodes) * len(t.Label.Classes)
		}
	}
	return n
}

// Price decodes bytes written by Append, and returns the points of these candidates in the pool, with the figures on the
// folds that SetAreas sets: by the label of the pool's trees, which may have other error costs than label, by which they
// were pruned.
func Price(b []byte, pool *frontier.Pool, label *tree.Label, features []dataset.Feature) ([]frontier.Point, error) {
	priced := &pool.Candidates[0].Tree.Label
	train := judging.ClassWeights(pool.Candidates[0].Counts[dataset.Train], len(label.Classes))
	factors := judging.FactorsOf(judging.Frequencies(pool.Candidates[0].Tree), train)
	r := &wire.Reader{Rest: b}
	candidates := make([]int, r.AtMost(uint64(len(pool.Candidates))))
	for i := range candidates {
		candidates[i] = int(r.AtMost(uint64(len(pool.Candidates) - 1)))
		r.Bad = r.Bad || i > 0 && candidates[i] <= candidates[i-1]
	}
	folds := make([]Fold, r.AtMost(MaxFolds))
	if r.Bad || len(candidates) == 0 || len(folds) == 0 {
		return nil, errors.New("trees of folds: cut short, or no list of grown trees and folds")
	}
	part, points := pool.Part(candidates)
	for i := range folds {
		f := &folds[i]
		list, err := frontier.DecodeCandidates(r.Bytes(), *label, features)
		if err == nil && (r.Bad || len(list) != len(part.Candidates)) {
			err = errors.New("cut short, or another number of trees")
		}
		for k := range list {
			if err == nil && list[k].Counts[dataset.Validation] == nil {
				err = errors.New("no rows")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("trees of fold %d: %w", i, err)
		}
		for k := range list {
			f.trees = append(f.trees, list[k].Tree)
		}
		f.prune(part)
		for k, t := range f.trees {
			t.Label = *priced
			*t = *t.WithDecision(priced.Decision)
			counts := list[k].Counts[dataset.Validation]
			f.rows = counts.TotalRows()
			f.held = append(f.held, prune.NewRows(t, counts, factors))
		}
		f.Score()
	}
	if len(r.Rest) > 0 {
		return nil, errors.New("trees of folds: bytes left over")
	}
	SetAreas(folds, part)
	compared := make([]frontier.Point, len(points))
	for i, at := range points {
		compared[i] = pool.Points[at]
		compared[i].Folds = part.Points[i].Folds
	}
	return compared, nil
}

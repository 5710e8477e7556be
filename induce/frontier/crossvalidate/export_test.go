package crossvalidate

import (
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

// SmoothFolds estimates the trees of the folds with a strength of smoothing.
func SmoothFolds(folds []Fold, by tree.Smoothing) {
	for i := range folds {
		folds[i].smooth(by, len(folds[i].trees))
	}
}

// ScoresOf returns the scores of a fold's steps, in the pruning sequence that corresponds to the sequence of a point.
func ScoresOf(f *Fold, pool *frontier.Pool, p *frontier.Point) []prune.Score {
	return f.scores[pool.PruningOf(p)]
}

package crossvalidate

// SmoothFolds estimates the trees of the folds with a strength of smoothing.
func SmoothFolds(folds []Fold, rows float64) {
	for i := range folds {
		folds[i].smooth(rows, len(folds[i].trees))
	}
}

package metric

import "github.com/espalier-ml/espalier/induce/tree"

// Scores returns the table that EvaluateScores evaluates.
func Scores(t *tree.Tree, counts *tree.ScoreCounts) []Leaf { return scores(t, counts, counts.Groups()) }

// EvaluatePriced is Evaluate with costs of errors.
func EvaluatePriced(leaves []Leaf, classes []string, costs [][]float64) Metrics {
	return evaluate(leaves, classes, 1, nil, costs)
}

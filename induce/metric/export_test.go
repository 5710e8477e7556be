package metric

import "github.com/espalier-ml/espalier/induce/tree"

// Scores returns the table that EvaluateScores evaluates.
func Scores(t *tree.Tree, counts *tree.ScoreCounts) []Leaf { return scores(t, counts, counts.Groups()) }

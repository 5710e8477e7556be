package portable

import "math"

// Scores returns how many scores make the probabilities of classes: one for two classes, otherwise one
// per class.
func Scores(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// FillProbabilities sets the probabilities by class from scores. With two classes
// scores[0] is the logit of the second class; probabilities and scores may be the same
// list.
func FillProbabilities(probabilities, scores []float64) {
	if len(probabilities) == 2 {
		z := scores[0]
		e := Exp(-math.Abs(z)) // at most 1
		rare := e / (1 + e)
		frequent := 1 / (1 + e)
		negative := math.Float64bits(z) >> 63 // no branch: the processor could not foresee it
		_ = probabilities[1]
		probabilities[negative], probabilities[1-negative] = rare, frequent
		return
	}
	most := scores[0]
	for _, z := range scores {
		most = max(most, z)
	}
	for k, z := range scores {
		probabilities[k] = z - most
	}
	ExpEach(probabilities)
	sum := Sum(probabilities)
	for k := range probabilities {
		probabilities[k] /= sum
	}
}

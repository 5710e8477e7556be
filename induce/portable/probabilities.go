package portable

import "math"

// FillProbabilities sets the probabilities by class from scores. With two classes
// scores[0] is the logit of the second class; probabilities and scores may be the same
// list.
func FillProbabilities(probabilities, scores []float64) {
	if len(probabilities) == 2 {
		z := scores[0]
		e := Exp(-math.Abs(z)) // at most 1
		rare, frequent := e/(1+e), 1/(1+e)
		if z < 0 {
			probabilities[0], probabilities[1] = frequent, rare
		} else {
			probabilities[0], probabilities[1] = rare, frequent
		}
		return
	}
	most := scores[0]
	for _, z := range scores {
		if z > most {
			most = z
		}
	}
	for k, z := range scores {
		probabilities[k] = z - most
	}
	ExpEach(probabilities)
	sum := 0.0
	for _, e := range probabilities {
		sum += e
	}
	for k := range probabilities {
		probabilities[k] /= sum
	}
}

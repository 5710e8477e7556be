package certify

import (
	"math"

	"github.com/espalier-ml/espalier/induce/portable"
)

// confidence is the confidence of the lower limit on a sampled mean.
const confidence = 0.95

// lowerLimit returns a lower confidence limit on the mean of independent draws
// from 0..1. It is a bet against each mean m in turn: capital that starts at 1
// and is multiplied with 1 + b_t (x_t - m), where b_t in 0..1/2 is fixed before
// x_t is seen, does not grow in expectation if the true mean is at most m, and so
// reaches 1/(1-confidence) with a probability of at most 1-confidence (Ville's
// inequality; Waudby-Smith and Ramdas, "Estimating means of bounded random
// variables by betting", 2023). It holds at every sample size and for every
// distribution, unlike the limit by Student's t, and is shorter than Hoeffding's
// and the empirical Bernstein one as it adapts to the variance. before are
// earlier draws from which the first bets are sized.
func lowerLimit(draws, before []float64) float64 {
	n := 1.0
	sum := 0.5
	squares := 0.0
	for _, x := range before {
		n++
		sum += x
	}
	for _, x := range before {
		d := x - sum/n
		squares += float64(d * d)
	}
	bets := make([]float64, len(draws))
	stake := 2 * portable.Log(1/(1-confidence)) / float64(len(draws))
	for t, x := range draws {
		bets[t] = min(0.5, math.Sqrt(stake/((squares+0.25)/n)))
		d := x - sum/n
		n++
		sum += x
		squares += float64(d * (x - sum/n))
	}
	low, high := 0.0, 1.0
	for range 50 {
		middle := (low + high) / 2
		if refuted(middle, draws, bets) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// refuted reports whether the capital of the bets against mean ever suffices to reject it.
func refuted(mean float64, draws, bets []float64) bool {
	capital := 0.0
	goal := portable.Log(1 / (1 - confidence))
	for t, x := range draws {
		if capital += portable.Log(1 + float64(bets[t]*(x-mean))); capital >= goal {
			return true
		}
	}
	return false
}

package induce

import (
	"math"

	"github.com/espalier-ml/espalier/induce/split"
)

// Constraints are demands of the features on a tree: to be tested first, or to have
// monotone predictions.
type Constraints struct {
	first    []int // by depth: the feature that nodes have to test; -1: any
	monotone bool  // some feature is monotone
}

// NewConstraints collects the demands of the columns. Monotone features count with two
// classes only.
func NewConstraints(columns []split.Column, classes int) Constraints {
	var c Constraints
	for f := range columns {
		c.monotone = c.monotone || columns[f].Monotone != 0 && classes == 2
		if depth := columns[f].First - 1; depth >= 0 {
			for len(c.first) <= depth {
				c.first = append(c.first, -1)
			}
			c.first[depth] = f
		}
	}
	return c
}

// Monotone reports whether some feature is monotone.
func (c *Constraints) Monotone() bool { return c.monotone }

// Restrict enforces the feature that nodes of a depth have to test: it sets the scores
// of all other features to -Inf. scores are the best scores of the features from the
// given one on. Where the demanded feature is not among them or has no test with two
// outcomes, Restrict changes nothing and returns false.
func (c *Constraints) Restrict(depth, from int, scores []float64) bool {
	if depth >= len(c.first) {
		return false
	}
	at := c.first[depth] - from
	if at < 0 || at >= len(scores) || math.IsInf(scores[at], -1) {
		return false
	}
	for i := range scores {
		if i != at {
			scores[i] = math.Inf(-1)
		}
	}
	return true
}

package induce

import (
	"math"

	"github.com/espalier-ml/espalier/induce/split"
)

// Wishes are what the columns want of a tree, beside good tests.
type Wishes struct {
	first    []int // features that nodes are to test, by depth; -1: any
	monotone bool  // there are monotone constraints
}

// NewWishes collects what the columns want.
func NewWishes(columns []split.Column, classes int) Wishes {
	var w Wishes
	for f := range columns {
		w.monotone = w.monotone || columns[f].Monotone != 0 && classes == 2
		if depth := columns[f].First - 1; depth >= 0 {
			for len(w.first) <= depth {
				w.first = append(w.first, -1)
			}
			w.first[depth] = f
		}
	}
	return w
}

// Grant leaves only the tests of the feature that nodes of a depth are to test
// in the competition, of those of the features from the given one on, whose best
// scores are given. It reports whether there are any: where that feature has no
// test with two outcomes, all others compete.
func (w *Wishes) Grant(depth, from int, scores []float64) bool {
	if depth >= len(w.first) {
		return false
	}
	at := w.first[depth] - from
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

// Bound tells a node's constraints to the scan.
func (w *Wishes) Bound(t *split.Totals, p *Path, columns []split.Column) *split.Totals {
	if w.monotone {
		t.Bounds = p.Bounds(columns)
	}
	return t
}

package levels

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/split"
)

// rivals are the tests among which the runner-up of a node is found, whatever test is
// chosen: those whose scores tie with the best score of the second best feature, or exceed it.
type rivals struct {
	first, second float64 // the two highest of the features' best scores so far
	tests         []found
}

func newRivals() *rivals { return &rivals{first: math.Inf(-1), second: math.Inf(-1)} }

// keep keeps the rivals of a pass, given the best scores of its features.
func (r *rivals) keep(p *Pass, scanner *split.Scanner, scores []float64, load func(f int)) {
	for _, score := range scores {
		if score > r.first {
			r.first, r.second = score, r.first
		} else {
			r.second = max(r.second, score)
		}
	}
	if math.IsInf(r.first, -1) {
		return
	}
	floor := math.Inf(-1)
	if !math.IsInf(r.second, -1) {
		floor = split.Floor(r.second)
	}
	r.tests = slices.DeleteFunc(r.tests, func(f found) bool { return f.Score < floor })
	for i, score := range scores {
		if math.IsInf(score, -1) || score < floor {
			continue
		}
		// A feature by itself: Tied leaves out tests that a test of an earlier feature beats.
		for _, t := range slices.Clone(scanner.Tied(p.From+i, scores[i:i+1], max(floor, split.Floor(score)), load)) {
			load(t.Feature)
			parts, _, _ := scanner.Parts(&t)
			r.tests = append(r.tests, found{Candidate: t, parts: parts})
		}
	}
}

// runnerUp returns the best test of another feature than the one that was chosen, its score
// like that of induce.Node.Parts; nil: there is none.
func (r *rivals) runnerUp(chosen int) *split.Candidate {
	if r == nil {
		return nil
	}
	var tests []split.Candidate
	totals := make(map[split.Test]float64, len(r.tests))
	for i := range r.tests {
		if f := &r.tests[i]; f.Feature != chosen {
			tests, totals[f.Test] = append(tests, f.Candidate), f.parts.Total
		}
	}
	if len(tests) == 0 {
		return nil
	}
	best := split.Best(tests)
	best.Score = totals[best.Test]
	return &best
}

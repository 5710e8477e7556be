package grow

import (
	"math"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
)

// TestDemanded: at depth 0 feature 2 has to be tested, at depth 1 feature 1, and below any.
func TestDemanded(t *testing.T) {
	params := []induce.Params{{Algorithm: split.EC45, Family: split.Both, Lambda: 1}}
	rules := NewRules(params, []split.Column{{}, {First: 2}, {First: 1}}, 2, 4, false)
	none := math.Inf(-1)
	for _, test := range []struct {
		depth, from int
		scores      []float64
		want        []int // features that count
	}{
		{0, 0, []float64{3, 2, 1}, []int{2}},
		{0, 1, []float64{2, 1}, []int{2}},
		{0, 0, []float64{3, 2, none}, []int{0, 1}}, // no test with two outcomes
		{0, 0, []float64{3, 2}, []int{0, 1}},       // feature 2 is in another pass
		{1, 2, []float64{1}, []int{2}},
		{1, 1, []float64{2, 1}, []int{1}},
		{2, 0, []float64{3, 2, 1}, []int{0, 1, 2}},
	} {
		var s Search
		s.reset(&rules, induce.Place{Depth: test.depth}, rules.Features)
		s.add(Member{}, rules.Criteria[0].NewTotals([]int64{2, 2}, []int64{2, 2}))
		s.Group()
		to := test.from + len(test.scores)
		for i, score := range test.scores {
			s.row(test.from+i, &s.teams[0])[0] = split.Estimate{Low: score, High: score}
		}
		tree := &s.Trees[0]
		tree.found = append(tree.found, split.Candidate{Score: 9}) // of an earlier pass
		s.bound(test.from, to)
		tree.first, tree.second = none, none // any score is good enough
		var got []int
		for f := test.from; f < to; f++ {
			if cut := s.cut(tree, f); !math.IsInf(cut, 1) {
				got = append(got, f)
			}
		}
		demanded, _ := rules.demanded(induce.Place{Depth: test.depth})
		only := slices.Equal(test.want, []int{demanded})
		if !slices.Equal(got, test.want) || (len(tree.found) == 0) != only {
			t.Errorf("depth %d, features from %d: features %v of scores %v with %d earlier tests, want %v", test.depth,
				test.from, got, test.scores, len(tree.found), test.want)
		}
	}
}

// TestRootByCodes: the root tests the feature with the highest gain that has tests, whatever the scores
// and the passes; the first of several. A feature that users demand goes first.
func TestRootByCodes(t *testing.T) {
	none := math.Inf(-1)
	for _, test := range []struct {
		demand int // feature with First 1; -1: none
		gains  []float64
		scores []float64
		ends   []int // of the passes
		want   int
	}{
		{-1, []float64{1, 3, 2}, []float64{9, 1, 5}, []int{3}, 1},
		{-1, []float64{1, 3, 2}, []float64{9, 1, 5}, []int{1, 2, 3}, 1},
		{-1, []float64{2, 2, 2}, []float64{1, 9, 5}, []int{2, 3}, 0},
		{-1, []float64{1, 3, 2}, []float64{9, none, 5}, []int{2, 3}, 2},
		{2, []float64{1, 3, 2}, []float64{9, 8, 5}, []int{2, 3}, 2},
	} {
		columns := make([]split.Column, len(test.gains))
		if test.demand >= 0 {
			columns[test.demand].First = 1
		}
		params := []induce.Params{{Algorithm: split.EC45, Family: split.Both, Lambda: 1, RootByCodes: true}}
		rules := NewRules(params, columns, 2, 4, false)
		var s Search
		s.reset(&rules, induce.Place{}, rules.Features)
		s.add(Member{}, rules.Criteria[0].NewTotals([]int64{2, 2}, []int64{2, 2}))
		s.Group()
		copy(s.gains, test.gains)
		for f, score := range test.scores {
			s.row(f, &s.teams[0])[0] = split.Estimate{Low: score, High: score}
		}
		tree, from := &s.Trees[0], 0
		for _, to := range test.ends {
			s.bound(from, to)
			for f := from; f < to; f++ {
				if !math.IsInf(s.cut(tree, f), 1) {
					tree.found = append(tree.found, split.Candidate{Test: split.Test{Feature: f}, Score: test.scores[f]})
				}
			}
			from = to
		}
		if len(tree.found) != 1 || tree.found[0].Feature != test.want {
			t.Errorf("gains %v, scores %v, passes up to %v: tests %v, want one of feature %d", test.gains, test.scores,
				test.ends, tree.found, test.want)
		}
	}
}

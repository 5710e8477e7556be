// Package region represents the rows that a branch of a tree takes, as sets of codes of its
// feature.
package region

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Codes is a range of codes of a feature, with both ends. Sets of codes are ascending ranges
// that do not touch.
type Codes struct{ From, To int }

// Of returns the codes that take a branch of a node.
func Of(n *tree.Node, f *dataset.Feature, branch int) []Codes {
	b := &n.Branches[branch]
	last := f.MissingCode()
	if n.Test.Kind == split.In {
		return ofSet(n.Test.Set, last, b.Outcome)
	}
	if n.Test.Kind != split.Multiway {
		yes := Codes{n.Test.Code, n.Test.Code + n.Test.Span}
		if n.Test.Kind == split.Threshold {
			yes.To = last - 1
		}
		if b.Outcome == 1 {
			return []Codes{yes}
		}
		return Without([]Codes{yes}, last)
	}
	var taken []Codes // by other branches
	for k := range n.Branches {
		if k != branch {
			taken = append(taken, Codes{n.Branches[k].Outcome, n.Branches[k].Outcome})
		}
	}
	slices.SortFunc(taken, func(a, b Codes) int { return a.From - b.From })
	var set []Codes
	for _, c := range Without(taken, last) { // codes of this branch, or of none
		switch {
		case b.Other && b.Missing:
			set = append(set, c)
		case b.Other:
			set = append(set, Both([]Codes{c}, []Codes{{0, last - 1}})...)
		default:
			set = append(set, Both([]Codes{c}, []Codes{{b.Outcome, b.Outcome}})...)
			if b.Missing && b.Outcome != last && c.To == last {
				set = append(set, Codes{last, last})
			}
		}
	}
	return set
}

// ofSet returns the codes up to last that are in a set if outcome is 1, and those that are not if it is 0.
func ofSet(s split.CodeSet, last, outcome int) []Codes {
	var set []Codes
	for code := range last + 1 {
		if s.Has(code) != (outcome == 1) {
			continue
		}
		if n := len(set); n > 0 && set[n-1].To == code-1 {
			set[n-1].To = code
		} else {
			set = append(set, Codes{code, code})
		}
	}
	return set
}

// Without returns the codes up to last that are in none of the ranges.
func Without(ranges []Codes, last int) []Codes {
	var rest []Codes
	next := 0
	for _, c := range ranges {
		if c.From > next {
			rest = append(rest, Codes{next, c.From - 1})
		}
		next = max(next, c.To+1)
	}
	if next <= last {
		rest = append(rest, Codes{next, last})
	}
	return rest
}

// Both returns the codes in both sets.
func Both(a, b []Codes) []Codes {
	set := []Codes{}
	for i, k := 0, 0; i < len(a) && k < len(b); {
		if c := (Codes{max(a[i].From, b[k].From), min(a[i].To, b[k].To)}); c.From <= c.To {
			set = append(set, c)
		}
		if a[i].To < b[k].To {
			i++
		} else {
			k++
		}
	}
	return set
}

// Has reports whether a code is in a set.
func Has(set []Codes, code int) bool {
	return slices.ContainsFunc(set, func(c Codes) bool { return c.From <= code && code <= c.To })
}

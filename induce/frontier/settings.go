package frontier

import "github.com/espalier-ml/espalier/induce/prune"

// Settings describe how a tree is chosen among candidates, and how far it is pruned.
type Settings struct {
	Query // the rule, the limits and the tolerance by which the tree is chosen

	Currencies []prune.Currency // currencies of the prunings; empty: trees are not pruned
	Alpha      *float64         // alpha at which all trees are pruned; nil: each step of a sequence competes
	Step       float64          // least rise in merit between the listed points of the frontier, see Thin; at least 0
}

// Undecided reports whether there is a choice among the given number of trees: the
// rule is not First, and there are several trees, several prunings, or a limit on
// costs.
func (s *Settings) Undecided(trees int) bool {
	pruned := len(s.Currencies) > 0 && s.Alpha == nil
	priced := s.Limits.ExpectedCost != 0 || s.Limits.MaxCost != 0
	return s.Rule != First && (trees > 1 || pruned || priced)
}

// Unjudged returns the settings for a run without rows to compare trees by: the first
// tree is taken un-pruned.
func (s Settings) Unjudged() Settings {
	s.Rule, s.Currencies = First, nil
	return s
}

// Sole returns the tree of a choice that is not Undecided: the candidate, pruned at the
// fixed alpha in the first currency, or un-pruned if there is no alpha or no currency.
func (s *Settings) Sole(c *Candidate) *Candidate {
	if s.Alpha == nil || len(s.Currencies) == 0 {
		return c
	}
	sequence := c.Prune(c.Tree, s.Currencies[0])[0]
	return c.Pruned(sequence, sequence.At(*s.Alpha))
}

// currencies returns the currencies of the sequences. A tree that is not pruned has one sequence, and
// only the first step of it competes.
func (s *Settings) currencies() []prune.Currency {
	if len(s.Currencies) == 0 {
		return []prune.Currency{prune.Leaves}
	}
	return s.Currencies
}

// competing returns the range [from, to) of the steps of a sequence that compete.
func (s *Settings) competing(q *prune.Sequence) (from, to int) {
	switch {
	case len(s.Currencies) == 0:
		return 0, 1
	case s.Alpha != nil:
		at := q.At(*s.Alpha)
		return at, at + 1
	default:
		return 0, len(q.Steps)
	}
}

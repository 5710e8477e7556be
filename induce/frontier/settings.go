package frontier

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Settings describe how a tree is chosen among candidates, and how far it is pruned.
type Settings struct {
	Query // the rule, the limits and the tolerance by which the tree is chosen

	Demand *Demand // shares that a threshold on the probability of a class keeps; nil: none

	Merit Criterion // criterion of the merits; 0: Auto

	Currencies []prune.Currency // currencies of the prunings; empty: trees are not pruned
	Alpha      *float64         // alpha at which all trees are pruned; nil: each step of a sequence competes
	LeafRows   int64            // where steps compete: least mean of the training rows of a leaf
	Step       float64          // least rise in merit between the listed points of the frontier, see Thin; at least 0
}

// Undecided reports whether there is a choice among the given number of trees: the
// rule is not First, and there are several trees, several prunings, or a limit on
// costs.
func (s *Settings) Undecided(trees int) bool {
	return s.Rule != First && (trees > 1 || s.stepsCompete() || s.Limits.priced())
}

// stepsCompete reports whether the steps of a pruning sequence compete with each other.
func (s *Settings) stepsCompete() bool { return len(s.Currencies) > 0 && s.Alpha == nil }

// Unjudged returns the settings for a run without rows to compare trees by: the first tree is taken. It is
// pruned at the fixed alpha, or until it keeps the limits.
func (s Settings) Unjudged() Settings {
	if s.Rule = First; s.Alpha == nil && s.Limits == (Limits{}) {
		s.Currencies = nil
	}
	return s
}

// GrownLeaves returns the number of leaves that each tree keeps as it is grown: the limit of leaves, if no
// pruning competes that could keep the limit. 0: unlimited.
func (s *Settings) GrownLeaves() int {
	if s.Rule != First && s.stepsCompete() {
		return 0
	}
	return s.Limits.Leaves
}

// Sole returns the tree of a choice that is not Undecided: the candidate, pruned at the fixed alpha in the
// first currency, or unpruned if there is no alpha or no currency. A tree beyond a limit is pruned further:
// Sole returns the pruning within the limits with the least training risk among the currencies. The error
// wraps ErrLimits if no pruning is within the limits.
func (s *Settings) Sole(c *Candidate) (*Candidate, error) {
	pruned := s.Alpha != nil && len(s.Currencies) > 0
	if !pruned && s.Limits.Allow(&c.Tree.Complexity, c.Tree.PaidTests()) {
		return c, nil
	}
	currencies := s.currencies(c.Tree)
	if pruned {
		currencies = currencies[:1]
	} else if impure := slices.DeleteFunc(slices.Clone(currencies), ofTotal); len(impure) > 0 {
		currencies = impure // only these risks can be compared
	}
	var found *prune.Sequence
	at := 0
	for _, sequence := range c.Prune(c.Tree, currencies...) {
		from, to := s.soleRange(sequence)
		for step := from; step < to; step++ {
			if !s.Limits.Allow(&sequence.Steps[step].Complexity, sequence.Steps[step].PaidTests) {
				continue
			}
			if found == nil || sequence.Steps[step].Risk < found.Steps[at].Risk {
				found = sequence
				at = step
			}
			break
		}
	}
	if found == nil {
		return nil, s.Limits.excludes([]Point{{Complexity: c.Tree.Complexity, PaidTests: c.Tree.PaidTests()}})
	}
	return c.Pruned(found, at), nil
}

// soleRange returns the range [from, to) of the steps that Sole may take: all steps from the fixed alpha on,
// or only the unpruned tree if trees are not pruned.
func (s *Settings) soleRange(q *prune.Sequence) (from, to int) {
	switch {
	case len(s.Currencies) == 0:
		return 0, 1
	case s.Alpha != nil:
		return q.At(*s.Alpha), len(q.Steps)
	default:
		return 0, len(q.Steps)
	}
}

// currencies returns the currencies of the sequences of a tree. A tree that is not pruned has one sequence, and
// only the first step of it competes. Without error costs there is no total cost.
func (s *Settings) currencies(t *tree.Tree) []prune.Currency {
	if len(s.Currencies) == 0 {
		return []prune.Currency{prune.Leaves}
	}
	if t.Label.ErrorCosts == nil {
		return slices.DeleteFunc(slices.Clone(s.Currencies), ofTotal)
	}
	return s.Currencies
}

func ofTotal(c prune.Currency) bool { return c == prune.Total }

// competing returns the range [from, to) of the steps of a sequence that compete, for a tree of this many training rows.
func (s *Settings) competing(q *prune.Sequence, rows int64) (from, to int) {
	switch {
	case len(s.Currencies) == 0:
		return 0, 1
	case s.Alpha != nil:
		at := q.At(*s.Alpha)
		return at, at + 1
	default:
		for from < len(q.Steps)-1 && s.LeafRows*int64(q.Steps[from].Leaves) > rows {
			from++
		}
		return from, len(q.Steps)
	}
}

package train

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/usage"
)

// keepDemand gives the chosen tree the threshold that keeps the demand of the run or of the choice, or chooses a listed tree
// that keeps it. A tree that is named by its number stays chosen.
func (p *promotion) keepDemand(ctx context.Context) error {
	d := p.parsed.Selection.Demand
	p.frontier.ByDemand = false
	if d == nil {
		return nil
	}
	refused := func(why string) error {
		if p.wish.Demands() {
			return usage.Errorf("a threshold on the probability of %q: %s", d.Class, why)
		}
		p.Reporter.Warn(fmt.Sprintf("the tree has no threshold on the probability of %q, as the run's has: %s", d.Class, why))
		return nil
	}
	switch {
	case p.pool == nil:
		return refused("an earlier version has trained the run, and did not keep the validation rows of its trees: train again")
	case p.dependent() && p.wish.WithoutRows:
		return refused("rows of a group depend on each other, and the run does not keep the groups: leave out --without_rows")
	}
	var list []*frontier.Candidate
	var points []int // by candidate: index of the point
	chosen := 0
	for i := range p.frontier.Points {
		of := &p.frontier.Points[i]
		other := p.wish.Number < 0 && p.parsed.Selection.Limits.Allow(&of.Complexity, p.paidTests(i))
		if a := &of.Algorithm; i != p.now && !other || a.Ridge != 0 || a.BoosterTrees != 0 {
			continue
		}
		if i == p.now {
			chosen = len(list)
		}
		list = append(list, p.candidate(of))
		points = append(points, i)
	}
	if len(list) == 0 || points[chosen] != p.now && !d.Trades() {
		return refused("the leaves of the tree have models, and its validation rows are scored only in training: train again with the demand and " +
			"with a limit that chooses this tree")
	}
	groups, err := p.validationGroups(ctx)
	if err != nil {
		return err
	}
	all := p.listedPoints()
	candidates := make([]frontier.Point, len(points))
	for i, at := range points {
		candidates[i] = all[at]
	}
	at, decided, err := selection.Decided(d, list, chosen, groups, p.parsed.Selection.Among(candidates))
	switch {
	case err != nil && (p.wish.Number >= 0 || p.wish.DryRun && !p.wish.Demands()):
		return refused(err.Error())
	case err != nil:
		return usage.Errorf("%v", err)
	}
	if !d.Trades() && at != chosen {
		p.Reporter.Note(fmt.Sprintf("%s %s: %s", settings.FlagName("select"), p.frontier.Select, selection.InsteadOf))
	}
	p.now = points[at]
	p.decided = decided
	p.frontier.ByDemand = p.wish.Number < 0 && (d.Trades() || at != chosen)
	p.Reporter.Note(fmt.Sprintf("%q is predicted from the probability %v on", d.Class, decided.Tree.Label.Decision.Threshold))
	return nil
}

// validationGroups returns how far the validation rows are independent, counted by the leaves of a tree. Rows of groups are
// read again.
func (p *promotion) validationGroups(ctx context.Context) (func(t *tree.Tree) *tree.GroupCounts, error) {
	if p.dependent() {
		return (&reopened{promotion: p}).groups(ctx)
	}
	return func(t *tree.Tree) *tree.GroupCounts {
		if p.pool.Groups == nil {
			return nil
		}
		return p.pool.Groups(t, dataset.Validation)
	}, nil
}

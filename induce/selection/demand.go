package selection

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/tree"
)

// keepDemand gives the winner the threshold that keeps the demand of the settings, or replaces it by a listed tree that
// keeps it: see frontier.Demand.
func (c *Chooser) keepDemand(ctx context.Context, w *Winner) error {
	d := c.Settings.Demand
	if d == nil {
		return nil
	}
	if w.Candidate.Tree.Modelled() {
		return c.keepWithModels(ctx, w, d)
	}
	groups := func(*tree.Tree) *tree.GroupCounts { return nil }
	if c.Grouped != nil {
		all, err := c.Grouped.Objects(ctx, dataset.Validation)
		if err != nil {
			return err
		}
		groups = func(t *tree.Tree) *tree.GroupCounts { return c.Grouped.Counts(t, all) }
	}
	list := []*frontier.Candidate{w.Candidate}
	var listed []int // by candidate: index of the listed point
	var points []frontier.Point
	chosen := 0
	if w.Competition != nil {
		list = nil
		pool := w.Competition.Pool
		for i := range w.Competition.Choice.Listed {
			p := w.Competition.Choice.Listed[i].Point
			candidate := w.Candidate
			switch {
			case w.Competition.Choice.Listed[i].Chosen:
				chosen = len(list)
			case !c.Settings.Limits.Allow(&p.Complexity, p.PaidTests) || p.Ridge != 0 || p.Boosted != 0:
				continue
			default:
				candidate = pool.Candidate(&p)
			}
			if c.Settings.Rule == frontier.OneSE {
				p.Validation.Interval = pool.Interval(&p, pool.Tree(&p), dataset.Validation)
			}
			list = append(list, candidate)
			listed = append(listed, i)
			points = append(points, p)
		}
	}
	at, decided, err := Decided(d, list, chosen, groups, c.Settings.Among(points))
	if err != nil {
		return &RuleError{c.demanded(d), err}
	}
	c.decide(w, decided)
	if w.Competition == nil {
		return nil
	}
	choice := w.Competition.Choice
	choice.ByDemand = d.Trades() || at != chosen
	if !d.Trades() && at != chosen {
		c.Host.Note(fmt.Sprintf("%s %s: %s", c.Host.Setting("select"), c.Settings.Rule, InsteadOf))
	}
	for i := range choice.Listed {
		choice.Listed[i].Chosen = i == listed[at]
	}
	choice.Chosen = choice.Listed[listed[at]].Point
	return nil
}

// keepWithModels is keepDemand for a tree with leaf models, whose probabilities depend on the values of each row.
func (c *Chooser) keepWithModels(ctx context.Context, w *Winner, d *frontier.Demand) error {
	switch {
	case c.Scored == nil:
		return &RuleError{c.demanded(d), errors.New("the leaves of the tree have models, and its validation rows cannot be scored here: choose no leaf models")}
	case d.Trades():
		return &RuleError{c.demanded(d), errors.New("where leaves have models, a threshold keeps a sensitivity or a specificity alone: demand a " +
			"sensitivity or a specificity, not a precision or both, or choose no leaf models")}
	}
	m, err := c.Scored(ctx, w.Candidate.Tree)
	if err != nil {
		return err
	}
	_, decision, err := d.Decide([]frontier.Contender{{Tree: w.Candidate.Tree, Validation: m}}, 0)
	if err != nil {
		return &RuleError{c.demanded(d), err}
	}
	decided := *w.Candidate
	decided.Tree = decided.Tree.WithDecision(decision)
	c.decide(w, &decided)
	return nil
}

// decide makes a candidate with a threshold the winner.
func (c *Chooser) decide(w *Winner, decided *frontier.Candidate) {
	w.Candidate = decided
	d := decided.Tree.Label.Decision
	c.Host.Note(fmt.Sprintf("%s: %s is predicted from the probability %s on", c.demanded(c.Settings.Demand), naming.Printable(d.Positive),
		strconv.FormatFloat(d.Threshold, 'g', -1, 64)))
}

// InsteadOf says that a demand takes another tree than the rule.
const InsteadOf = "the tree of this rule does not keep the demand; the best listed tree by the rule that keeps it is taken"

// Decided returns the index of the candidate that a demand takes, and the candidate with the threshold that keeps the
// demand. groups returns how far the validation rows are independent, counted by the leaves of a tree, or nil. rule chooses
// among the candidates that keep the demand, given by index, if the chosen one does not keep it; nil: no other is taken.
func Decided(
	d *frontier.Demand, list []*frontier.Candidate, chosen int, groups func(t *tree.Tree) *tree.GroupCounts,
	rule func(keeping []int) (int, error),
) (int, *frontier.Candidate, error) {
	contenders := make([]frontier.Contender, len(list))
	measure := func(i int) {
		c := list[i]
		contenders[i].Tree = c.Tree
		if counts := c.Counts[dataset.Validation]; counts != nil {
			own := *counts
			own.Groups = groups(c.Tree)
			contenders[i].Validation = metric.OfLeaves(c.Tree, &own, 1)
		}
	}
	others := func() {
		for i := range list {
			if i != chosen {
				measure(i)
			}
		}
	}
	measure(chosen)
	if d.Trades() {
		others()
	}
	at, decision, err := d.Decide(contenders, chosen)
	if err != nil && !d.Trades() && rule != nil && len(list) > 1 {
		others()
		at, decision, err = d.Instead(contenders, rule, err)
	}
	if err != nil {
		return at, nil, err
	}
	decided := *list[at]
	decided.Tree = decided.Tree.WithDecision(decision)
	return at, &decided, nil
}

// demanded names the setting of a demand.
func (c *Chooser) demanded(d *frontier.Demand) string {
	for _, x := range []struct {
		setting string
		least   float64
	}{{"min_sensitivity", d.Sensitivity}, {"min_specificity", d.Specificity}, {"min_precision", d.Precision}} {
		if x.least > 0 {
			return fmt.Sprintf("%s %s=%v", c.Host.Setting(x.setting), naming.Printable(d.Class), x.least)
		}
	}
	return ""
}

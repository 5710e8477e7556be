package pipelines

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/setting"
)

// selectFirst is the rule that takes the first tree of the grid.
const selectFirst = "first"

// alphaAuto prunes by what is best on the validation rows.
const alphaAuto = "auto"

// selection says which of the grown trees is chosen, and how far it is pruned.
type selection struct {
	rule       frontier.Rule // 0: the first tree
	limits     frontier.Limits
	tolerance  float64          // merit that a cheaper tree may lack by the rule best
	currencies []prune.Currency // none: trees are not pruned
	alpha      float64
	fixed      bool // alpha is, else it is chosen, too
	folds      int  // of the training rows that trees are compared on, too; -1: as many as it takes
}

// selection reads the settings of the choice, which have been checked one by one.
func (c *TrainConfig) selection() selection {
	s := selection{
		tolerance: c.Tolerance, fixed: c.Alpha != alphaAuto,
		limits: frontier.Limits{ExpectedCost: c.MaxExpectedCost, MaxCost: c.MaxCost, Leaves: c.MaxLeaves},
	}
	if c.Select != selectFirst {
		s.rule, _ = frontier.ParseRule(c.Select)
	}
	if !slices.Equal(c.Prune, Choices{pruneNone}) {
		s.currencies = parseEach(c.Prune, prune.ParseCurrency)
	}
	if s.fixed {
		s.alpha, _ = parseAlpha(c.Alpha)
	}
	s.folds, _ = parseFolds(c.Folds)
	return s
}

// checkRule checks the name of a rule of selection.
func checkRule(text string) error {
	if _, err := frontier.ParseRule(text); err != nil && text != selectFirst {
		return errors.New("want first, best, highest, knee, one_se, one_percent or paper")
	}
	return nil
}

func parseAlpha(text string) (float64, error) { return setting.Between(0, 1e12).Parse(text) }

func checkAlpha(text string) error {
	if text == alphaAuto {
		return nil
	}
	return setting.By(parseAlpha)(text)
}

// parseFolds reads a number of folds, -1 for auto.
func parseFolds(text string) (int, error) {
	if text == foldsAuto {
		return -1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n == 1 || n > maxFolds {
		return 0, fmt.Errorf("want auto, 0 or 2 to %d", maxFolds)
	}
	return n, nil
}

// conflictsOfChoice returns the faults of settings of the choice that do not go together.
// The rule first takes the first tree of the grid, whatever it costs.
func (c *TrainConfig) conflictsOfChoice() []error {
	var faults []error
	if c.Alpha != alphaAuto && len(c.Prune) > 1 {
		faults = append(faults,
			fmt.Errorf("--alpha %s is of one currency: name it with --prune leaves or --prune cost", c.Alpha))
	}
	if c.Select != selectFirst {
		return faults
	}
	if slices.Equal(c.Lambda, Choices{lambdaChosen}) {
		faults = append(faults, errors.New("--lambda auto is a choice among the paper's lambdas: --select first makes none, "+
			"--select paper does"))
	}
	for _, budget := range []struct {
		flag string
		cost float64
	}{{"max_expected_cost", c.MaxExpectedCost}, {"max_cost", c.MaxCost}} {
		if budget.cost != 0 {
			faults = append(faults, fmt.Errorf("--%s %v is a budget to choose by: --select first chooses nothing; name a rule "+
				"that does, such as --select best", budget.flag, budget.cost))
		}
	}
	return faults
}

// query asks for a point by a rule, within the limits of the run.
func (s *selection) query(rule frontier.Rule) frontier.Query {
	return frontier.Query{Rule: rule, Limits: s.limits, Tolerance: s.tolerance}
}

// undecided reports whether there is anything to choose.
func (t *training) undecided() bool {
	s := &t.parsed.selection
	return s.rule != 0 && (len(t.grid) > 1 || len(s.currencies) > 0 && !s.fixed || s.limits != frontier.Limits{Leaves: s.limits.Leaves})
}

// restrict leaves a single tree in the grid where there is nothing to choose one
// by.
func (t *training) restrict() {
	if s := &t.parsed.selection; s.rule != 0 && t.undecided() && !t.validates() && s.folds <= 0 {
		t.driver.Reporter.Note("there are no validation rows to choose a tree by: it is the first of the grid, as it was grown; --folds 5 chooses by cross-validation")
		s.rule = 0
		s.currencies = nil
	}
	if t.parsed.selection.rule == 0 {
		t.grid = t.grid[:1]
	}
}

// validates reports whether there are validation rows, or will be once the rows
// have been seen.
func (t *training) validates() bool {
	if t.objects == nil {
		return t.parsed.column != "" || t.parsed.shares[dataset.Validation] > 0
	}
	return t.objects[dataset.Validation].Rows > 0
}

// choose takes the tree of the run folder.
func (t *training) choose(ctx context.Context, candidates []candidate) error {
	c, s := &candidates[0], &t.parsed.selection
	for i := range candidates {
		if n := candidates[i].tree.Training.CutLeaves; n > 0 {
			t.driver.Reporter.Warn(fmt.Sprintf("--deadline came first: %d leaves of the tree would have been split further", n))
			break
		}
	}
	var err error
	switch {
	case t.undecided():
		if c, err = t.chooseBest(ctx, candidates); err != nil {
			return err
		}
	case s.fixed && len(s.currencies) > 0:
		q := newSequence(c.tree, s.currencies[0])
		c = c.pruned(q, q.At(s.alpha))
	}
	t.tree = c.tree
	err = t.driver.Phase(ctx, "certificate", 1, "steps", func(s *parallel.Steps) error { return t.certify(ctx, c, s) })
	if err != nil {
		return err
	}
	t.tree = t.tree.Tested()
	t.encoded = t.tree.Encode()
	if t.frontier != nil {
		at := slices.IndexFunc(t.frontier.Points, func(p runfolder.Point) bool { return p.Selected })
		t.frontierTrees[at].Content = t.encoded // with its certificate
	}
	t.metrics = newMetrics(c.tree, c.counts, &t.spec)
	t.metrics.Folds = t.folds
	if n := t.tree.Training.LeftOutRows; n > 0 {
		t.driver.Reporter.Warn(fmt.Sprintf("%d training rows are of a class with the weight 0: they are left out", n))
	}
	if t.tree.Training.Weights != "" {
		t.metrics.DescribeWeights()
	}
	return nil
}

// pruned returns the candidate of a step of its tree's sequence.
func (c *candidate) pruned(s *prune.Sequence, step int) *candidate {
	p := &candidate{tree: s.Tree(step), grown: c.tree, subset: c.subset}
	if step > 0 {
		p.tree.Algorithm.Alpha = min(s.Steps[step].Alpha, math.MaxFloat64) // infinite where what is cut costs nothing
	}
	for part := range c.counts {
		p.counts[part] = s.Counts(step, c.counts[part])
	}
	return p
}

// newSequence prunes a tree by the impurity that it was grown by.
func newSequence(t *tree.Tree, currency prune.Currency) *prune.Sequence {
	return prune.NewSequence(t, currency, algorithmOf(t).Gini())
}

package config

import (
	"errors"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/io/setting"
)

// Values of the flags that say how a tree is chosen.
const (
	SelectFirst = "first" // --select: see frontier.First
	selectTotal = "total" // see frontier.Total
	alphaAuto   = "auto"  // --alpha: the alpha of the chosen tree is chosen, too
	foldsAuto   = crossvalidate.Auto

	CertificateNone = "none"
	certificateAuto = "auto"
	// Earlier versions had two modes of certificates. Their names mean certificateAuto.
	certificateQuick = "quick"
	certificateFull  = "full"
)

// selection reads the settings of the choice, which have been checked one by one.
func (c *Train) selection() selection.Settings {
	s := selection.Settings{
		Seed: c.Seed, Certificate: c.Certificate != CertificateNone, LeafModel: selection.Kind(c.LeafModel),
		Teacher:     selection.Teacher{Kind: distill.Teacher(c.Teacher), Weight: c.TeacherWeight, MadeUp: c.MadeUpRows},
		Constrained: len(c.Monotone) > 0,
	}
	s.Rule, _ = frontier.ParseRule(c.Select)
	s.Limits = frontier.Limits{ExpectedCost: c.MaxExpectedCost, MaxCost: c.MaxCost, Leaves: c.MaxLeaves}
	s.Tolerance, s.Step = c.Tolerance, c.FrontierStep
	if !slices.Equal(c.Prune, Choices{pruneNone}) {
		s.Currencies = parseEach(c.Prune, prune.ParseCurrency)
	}
	if c.Alpha != alphaAuto {
		alpha, _ := parseAlpha(c.Alpha)
		s.Alpha = &alpha
	}
	s.Folds, _ = crossvalidate.ParseSetting(c.Folds)
	return s
}

func parseAlpha(text string) (float64, error) { return setting.Between(0, 1e12).Parse(text) }

func checkAlpha(text string) error {
	if text == alphaAuto {
		return nil
	}
	return setting.By(parseAlpha)(text)
}

// conflictsOfChoice returns the faults of settings of the choice that do not go together.
// The rule first takes the first tree of the grid, whatever it costs.
func (c *Train) conflictsOfChoice() []error {
	var faults []error
	if c.Alpha != alphaAuto && len(c.Prune) > 1 {
		faults = append(faults,
			fmt.Errorf("--alpha %s is of one currency: name it with --prune, such as --prune leaves", c.Alpha))
	}
	if c.Select == selectTotal && c.ErrorCosts == "" {
		faults = append(faults, errors.New("--select total adds the cost of errors to the cost of tests: give --error_costs, "+
			"a CSV actual,predicted,cost in the unit of --costs"))
	}
	if c.Select != SelectFirst {
		return faults
	}
	if slices.Equal(c.Lambda, Choices{lambdaChosen}) {
		faults = append(faults, errors.New("--lambda auto is a choice among the paper's lambdas: "+
			"--select first makes none, --select paper does"))
	}
	for _, budget := range []struct {
		flag string
		cost float64
	}{{"max_expected_cost", c.MaxExpectedCost}, {"max_cost", c.MaxCost}} {
		if budget.cost != 0 {
			faults = append(faults, fmt.Errorf("--%s %v is a budget to choose by: --select first chooses nothing; "+
				"name a rule that does, such as --select best", budget.flag, budget.cost))
		}
	}
	return faults
}

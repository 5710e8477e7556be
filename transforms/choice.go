package transforms

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// This file has the grid of a TrainConfig, and the choice among its trees.

// listOr returns a list, or the value of a field if the list is empty.
func listOr[T any](list []T, one T) []T {
	if len(list) == 0 {
		return []T{one}
	}
	return list
}

// lambdas, thetas and numbers of bins of the grid.
func (c *TrainConfig) lambdas() []float64 { return orNones(listOr(c.Grid.Lambdas, c.Lambda)) }
func (c *TrainConfig) thetas() []float64  { return orNones(listOr(c.Grid.Thetas, c.Theta)) }

// orNones is orNone for a list.
func orNones(list []float64) []float64 {
	numbers := slices.Clone(list)
	for i, x := range numbers {
		numbers[i] = orNone(x)
	}
	return numbers
}

// bins returns the numbers of bins for numbers of rows and classes. Rows without a label count too.
func (c *TrainConfig) bins(rows int64, classes int) []int {
	bins := listOr(c.Grid.Bins, c.Bins)
	if slices.Equal(bins, []int{0}) {
		return []int{grid.AutoBins(rows, classes)}
	}
	return bins
}

// maxBins leaves a code for missing within two bytes.
const maxBins = math.MaxUint16 - 1

// checkBins checks the numbers of bins, which share the codes of a feature.
func (c *TrainConfig) checkBins() error {
	const field = "Bins"
	bins, codes := listOr(c.Grid.Bins, c.Bins), 0
	if slices.Equal(bins, []int{0}) {
		return nil
	}
	if len(bins) == 1 && (bins[0] < 2 || bins[0] > maxBins) {
		return fmt.Errorf("%s %d: want a number from 2 to %d", field, bins[0], maxBins)
	}
	for i, n := range bins {
		if n < 2 || n > maxBins || slices.Contains(bins[:i], n) {
			return fmt.Errorf("the Bins %v: want numbers from 2 to %d, each once", bins, maxBins)
		}
		codes += n
	}
	if codes > maxBins {
		return fmt.Errorf("the Bins %v: want at most %d in all", bins, maxBins)
	}
	return nil
}

// parseEach parses the values of a list.
func parseEach[T any](list []string, parse func(string) (T, error)) ([]T, error) {
	values, faults := make([]T, len(list)), make([]error, len(list))
	for i, text := range list {
		values[i], faults[i] = parse(text)
	}
	return values, errors.Join(faults...)
}

// members returns the trees of the grid, without their bins.
func (s *trainSpec) members() ([]grid.Member, error) {
	c := &s.Config
	algorithms, err := parseEach(listOr(c.Grid.Algorithms, c.Algorithm), split.ParseAlgorithm)
	families, err2 := parseEach(listOr(c.Grid.Tests, c.Tests), split.ParseFamily)
	classes, err3 := split.ParseClasses(c.Classes)
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, err
	}
	axes := grid.Axes{
		Classes:    classes,
		Algorithms: algorithms, Lambdas: c.lambdas(), Thetas: c.thetas(), Families: families,
		Bins: len(listOr(c.Grid.Bins, c.Bins)), MaxDepth: c.MaxDepth, MinRows: c.MinRows,
		Priced: len(c.Costs)+len(c.Groups)+len(c.ValueCosts) > 0 || c.FreeRepeats,
		Record: tree.Algorithm{
			Binning: c.Binning, LeafEstimate: c.LeafEstimate, Prune: "none", CostUnit: c.CostUnit, First: c.First,
			Monotone: c.constraints(), Seed: c.Choice.Seed,
		},
	}
	if c.FreeRepeats {
		axes.Record.RepeatCost = tree.RepeatFree
	}
	members := axes.Members()
	grouped := slices.ContainsFunc(c.Groups, func(g CostGroup) bool { return g.Cost > 0 })
	if grouped || c.FreeRepeats || len(c.ValueCosts) > 0 || grid.Differ(c.Costs, s.names()) {
		rule, _ := frontier.ParseRule(c.Choice.Select) // checkChoice checks it
		members = grid.WithPricing(members, rule, grouped)
	}
	if n := len(members); n == 0 || n > grid.Most {
		return nil, fmt.Errorf("the Grid makes %d trees: want 1 to %d", n, grid.Most)
	}
	return members, nil
}

// settings returns how a tree is chosen.
func (c *TrainConfig) settings() (selection.Settings, error) {
	d := &c.Choice
	s := selection.Settings{
		Seed: d.Seed, Certificate: d.Certificate != "none", LeafModel: selection.Kind(d.LeafModel),
		Teacher: selection.Teacher{
			Kind: distill.Teacher(d.Teacher), Weight: orNone(d.TeacherWeight), MadeUp: max(-1, d.MadeUpRows),
		},
		Constrained: len(c.Monotone) > 0,
		Folds:       crossvalidate.Setting{Auto: d.Folds == Auto, Number: max(0, d.Folds)},
	}
	switch d.MadeUpRows {
	case None:
		s.Teacher.MadeUp = 0
	case Auto:
		s.Teacher.MadeUp = -1
	}
	var err, err2 error
	s.Rule, err = frontier.ParseRule(d.Select)
	s.Limits = frontier.Limits{ExpectedCost: d.MaxExpectedCost, MaxCost: d.MaxCost, Leaves: c.MaxLeaves}
	s.Tolerance, s.Step = orNone(d.Tolerance), orNone(d.FrontierStep)
	s.Currencies, err2 = parseEach(d.Prune, prune.ParseCurrency)
	if d.Alpha != 0 {
		alpha := orNone(d.Alpha)
		s.Alpha = &alpha
	}
	return s, errors.Join(err, err2)
}

// checkChoice checks the settings of the choice, and finds the column that decides on a row's part.
func (s *trainSpec) checkChoice() error {
	c := &s.Config
	d := &c.Choice
	_, err := c.settings()
	faults := []error{err, s.checkSplit()}
	within := func(name string, x, low, high float64) {
		if !(x >= low && x <= high) { // NaN too
			faults = append(faults, fmt.Errorf("%s %v: want a number from %v to %v", name, x, low, high))
		}
	}
	within("Tolerance", orNone(d.Tolerance), 0, 1)
	within("Alpha", orNone(d.Alpha), 0, 1e12)
	within("FrontierStep", orNone(d.FrontierStep), 0, 1)
	within("MaxExpectedCost", d.MaxExpectedCost, 0, 1e12)
	within("MaxCost", d.MaxCost, 0, 1e12)
	within("TeacherWeight", orNone(d.TeacherWeight), 0, 1)
	within("MadeUpRows", float64(d.MadeUpRows), Auto, 1<<24)
	if d.Folds != 0 && d.Folds != Auto {
		within("Folds", float64(d.Folds), 2, crossvalidate.MaxFolds)
	}
	for _, one := range []struct {
		name, value string
		of          []string
	}{
		{"LeafModel", d.LeafModel, []string{"none", "linear", "boosted", "auto"}},
		{"Teacher", d.Teacher, distill.Teachers()},
		{"Certificate", d.Certificate, []string{"none", "auto", "quick", "full"}},
	} {
		if !slices.Contains(one.of, one.value) {
			faults = append(faults, fmt.Errorf("the %s %q: want one of %q", one.name, one.value, one.of))
		}
	}
	return errors.Join(append(faults, s.checkConflicts())...)
}

// checkConflicts checks settings of the choice that do not go together.
func (s *trainSpec) checkConflicts() error {
	c := &s.Config
	d := &c.Choice
	asked := distill.Teacher(d.Teacher).Asked()
	limited := d.MaxExpectedCost > 0 || d.MaxCost > 0
	var faults []error
	for _, one := range []struct {
		found   bool
		problem string
	}{
		{d.Alpha != 0 && len(d.Prune) > 1, "the Alpha is of one currency: name it alone in Prune"},
		{
			asked && len(c.Monotone) > 0,
			"the Teacher " + d.Teacher + " does not keep Monotone: leave out one of the two",
		},
		{
			d.Select == frontier.Total.String() && len(c.ErrorCosts) == 0,
			"the Select total adds the cost of errors to the cost of tests: list the ErrorCosts",
		},
		{
			d.Select == frontier.First.String() && (asked || limited),
			"the Teacher, MaxExpectedCost and MaxCost are for a choice, and the Select first chooses nothing: name a rule " +
				"that does, such as best",
		},
		{
			len(c.ValueCosts) > 0 && len(c.Groups) > 0,
			"the ValueCosts and the Groups do not go together: leave out one of the two",
		},
		{
			c.BalanceClasses && len(c.ClassWeights) > 0,
			"the ClassWeights and BalanceClasses say two things: leave out one of the two",
		},
	} {
		if one.found {
			faults = append(faults, errors.New(one.problem))
		}
	}
	return errors.Join(faults...)
}

// checkSplit reads Choice.Split, and finds its column.
func (s *trainSpec) checkSplit() error {
	d := &s.Config.Choice
	if s.Part = d.Key; !strings.Contains(d.Split, "/") {
		if s.Part = d.Split; d.Key != "" {
			return fmt.Errorf("the Key %q: the column %q names each row's part already, leave out one of the two", d.Key, d.Split)
		}
	} else {
		var err error
		if s.Parts, err = dataset.ParseShares(d.Split); err != nil {
			return fmt.Errorf("the Split: %w", err)
		}
		if _, whole := s.Parts.Whole(); !whole && d.Key == "" {
			return fmt.Errorf("the Split %s has no Key: rows of a PCollection have no order, want a column whose value decides "+
				"on the part of a row", d.Split)
		}
	}
	if s.Part == "" {
		return nil
	}
	if s.Part == s.Config.Label || s.Part == s.Config.Weight {
		return fmt.Errorf("the Split: column %q is the label or the weight, want another one", s.Part)
	}
	_, err := s.Schema.Column(s.Part)
	return err
}

// choiceFault names the settings by which no tree can be chosen.
func (s *trainSpec) choiceFault(err error) error {
	rule := new(selection.RuleError)
	if !errors.As(err, &rule) {
		return err
	}
	return &dataset.DataError{Column: s.Config.Label, Problem: err.Error(), Hint: "change the Choice"}
}

// noTrainingRows returns the error of rows that all lie in other parts.
func (s *trainSpec) noTrainingRows() error {
	return &dataset.DataError{
		Column: s.Part, Problem: "no row is left for training", Hint: "change the Split, or the ClassWeights",
	}
}

// trainHost logs what the choice of a tree tells.
type trainHost struct{ ctx context.Context }

// Phase implements selection.Host.
func (h trainHost) Phase(
	ctx context.Context, _ string, _ int64, _ string, work func(s *parallel.Steps) error,
) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return work(new(parallel.Steps))
}

// Note implements selection.Host.
func (h trainHost) Note(text string) { log.Infof(h.ctx, "transforms.Train: %s", text) }

// Setting implements selection.Host.
func (h trainHost) Setting(name string) string {
	switch name {
	case "folds":
		return "Folds"
	case "leaf_model":
		return "LeafModel"
	case "select":
		return "Select"
	default:
		return "Teacher"
	}
}

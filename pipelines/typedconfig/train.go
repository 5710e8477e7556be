package typedconfig

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/tables"
	"github.com/espalier-ml/espalier/transforms"
)

// Train returns the configuration of pipelines.Train that grows the tree of transforms.Train from
// the same rows. The caller sets its Input and Output, and what transforms does not have. Fields
// that make no sense for files are refused.
func Train(c transforms.TrainConfig) (config.Train, error) {
	t := config.DefaultTrain()
	c = c.WithDefaults()
	if err := check(&c); err != nil {
		return t, fmt.Errorf("typedconfig.Train: %w", err)
	}
	t.Label, t.Weight, t.Ignore, t.Categorical, t.Numeric = c.Label, c.Weight, c.Ignore, c.Categorical, c.Numeric
	t.First, t.CostUnit, t.DropNullLabels = c.First, c.CostUnit, c.DropNullLabels
	t.MaxClasses, t.MaxCategories, t.MaxValues = c.MaxClasses, c.MaxCategories, c.MaxValues
	t.MinValueRows = c.MinValueRows
	t.Monotone = nil
	for _, name := range slices.Sorted(maps.Keys(c.Monotone)) {
		t.Monotone = append(t.Monotone, fmt.Sprintf("%s=%+d", name, c.Monotone[name]))
	}
	if c.FreeRepeats {
		t.RepeatCost = "free"
	}
	setGrowth(&t, &c)
	setChoice(&t, &c.Choice)
	return t, setTables(&t, &c)
}

// check refuses what files do not have.
func check(c *transforms.TrainConfig) error {
	var faults []error
	if len(c.Features) > 0 {
		faults = append(faults, errors.New("the Features: all columns of files are features, name the others in Ignore"))
	}
	if c.AllowEmpty || c.Strict {
		faults = append(faults, errors.New("AllowEmpty and Strict are of rows in pipelines, files have columns: leave them out"))
	}
	if len(c.ValueCosts) > 0 && len(c.Costs) > 0 {
		faults = append(faults, errors.New("the Costs and the ValueCosts: trainings on files take one of the two"))
	}
	return errors.Join(faults...)
}

// setGrowth sets how trees are grown.
func setGrowth(t *config.Train, c *transforms.TrainConfig) {
	t.Algorithm = choices(c.Grid.Algorithms, c.Algorithm)
	t.Lambda, t.Theta = choices(c.Grid.Lambdas, c.Lambda), choices(c.Grid.Thetas, c.Theta)
	t.Tests, t.Bins = choices(c.Grid.Tests, c.Tests), choices(c.Grid.Bins, c.Bins)
	if len(c.Grid.Bins) == 0 && c.Bins == 0 {
		t.Bins = config.Choices{"auto"}
	}
	t.ClassesOf = c.Classes
	t.Binning, t.LeafEstimate, t.MaxDepth, t.MinRows, t.MaxLeaves = c.Binning, c.LeafEstimate, c.MaxDepth, c.MinRows, c.MaxLeaves
}

// setChoice sets how a tree is chosen.
func setChoice(t *config.Train, d *transforms.Choice) {
	t.Split, t.Key, t.Seed = d.Split, d.Key, d.Seed
	t.Select, t.Tolerance, t.FrontierStep = d.Select, orNone(d.Tolerance), orNone(d.FrontierStep)
	t.MaxExpectedCost, t.MaxCost = d.MaxExpectedCost, d.MaxCost
	if t.Prune = d.Prune; len(d.Prune) == 0 {
		t.Prune = config.Choices{"none"}
	}
	if t.Alpha = "auto"; d.Alpha != 0 {
		t.Alpha = spell(orNone(d.Alpha))
	}
	if t.Folds = strconv.Itoa(d.Folds); d.Folds == transforms.Auto {
		t.Folds = "auto"
	}
	t.LeafModel, t.Teacher, t.Certificate = d.LeafModel, d.Teacher, d.Certificate
	if t.Teacher != "none" {
		t.TeacherWeight = orNone(d.TeacherWeight)
	}
	switch d.MadeUpRows {
	case transforms.Auto:
	case transforms.None:
		t.MadeUpRows = 0
	default:
		t.MadeUpRows = d.MadeUpRows
	}
}

// setTables writes costs, and what is said of classes, as tables.
func setTables(t *config.Train, c *transforms.TrainConfig) error {
	var costs, weights, priors, errorCosts [][]string
	if len(c.ValueCosts) > 0 {
		for _, name := range slices.Sorted(maps.Keys(c.ValueCosts)) {
			for _, value := range slices.Sorted(maps.Keys(c.ValueCosts[name])) {
				costs = append(costs, []string{name, value, spell(c.ValueCosts[name][value])})
			}
		}
	} else {
		costs = costLines(c)
	}
	for _, class := range slices.Sorted(maps.Keys(c.ClassWeights)) {
		weights = append(weights, []string{class, spell(c.ClassWeights[class])})
	}
	for _, class := range slices.Sorted(maps.Keys(c.Priors)) {
		priors = append(priors, []string{class, spell(c.Priors[class])})
	}
	for _, e := range c.ErrorCosts {
		errorCosts = append(errorCosts, []string{e.Actual, e.Predicted, spell(e.Cost)})
	}
	header := "feature,cost,group,group_cost"
	if len(c.ValueCosts) > 0 {
		header = "feature,value,cost"
	}
	if c.BalanceClasses {
		t.ClassWeights = "balanced"
	}
	for _, table := range []struct {
		to     *string
		header string
		lines  [][]string
	}{
		{&t.Costs, header, costs},
		{&t.ClassWeights, "class,weight", weights},
		{&t.Priors, "class,prior", priors},
		{&t.ErrorCosts, "actual,predicted,cost", errorCosts},
	} {
		if err := setTable(table.to, table.header, table.lines); err != nil {
			return err
		}
	}
	return nil
}

// costLines returns the costs of features and groups.
func costLines(c *transforms.TrainConfig) [][]string {
	groups := make(map[string]*transforms.CostGroup)
	names := slices.Collect(maps.Keys(c.Costs))
	for i := range c.Groups {
		for _, name := range c.Groups[i].Features {
			groups[name] = &c.Groups[i]
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var lines [][]string
	for _, name := range slices.Compact(names) {
		cost, given := c.Costs[name]
		if !given {
			cost = 1
		}
		line := []string{name, spell(cost), "", ""}
		if g := groups[name]; g != nil {
			line[2], line[3] = g.Name, spell(g.Cost)
		}
		lines = append(lines, line)
	}
	return lines
}

// setTable sets a table with some lines.
func setTable(to *string, header string, lines [][]string) error {
	if len(lines) == 0 {
		return nil
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := w.WriteAll(append([][]string{strings.Split(header, ",")}, lines...)); err != nil {
		return err
	}
	*to = tables.Inline(b.String())
	return nil
}

// choices returns the values of a list, or the one value of a field if the list is empty.
func choices[T any](list []T, one T) config.Choices {
	if len(list) == 0 {
		list = []T{one}
	}
	var values config.Choices
	for _, x := range list {
		switch x := any(x).(type) {
		case float64:
			values = append(values, spell(orNone(x)))
		default:
			values = append(values, fmt.Sprint(x))
		}
	}
	return values
}

// orNone returns a number, 0 for transforms.None.
func orNone(x float64) float64 {
	if x == transforms.None {
		return 0
	}
	return x
}

// spell spells a number so that it is read back exactly.
func spell(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

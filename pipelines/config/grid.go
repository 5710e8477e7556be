package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// Choices are the values of a setting: the grid has trees for each value. In JSON and YAML
// one value may stand without the list.
type Choices []string

// UnmarshalJSON reads a list of texts and numbers, or one of them.
func (c *Choices) UnmarshalJSON(b []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(b, &list) != nil {
		list = []json.RawMessage{b}
	}
	*c = nil
	for _, raw := range list {
		var text string
		var number json.Number
		switch {
		case json.Unmarshal(raw, &number) == nil:
			text = number.String()
		case json.Unmarshal(raw, &text) != nil:
			return fmt.Errorf("%s: want a text, a number or a list of them", raw)
		}
		*c = append(*c, text)
	}
	return nil
}

// MarshalJSON writes a single value without the list, numbers as numbers.
func (c Choices) MarshalJSON() ([]byte, error) {
	values := make([]any, len(c))
	for i, text := range c {
		values[i] = text
		if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
			values[i] = x
		}
	}
	if len(values) == 1 {
		return json.Marshal(values[0])
	}
	return json.Marshal(values)
}

// lambdaChosen stands for the paper's grid of lambda.
const lambdaChosen = "auto"

// binsAuto stands for 128 bins, and for 512 bins from grid.ManyRows on.
const binsAuto = "auto"

// parseLambda and parseTheta read a number of the grid.
func parseLambda(text string) (float64, error) { return setting.Between(0, 1e12).Parse(text) }
func parseTheta(text string) (float64, error)  { return setting.Between(0, 1).Parse(text) }

// grid returns the trees that are grown. The settings have been checked one by one.
func (c *Train) grid() ([]grid.Member, error) {
	lambdas := parseEach(c.Lambda, parseLambda)
	if slices.Equal(c.Lambda, Choices{lambdaChosen}) {
		lambdas = grid.AutoLambdas()
	}
	classes, _ := split.ParseClasses(c.ClassesOf)
	axes := grid.Axes{
		Classes:    classes,
		Algorithms: parseEach(c.Algorithm, split.ParseAlgorithm), Lambdas: lambdas, Thetas: parseEach(c.Theta, parseTheta),
		Families: parseEach(c.Tests, split.ParseFamily), Bins: len(c.Bins), MaxDepth: c.MaxDepth, MinRows: c.MinRows,
		Priced: c.Costs != "" || c.RepeatCost != tables.RepeatFull, Record: c.record(),
	}
	members := axes.Members()
	if len(members) == 0 || len(members) > grid.Most {
		return nil, fmt.Errorf("--algorithm, --lambda, --theta, --tests and --bins make %d trees: want 1 to %d",
			len(members), grid.Most)
	}
	return members, nil
}

// record returns what tree.json says of all trees of the grid alike.
func (c *Train) record() tree.Algorithm {
	a := tree.Algorithm{
		Binning: c.Binning, LeafEstimate: c.LeafEstimate, Prune: pruneNone, Seed: c.Seed, CostUnit: c.CostUnit,
		First: c.First, Forbid: c.Forbid, Monotone: c.monotone(),
	}
	if c.RepeatCost == tree.RepeatFree {
		a.RepeatCost = tree.RepeatFree
	}
	return a
}

// bins returns the numbers of bins, 0 for auto.
func (c *Train) bins() []int {
	if slices.Equal(c.Bins, Choices{binsAuto}) {
		return []int{0}
	}
	return parseEach(c.Bins, strconv.Atoi)
}

// checkBins checks numbers of bins, which share the codes of a feature.
func checkBins(items []string) []error {
	codes := 0
	for i, text := range items {
		n, err := strconv.Atoi(text)
		if err != nil || n < 2 || n > maxBins || slices.Contains(items[:i], text) {
			return []error{fmt.Errorf(
				"%s: want numbers from 2 to %d, each once, or auto", strings.Join(items, ","), maxBins)}
		}
		codes += n
	}
	if codes > maxBins {
		return []error{fmt.Errorf("%s: want at most %d in all", strings.Join(items, ","), maxBins)}
	}
	return nil
}

// SettleBins notes the number of input rows, on which the number of bins depends if it is auto, and
// sets the bins of each tree of the grid as far as they are known: see BinsFor.
func (p *Parsed) SettleBins(rows int64) {
	p.rows = rows
	grid.SetBins(p.Grid, p.BinsFor(1))
}

// BinsFor returns the numbers of bins where the label has a number of classes.
func (p *Parsed) BinsFor(classes int) []int {
	if p.Bins[0] == 0 {
		return []int{grid.AutoBins(p.rows, classes)}
	}
	return p.Bins
}

// GridFor returns the members of the grid, with their bins where the label has a number of classes.
func (p *Parsed) GridFor(classes int) []grid.Member {
	members := slices.Clone(p.Grid)
	grid.SetBins(members, p.BinsFor(classes))
	return members
}

// SettlePricing replaces the grid by that for tests of different prices, if prices differ or
// repeats are free: see grid.WithPricing. features are the names of the features.
func (p *Parsed) SettlePricing(prices *tables.Costs, repeatCost string, features []string) error {
	if !prices.Differ(features) && repeatCost == tables.RepeatFull {
		return nil
	}
	if p.Grid = grid.WithPricing(p.Grid, p.Selection.Rule, prices.Grouped()); len(p.Grid) > grid.Most {
		return usage.Errorf("--algorithm, --lambda, --theta, --tests and --bins make %d trees, as costs count in "+
			"several ways: want at most %d", len(p.Grid), grid.Most)
	}
	return nil
}

// pruneNone is the pruning of a tree as it was grown.
const pruneNone = "none"

// parseEach parses values that have been checked.
func parseEach[T any](list Choices, parse func(string) (T, error)) []T {
	values := make([]T, len(list))
	for i, text := range list {
		values[i], _ = parse(text)
	}
	return values
}

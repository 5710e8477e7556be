package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce"
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

// Member is a tree of the grid: how it is grown, and how tree.json says so.
type Member struct {
	Params    induce.Params
	Algorithm tree.Algorithm
}

// maxGrid bounds the trees of one training.
const maxGrid = 256

// lambdaChosen stands for the paper's grid of lambda.
const lambdaChosen = "auto"

// lambdaAuto is the paper's grid of lambda, from large to small. The paper lowers lambda
// until the validation AUC falls.
func lambdaAuto() Choices { return Choices{"1000", "300", "100", "30", "10", "3", "1", "0.3", "0.1"} }

// binsAuto stands for 128 bins, and for 512 bins from manyRows on.
const binsAuto = "auto"

// parseLambda and parseTheta read a number of the grid.
func parseLambda(text string) (float64, error) { return setting.Between(0, 1e12).Parse(text) }
func parseTheta(text string) (float64, error)  { return setting.Between(0, 1).Parse(text) }

// grid returns the trees that are grown: one for each algorithm, lambda, theta, family of
// tests and number of bins, each once. Algorithms without a lambda have a lambda of 0.
// Algorithms that count prices are left out where all tests cost the same and the
// algorithm without prices is in the grid. The first tree has the first value of each
// setting. The settings have been checked one by one.
func (c *Train) grid() ([]Member, error) {
	lambdas := c.Lambda
	if slices.Equal(lambdas, Choices{lambdaChosen}) {
		lambdas = lambdaAuto()
	}
	algorithms, families := parseEach(c.Algorithm, split.ParseAlgorithm), parseEach(c.Tests, split.ParseFamily)
	weights, thetas := parseEach(lambdas, parseLambda), parseEach(c.Theta, parseTheta)
	var grid []Member
	for _, p := range c.starts(families) {
		for _, theta := range thetas {
			for _, algorithm := range algorithms {
				for _, lambda := range weights {
					p.Algorithm, p.Lambda, p.Theta = algorithm, lambda, theta
					m := c.member(p)
					same := func(other Member) bool { return other.Params == m.Params }
					if !c.redundant(algorithm) && !slices.ContainsFunc(grid, same) {
						grid = append(grid, m)
					}
				}
			}
		}
	}
	if len(grid) == 0 || len(grid) > maxGrid {
		return nil, fmt.Errorf("--algorithm, --lambda, --theta, --tests and --bins make %d trees: want 1 to %d",
			len(grid), maxGrid)
	}
	return grid, nil
}

// starts returns parameters for each family of tests and number of bins.
func (c *Train) starts(families []split.Family) []induce.Params {
	var list []induce.Params
	for _, family := range families {
		for i := range c.Bins {
			p := induce.Params{Family: family, MaxDepth: c.MaxDepth, MinRows: c.MinRows}
			if len(c.Bins) > 1 {
				p.Subset = i + 1
			}
			list = append(list, p)
		}
	}
	return list
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

// manyRows is the number of input rows from which 512 bins serve better than 128,
// by measurement on the public data sets of the paper: on more rows finer cuts find
// more, on fewer they find noise.
const manyRows = 30_000

// SettleBins replaces auto by the number of bins that suits the number of input rows, and
// sets the bins of each tree of the grid.
func (p *Parsed) SettleBins(rows int64) {
	if p.Bins[0] == 0 {
		p.Bins[0] = 128
		if rows >= manyRows {
			p.Bins[0] = 512
		}
	}
	for i := range p.Grid {
		p.Grid[i].Algorithm.Bins = p.Bins[max(p.Grid[i].Params.Subset-1, 0)]
	}
}

// SettleSetUps adds trees to the grid if groups of features have prices and a tree is to be
// chosen: for each tree whose score counts prices, one tree for each other way to count the
// prices of groups. It adds them at the end, as --select first takes the first tree.
func (p *Parsed) SettleSetUps(prices *tables.Costs) error {
	if !prices.Grouped() || len(p.Grid) < 2 {
		return nil
	}
	for _, plain := range slices.Clone(p.Grid) {
		if !plain.Params.Algorithm.ByPrice() {
			continue
		}
		for _, way := range []split.SetUps{split.SharedSetUps, split.FreeSetUps, split.NoSetUps} {
			m := plain
			m.Params.SetUps, m.Algorithm.SetUps = way, way.String()
			p.Grid = append(p.Grid, m)
		}
	}
	if len(p.Grid) > maxGrid {
		return usage.Errorf("--algorithm, --lambda, --theta, --tests and --bins make %d trees with groups of costs, "+
			"four for each: want at most %d", len(p.Grid), maxGrid)
	}
	return nil
}

// redundant reports whether an algorithm grows the same trees as another algorithm of the
// grid.
func (c *Train) redundant(a split.Algorithm) bool {
	if c.Costs != "" || c.RepeatCost != tables.RepeatFull {
		return false
	}
	return a == split.CC45 && slices.Contains(c.Algorithm, split.C45.String()) ||
		a == split.CCART && slices.Contains(c.Algorithm, split.CART.String())
}

func (c *Train) member(p induce.Params) Member {
	if !p.Algorithm.HasLambda() && len(c.Algorithm)*len(c.Lambda) > 1 {
		p.Lambda = 0
	}
	repeat := ""
	if c.RepeatCost == tree.RepeatFree {
		repeat = tree.RepeatFree
	}
	return Member{p, tree.Algorithm{
		Name: p.Algorithm.String(), Lambda: p.Lambda, Theta: p.Theta, Tests: p.Family.String(), Binning: c.Binning,
		LeafEstimate: c.LeafEstimate, Prune: pruneNone, MaxDepth: c.MaxDepth, MinRows: c.MinRows, Seed: c.Seed,
		RepeatCost: repeat, CostUnit: c.CostUnit, First: c.First, Forbid: c.Forbid, Monotone: c.monotone(),
	}}
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

// SingleBins reports whether some trees of the grid have tests for single bins.
func (p *Parsed) SingleBins() bool {
	return slices.ContainsFunc(p.Grid, func(m Member) bool {
		return m.Params.Family == split.OneHot || m.Params.Family == split.Both
	})
}

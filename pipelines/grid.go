package pipelines

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Choices are the values of a setting of which each makes trees of its own: see
// member. In JSON and YAML one value may stand without the list.
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

// member is a tree of the grid: how it is grown, and how tree.json says so.
type member struct {
	params    induce.Params
	algorithm tree.Algorithm
}

// maxGrid bounds the trees of one training.
const maxGrid = 256

// lambdaAuto is the paper's grid of lambda, from large to small: one that falls
// until the validation AUC does, too.
func lambdaAuto() Choices { return Choices{"1000", "300", "100", "30", "10", "3", "1", "0.3", "0.1"} }

// grid returns the trees that are grown: one for each algorithm, lambda, theta
// and family of tests, each once; algorithms without a lambda have one of 0, and
// those per cost are left out where all tests cost the same and their like without
// is there. The first has the first of each.
func (c *TrainConfig) grid() ([]member, error) {
	var faults []error
	lambdas := c.Lambda
	if slices.Equal(lambdas, Choices{"auto"}) {
		lambdas = lambdaAuto()
	}
	algorithms := parseEach(c.Algorithm, split.ParseAlgorithm, &faults)
	families := parseEach(c.Tests, split.ParseFamily, &faults)
	weights := parseEach(lambdas, numberFrom("lambda", 0, 1e12), &faults)
	thetas := parseEach(c.Theta, numberFrom("theta", 0, 1), &faults)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	var grid []member
	for _, family := range families {
		for _, theta := range thetas {
			for _, algorithm := range algorithms {
				for _, lambda := range weights {
					m := c.member(induce.Params{
						Algorithm: algorithm, Family: family, Lambda: lambda, Theta: theta, MaxDepth: c.MaxDepth, MinRows: c.MinRows,
					})
					if !c.redundant(algorithm) && !slices.ContainsFunc(grid, func(other member) bool { return other.params == m.params }) {
						grid = append(grid, m)
					}
				}
			}
		}
	}
	if len(grid) == 0 || len(grid) > maxGrid {
		return nil, fmt.Errorf("--algorithm, --lambda, --theta and --tests make %d trees: want 1 to %d", len(grid), maxGrid)
	}
	return grid, nil
}

// redundant reports whether an algorithm grows the same trees as another one that
// is named, too.
func (c *TrainConfig) redundant(a split.Algorithm) bool {
	if c.Costs != "" || c.RepeatCost != repeatFull {
		return false
	}
	return a == split.CC45 && slices.Contains(c.Algorithm, split.C45.String()) ||
		a == split.CCART && slices.Contains(c.Algorithm, split.CART.String())
}

func (c *TrainConfig) member(p induce.Params) member {
	if !p.Algorithm.HasLambda() && len(c.Algorithm)*len(c.Lambda) > 1 {
		p.Lambda = 0
	}
	monotone, _ := parseMonotone(c.Monotone) // its error is told by parse
	repeat := ""
	if c.RepeatCost == tree.RepeatFree {
		repeat = tree.RepeatFree
	}
	return member{p, tree.Algorithm{
		Name: p.Algorithm.String(), Lambda: p.Lambda, Theta: p.Theta, Tests: p.Family.String(), Bins: c.Bins, Binning: c.Binning,
		LeafEstimate: c.LeafEstimate, Prune: pruneNone, MaxDepth: c.MaxDepth, MinRows: c.MinRows, Seed: c.Seed,
		RepeatCost: repeat, CostUnit: c.CostUnit, First: c.First, Forbid: c.Forbid, Monotone: monotone,
	}}
}

// pruneNone is the pruning of a tree as it was grown.
const pruneNone = "none"

func parseEach[T any](list Choices, parse func(string) (T, error), faults *[]error) []T {
	values := make([]T, len(list))
	for i, text := range list {
		var err error
		if values[i], err = parse(text); err != nil {
			*faults = append(*faults, err)
		}
	}
	return values
}

func numberFrom(flag string, low, high float64) func(string) (float64, error) {
	return func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= low && x <= high) { // NaN too
			return 0, fmt.Errorf("--%s %s: want a number from %v to %v", flag, text, low, high)
		}
		return x, nil
	}
}

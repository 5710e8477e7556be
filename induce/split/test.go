package split

import "github.com/espalier-ml/espalier/induce/dataset"

// Test is a question on one feature. Two-outcome tests number their outcomes 0
// (no) and 1 (yes); the outcomes of a multiway test are the feature's codes.
type Test struct {
	Feature int
	Kind    Kind
	Code    int // the least code of outcome 1 (threshold) or its only one; 0 for multiway
}

// Outcome returns the outcome of an object with the given code of the test's
// feature, whose code of missing is given too.
func (t *Test) Outcome(code, missing int) int {
	switch t.Kind {
	case Multiway:
		return code
	case Threshold:
		if code >= t.Code && code != missing {
			return 1
		}
	default:
		if code == t.Code {
			return 1
		}
	}
	return 0
}

// Parts are the three parts of a score and the score itself.
type Parts struct {
	Balance        float64 `json:"balance"`
	Efficiency     float64 `json:"efficiency"`
	Discrimination float64 `json:"discrimination"`
	Total          float64 `json:"total"`
}

// Candidate is a test with its cost and score in some node.
type Candidate struct {
	Test

	Cost  float64
	Score float64
}

// Column is what the scan needs to know of a feature: which codes there are
// and what the tests cost.
type Column struct {
	Codes   int // number of codes, the last of which is missing
	Numeric bool
	Cost    float64
	Costs   []float64 // by code, for single `equals` tests; nil: all Cost
}

// NewColumn returns the scan's view of a feature.
func NewColumn(f *dataset.Feature) Column {
	c := Column{Codes: f.Codes(), Numeric: f.Kind == dataset.Numeric, Cost: f.Cost}
	if len(f.ValueCosts) == 0 {
		return c
	}
	c.Costs = make([]float64, c.Codes)
	for i := range c.Costs {
		c.Costs[i] = f.Cost
	}
	for i, v := range f.Values {
		if cost, ok := f.ValueCosts[v]; ok {
			c.Costs[i] = cost
		}
	}
	return c
}

func (c *Column) missing() int { return c.Codes - 1 }

func (c *Column) other() int {
	if c.Numeric {
		return -1
	}
	return c.Codes - 2
}

// cost returns the price of the `equals` test on a code.
func (c *Column) cost(code int) float64 {
	if c.Costs == nil {
		return c.Cost
	}
	return c.Costs[code]
}

// Columns returns the scan's view of all features.
func Columns(features []dataset.Feature) []Column {
	columns := make([]Column, len(features))
	for i := range features {
		columns[i] = NewColumn(&features[i])
	}
	return columns
}

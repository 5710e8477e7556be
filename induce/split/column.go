package split

import (
	"cmp"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Column describes a feature to the scanner: its codes and the prices of its tests.
type Column struct {
	Codes   int // number of codes; the last code is missing
	Numeric bool
	Cost    float64   // price of a test
	Costs   []float64 // by code: price of its `equals` test; nil: all cost Cost

	// Unordered means that absent values were not ordered: tests are scored on the objects that have a value, and no test
	// separates them from objects without one. See IsPresence.
	Unordered bool `json:",omitempty"`

	Group     string  // name of the feature's group, which shares a set-up; empty if it has no group
	GroupCost float64 // price of the group's set-up, paid once on a path
	// Further are the prices of a test in further currencies, and GroupFurther the prices of the group's set-up. They are
	// paid as Cost and GroupCost are. They have no part in scores.
	Further      dataset.Amounts `json:",omitzero"`
	GroupFurther dataset.Amounts `json:",omitzero"`
	// FreeRepeats makes further tests of the feature on a path free. It does not apply to a feature
	// with Costs, whose values are bought one by one.
	FreeRepeats bool

	First int // the nodes at this depth must test the feature, where the root has depth 1; 0: no constraint
	// Monotone constrains how the share of the second class changes as the feature grows: +1, it
	// must not fall; -1, it must not rise; 0: no constraint.
	Monotone int8

	// Floor is the least divisor of a score; see Columns.
	Floor float64 `json:",omitempty"`
	Unit  float64 `json:",omitempty"` // factor of all prices in scores, a power of two; 0 means 1

	GroupSize int `json:",omitempty"` // number of features in the group
	// Usual is the average price of the features that are not free, or 0 if all are free; see
	// Prices.
	Usual float64 `json:",omitempty"`

	// Frequent means that a value needs as many rows in a node for a test of its own as for a place in a test for a set.
	Frequent bool `json:",omitempty"`

	// Prior is the least Prior of the tests of the feature for sets on the path to the node: the weight that a value needs
	// for half of its share's difference from the average to be more than chance. 0: there is no such test. Below a test for
	// a set the shares of the values vary less than chance would have it, as values with other shares are elsewhere.
	Prior float64 `json:",omitempty"`

	setUp float64 // price still due for the group at this node, see At
	own   *Column // the column before At; nil: itself
}

// NewColumn returns the column of a feature. Values with a declared order are cut as numbers are; tree.New makes tests of
// their values of the tests of their codes.
func NewColumn(f *dataset.Feature) Column {
	c := Column{
		Codes: f.Codes(), Numeric: f.Kind == dataset.Numeric || f.Ordered, Cost: f.Cost, Group: f.Group,
		GroupCost: f.GroupCost, Unordered: f.Unordered,
	}
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

// Presence returns the presence test of an unordered feature, which a growth puts above the first test of the feature on a path if
// objects of the node lack the value: the test for missing values, which costs nothing. Objects without a value end
// there, and objects with a value go on to the test.
func (c *Column) Presence(feature int) Test {
	return Test{Feature: feature, Kind: Missing, Code: c.missing()}
}

// IsPresence reports whether a test of the column is a presence test.
func (c *Column) IsPresence(t *Test) bool { return c.Unordered && t.Kind == Missing }

// Paid lists what has been paid for a feature on the path to a node.
type Paid struct {
	Asked bool    // a test of the feature has been paid
	SetUp bool    // a test of some feature in its group has been paid
	Prior float64 // see Column.Prior
}

// freeShare is the share of the feature's cost that counts for a free test. Otherwise a free test
// would come before all other tests, however little it separates. For a feature of price 0, this
// share of the least price of any test counts.
const freeShare = 0.1

// ByPath reports whether the cost of a test depends on the path to its node.
func (c *Column) ByPath() bool { return c.Group != "" || c.FreeRepeats }

// At returns the column at a node, where its tests cost what is still due there. If nothing is due,
// a test counts freeShare of the feature's cost.
func (c *Column) At(p Paid) Column {
	at := *c
	at.own = c
	at.Prior = LeastPrior(c.Prior, p.Prior)
	if c.FreeRepeats && c.Costs == nil && p.Asked {
		at.Cost = float64(c.Cost * freeShare)
		return at
	}
	if c.Group != "" && !p.SetUp {
		at.setUp = c.GroupCost
		at.Cost += at.setUp
	}
	return at
}

// LeastPrior returns the lesser of two priors, one of which may be unknown.
func LeastPrior(a, b float64) float64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// Due returns what a test costs at a node.
func (c *Column) Due(t *Test, p Paid) float64 {
	at := c.At(p)
	test := at.candidate(*t, at.Price(t), 0)
	return test.Billed()
}

// FurtherDue returns what a test of the column costs at a node in further currencies.
func (c *Column) FurtherDue(p Paid) dataset.Amounts {
	switch {
	case c.FreeRepeats && c.Costs == nil && p.Asked:
		return dataset.Amounts{}
	case c.Group != "" && !p.SetUp:
		return c.Further.Plus(c.GroupFurther)
	default:
		return c.Further
	}
}

// LeastDue returns what the cheapest test of the column costs at a node.
func (c *Column) LeastDue(p Paid) float64 {
	due := c.Due(new(Test), p)
	for code := range c.Costs {
		due = min(due, c.Due(&Test{Kind: Equals, Code: code}, p))
	}
	return due
}

// unit returns the factor of all prices in scores.
func (c *Column) unit() float64 {
	if c.Unit == 0 {
		return 1
	}
	return c.Unit
}

// waived returns the part of the group's unpaid price that scores do not count.
func (c *Column) waived(s SetUps) float64 {
	switch s {
	case FreeSetUps:
		return c.setUp
	case SharedSetUps:
		return c.setUp - c.setUp/float64(max(1, c.GroupSize))
	default:
		return 0
	}
}

// Price returns the price of the test itself: without the price of its group, as for a first test
// of the feature.
func (c *Column) Price(t *Test) float64 {
	if t.Kind == Equals {
		return c.cost(t.Code)
	}
	return c.Cost
}

// candidate returns a test with its costs at the node of the column.
func (c *Column) candidate(t Test, cost, score float64) Candidate {
	return Candidate{Test: t, Cost: cost, Own: cmp.Or(c.own, c).Price(&t), Score: score}
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
	return c.Costs[code] + c.setUp
}

// Columns returns the columns of all features. A test of price 0 is billed at 0, but its score is
// divided by freeShare of the least price above 0. If it were divided by 0, a free test would come
// before all other tests, however little it separates.
func Columns(features []dataset.Feature) []Column {
	columns := make([]Column, len(features))
	units := dataset.FurtherUnits(features)
	for i := range features {
		f := &features[i]
		columns[i] = NewColumn(f)
		columns[i].Further = dataset.AmountsOf(f.FurtherCosts, units)
		columns[i].GroupFurther = dataset.AmountsOf(f.GroupFurther, units)
	}
	sizes := make(map[string]int)
	for i := range columns {
		sizes[columns[i].Group]++
	}
	least := leastPrice(columns)
	floor := float64(freeShare * least)
	unit := unitOf(least)
	for i := range columns {
		columns[i].Floor = floor
		columns[i].Unit = unit
		if columns[i].Group != "" {
			columns[i].GroupSize = sizes[columns[i].Group]
		}
	}
	usual := usualPrice(columns)
	for i := range columns {
		columns[i].Usual = usual
	}
	return columns
}

// usualPrice returns the average price of the features that are not free, or 0 if all are free. A
// feature with prices by value counts with their average. The price of a group is split equally
// among its features.
func usualPrice(columns []Column) float64 {
	sum := 0.0
	n := 0
	for i := range columns {
		c := &columns[i]
		price := c.Cost
		if len(c.Costs) > 0 {
			price = 0
			for _, cost := range c.Costs {
				price += cost
			}
			price /= float64(len(c.Costs))
		}
		if c.Group != "" {
			price += c.GroupCost / float64(c.GroupSize)
		}
		if price > 0 {
			sum += price
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// leastPrice returns the least price above 0 of any test. If all tests are free, it returns the
// least price above 0 of a group, or 1 if no group has one.
func leastPrice(columns []Column) float64 {
	least := math.Inf(1)
	group := math.Inf(1)
	for i := range columns {
		c := &columns[i]
		if c.GroupCost > 0 {
			group = min(group, c.GroupCost)
		}
		if c.Cost > 0 {
			least = min(least, c.Cost)
		}
		for _, cost := range c.Costs {
			if cost > 0 {
				least = min(least, cost)
			}
		}
	}
	if math.IsInf(least, 1) {
		least = group
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return least
}

// ordinary bounds the least price and its inverse. Beyond this bound, prices are scaled for scores:
// otherwise all scores would tie within the tolerance, or overflow a double.
const ordinary = 1e6

// unitOf returns 1 for an ordinary least price, and otherwise the power of two that scales it to
// about 1.
func unitOf(least float64) float64 {
	if 1/ordinary <= least && least <= ordinary {
		return 1
	}
	const most = 1000 // exponent of a double
	_, exponent := math.Frexp(least)
	return math.Ldexp(1, max(-most, min(1-exponent, most)))
}

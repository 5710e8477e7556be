package split

import (
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Column is what the scan needs to know of a feature: which codes there are
// and what the tests cost.
type Column struct {
	Codes   int // number of codes, the last of which is missing
	Numeric bool
	Cost    float64
	Costs   []float64 // by code, for single `equals` tests; nil: all Cost

	Group     string  // features that share a set-up; empty: none
	GroupCost float64 // price of the set-up, paid once on a path
	// once asked, all further tests on a path cost nothing; not with Costs, which are bought one by
	// one
	FreeRepeats bool

	First    int  // depth of the nodes that are to test the feature, from 1 on; 0: none
	Monotone int8 // +1, -1: as the feature grows the share of the second class must not fall, or rise; 0: no matter

	// by subset of the cuts, see Criterion.Confine, and code: the least threshold from the code on,
	// Codes if there is none
	ThresholdsFrom [][]int32 `json:",omitempty"`

	// what a test's price counts as at least when scores are divided by it; see Columns
	Floor float64 `json:",omitempty"`
	Unit  float64 `json:",omitempty"` // what prices are multiplied by before, a power of two; 0: 1

	GroupSize int `json:",omitempty"` // features of the group

	setUp float64 // still to be paid for the group at this node, see At
	free  bool    // nothing is to be paid at this node
}

// NewColumn returns the scan's view of a feature.
func NewColumn(f *dataset.Feature) Column {
	c := Column{Codes: f.Codes(), Numeric: f.Kind == dataset.Numeric, Cost: f.Cost, Group: f.Group,
		GroupCost: f.GroupCost}
	for _, cuts := range f.Subsets {
		c.ThresholdsFrom = append(c.ThresholdsFrom, thresholdsFrom(cuts, c.Codes))
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

// thresholdsFrom returns, for each code, the least threshold from it on, of the
// cuts at the given positions.
func thresholdsFrom(cuts []uint16, codes int) []int32 {
	from := make([]int32, codes+1)
	next, at := int32(codes), len(cuts)
	for code := codes; code >= 0; code-- {
		if at > 0 && int(cuts[at-1])+1 == code {
			next, at = int32(code), at-1
		}
		from[code] = next
	}
	return from
}

// threshold returns the least threshold from a code on that a subset of the cuts
// has.
func (c *Column) threshold(subset, code int) int {
	if subset == 0 || c.ThresholdsFrom == nil {
		return code
	}
	return int(c.ThresholdsFrom[subset-1][code])
}

// whole reports whether the bins of a subset of the cuts are the feature's.
func (c *Column) whole(subset int) bool { return subset == 0 || c.ThresholdsFrom == nil }

// binEnd returns the end of the bin of a subset of the cuts that begins at a code.
func (c *Column) binEnd(subset, from int) int {
	return min(c.threshold(subset, from+1), c.missing())
}

// Paid says what of a feature has been paid on the path to a node.
type Paid struct {
	Asked bool // a test on the feature
	SetUp bool // a test on any feature of its group
}

// freeShare is what a test that costs nothing counts as, as a share of the
// feature's cost. At a cost of nothing any test, however little it tells, would
// come before all others, and only cut the objects to pieces.
// So a test of a price of 0 counts as that share of the least price.
const freeShare = 0.1

// ByPath reports whether what tests cost depends on the path to the node.
func (c *Column) ByPath() bool { return c.Group != "" || c.FreeRepeats }

// At returns the column at a node, where its tests cost what is still to be
// paid. One of which nothing is counts as a tenth of the feature's cost.
func (c *Column) At(p Paid) Column {
	at := *c
	if c.FreeRepeats && c.Costs == nil && p.Asked {
		at.Cost, at.free = float64(c.Cost*freeShare), true
		return at
	}
	if c.Group != "" && !p.SetUp {
		at.setUp = c.GroupCost
		at.Cost += at.setUp
	}
	return at
}

// waived returns what of a group's price, which is still to be paid, a score does not
// count.
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

// Price returns what a test on the feature costs by itself: without its group,
// and wherever it is asked.
func (c *Column) Price(t *Test) float64 {
	if t.Kind == Equals {
		return c.cost(t.Code)
	}
	return c.Cost
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

// Columns returns the scan's view of all features. A test of a price of 0 is billed
// at nothing, and its score is divided by a tenth of the least price above 0: divided
// by nothing, any free test would come before all others, however little it tells.
func Columns(features []dataset.Feature) []Column {
	columns := make([]Column, len(features))
	for i := range features {
		columns[i] = NewColumn(&features[i])
	}
	sizes := make(map[string]int)
	for i := range columns {
		sizes[columns[i].Group]++
	}
	least := leastPrice(columns)
	floor, unit := float64(freeShare*least), unitOf(least)
	for i := range columns {
		columns[i].Floor, columns[i].Unit = floor, unit
		if columns[i].Group != "" {
			columns[i].GroupSize = sizes[columns[i].Group]
		}
	}
	return columns
}

// leastPrice returns the least price above 0 of any test, without tests any such
// price of a group, or 1.
func leastPrice(columns []Column) float64 {
	least, group := math.Inf(1), math.Inf(1)
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

// usualPrice bounds the least price, and its inverse, that scores are divided by as
// it is. Beyond, scores would all be within the tolerance of ties, or too large for a
// double.
const usualPrice = 1e6

// unitOf returns a power of two that brings an unusual least price near 1, and 1 of
// a usual one.
func unitOf(least float64) float64 {
	if 1/usualPrice <= least && least <= usualPrice {
		return 1
	}
	const most = 1000 // a double's exponent
	_, exponent := math.Frexp(least)
	return math.Ldexp(1, max(-most, min(1-exponent, most)))
}

package split

import (
	"fmt"
	"math"
)

// Pricing says how the score of a test counts prices. What is billed does not depend on
// it. The guarantee of the paper holds for the zero value, and for costs without groups.
type Pricing struct {
	Prices Prices
	SetUps SetUps
}

// Prices says how the price of a test counts in the divisor of its score.
//
// Divided by its price alone, a test that costs nearly nothing comes before all others,
// however little it separates: a greedy tree then uses up its rows on cheap tests, and has
// too few rows left for tests that are worth their price. The other ways count cheap tests
// as more expensive than they are.
type Prices uint8

// The ways to count the price of a test. The usual price is the mean price of the
// features that are not free (Column.Usual).
const (
	FullPrices    Prices = iota // the price, at least Column.Floor: the paper's
	RootPrices                  // square root of the price, which is at least a quarter of the usual price
	ShiftedPrices               // the price plus the usual price, as EG2 adds 1 (Nunez 1991)
	FlooredPrices               // the price, which is at least the usual price
)

func pricesNames() []string { return []string{"", "root", "shifted", "floored"} }

// String returns the name in tree.json, empty for FullPrices.
func (p Prices) String() string {
	if names := pricesNames(); int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("unknown(%d)", uint8(p))
}

// rootFloor is the least price that RootPrices counts, as a share of the usual price.
const rootFloor = 0.25

// SetUps says how the score of the first test of a group on a path counts the
// group's price. If the whole price counts against the first test, the greedy choice
// buys dear groups late or never.
type SetUps uint8

// The ways to count the price of a group.
const (
	PaidSetUps   SetUps = iota // the whole price
	SharedSetUps               // the price over the number of the group's features
	FreeSetUps                 // nothing: the group is bought once a test is worth its own price
)

func setUpNames() []string { return []string{"", "shared", "free"} }

// String returns the name in tree.json, empty for PaidSetUps.
func (s SetUps) String() string {
	if names := setUpNames(); int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("unknown(%d)", uint8(s))
}

// divisor returns the number by which the score of a test of the given cost is divided.
// FullPrices counts prices times unit, the other ways in usual prices. The exact scores and
// the estimates of teams both use it, so the error of an estimate does not depend on the
// way to count prices.
func (c *Criterion) divisor(column *Column, cost, unit float64) float64 {
	price := cost - column.waived(c.pricing.SetUps)
	if c.pricing.Prices == FullPrices {
		return float64(max(price, column.Floor) * unit)
	}
	if column.Usual == 0 { // all tests are free
		return 1
	}
	price /= column.Usual
	switch c.pricing.Prices {
	case RootPrices:
		return math.Sqrt(max(price, rootFloor))
	case FlooredPrices:
		return max(price, 1)
	default:
		return 1 + price
	}
}

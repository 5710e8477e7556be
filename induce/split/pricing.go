package split

import (
	"math"

	"github.com/espalier-ml/espalier/induce/naming"
)

// Pricing describes how the score of a test counts prices. It does not affect what is billed. The
// guarantee of the paper holds for the zero value, and for costs without groups.
type Pricing struct {
	Prices Prices
	SetUps SetUps
}

// Prices describes how the price of a test counts in the divisor of its score.
//
// If scores are divided by the price alone, a test that costs nearly nothing comes before all other
// tests, however little it separates: a greedy tree then uses up its rows on cheap tests, and has
// too few rows left for tests that are worth their price. The other methods count cheap tests as
// more expensive than they are.
type Prices uint8

// Methods of counting the price of a test. The usual price is the average price of the features
// that are not free (Column.Usual).
const (
	FullPrices    Prices = iota // the price, at least Column.Floor: the method of the paper
	RootPrices                  // square root of the price, which counts as at least a quarter of the usual price
	ShiftedPrices               // the price plus the usual price, as EG2 adds 1 (Nunez 1991)
	FlooredPrices               // the price, which counts as at least the usual price
)

// String returns the name in tree.json, which is empty for FullPrices.
func (p Prices) String() string {
	return naming.Of(p, FullPrices, []string{"", "root", "shifted", "floored"})
}

// rootFloor is the least price that RootPrices counts, as a share of the usual price.
const rootFloor = 0.25

// SetUps describes how the score of the first test of a group on a path counts the price of the
// group. If the whole price counts against the first test, the greedy choice buys expensive groups
// late or never.
type SetUps uint8

// Methods of counting the price of a group.
const (
	PaidSetUps   SetUps = iota // the whole price
	SharedSetUps               // the price divided by the number of features in the group
	FreeSetUps                 // nothing: the group is bought as soon as a test is worth its own price
)

// String returns the name in tree.json, which is empty for PaidSetUps.
func (s SetUps) String() string {
	return naming.Of(s, PaidSetUps, []string{"", "shared", "free"})
}

// divisor returns the number by which the score of a test with this cost is divided. FullPrices
// multiplies prices by unit, the other methods express them in usual prices. Both exact scores and
// the estimates of teams use this function, so the error of an estimate does not depend on the
// method.
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

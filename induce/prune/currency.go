package prune

import "github.com/espalier-ml/espalier/induce/naming"

// Currency is the complexity measure that alpha multiplies.
type Currency uint8

// The currencies.
const (
	Leaves  Currency = iota + 1 // number of leaves: classical cost-complexity pruning
	Cost                        // expected billed cost of the tests on a training row
	MaxCost                     // billed cost of the tests on the most expensive path
	Total                       // Cost, where the risk is the cost of errors: with alpha 1 the sum is the total cost
)

func currencyNames() []string { return []string{"leaves", "cost", "max_cost", "total"} }

// String returns the currency's name in flags and tree.json.
func (c Currency) String() string { return naming.Of(c, Leaves, currencyNames()) }

// ParseCurrency reads a currency's name.
func ParseCurrency(s string) (Currency, error) {
	return naming.Parse("pruning currency", s, Leaves, currencyNames())
}

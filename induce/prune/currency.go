package prune

import (
	"fmt"
	"strings"
)

// Currency is the complexity measure that alpha multiplies.
type Currency uint8

// The currencies.
const (
	Leaves  Currency = iota + 1 // number of leaves: classical cost-complexity pruning
	Cost                        // expected billed cost of the tests on a training row
	MaxCost                     // billed cost of the tests on the most expensive path
	Total                       // Cost, where the risk is the cost of errors: with alpha 1 the sum is the total cost
)

func currencyNames() []string { return []string{"", "leaves", "cost", "max_cost", "total"} }

// String returns the currency's name in flags and tree.json.
func (c Currency) String() string {
	if names := currencyNames(); c > 0 && int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("unknown(%d)", uint8(c))
}

// ParseCurrency reads a currency's name.
func ParseCurrency(s string) (Currency, error) {
	for i, name := range currencyNames() {
		if i > 0 && name == s {
			return Currency(i), nil
		}
	}
	return 0, fmt.Errorf("pruning currency %q: want one of %s", s, strings.Join(currencyNames()[1:], ", "))
}

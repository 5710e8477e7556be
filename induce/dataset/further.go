package dataset

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MostFurther is the greatest number of further currencies, in addition to the currency of Feature.Cost.
const MostFurther = 3

// Amounts are amounts in further currencies, in the order of FurtherUnits.
type Amounts [MostFurther]float64

// Plus returns the sum, currency by currency.
func (a Amounts) Plus(b Amounts) Amounts {
	for i := range a {
		a[i] += b[i]
	}
	return a
}

// Times returns the amounts times a factor.
func (a Amounts) Times(factor float64) Amounts {
	for i := range a {
		a[i] = float64(a[i] * factor)
	}
	return a
}

// Per returns the amounts divided by a number.
func (a Amounts) Per(n float64) Amounts {
	for i := range a {
		a[i] /= n
	}
	return a
}

// Max returns the greater amount of each currency.
func (a Amounts) Max(b Amounts) Amounts {
	for i := range a {
		a[i] = max(a[i], b[i])
	}
	return a
}

// AmountsOf returns amounts by currency in the order of units. There may be at most MostFurther units.
func AmountsOf(amounts map[string]float64, units []string) (a Amounts) {
	for i, unit := range units {
		a[i] = amounts[unit]
	}
	return a
}

// mostOfUnit is the greatest number of characters in the name of a further currency.
const mostOfUnit = 40

// CheckUnit returns an error if a text is not the name of a further currency: letters, digits, blanks inside, - and _.
func CheckUnit(unit string) error {
	other := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune(" -_", r)
	}
	if n := utf8.RuneCountInString(unit); n < 1 || n > mostOfUnit || strings.ContainsFunc(unit, other) || strings.Trim(unit, " ") != unit {
		return fmt.Errorf("the currency %q: want 1 to %d letters, digits, blanks, - or _", unit, mostOfUnit)
	}
	return nil
}

// FurtherUnits returns the names of the currencies in which the features have further prices, in the order of their bytes.
func FurtherUnits(features []Feature) []string {
	units := make(map[string]bool)
	for i := range features {
		for unit := range features[i].FurtherCosts {
			units[unit] = true
		}
	}
	return slices.Sorted(maps.Keys(units))
}

// FurtherCost is a cost in a further currency: what tests cost, or what they may cost.
type FurtherCost struct {
	Unit         string  `json:"unit" jsonschema:"minLength=1"`                  // name of the currency
	ExpectedCost float64 `json:"expected_cost,omitempty" jsonschema:"minimum=0"` // mean billed cost of a row; absent: 0 or, as a limit, none
	MaxCost      float64 `json:"max_cost,omitempty" jsonschema:"minimum=0"`      // greatest billed cost of a row; absent: as for the mean
}

// FurtherCosts are costs in further currencies, in the order of their names. Unused elements are zero, and come last.
type FurtherCosts [MostFurther]FurtherCost

// NewFurtherCosts returns the costs in the currencies units. There may be at most MostFurther units.
func NewFurtherCosts(units []string, expected, most Amounts) (c FurtherCosts) {
	for i, unit := range units {
		c[i] = FurtherCost{Unit: unit, ExpectedCost: expected[i], MaxCost: most[i]}
	}
	return c
}

// List returns the elements in use.
func (c *FurtherCosts) List() []FurtherCost {
	n := 0
	for n < len(c) && c[n].Unit != "" {
		n++
	}
	return c[:n]
}

// Of returns the cost in a currency; zero if the currency is not in the list.
func (c *FurtherCosts) Of(unit string) FurtherCost {
	for _, one := range c.List() {
		if one.Unit == unit {
			return one
		}
	}
	return FurtherCost{}
}

// MarshalJSON encodes the elements in use.
func (c FurtherCosts) MarshalJSON() ([]byte, error) { return json.Marshal(c.List()) }

// UnmarshalJSON reads a list of at most MostFurther elements, in the order of their names. Costs are at least 0.
func (c *FurtherCosts) UnmarshalJSON(b []byte) error {
	var list []FurtherCost
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	if len(list) > MostFurther {
		return fmt.Errorf("%d further costs: want at most %d", len(list), MostFurther)
	}
	for i, one := range list {
		if err := CheckUnit(one.Unit); err != nil {
			return err
		}
		if i > 0 && one.Unit <= list[i-1].Unit {
			return fmt.Errorf("further costs in %q after %q: want each currency once, in the order of their names", one.Unit, list[i-1].Unit)
		}
		if one.ExpectedCost < 0 || one.MaxCost < 0 {
			return fmt.Errorf("further costs of %v and %v in %q: want at least 0", one.ExpectedCost, one.MaxCost, one.Unit)
		}
	}
	*c = FurtherCosts{}
	copy(c[:], list)
	return nil
}

package rowtype

import (
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Cell is the value of a row in one column: a number or a text. The zero Cell is a missing value.
type Cell struct {
	Type   dataset.ValueType
	Unit   dataset.Unit // unit of a number
	Number float64
	Text   string
	Absent bool // whether the row is a map without the column's key

	// Inexact is whether the value is a whole number that float64 cannot hold. Text has its digits,
	// which may be a category, and are refused as a number.
	Inexact bool
}

// AsFloat returns the number; NaN if the cell has none.
func (c *Cell) AsFloat() float64 {
	if c.Type != dataset.Number {
		return math.NaN()
	}
	return c.Number
}

// Spell returns the value in the spelling of class names.
func (c *Cell) Spell() string {
	if c.Type == dataset.Number {
		return dataset.SpellNumber(c.Number)
	}
	return c.Text
}

// numberCell returns the cell of a number. NaN is a missing value, and -0 becomes 0.
func numberCell(x float64) Cell {
	if x != x {
		return Cell{}
	}
	return Cell{Type: dataset.Number, Number: x + 0}
}

// AsNumber converts a text to a number or, if the unit is a unit of time, to a point in time: see
// dataset.Unit.ParseValue. Its errors have no hint.
func (c *Cell) AsNumber(column string, unit dataset.Unit) error {
	if c.Type != dataset.Text {
		return nil
	}
	x, ok := unit.ParseValue(c.Text)
	if !ok {
		return Refused(column, c.Text, unit)
	}
	*c = numberCell(x)
	c.Unit = unit
	return nil
}

// Fit converts a cell to the kind and the unit of a tree's feature, or returns an error. It is for
// columns whose type only the rows decide.
func (c *Cell) Fit(feature string, kind dataset.Kind, unit dataset.Unit) error {
	if c.Type == dataset.Text && (kind == dataset.Numeric || unit != dataset.Plain) {
		if err := c.AsNumber(feature, unit); err != nil {
			return dataset.WithHint(err, Wanted(kind, unit))
		}
		return nil
	}
	if c.Type == dataset.Number && c.Unit != unit {
		return &dataset.DataError{
			Column: feature, Value: c.Unit.Spell(c.Number), Hint: Wanted(kind, unit),
			Problem: fmt.Sprintf("the row has one of the %s, the feature takes %s", c.Unit.Things(), unit.Things()),
		}
	}
	return nil
}

// Refused returns the error for a text that is not a number or, if the unit is a unit of time, a
// point in time.
func Refused(column, text string, unit dataset.Unit) error {
	e := &dataset.DataError{
		Column: column, Value: text, Problem: "not a " + unit.Thing() + ", as the feature needs",
	}
	if x, _ := unit.ParseValue(text); unit == dataset.Plain && dataset.LosesDigits(text, x) {
		e.Problem = unit.Inexact(text).Problem
	}
	return e
}

// Wanted returns the hint for a value that a feature does not take.
func Wanted(kind dataset.Kind, unit dataset.Unit) string {
	if kind == dataset.Categorical && unit == dataset.Plain {
		return "give a text, a number, true or false, or no value"
	}
	return "give a " + unit.Thing() + " such as " + unit.Example() + ", or no value"
}

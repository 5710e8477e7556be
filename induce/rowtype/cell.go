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
// dataset.Unit.ParseValue.
func (c *Cell) AsNumber(column string, unit dataset.Unit) error {
	if c.Type != dataset.Text {
		return nil
	}
	x, ok := unit.ParseValue(c.Text)
	switch {
	case !ok && unit != dataset.Plain:
		return &dataset.DataError{
			Column: column, Value: c.Text, Problem: fmt.Sprintf("not a %s, as the feature needs", unit),
			Hint: "write it as " + unit.Example(),
		}
	case !ok:
		return &dataset.DataError{
			Column: column, Value: c.Text, Problem: "not a number, as the feature needs",
			Hint: "filter the row out before; in training, leave the column out of Numeric",
		}
	}
	*c = numberCell(x)
	c.Unit = unit
	return nil
}

// Fit converts a cell to the kind and the unit of a tree's feature, or returns an error. It is for
// columns whose type only the rows decide.
func (c *Cell) Fit(feature string, kind dataset.Kind, unit dataset.Unit) error {
	if c.Type == dataset.Text && (kind == dataset.Numeric || unit != dataset.Plain) {
		return c.AsNumber(feature, unit)
	}
	if c.Type == dataset.Number && c.Unit != unit {
		return &dataset.DataError{
			Column: feature, Value: c.Unit.Spell(c.Number),
			Problem: fmt.Sprintf("the row has one of the %s, the feature takes %s", c.Unit.Things(), unit.Things()),
			Hint:    "give a time.Time or a text in ISO 8601 for a point in time, and a number for a number",
		}
	}
	return nil
}

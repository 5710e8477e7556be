package dataset

import (
	"math"
	"strconv"

	"github.com/espalier-ml/espalier/induce/naming"
)

// ValueType is the type of a column's decoded values.
type ValueType uint8

// The value types. Numbers cover integers, floating point numbers, decimals,
// dates and timestamps; texts cover strings and booleans.
const (
	Number ValueType = iota + 1
	Text
)

// String returns the name used in messages and schema.json.
func (t ValueType) String() string { return naming.Of(t, 0, []string{"unknown", "number", "text"}) }

// Vector is one decoded column of one row group, in one of two forms.
//
// If Index is set, Index[r] is the position of row r's value in Numbers or Texts; -1 is
// missing. Some positions may be unused, and values may repeat. If Index is nil, Numbers
// holds one value per row, and NaN is missing. Texts always have an Index. Decoders turn
// negative zero into zero.
type Vector struct {
	Type    ValueType
	Index   []int32
	Numbers []float64
	Texts   []string
}

// Rows returns the number of rows.
func (v *Vector) Rows() int {
	if v.Index != nil {
		return len(v.Index)
	}
	return len(v.Numbers)
}

// entries returns the number of values of the dictionary, if there is one.
func (v *Vector) entries() int {
	if v.Type == Text {
		return len(v.Texts)
	}
	return len(v.Numbers)
}

// Missing reports whether row r has no value.
func (v *Vector) Missing(r int) bool {
	if v.Index == nil {
		return math.IsNaN(v.Numbers[r])
	}
	i := v.Index[r]
	return i < 0 || v.Type == Number && math.IsNaN(v.Numbers[i])
}

// Spell returns row r's value in the spelling of categories, classes and messages. For
// numbers see SpellNumber. A missing value is the empty string.
func (v *Vector) Spell(r int) string {
	if v.Missing(r) {
		return ""
	}
	i := r
	if v.Index != nil {
		i = int(v.Index[r])
	}
	if v.Type == Text {
		return v.Texts[i]
	}
	return SpellNumber(v.Numbers[i])
}

// SpellNumber spells a number as a category: whole numbers without a point,
// others in the shortest form that reads back as the same float64.
func SpellNumber(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e21 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// RowGroup is an open row group, whose columns are decoded one by one. ReadColumn and
// ReadRows may be called from several goroutines with distinct vectors.
type RowGroup interface {
	// Rows returns the number of rows.
	Rows() int
	// ReadColumn decodes the i-th requested column into dst, reusing its buffers.
	ReadColumn(i int, dst *Vector) error
	// ReadRows decodes the rows [from, to) of the i-th requested column into dst, reusing
	// its buffers.
	ReadRows(i, from, to int, dst *Vector) error
	// PageRows returns the greatest number of rows in a page of the requested columns; 0 if
	// unknown. A page is decoded as a whole, however few of its rows are needed.
	PageRows() int
	// Close releases the row group's memory and files.
	Close() error
}

package csvio

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/naming"
)

// Type is the type of a column.
type Type uint8

// The types. A column gets the first type that fits all of its values, otherwise Text.
const (
	Boolean   Type = iota // true and false, in upper or lower case
	Integer               // integers that a float64 holds exactly, without leading zeros
	Float                 // decimal numbers, also with an exponent
	Date                  // 2024-01-31: days since 1970-01-01
	Time                  // 13:05 or 13:05:59.123456: microseconds since midnight
	Timestamp             // 2024-01-31T13:05:59Z, with an offset from UTC: microseconds since 1970-01-01
	Local                 // the same without an offset; also dates
	Text
)

// String names a type.
func (t Type) String() string {
	return naming.Of(t, Boolean, []string{"boolean", "integer", "number", "date", "time", "timestamp", "local timestamp", "text"})
}

// Value is a value of a column. Booleans (0 or 1), dates, times and timestamps are stored in Whole.
type Value struct {
	Whole int64
	Float float64
}

const maxWhole = 1 << 53 // beyond it float64 does not hold every integer

// Kind describes how the values of a column are read: their type, and their format if it is not ISO
// 8601.
type Kind struct {
	Type   Type
	format *Format
}

// String names the type.
func (k Kind) String() string { return k.Type.String() }

// Parse reads a text as a value of a kind, whose type is not Text. Training can read every number
// and point in time that it returns, because float64 holds them exactly.
func (s *Spelling) Parse(k Kind, text string) (v Value, ok bool) {
	switch k.Type {
	case Boolean:
		if strings.EqualFold(text, "true") {
			v.Whole = 1
		}
		return v, v.Whole == 1 || strings.EqualFold(text, "false")
	case Integer:
		text, ok := s.plain(text)
		if !ok {
			return v, false
		}
		n, err := strconv.ParseInt(text, 10, 64)
		return Value{Whole: n}, err == nil && -maxWhole <= n && n <= maxWhole
	case Float:
		text, ok := s.plain(text)
		if !ok {
			return v, false
		}
		x, err := strconv.ParseFloat(text, 64)
		if math.Abs(x) >= maxWhole && !strings.ContainsAny(text, ".eE") {
			return v, false // an account number, for example, would lose digits
		}
		return Value{Float: x}, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
	default:
		if k.format != nil {
			return parseTime(k.Type, withoutOrdinal(text), k.format.layouts)
		}
		x, zone, ok := k.Type.Unit().ParseZoned(text)
		return Value{Whole: int64(x)}, ok && (zone == dataset.UTC) == (k.Type == Timestamp)
	}
}

// plainNumber reports whether a text looks like a decimal number. A leading zero, or a plus before an integer, indicates
// a code or a telephone number instead.
func plainNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if strings.Contains(text, ".") {
		digits = strings.TrimLeft(text[:1], "+-") + text[1:]
	}
	if digits == "" || digits[0] != '.' && (digits[0] < '0' || digits[0] > '9') {
		return false
	}
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return false
	}
	return !strings.ContainsAny(digits, "_xXpP")
}

// Unit returns the unit of the values of a type.
func (t Type) Unit() dataset.Unit {
	switch t {
	case Date:
		return dataset.Date
	case Time:
		return dataset.Time
	case Timestamp, Local:
		return dataset.Timestamp
	default:
		return dataset.Plain
	}
}

// Column infers the type of a column from its values.
type Column struct {
	Values  int64  // values that are not missing
	Missing int64  // missing values
	Because string // the value that made the column a text, in line Line
	Line    int
	Looks   Looks // what the values look like if the column is a text

	spelling *Spelling
	kinds    []Kind
	excluded []bool // kinds that some value does not have
	first    int    // all kinds before it are excluded

	points, groups int64 // numbers with a point, and how many of these may be integers in groups
}

// NewColumn returns a column without values.
func NewColumn(s *Spelling) *Column {
	kinds := s.kinds()
	return &Column{spelling: s, kinds: kinds, excluded: make([]bool, len(kinds)), Looks: Looks{spelling: s}}
}

// Kind returns the kind of all values. A column without values has the type Text.
func (c *Column) Kind() Kind {
	if c.Values == 0 || c.first == len(c.kinds) {
		return Kind{Type: Text}
	}
	return c.kinds[c.first]
}

// Reason describes the value that made the column a text; empty if absent.
func (c *Column) Reason() string {
	if c.Values == 0 || c.first < len(c.kinds) {
		return ""
	}
	return fmt.Sprintf("%s in line %d", quoted(c.Because), c.Line)
}

// quoted returns a value, or the beginning of a long one, in quotes.
func quoted(text string) string {
	const most = 40 // characters
	if short := []rune(text[:min(len(text), most*utf8.UTFMax)]); len(short) > most {
		return strconv.Quote(string(short[:most])) + "..."
	}
	return strconv.Quote(text)
}

// Grouped reports whether the points of all numbers may separate groups of three digits.
func (c *Column) Grouped() bool {
	return c.Kind().Type == Float && c.points > 0 && c.points == c.groups
}

// Add counts a value in a line of the file.
func (c *Column) Add(text string, line int) {
	before := c.Kind().Type
	c.Values++
	c.Looks.negative = c.Looks.negative || len(text) > 1 && text[0] == '-' && isDigits(text[1:2])
	if c.first == len(c.kinds) {
		c.Looks.Add(text, 1)
		return
	}
	for i := c.first; i < len(c.kinds); i++ {
		if !c.excluded[i] {
			_, ok := c.spelling.Parse(c.kinds[i], text)
			c.excluded[i] = !ok
		}
	}
	for c.first < len(c.kinds) && c.excluded[c.first] {
		c.first++
	}
	switch {
	case c.first == len(c.kinds):
		c.Because = strings.Clone(text)
		c.Line = line
		c.Looks.known(before, c.Values-1)
		c.Looks.Add(text, 1)
	case c.kinds[c.first].Type == Float && strings.Contains(text, "."):
		c.points++
		if grouped(text, '.') {
			c.groups++
		}
	}
}

package csvio

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Type is the type of a column.
type Type uint8

// The types. A column gets the first one that all of its values have, or else Text.
const (
	Boolean   Type = iota // true and false, in any case
	Integer               // whole numbers that a float64 holds, without leading zeros
	Float                 // decimal numbers, also with an exponent
	Date                  // 2024-01-31: days since 1970-01-01
	Time                  // 13:05 or 13:05:59.123456: microseconds since midnight
	Timestamp             // 2024-01-31T13:05:59Z, with an offset from UTC: microseconds since 1970-01-01
	Local                 // the same without an offset; dates, too
	Text
)

// String names a type.
func (t Type) String() string {
	switch t {
	case Boolean:
		return "boolean"
	case Integer:
		return "integer"
	case Float:
		return "number"
	case Date:
		return "date"
	case Time:
		return "time"
	case Timestamp:
		return "timestamp"
	case Local:
		return "local timestamp"
	default:
		return "text"
	}
}

// Value is a value of a column. A boolean is 0 or 1 in Whole; dates, times and timestamps are
// in Whole, too.
type Value struct {
	Whole int64
	Float float64
}

const maxWhole = 1 << 53 // beyond it float64 leaves out whole numbers

// Parse reads a text as a value of type t, which is not Text.
func (t Type) Parse(text string) (v Value, ok bool) {
	switch t {
	case Boolean:
		if strings.EqualFold(text, "true") {
			v.Whole = 1
		}
		return v, v.Whole == 1 || strings.EqualFold(text, "false")
	case Integer:
		if !plainNumber(text) {
			return v, false
		}
		n, err := strconv.ParseInt(text, 10, 64)
		return Value{Whole: n}, err == nil && -maxWhole <= n && n <= maxWhole
	case Float:
		if !plainNumber(text) {
			return v, false
		}
		x, err := strconv.ParseFloat(text, 64)
		if math.Abs(x) >= maxWhole && !strings.ContainsAny(text, ".eE") {
			return v, false // a number of an account, say, would lose digits
		}
		return Value{Float: x}, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
	default:
		return parseTime(t, text)
	}
}

// plainNumber reports whether a text looks like a decimal number. Leading zeros and a leading
// plus are those of codes and telephone numbers.
func plainNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || digits[0] != '.' && (digits[0] < '0' || digits[0] > '9') {
		return false
	}
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return false
	}
	return !strings.ContainsAny(digits, "_xXpP")
}

// parseTime reads a point in time in ISO 8601.
func parseTime(t Type, text string) (v Value, ok bool) {
	if len(text) < len("13:05") || text[0] < '0' || text[0] > '9' {
		return v, false
	}
	for _, layout := range layouts(t) {
		at, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		switch t {
		case Date:
			v.Whole = at.Unix() / (24 * 60 * 60)
		case Time:
			seconds := (at.Hour()*60+at.Minute())*60 + at.Second()
			v.Whole = int64(seconds)*1e6 + int64(at.Nanosecond()/1e3)
		default:
			v.Whole = at.UnixMicro()
		}
		return v, true
	}
	return v, false
}

func layouts(t Type) []string {
	switch t {
	case Date:
		return []string{time.DateOnly}
	case Time:
		return []string{time.TimeOnly, "15:04"}
	case Timestamp:
		return []string{
			time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z0700",
			"2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02 15:04:05 Z07:00",
		}
	case Local:
		return []string{"2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly}
	default:
		return nil
	}
}

// Column infers the type of a column from its values.
type Column struct {
	Values   int64 // that are not missing
	Missing  int64
	excluded [Text]bool // types that a value does not have
	first    Type       // all types before it are excluded
}

// Type returns the type of all values. A column without values is of Text.
func (c *Column) Type() Type {
	if c.Values == 0 {
		return Text
	}
	return c.first
}

// AddMissing counts a missing value.
func (c *Column) AddMissing() { c.Missing++ }

// Add counts a value.
func (c *Column) Add(text string) {
	c.Values++
	for t := c.first; t < Text; t++ {
		if !c.excluded[t] {
			_, ok := t.Parse(text)
			c.excluded[t] = !ok
		}
	}
	for c.first < Text && c.excluded[c.first] {
		c.first++
	}
}

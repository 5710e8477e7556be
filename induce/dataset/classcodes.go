package dataset

import (
	"math"
	"strconv"
	"strings"
)

// ClassCodes has the codes of classes by their names.
type ClassCodes struct {
	codes  map[string]uint16
	ranges []classRange // classes whose names are ranges of numbers, see RangeNames
}

// NewClassCodes returns the codes of the classes: their positions.
func NewClassCodes(classes []string) *ClassCodes {
	c := &ClassCodes{codes: make(map[string]uint16, len(classes))}
	for i, name := range classes {
		c.codes[name] = uint16(i)
		if r, ok := parseRange(name); ok {
			r.code = uint16(i)
			c.ranges = append(c.ranges, r)
		}
	}
	return c
}

// Len returns the number of classes.
func (c *ClassCodes) Len() int { return len(c.codes) }

// Code returns the code of the class with this name.
func (c *ClassCodes) Code(name string) (code uint16, ok bool) {
	code, ok = c.codes[name]
	return code, ok
}

// Read returns the code of the class that a label names. A label that is no class by its spelling may spell the class as
// another type does: 1.0 is 1, and True is true or, if the classes are 0 and 1, 1. The code 01 is not 1. A number is of
// the class whose name is a range with it, see RangeNames.
func (c *ClassCodes) Read(label string) (code uint16, ok bool) {
	if code, ok = c.codes[label]; ok {
		return code, true
	}
	x, isNumber := LabelNumber(label)
	exact := isNumber && !LosesDigits(label, x)
	if exact {
		if code, ok = c.codes[SpellNumber(x)]; ok {
			return code, true
		}
	}
	if isNumber {
		if code, ok = c.rangeOf(x); ok {
			return code, true
		}
	}
	switch {
	case len(c.codes) != 2:
		return 0, false
	case exact && x == 0 || strings.EqualFold(label, "false"):
		return c.oneOf("false", "true", "0", "1")
	case exact && x == 1 || strings.EqualFold(label, "true"):
		return c.oneOf("true", "false", "1", "0")
	default:
		return 0, false
	}
}

// LabelNumber returns the number that a label spells. A code with leading zeros, a boolean and NaN are no numbers.
func LabelNumber(label string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(label, 64)
	digits := strings.TrimLeft(label, "+-")
	isCode := len(digits) > 1 && digits[0] == '0' && digits[1] != '.'
	return x, err == nil && !isCode && !math.IsNaN(x)
}

// oneOf returns the code of the first or the third name, if the classes are it and the name that follows it.
func (c *ClassCodes) oneOf(names ...string) (code uint16, ok bool) {
	for i := 0; i < len(names); i += 2 {
		code, ok = c.codes[names[i]]
		if _, other := c.codes[names[i+1]]; ok && other {
			return code, true
		}
	}
	return 0, false
}

// rangeOf returns the code of the class whose range contains x; ok is false if no range or several ranges contain x.
func (c *ClassCodes) rangeOf(x float64) (code uint16, ok bool) {
	for i := range c.ranges {
		r := &c.ranges[i]
		if !r.has(x) {
			continue
		}
		if ok {
			return 0, false
		}
		code = r.code
		ok = true
	}
	return code, ok
}

package dataset

import (
	"math"
	"strconv"
	"strings"
)

// ClassCodes has the codes of classes by their names.
type ClassCodes struct {
	codes    map[string]uint16
	ranges   []classRange // classes whose names are ranges of numbers, see RangeNames
	booleans []uint16     // codes of false and true, if these are the two classes; nil otherwise
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
	c.booleans = booleansOf(classes)
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
// another type does: 1.0 is 1, and if the two classes are false and true in upper or lower case, or 0 and 1, the label may
// be any of these. The code 01 is not 1. A number is of
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
	case c.booleans == nil:
		return 0, false
	case exact && x == 0 || strings.EqualFold(label, "false"):
		return c.booleans[0], true
	case exact && x == 1 || strings.EqualFold(label, "true"):
		return c.booleans[1], true
	default:
		return 0, false
	}
}

// booleansOf returns the codes of the classes that are false and true; nil if the classes are others.
func booleansOf(classes []string) []uint16 {
	for _, names := range [][2]string{{"false", "true"}, {"0", "1"}} {
		for i := range uint16(2) {
			if len(classes) == 2 && strings.EqualFold(classes[i], names[0]) && strings.EqualFold(classes[1-i], names[1]) {
				return []uint16{i, 1 - i}
			}
		}
	}
	return nil
}

// LabelNumber returns the number that a label spells. A code with leading zeros, a boolean and NaN are no numbers.
func LabelNumber(label string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(label, 64)
	digits := strings.TrimLeft(label, "+-")
	isCode := len(digits) > 1 && digits[0] == '0' && digits[1] != '.'
	return x, err == nil && !isCode && !math.IsNaN(x)
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

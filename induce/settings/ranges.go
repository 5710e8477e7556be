package settings

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Range is an interval of valid numbers.
type Range struct {
	low, high float64
	above     bool // low itself is outside
}

// Between returns the range [low, high].
func Between(low, high float64) Range { return Range{low: low, high: high} }

// From returns the range [low, infinity].
func From(low float64) Range { return Range{low: low, high: math.Inf(1)} }

// Above returns the range (low, high].
func Above(low, high float64) Range { return Range{low: low, high: high, above: true} }

// String returns the range as text, such as "from 1 to 64".
func (r Range) String() string {
	switch {
	case r.above:
		return "above " + Spelled(r.low) + ", at most " + Spelled(r.high)
	case math.IsInf(r.high, 1):
		return "from " + Spelled(r.low)
	default:
		return "from " + Spelled(r.low) + " to " + Spelled(r.high)
	}
}

// Has reports whether x is in the range. NaN is in no range.
func (r Range) Has(x float64) bool { return x >= r.low && x <= r.high && !(r.above && x == r.low) }

// Parse reads a number and checks that it is in the range. The error names the range.
func (r Range) Parse(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !r.Has(x) {
		return 0, fmt.Errorf("want a number %s", r)
	}
	return x, nil
}

// Spelled formats a number, without an exponent if it has few digits.
func Spelled(x float64) string {
	digits := strconv.FormatFloat(x, 'f', -1, 64)
	short := strconv.FormatFloat(x, 'g', -1, 64)
	if math.Abs(x) < 1e9 || len(digits) < len(short) {
		return digits
	}
	return short
}

// MaxBins bounds the number of bins, so that a code for missing is left in two bytes.
const MaxBins = math.MaxUint16 - 1

// RangeOf returns the valid range of a numeric setting.
func RangeOf(setting string) Range {
	switch setting {
	case "theta", "tolerance", "teacher_weight", "frontier_step":
		return Between(0, 1)
	case "min_sensitivity", "min_specificity", "min_precision":
		return Between(0, mostDemanded)
	case "confidence":
		return Between(0.5, mostDemanded)
	case "lambda", "alpha", "max_expected_cost", "max_cost":
		return Between(0, 1e12)
	case "made_up_rows":
		return Between(0, 1<<24)
	case "max_classes":
		return Between(1, math.MaxUint16)
	case "max_categories":
		return Between(1, MostCategories)
	case "max_values":
		return Between(1, 1<<26)
	case "min_value_rows":
		return From(1)
	case "max_depth":
		return Between(0, 1e6)
	case "max_leaves", "max_tests":
		return Between(0, 1e9)
	default: // min_rows, seed
		return From(0)
	}
}

// mostDemanded bounds a demanded share and its confidence: no number of rows shows a share of 1.
const mostDemanded = 0.99999

// number is a number of a setting.
type number struct {
	setting string
	unit    string // currency of a limit; empty: the first one, or none
	value   float64
	noun    string
}

// numbers lists the numbers of the settings.
func (s *Settings) numbers() []number {
	var list []number
	add := func(setting string, values ...float64) {
		for _, x := range values {
			list = append(list, number{setting: setting, value: x, noun: "a number"})
		}
	}
	add("lambda", s.Lambda...)
	add("theta", s.Theta...)
	add("frontier_step", s.FrontierStep)
	add("max_expected_cost", s.MaxExpectedCost)
	add("max_cost", s.MaxCost)
	for _, of := range s.furtherLimits() {
		for _, unit := range slices.Sorted(maps.Keys(of.limits)) {
			list = append(list, number{of.setting, unit, of.limits[unit], "a number"})
		}
	}
	add("teacher_weight", s.TeacherWeight)
	if s.Tolerance != nil {
		add("tolerance", *s.Tolerance)
	}
	if s.Alpha != nil {
		add("alpha", *s.Alpha)
	}
	if s.MadeUpRows != nil {
		list = append(list, number{setting: "made_up_rows", value: float64(*s.MadeUpRows), noun: "a whole number"})
	}
	for _, whole := range []struct {
		setting string
		value   int64
	}{
		{"max_classes", int64(s.MaxClasses)},
		{"max_categories", int64(s.MaxCategories)},
		{"min_value_rows", s.MinValueRows},
		{"max_values", int64(s.MaxValues)},
		{"max_depth", int64(s.MaxDepth)},
		{"min_rows", s.MinRows},
		{"max_tests", int64(s.MaxTests)},
		{"max_leaves", int64(s.MaxLeaves)},
	} {
		list = append(list, number{setting: whole.setting, value: float64(whole.value), noun: "a whole number"})
	}
	return list
}

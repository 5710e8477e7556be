package textview

import (
	"math"
	"strconv"
)

// Percent writes a share as a percentage with one decimal, or with more decimals: see spell.
func Percent(share float64) string { return spell(share, 100, 'f', 1) + "%" }

// Probability writes a probability or a share with four significant digits, or with more: see spell.
func Probability(p float64) string { return spell(p, 1, 'g', 4) }

// decimals writes a probability or a share with a number of decimals, or with more: see spell.
func decimals(p float64, least int) string { return spell(p, 1, 'f', least) }

// moreDigits is how many digits spell adds at most.
const moreDigits = 5

// spell writes the share x of a whole, 1 or 100. A share that is neither 0 nor 1 is never written as one of
// these: it gets more digits or, if moreDigits do not suffice, the nearest number with a sign, as in
// "<0.0000001".
func spell(x, whole float64, format byte, digits int) string {
	for most := digits + moreDigits; ; digits++ {
		text := strconv.FormatFloat(float64(whole*x), format, digits, 64)
		y, err := strconv.ParseFloat(text, 64)
		if err != nil || (y > 0 || !(x > 0)) && (y < whole || !(x < 1)) {
			return text
		}
		if digits < most {
			continue
		}
		step := math.Pow10(-digits)
		sign := "<"
		if y > 0 {
			step = whole - step
			sign = ">"
		}
		return sign + strconv.FormatFloat(step, 'f', digits, 64)
	}
}

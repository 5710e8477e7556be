package portable

import (
	"math"
	"strconv"
	"strings"
)

// rounding is the relative error that sums of doubles may have: a decimal within it
// of a number is what the number means.
const rounding = 1e-12

// Down returns the greatest number of so many significant decimal digits that is at
// most x, but for rounding; for x >= 0. Of any magnitude: what is above 0 stays so.
func Down(x float64, digits int) float64 { return toDigits(x, digits, -1) }

// Up returns the least number of so many significant decimal digits that is at least
// x, but for rounding; for x >= 0.
func Up(x float64, digits int) float64 { return toDigits(x, digits, 1) }

// toDigits rounds downwards for a direction of -1, upwards for 1.
func toDigits(x float64, digits int, direction int64) float64 {
	if !(x > 0) || x > math.MaxFloat64 {
		return x
	}
	text := strconv.FormatFloat(x, 'e', digits-1, 64)
	nearest, _ := strconv.ParseFloat(text, 64)
	past := nearest - x
	if direction > 0 {
		past = -past
	}
	if past <= float64(rounding*x) {
		return nearest
	}
	mantissa, exponent, _ := strings.Cut(text, "e")
	whole, _ := strconv.ParseInt(strings.Replace(mantissa, ".", "", 1), 10, 64)
	power, _ := strconv.Atoi(exponent)
	// below a power of ten the digits are a tenth as far apart
	if direction < 0 && strings.Trim(mantissa, "0.") == "1" {
		whole, power = 10*whole, power-1
	}
	moved, _ := strconv.ParseFloat(strconv.FormatInt(whole+direction, 10)+"e"+strconv.Itoa(power-digits+1), 64)
	return moved
}

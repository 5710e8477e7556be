package portable

import (
	"math"
	"strconv"
	"strings"
)

// rounding is the relative error of a sum of doubles. A decimal within it of a number
// counts as equal to the number.
const rounding = 1e-12

// Down rounds x >= 0 down to the given number of significant decimal digits. A number
// within rounding error above x counts as at most x. A positive x stays positive.
func Down(x float64, digits int) float64 { return toDigits(x, digits, -1) }

// Up rounds x >= 0 up to the given number of significant decimal digits. A number
// within rounding error below x counts as at least x.
func Up(x float64, digits int) float64 { return toDigits(x, digits, 1) }

// toDigits rounds down if direction is -1, up if it is 1.
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
	// Below a power of ten, neighbouring decimals are a tenth as far apart.
	if direction < 0 && strings.Trim(mantissa, "0.") == "1" {
		whole = 10 * whole
		power--
	}
	moved, _ := strconv.ParseFloat(strconv.FormatInt(whole+direction, 10)+"e"+strconv.Itoa(power-digits+1), 64)
	return moved
}

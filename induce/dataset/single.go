package dataset

import (
	"math"
	"strconv"
)

// SingleDecimal returns the shortest decimal whose nearest float32 is x: 2.1 for 2.0999999046325684. Programs write a
// float32 as this decimal, while its exact value is x. It returns x if x is not a float32, or a whole number, which may be an
// integer.
func SingleDecimal(x float64) float64 {
	if float64(float32(x)) != x || x == math.Trunc(x) {
		return x
	}
	decimal, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', -1, 32), 64)
	if err != nil {
		return x
	}
	return decimal
}

// IsSingle reports whether x is the float32 nearest to a decimal, and differs from it. It is false for numbers that are their
// own shortest decimal, such as 1000000.5, which may be doubles.
func IsSingle(x, decimal float64) bool {
	return x != decimal && x == float64(float32(decimal)) && SingleDecimal(x) != x
}

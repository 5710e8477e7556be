package dataset

import (
	"math"
	"strconv"
)

// SingleDecimal returns the shortest decimal whose nearest float32 is x: 2.1 for 2.0999999046325684. Programs write a
// float32 as this decimal, while its exact value is x. It returns x if x is not a float32.
func SingleDecimal(x float64) float64 {
	if float64(float32(x)) != x || math.IsInf(x, 0) {
		return x
	}
	decimal, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', -1, 32), 64)
	if err != nil {
		return x
	}
	return decimal
}

// IsSingle reports whether x is the float32 nearest to a decimal, and differs from it. It is false for whole numbers, which
// may be integers.
func IsSingle(x, decimal float64) bool {
	return x != decimal && x == float64(float32(decimal)) && x != math.Trunc(x)
}

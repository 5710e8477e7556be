package report

import (
	"encoding/json"
	"math"
	"strconv"
)

// appendFloat writes a number with all digits; infinities and NaN are null.
func appendFloat(b []byte, x float64) []byte { return appendDigits(b, x, -1) }

// appendDigits writes a number with a number of significant digits; -1: with all. A number below 1, such as a
// probability, is not written as 1.
func appendDigits(b []byte, x float64, digits int) []byte {
	if math.IsInf(x, 0) || x != x {
		return append(b, "null"...)
	}
	if x < 1 && digits > 0 {
		x = min(x, 1-math.Pow10(-digits))
	}
	return strconv.AppendFloat(b, x, 'g', digits, 64)
}

// appendText writes a text. HTML in it has no effect.
func appendText(b []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // any string can be written
	}
	return append(b, text...)
}

// list writes the elements of a list with commas between them.
type list struct{ count int }

func (l *list) next(b []byte) []byte {
	if l.count++; l.count > 1 {
		return append(b, ',')
	}
	return b
}

// appendFloats writes numbers as a list.
func appendFloats(b []byte, numbers []float64, digits int) []byte {
	var l list
	b = append(b, '[')
	for _, x := range numbers {
		b = appendDigits(l.next(b), x, digits)
	}
	return append(b, ']')
}

// appendInts writes whole numbers as a list.
func appendInts[T int | int64](b []byte, numbers []T) []byte {
	var l list
	b = append(b, '[')
	for _, x := range numbers {
		b = strconv.AppendInt(l.next(b), int64(x), 10)
	}
	return append(b, ']')
}

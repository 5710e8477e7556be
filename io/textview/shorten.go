package textview

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// enoughDigits is the number of significant digits beyond which a cut is shortened.
const enoughDigits = 6

// Shortened formats a cut of a feature for reading. A cut of at most six digits is unchanged, and
// so are points in time. A longer cut is rounded to the fewest digits, at least four and one after
// the decimal point, with an error of at most a thousandth of the distance to the nearest other cut
// of the feature. So neighbouring cuts stay distinct; a value within that error of the cut may be
// on its other side. Paths and rules have all digits.
func Shortened(f *dataset.Feature, cut float64) string {
	if f.Unit != dataset.Plain {
		return f.Unit.Spell(cut)
	}
	whole := plain(cut)
	if significant(whole) <= enoughDigits {
		return whole
	}
	allowed := toNextCut(f, cut) / 1000
	for digits := 4; digits < 17; digits++ {
		text := strconv.FormatFloat(cut, 'g', digits, 64)
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Abs(x-cut) > allowed {
			continue
		}
		if math.Abs(cut) >= 1000 && math.Abs(x-cut) >= 0.05 { // a whole number, or a half between two
			continue
		}
		if spelled := plain(x); len(spelled) < len(whole) {
			return spelled
		}
		break
	}
	return whole
}

// plain writes a number in all its digits, without an exponent unless it is very large or
// very small.
func plain(x float64) string {
	if size := math.Abs(x); 1e-4 <= size && size < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return dataset.SpellNumber(x)
}

// toNextCut returns the distance from a cut to the nearest other cut of its feature. Without
// one it returns the distance to the ends of the values, else the size of the cut.
func toNextCut(f *dataset.Feature, cut float64) float64 {
	distance := math.Inf(1)
	at, found := slices.BinarySearch(f.Cuts, cut)
	if at > 0 {
		distance = cut - f.Cuts[at-1]
	}
	if found {
		at++
	}
	if at < len(f.Cuts) {
		distance = min(distance, f.Cuts[at]-cut)
	}
	if math.IsInf(distance, 1) {
		distance = math.Abs(cut)
		for _, end := range f.Range {
			if d := math.Abs(end - cut); d > 0 {
				distance = min(distance, d)
			}
		}
	}
	return distance
}

// significant counts the digits of a number, without zeros at its ends and without its
// exponent.
func significant(s string) int {
	mantissa, _, _ := strings.Cut(strings.TrimLeft(s, "-"), "e")
	return len(strings.Trim(strings.Replace(mantissa, ".", "", 1), "0"))
}

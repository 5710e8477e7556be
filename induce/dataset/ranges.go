package dataset

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// The names of ranges are a cut and these words.
const (
	belowCut = "< "
	fromCut  = ">= "
	toCut    = " to " + belowCut
)

// RangeNames returns the names of the ranges of numbers that ascending cuts make, which are classes of a label of numbers:
// "< 10", "10 to < 20" and ">= 20" for 10 and 20.
func RangeNames(cuts []float64) []string {
	names := []string{belowCut + SpellNumber(cuts[0])}
	for i, cut := range cuts[1:] {
		names = append(names, SpellNumber(cuts[i])+toCut+SpellNumber(cut))
	}
	return append(names, fromCut+SpellNumber(cuts[len(cuts)-1]))
}

// RangeAt returns the index of the range of x, which is not NaN.
func RangeAt(cuts []float64, x float64) int {
	at, found := slices.BinarySearch(cuts, x)
	if found {
		at++
	}
	return at
}

// rangeOf returns the code of the only name of a range with x.
func rangeOf[T any](codes map[string]T, x float64) (code T, ok bool) {
	for name, c := range codes {
		if !inRange(name, x) {
			continue
		}
		if ok {
			return code, false
		}
		code, ok = c, true
	}
	return code, ok
}

// inRange reports whether a name is of a range with x.
func inRange(name string, x float64) bool {
	low, high, between := strings.Cut(name, toCut)
	var below, from bool
	if !between {
		high, below = strings.CutPrefix(name, belowCut)
		low, from = strings.CutPrefix(name, fromCut)
	}
	least, lowest := strconv.ParseFloat(low, 64)
	most, highest := strconv.ParseFloat(high, 64)
	return (below || lowest == nil && x >= least) && (from || highest == nil && x < most) && (between || below || from) && !math.IsNaN(x)
}

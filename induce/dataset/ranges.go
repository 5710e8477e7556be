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

// RangeAt returns the index of the range of x, which is not NaN. The float32 of a cut is in the range that begins there.
func RangeAt(cuts []float64, x float64) int {
	at, found := slices.BinarySearch(cuts, x)
	if found || at < len(cuts) && IsSingle(x, cuts[at]) {
		at++
	}
	return at
}

// classRange is the range of numbers [from, below) of a class.
type classRange struct {
	from, below float64
	open        bool // whether the range has no upper end
	code        uint16
}

// has reports whether x is in the range: see RangeAt.
func (r *classRange) has(x float64) bool {
	reaches := func(cut float64) bool { return x >= cut || IsSingle(x, cut) }
	return reaches(r.from) && (r.open || !reaches(r.below))
}

// parseRange parses a name of RangeNames.
func parseRange(name string) (r classRange, ok bool) {
	r = classRange{from: math.Inf(-1)}
	if low, found := strings.CutPrefix(name, fromCut); found {
		r.open = true
		ok = parseEnd(low, &r.from)
		return r, ok
	}
	if high, found := strings.CutPrefix(name, belowCut); found {
		ok = parseEnd(high, &r.below)
		return r, ok
	}
	low, high, found := strings.Cut(name, toCut)
	ok = found && parseEnd(low, &r.from) && parseEnd(high, &r.below)
	return r, ok
}

// parseEnd parses an end of a range.
func parseEnd(text string, x *float64) bool {
	var err error
	*x, err = strconv.ParseFloat(text, 64)
	return err == nil && !math.IsNaN(*x)
}

package drift

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Common returns a feature with the bins by which rows of features a and b can be compared: the cuts of numeric
// features that both have, or the values of a categorical feature a. ofA and ofB map the codes of a and b to codes of
// the common feature, see Merge.
func Common(a, b *dataset.Feature) (common dataset.Feature, ofA, ofB []int) {
	common = dataset.Feature{Name: a.Name, Kind: a.Kind, Unit: a.Unit, Type: a.Type}
	if a.Kind == dataset.Categorical {
		common.Values = a.Values
		common.Ordered = a.Ordered
	} else {
		for _, cut := range a.Cuts {
			if slices.Contains(b.Cuts, cut) {
				common.Cuts = append(common.Cuts, cut)
			}
		}
	}
	return common, codesIn(&common, a), codesIn(&common, b)
}

// codesIn returns, for each code of feature f, the code of a coarser feature.
func codesIn(coarse, f *dataset.Feature) []int {
	codes := make([]int, f.Codes())
	for code := range codes {
		switch {
		case code == f.MissingCode():
			codes[code] = coarse.MissingCode()
		case f.Kind == dataset.Numeric:
			at := 0
			for code > 0 && at < len(coarse.Cuts) && coarse.Cuts[at] <= f.Cuts[code-1] {
				at++
			}
			codes[code] = at
		case code == f.OtherCode():
			codes[code] = coarse.OtherCode()
		default:
			if codes[code] = slices.Index(coarse.Values, f.Values[code]); codes[code] < 0 {
				codes[code] = coarse.OtherCode()
			}
		}
	}
	return codes
}

// Merge adds up counts by code, given the new code of each code. There are n new codes.
func Merge(counts []int64, codes []int, n int) []int64 {
	merged := make([]int64, n)
	for code, rows := range counts {
		merged[codes[code]] += rows
	}
	return merged
}

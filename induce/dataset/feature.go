package dataset

import "strconv"

// Kind says how a feature's values are ordered and tested.
type Kind uint8

// The kinds of feature.
const (
	Numeric Kind = iota + 1
	Categorical
)

// String returns the kind as tree.json and schema.json spell it.
func (k Kind) String() string {
	switch k {
	case Numeric:
		return "numeric"
	case Categorical:
		return "categorical"
	default:
		return "unknown"
	}
}

// Feature is a fitted feature column: how its values become codes, and what a
// test on it costs.
//
// Codes are 0..Bins()-1 for the bins or values, then OtherCode (categorical
// only), then MissingCode. The last two exist whether or not training rows
// have them, so that unseen and missing values have a code when scoring.
type Feature struct {
	Name   string
	Kind   Kind
	Unit   Unit      // what the numbers count
	Values []string  // categorical: the values as spelled, in code order
	Cuts   []float64 // numeric: strictly increasing and finite; the bin of x is the number of cuts <= x
	Range  []float64 // numeric: the least and the greatest value of training rows; nil: unknown
	// numeric: positions among the cuts, increasing, of those that trees of fewer bins are confined
	// to; see induce.Params.Subset
	Subsets [][]uint16
	Type    ValueType // categorical: the type that the values were read as, for their order

	Missing int64 // training rows without a value
	Other   int64 // training rows whose value was cut off as tail (categorical)

	Cost       float64            // price of one test
	ValueCosts map[string]float64 // price of single `equals` tests, by value as spelled; nil: none
	Group      string             // features that share a set-up; empty: none
	// price paid once on a path, with the group's first test there; the same in the whole group
	GroupCost float64
}

// Bins returns the number of bins or values, without "other" and "missing".
func (f *Feature) Bins() int {
	if f.Kind == Categorical {
		return len(f.Values)
	}
	return len(f.Cuts) + 1
}

// OtherCode returns the code of values that are not listed, or -1 for numeric
// features.
func (f *Feature) OtherCode() int {
	if f.Kind == Categorical {
		return len(f.Values)
	}
	return -1
}

// MissingCode returns the code of missing values.
func (f *Feature) MissingCode() int {
	if f.Kind == Categorical {
		return len(f.Values) + 1
	}
	return len(f.Cuts) + 1
}

// Numbers returns, for a categorical feature, the codes of the numbers that its
// values spell. A value that is spelled as numbers are comes before others of the
// same number, as "1" before "01". Where the values are those of booleans, 0 is
// "false" and 1 is "true".
func (f *Feature) Numbers() map[float64]int {
	codes := make(map[float64]int)
	booleans := len(f.Values) > 0
	for i, s := range f.Values {
		booleans = booleans && (s == "false" || s == "true")
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || x != x {
			continue
		}
		x += 0 // turns -0 into 0
		if _, taken := codes[x]; !taken || s == SpellNumber(x) {
			codes[x] = i
		}
	}
	if booleans {
		for i, s := range f.Values {
			codes[map[string]float64{"false": 0, "true": 1}[s]] = i
		}
	}
	return codes
}

// Codes returns the number of codes, with "other" and "missing".
func (f *Feature) Codes() int { return f.MissingCode() + 1 }

// Width returns the bytes that a code takes: 1 with at most 256 codes, else 2.
func (f *Feature) Width() int {
	if f.Codes() <= 256 {
		return 1
	}
	return 2
}

// CodesSeen returns the number of codes that training rows have.
func (f *Feature) CodesSeen() int {
	n := f.Bins()
	if f.Kind == Numeric && f.Cuts == nil {
		n = 0 // no value at all
	}
	if f.Missing > 0 {
		n++
	}
	if f.Other > 0 {
		n++
	}
	return n
}

// Bin returns the number of cuts <= x: the code of x in a numeric feature, if x is
// not NaN.
func (f *Feature) Bin(x float64) int {
	below, n := 0, len(f.Cuts)
	for n > 0 { // sort.Search without its function call
		half := n >> 1
		if f.Cuts[below+half] <= x {
			below += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	return below
}

package dataset

import (
	"strconv"

	"github.com/espalier-ml/espalier/induce/naming"
)

// Kind is the kind of a feature: numeric features have ordered values and cuts.
type Kind uint8

// The kinds of feature.
const (
	Numeric Kind = iota + 1
	Categorical
)

// String returns the kind as tree.json and schema.json spell it.
func (k Kind) String() string { return naming.Of(k, 0, []string{"unknown", "numeric", "categorical"}) }

// Feature is a fitted feature column: the codes of its values, and the prices of its
// tests.
//
// Codes are 0..Bins()-1 for the bins or values, then OtherCode (categorical only), then
// MissingCode. The last two exist even if no training row has them, so unseen and
// missing values have a code in scoring.
type Feature struct {
	Name   string
	Kind   Kind
	Unit   Unit      // unit of points in time
	Zone   Zone      // of timestamps
	Values []string  // categorical: the values as spelled, in code order
	Cuts   []float64 // numeric: strictly increasing and finite; the bin of x is the number of cuts <= x
	Range  []float64 // numeric: least and greatest value of the training rows; nil: unknown
	Type   ValueType // categorical: type of the values in the file, for their order
	// Ordered says that the values of a categorical feature are in an order that was declared, in which tests cut them.
	Ordered bool

	Missing int64 // number of training rows without a value
	Other   int64 // number of training rows whose value is in the tail (categorical)

	// Unordered says that a value is absent because nobody ordered it: no test separates absent values from present ones,
	// and what a row without the value would have is unknown.
	Unordered bool

	Cost       float64            // price of one test
	ValueCosts map[string]float64 // by value as spelled: price of its `equals` test; nil: Cost for all
	Group      string             // name of the group, whose features share a set-up; empty: no group
	// GroupCost is the price of the group, paid once on a path, at the group's first test.
	// All features of a group have the same.
	GroupCost float64
	// FurtherCosts are prices of one test in further currencies, such as minutes in addition to euros, by currency; nil: no
	// further currencies. All features of a training have the same currencies. GroupFurther are the prices of the group, as GroupCost is.
	FurtherCosts map[string]float64
	GroupFurther map[string]float64
}

// CodingOnly returns features without prices and counts: what remains decides the codes of values, and how absent values are
// read.
func CodingOnly(features []Feature) []Feature {
	list := make([]Feature, len(features))
	for i := range features {
		f := &features[i]
		list[i] = Feature{
			Name: f.Name, Kind: f.Kind, Unit: f.Unit, Type: f.Type, Values: f.Values, Ordered: f.Ordered, Cuts: f.Cuts, Range: f.Range,
			Unordered: f.Unordered,
		}
	}
	return list
}

// Bins returns the number of bins or values, without "other" and "missing".
func (f *Feature) Bins() int {
	if f.Kind == Categorical {
		return len(f.Values)
	}
	return len(f.Cuts) + 1
}

// OtherCode returns the code of unlisted values, or -1 for a numeric feature.
func (f *Feature) OtherCode() int {
	if f.Kind == Categorical {
		return len(f.Values)
	}
	return -1
}

// oftenMissing is the share of the training rows from which rows without a value are more than faults of recording. In
// measurements on synthetic rows they then also show where a row without the value belongs.
const oftenMissing = 0.05

// OftenMissing reports whether at least 5 % of the training rows lack the value. training has their number, or their
// weight if Missing is a weight.
func (f *Feature) OftenMissing(training int64) bool {
	return f.Missing > 0 && float64(f.Missing) >= oftenMissing*float64(training)
}

// MissingCode returns the code of missing values.
func (f *Feature) MissingCode() int {
	if f.Kind == Categorical {
		return len(f.Values) + 1
	}
	return len(f.Cuts) + 1
}

// Numbers returns the codes of the numbers spelled by the values of a categorical
// feature. If several values spell one number, the canonical spelling wins: "1" before
// "01". If the values are booleans, 0 is "false" and 1 is "true".
func (f *Feature) Numbers() map[float64]int {
	codes := make(map[float64]int)
	booleans := len(f.Values) > 0
	for i, s := range f.Values {
		booleans = booleans && (s == "false" || s == "true")
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || x != x || LosesDigits(s, x) && s != SpellNumber(x) {
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

// Width returns the number of bytes of a code: 1 for at most 256 codes, else 2.
func (f *Feature) Width() int {
	if f.Codes() <= 256 {
		return 1
	}
	return 2
}

// CodesSeen returns the number of codes that occur in the training rows.
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

// Category returns the value of a code of a categorical feature; points in time are in ISO 8601.
func (f *Feature) Category(code int) string {
	if f.Unit != Plain {
		if x, err := strconv.ParseFloat(f.Values[code], 64); err == nil {
			return f.Unit.Spell(x)
		}
	}
	return f.Values[code]
}

// Bin returns the number of cuts <= x: the code of x in a numeric feature, if x is
// not NaN.
func (f *Feature) Bin(x float64) int {
	// A binary search whose steps do not depend on x: no branch to guess wrong.
	below := 0
	cuts := f.Cuts
	for n := len(cuts); n > 0; {
		half := (n + 1) >> 1
		below += half & -boolToInt(cuts[below+half-1] <= x)
		n -= half
	}
	return below
}

// FeatureColumn is a column whose values become a feature.
type FeatureColumn struct {
	Name string    `json:"name"`
	Kind Kind      `json:"kind"`
	Type ValueType `json:"type"` // type of the values in the file
	Unit Unit      `json:"unit,omitempty"`
	Zone Zone      `json:"zone,omitempty"` // of timestamps
}

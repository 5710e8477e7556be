package binning

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/portable"
)

// Method is a method of choosing the cuts of numeric features.
type Method uint8

// The methods. With every method, a column with at most as many distinct values as bins has a bin
// for each value.
const (
	// KMeans minimises the sum of squares within bins.
	KMeans Method = iota + 1
	// Quantile gives bins about the same weight.
	Quantile
	// Uniform gives bins the same width, between the least and the greatest
	// finite value.
	Uniform
)

// Methods returns the names of all methods.
func Methods() []string { return []string{"kmeans", "quantile", "uniform"} }

// String returns the name of the method in flags and tree.json.
func (m Method) String() string { return naming.Of(m, KMeans, Methods()) }

// ParseMethod reads the name of a method.
func ParseMethod(s string) (Method, error) {
	return naming.Parse("binning", s, KMeans, Methods())
}

// FitNumeric returns the cuts of a numeric column, strictly increasing and finite, for at most bins
// bins. The index of the bin of x is the number of cuts <= x. Every bin has training rows.
//
// Quantile: for i = 1..B-1, take the first distinct value whose cumulative weight reaches i W / B;
// the cut is between it and the next distinct value. Equal cuts are merged, and there is no cut after
// the last value. A cut between two values is the decimal of the fewest digits that tells them apart, and among
// these the one nearest to their midpoint; for KMeans it is the midpoint, as in the paper. If the values are float32s,
// it also tells the decimals apart that they stand for. Uniform: cuts that separate no values are left out. KMeans: see Fitter.
//
// Two neighbouring values share a bin if no finite number separates them, such as the greatest
// float64 and infinity.
func (f *Fitter) FitNumeric(s *Summary, m Method, bins int) []float64 {
	f.load(s)
	return f.cuts(m, bins)
}

// cuts returns the cuts of the loaded summary.
func (f *Fitter) cuts(m Method, bins int) []float64 {
	if len(f.values) < 2 || bins < 2 {
		return nil
	}
	f.midpoints = m == KMeans
	cuts := make([]float64, 0, min(bins, len(f.values))-1)
	switch {
	case len(f.values) <= bins:
		for i := 1; i < len(f.values); i++ {
			cuts = f.cutBefore(cuts, i)
		}
	case m == Uniform:
		cuts = f.uniform(cuts, bins)
	case m == Quantile:
		cuts = f.quantile(cuts, bins)
	default:
		cuts = f.kmeans(cuts, bins)
	}
	return cuts
}

// load takes over the distinct values of a summary.
func (f *Fitter) load(s *Summary) {
	list := s.entries()
	f.shift = s.shift
	f.values = f.values[:0]
	f.weights = f.weights[:0]
	for _, e := range list {
		f.values = append(f.values, keyNumber(e.key))
		f.weights = append(f.weights, e.weight)
	}
}

func (f *Fitter) quantile(cuts []float64, bins int) []float64 {
	total := portable.Sum(f.weights)
	last := len(f.values) - 1
	at, sum := 0, f.weights[0] // sum is the cumulative weight of value at
	cut := -1                  // the last value before the last cut
	for i := 1; i < bins; i++ {
		for at < last && !dataset.Reached(uint64(sum), uint64(bins), uint64(total), uint64(i)) {
			at++
			sum += f.weights[at]
		}
		if at == last {
			break
		}
		if at > cut {
			cuts = f.cutBefore(cuts, at+1)
			cut = at
		}
	}
	return cuts
}

func (f *Fitter) uniform(cuts []float64, bins int) []float64 {
	from, to := f.finite()
	if from == to {
		return cuts
	}
	lo, hi := f.values[from], f.values[to-1]
	right := from // the first value right of the edge
	cut := from   // the first value right of the last cut
	for i := 1; i < bins; i++ {
		edge := uniformEdge(lo, hi, i, bins)
		for right < to && f.values[right] < edge {
			right++
		}
		if right == to {
			break
		}
		if right == cut {
			continue
		}
		cut = right
		if f.shift != 0 {
			edge = f.values[right]
		} else if a, b := f.gap(right); !(a < edge && edge <= b) {
			edge, _ = f.cut(right)
		}
		cuts = append(cuts, edge)
	}
	return cuts
}

// uniformEdge returns the i-th of the edges that divide [lo, hi] into bins intervals of equal
// width.
func uniformEdge(lo, hi float64, i, bins int) float64 {
	const large = 0x1p900 // below it nothing here overflows
	if lo < -large || hi > large {
		const down, up = 0x1p-100, 0x1p100
		return uniformEdge(lo*down, hi*down, i, bins) * up
	}
	return lo + (hi-lo)*float64(i)/float64(bins)
}

// finite returns the range of the finite values.
func (f *Fitter) finite() (from, to int) {
	to = len(f.values)
	if to > 0 && math.IsInf(f.values[0], -1) {
		from++
	}
	if to > from && math.IsInf(f.values[to-1], 1) {
		to--
	}
	return from, to
}

// FitCategorical returns the values of a categorical column in code order, spelled as categories:
// numbers in numeric order, texts in byte order. If there are more than maxCategories, it keeps the
// values with the greatest weight (ties: the smaller value). It drops values with a weight below
// least. The dropped values are the tail, which becomes "other"; tailWeight is their weight.
//
// FitCategorical returns an error for a numeric summary, for maxCategories below 1, and for a
// summary that overflowed, because it has no values.
func FitCategorical(s *Summary, maxCategories int, least int64) (values []string, tailWeight int64, err error) {
	switch {
	case s.kind != dataset.Categorical:
		return nil, 0, fmt.Errorf("binning: no categories of a %s column", s.kind)
	case maxCategories < 1:
		return nil, 0, fmt.Errorf("binning: %d categories asked for, want 1 or more", maxCategories)
	case s.overflow:
		return nil, 0, fmt.Errorf("binning: more than %d distinct values in a categorical column", s.limits.Categories)
	}
	values, weights := s.Spelled()
	kept := 0
	for _, weight := range weights {
		if weight >= least {
			kept++
		}
	}
	kept = min(kept, maxCategories)
	if len(values) == kept {
		return values, 0, nil
	}
	tailWeight = s.weight
	for i, at := range heaviest(weights, kept) {
		tailWeight -= weights[at]
		values[i] = values[at] // at >= i
	}
	return slices.Clip(values[:kept]), tailWeight, nil
}

// heaviest returns the positions of the n greatest weights, ascending. Ties: the first.
func heaviest(weights []int64, n int) []int {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	slices.Sort(order[:n])
	return order[:n]
}

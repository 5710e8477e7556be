package binning_test

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
)

func TestMethodNames(t *testing.T) {
	for m, want := range map[binning.Method]string{
		binning.KMeans: "kmeans", binning.Quantile: "quantile",
		binning.Uniform: "uniform",
	} {
		if m.String() != want {
			t.Errorf("method %d is %q, want %q", m, m, want)
		}
		if got, err := binning.ParseMethod(want); got != m || err != nil {
			t.Errorf("%q is method %d and error %v, want %d", want, got, err, m)
		}
	}
	for _, name := range []string{"", "unknown", "Quantile", "k-means"} {
		if m, err := binning.ParseMethod(name); err == nil || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("%q is method %d and error %v", name, m, err)
		}
	}
}

// TestFitNumericFew: with at most as many values as bins, each value has its own bin. By KMeans the cuts lie half-way
// between neighbours, by the other methods at short decimals. By hand.
func TestFitNumericFew(t *testing.T) {
	const most, least = math.MaxFloat64, math.SmallestNonzeroFloat64
	inf, next := math.Inf(1), math.Nextafter(1, 2)
	for _, test := range []struct {
		name         string
		values, want []float64
		short        []float64 // where it differs
	}{
		{"no values", nil, nil, nil},
		{"nothing but missing", []float64{math.NaN(), math.NaN()}, nil, nil},
		{"constant", []float64{7, 7, 7}, nil, nil},
		{"two values", []float64{3, 1, 3}, []float64{2}, nil},
		{"zeros", []float64{math.Copysign(0, -1), 0}, nil, nil},
		{"three values", []float64{-1, 4, 0.5}, []float64{-0.25, 2.25}, []float64{0, 2}},
		{"neighbours", []float64{1, next}, []float64{next}, nil},
		{"least numbers", []float64{-least, 0, least}, []float64{0, least}, nil},
		{"greatest numbers", []float64{-most, most}, []float64{0}, nil},
		{"greatest neighbours", []float64{math.Nextafter(most, 0), most}, []float64{most}, nil},
		{"sum beyond float64", []float64{1e308, 1.5e308}, []float64{1.25e308}, nil},
		{"infinities", []float64{inf, -inf}, []float64{0}, nil},
		{"infinities and zero", []float64{inf, 0, -inf}, []float64{-most, most}, nil},
		{"below infinity", []float64{most, inf}, nil, nil}, // no number parts them
		{"above infinity", []float64{-inf, -most}, []float64{-most}, nil},
		{"missing beside", []float64{math.NaN(), 2, 4}, []float64{3}, nil},
	} {
		s := numericSummary(test.values)
		for _, m := range methods() {
			for _, bins := range []int{max(s.Distinct(), 2), s.Distinct() + 1, 1000} {
				want := test.want
				if test.short != nil && m != binning.KMeans {
					want = test.short
				}
				if diff := gocmp.Diff(want, binning.FitNumeric(s, m, bins), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s, %s, %d bins: cuts (-want +got):\n%s", test.name, m, bins, diff)
				}
			}
		}
	}
}

// TestFitNumericLaws: each method keeps the contract of FitNumeric on any column.
func TestFitNumericLaws(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(1, seed))
		for _, c := range anyColumns(r, 2+r.IntN(150)) {
			s := limitedSummary(c.values, nil, binning.Limits{Values: 1 + r.IntN(200), Categories: 1})
			for _, m := range methods() {
				for _, bins := range []int{-1, 0, 1, 2, 3, 7, 32} {
					cuts := binning.FitNumeric(s, m, bins)
					checkCuts(t, s, cuts, bins)
					if t.Failed() {
						t.Fatalf("seed %d, %s, %s, %d bins", seed, c.name, m, bins)
					}
				}
			}
		}
	}
}

// TestFitNumericBuckets: the weight of a bin is the same by rows and by buckets.
func TestFitNumericBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, c := range anyColumns(r, 1200) {
		s := limitedSummary(c.values, nil, binning.Limits{Values: 40, Categories: 1})
		for _, m := range methods() {
			for _, bins := range []int{2, 9, 2000} {
				cuts := binning.FitNumeric(s, m, bins)
				rows, buckets := make([]int64, len(cuts)+1), make([]int64, len(cuts)+1)
				for _, x := range c.values {
					rows[bin(cuts, x)]++
				}
				edges, weights := s.Numbers()
				for i, x := range edges {
					buckets[bin(cuts, x)] += weights[i]
				}
				if diff := gocmp.Diff(rows, buckets); diff != "" {
					t.Errorf("%s, %s, %d bins: rows in bins (-of values +of buckets):\n%s", c.name, m, bins, diff)
				}
			}
		}
	}
}

// TestCodes: the code of a feature is the number of cuts <= x, on the cuts too.
func TestCodes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, c := range anyColumns(r, 500) {
		s := numericSummary(c.values)
		for _, m := range methods() {
			f := dataset.Feature{Kind: dataset.Numeric, Cuts: binning.FitNumeric(s, m, 20)}
			for _, x := range append(c.values, f.Cuts...) {
				if got, want := f.Bin(x), bin(f.Cuts, x); got != want {
					t.Errorf("%s, %s: code %d of %v, want %d by cuts %v", c.name, m, got, x, want, f.Cuts)
				}
			}
		}
	}
}

// naiveQuantile is the rule of Quantile, cut by cut: the values before the cuts.
func naiveQuantile(values []float64, weights []int64, bins int) []float64 {
	var total big.Int
	for _, w := range weights {
		total.Add(&total, big.NewInt(w))
	}
	var before []float64
	for i := 1; i < bins; i++ {
		share := new(big.Int).Mul(&total, big.NewInt(int64(i)))
		var sum big.Int
		at := -1
		for at < 0 || new(big.Int).Mul(&sum, big.NewInt(int64(bins))).Cmp(share) < 0 {
			at++
			sum.Add(&sum, big.NewInt(weights[at]))
		}
		if at+1 < len(values) {
			before = append(before, values[at])
		}
	}
	return slices.Compact(before)
}

// before returns the greatest value below each cut.
func before(values, cuts []float64) []float64 {
	var list []float64
	for _, cut := range cuts {
		at, _ := slices.BinarySearch(values, cut)
		list = append(list, values[at-1])
	}
	return list
}

func TestQuantileNaive(t *testing.T) {
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(4, seed))
		numbers, weights := make([]float64, 1+r.IntN(60)), []int64(nil)
		for i := range numbers {
			numbers[i] = float64(r.IntN(80)) / 4
			weights = append(weights, 1+r.Int64N([]int64{1, 4, math.MaxInt64 / 60}[seed%3]))
		}
		s := weightedSummary(numbers, weights)
		values, weights := s.Numbers()
		for _, bins := range []int{2, 3, 4, 10, 50} {
			want := naiveQuantile(values, weights, bins)
			if len(values) <= bins {
				continue // TestFitNumericFew
			}
			got := before(values, binning.FitNumeric(s, binning.Quantile, bins))
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, %d bins of %v with weights %v: values before the cuts (-want +got):\n%s", seed, bins, values, weights,
					diff)
			}
		}
	}
}

// sixteen are distinct values.
func sixteen() []float64 {
	return []float64{0.3, -1.2, 2.7, 5.5, -0.4, 8.1, 3.3, 4.4, 7.9, 1.6, 6.2, -2.5, 9.4, 0.9, 10.2, 2.1}
}

// TestQuantileReference: the value before a cut is numpy 2.4.6's
//
//	np.quantile(x, np.arange(1, bins) / bins, method="inverted_cdf")
//
// without last values and repetitions.
func TestQuantileReference(t *testing.T) {
	fibonacci := []float64{1, 1, 1, 2, 3, 3, 5, 8, 8, 8, 8, 9, 13}
	powers, weights := []float64{1, 2, 4, 8, 16, 32}, []int64{5, 1, 1, 2, 7, 3}
	for _, test := range []struct {
		s      *binning.Summary
		bins   int
		behind []float64
	}{
		{numericSummary(sixteen()), 4, []float64{0.3, 2.7, 6.2}},
		{numericSummary(sixteen()), 8, []float64{-1.2, 0.3, 1.6, 2.7, 4.4, 6.2, 8.1}},
		{numericSummary(fibonacci), 4, []float64{2, 5, 8}},
		{numericSummary(fibonacci), 5, []float64{1, 3, 8}},
		{weightedSummary(powers, weights), 4, []float64{1, 16}},
	} {
		values, _ := test.s.Numbers()
		behind := before(values, binning.FitNumeric(test.s, binning.Quantile, test.bins))
		if diff := gocmp.Diff(test.behind, behind); diff != "" {
			t.Errorf("%d bins of %v: values before the cuts (-want +got):\n%s", test.bins, values, diff)
		}
	}
}

// TestQuantileInfinities: infinities count as values like others.
func TestQuantileInfinities(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		values []float64
		bins   int
		want   []float64 // by hand
	}{
		{[]float64{-inf, 0, 1, inf}, 2, []float64{0.5}},
		{[]float64{-inf, -inf, 0, 1, 2, inf}, 3, []float64{-math.MaxFloat64, 2}},
		{[]float64{0, 1, 2, inf}, 3, []float64{2, math.MaxFloat64}},
		{[]float64{0, 1, math.MaxFloat64, inf}, 3, []float64{math.MaxFloat64 / 2}}, // the second cut: none
	} {
		got := binning.FitNumeric(numericSummary(test.values), binning.Quantile, test.bins)
		if diff := gocmp.Diff(test.want, got); diff != "" {
			t.Errorf("%d bins of %v: cuts (-want +got):\n%s", test.bins, test.values, diff)
		}
	}
}

// naiveUniform returns the edges between bins of equal width, without edges that have no
// finite value between them and the edge before.
func naiveUniform(values []float64, bins int) []float64 {
	values = slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return math.IsInf(x, 0) })
	lo, hi := new(big.Rat).SetFloat64(slices.Min(values)), new(big.Rat).SetFloat64(slices.Max(values))
	var cuts []float64
	left := 0 // values left of the last cut
	for i := 1; i < bins; i++ {
		edge := new(big.Rat).Sub(hi, lo)
		edge.Mul(edge, big.NewRat(int64(i), int64(bins)))
		cut, _ := edge.Add(edge, lo).Float64()
		here := 0
		for _, x := range values {
			if x < cut {
				here++
			}
		}
		if here > left && here < len(values) {
			cuts, left = append(cuts, cut), here
		}
	}
	return cuts
}

// TestUniformNaive: for whole numbers and a power of two of bins the edges are exact in
// float64, and often on values. For other numbers of bins no value is near an edge, so
// rounding does not matter.
func TestUniformNaive(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(5, seed))
		var numbers []float64
		for range 3 + r.IntN(40) {
			numbers = append(numbers, float64(r.IntN(1000)-500))
		}
		if r.IntN(4) == 0 {
			numbers = append(numbers, math.Inf(1), math.Inf(-1))
		}
		for _, bins := range []int{2, 8, 3, 11} {
			if bins%2 == 1 {
				for i := range numbers {
					numbers[i] = math.Round(numbers[i]) + r.Float64()/16
				}
			}
			s := numericSummary(numbers)
			if s.Distinct() <= bins {
				continue // TestFitNumericFew
			}
			got, want := binning.FitNumeric(s, binning.Uniform, bins), naiveUniform(numbers, bins)
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(),
				cmpopts.EquateApprox(0, float64((bins&1))*1e-12)); diff != "" {
				t.Fatalf("seed %d, %d bins of %v: cuts (-want +got):\n%s", seed, bins, numbers, diff)
			}
		}
	}
}

// TestUniformReference has numpy 2.4.6's np.linspace(min, max, bins+1)[1:-1], on
// values that leave no bin empty.
func TestUniformReference(t *testing.T) {
	want := []float64{-0.9125, 0.675, 2.2625, 3.85, 5.4375, 7.025, 8.6125}
	got := binning.FitNumeric(numericSummary(sixteen()), binning.Uniform, 8)
	if diff := gocmp.Diff(want, got, cmpopts.EquateApprox(1e-14, 0)); diff != "" {
		t.Errorf("cuts (-want +got):\n%s", diff)
	}
}

// TestUniformExtremes: a width beyond float64 is halved without overflow. By hand.
func TestUniformExtremes(t *testing.T) {
	const most = math.MaxFloat64
	for _, test := range []struct{ values, want []float64 }{
		{[]float64{-most, -most / 4, 0, most / 4, most}, []float64{-most / 2, 0, most / 2}},
		{[]float64{math.Inf(-1), -most, -1, 1, most, math.Inf(1)}, []float64{0}},
		{
			[]float64{0, 4 * math.SmallestNonzeroFloat64, 8 * math.SmallestNonzeroFloat64},
			[]float64{4 * math.SmallestNonzeroFloat64},
		},
		{[]float64{math.Inf(-1), 5, math.Inf(1)}, nil}, // one finite value: no width
	} {
		got := binning.FitNumeric(numericSummary(test.values), binning.Uniform, max(2, len(test.want)+1))
		if diff := gocmp.Diff(test.want, got, cmpopts.EquateEmpty(), cmpopts.EquateApprox(1e-15, 0)); diff != "" {
			t.Errorf("%v: cuts (-want +got):\n%s", test.values, diff)
		}
	}
}

// categories makes a column in which value i occurs weights[i] times.
func categories(typ dataset.ValueType, limit int, weights ...int64) *column {
	c := &column{kind: dataset.Categorical, typ: typ, limits: binning.Limits{Values: 1, Categories: limit}}
	for i, w := range weights {
		c.cells = append(c.cells, cell{number: float64(i) * 5, text: strconv.Itoa(i * 5), weight: w})
	}
	return c
}

// TestFitCategorical has expected values by hand. Numbers are in numeric order,
// texts in byte order.
func TestFitCategorical(t *testing.T) {
	weights := []int64{4, 2, 7, 4, 1} // weights of 0, 5, 10, 15, 20
	for _, test := range []struct {
		typ  dataset.ValueType
		most int
		want []string
		tail int64
	}{
		{dataset.Number, 6, []string{"0", "5", "10", "15", "20"}, 0},
		{dataset.Number, 5, []string{"0", "5", "10", "15", "20"}, 0},
		{dataset.Number, 4, []string{"0", "5", "10", "15"}, 1},
		{dataset.Number, 2, []string{"0", "10"}, 7},
		{dataset.Number, 1, []string{"10"}, 11},
		{dataset.Text, 5, []string{"0", "10", "15", "20", "5"}, 0},
		{dataset.Text, 3, []string{"0", "10", "15"}, 3},
		{dataset.Text, 2, []string{"0", "10"}, 7}, // the smaller of the ties, 0 and 15
	} {
		values, tail, err := binning.FitCategorical(categories(test.typ, 5, weights...).sum(), test.most, 0)
		if err != nil || tail != test.tail || !slices.Equal(values, test.want) {
			t.Errorf("%s, %d of %v: values %q, tail %d, error %v; want %q and %d", test.typ, test.most, weights, values,
				tail, err, test.want, test.tail)
		}
	}
	if values, tail, err := binning.FitCategorical(categories(dataset.Text, 5, 3, 1, 2, 1).sum(), 5, 2); err != nil || len(values) != 2 || tail != 2 {
		t.Errorf("%q, tail %d, %v, want the two values of two rows or more", values, tail, err)
	}
	if values, tail, err := binning.FitCategorical(categories(dataset.Text, 5).sum(), 5, 0); len(values) > 0 ||
		tail != 0 || err != nil {
		t.Errorf("no rows: values %q, tail %d, error %v", values, tail, err)
	}
}

// TestFitCategoricalNaive sorts by the rule that FitCategorical states.
func TestFitCategoricalNaive(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(6, seed))
		var weights []int64
		for range 1 + r.IntN(40) {
			weights = append(weights, 1+r.Int64N(6))
		}
		typ := []dataset.ValueType{dataset.Number, dataset.Text}[seed%2]
		s := categories(typ, len(weights), weights...).sum()
		spelled, weights := s.Spelled()
		most := 1 + r.IntN(len(weights))
		order := r.Perm(len(weights))
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
		})
		slices.Sort(order[:most])
		var want []string
		for _, at := range order[:most] {
			want = append(want, spelled[at])
		}
		wantTail := int64(0)
		for _, at := range order[most:] {
			wantTail += weights[at]
		}
		values, tail, err := binning.FitCategorical(s, most, 0)
		if err != nil || tail != wantTail || !slices.Equal(values, want) {
			t.Errorf("seed %d, %d of %q: values %q, tail %d, error %v; want %q and %d", seed, most, spelled, values,
				tail, err, want, wantTail)
		}
	}
}

func TestFitCategoricalErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		s    *binning.Summary
		most int
		want string
	}{
		{"numeric", numericSummary([]float64{1, 2}), 5, "numeric"},
		{"none asked for", categories(dataset.Text, 5, 1, 1).sum(), 0, "0 categories"},
		{"overflow", categories(dataset.Text, 2, 1, 1, 1).sum(), 5, "more than 2 distinct values"},
		{"overflow of numbers", categories(dataset.Number, 2, 1, 1, 1).sum(), 5, "more than 2 distinct values"},
	} {
		if values, tail, err := binning.FitCategorical(test.s, test.most, 0); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: values %q, tail %d, error %v, want one with %q", test.name, values, tail, err, test.want)
		}
	}
}

// TestFitNumericSingles: a float32 of tenths and its decimal have the same bin, so that rows may be scored as float32s,
// as doubles or as texts. The cuts of doubles are those of TestShortest.
func TestFitNumericSingles(t *testing.T) {
	singles, decimals := make([]float64, 401), make([]float64, 401)
	for i := range singles {
		decimals[i] = float64(i-200) / 10
		singles[i] = float64(float32(decimals[i]))
	}
	for name, fit := range map[string]func(s *binning.Summary) []float64{
		"a bin a value": func(s *binning.Summary) []float64 { return binning.FitNumeric(s, binning.Quantile, 500) },
		"quantile":      func(s *binning.Summary) []float64 { return binning.FitNumeric(s, binning.Quantile, 37) },
		"uniform":       func(s *binning.Summary) []float64 { return binning.FitNumeric(s, binning.Uniform, 100) },
		"own cuts": func(s *binning.Summary) []float64 {
			f, err := binning.FitFeature("c", s, binning.FeatureConfig{Cuts: []float64{-2.1, -1.9, 1.9, 2.1, 2.2, 2.3, 12.7}})
			if err != nil || len(f.Cuts) != 7 {
				t.Errorf("cuts %v, %v, want 7", f.Cuts, err)
			}
			return f.Cuts
		},
	} {
		cuts := fit(numericSummary(singles))
		for i, x := range singles {
			if a, b := bin(cuts, x), bin(cuts, decimals[i]); a != b {
				t.Errorf("%s: %v is in bin %d, and its float32 in bin %d", name, decimals[i], b, a)
			}
		}
	}
	mixed := slices.Concat(singles, decimals)
	cuts := binning.FitNumeric(numericSummary(mixed), binning.Quantile, 2000)
	if want := len(distinct(mixed)) - 1; len(cuts) != want {
		t.Errorf("%d cuts part float32s and doubles, want %d", len(cuts), want)
	}
}

// distinct returns the different values, ascending.
func distinct(values []float64) []float64 {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

package dataset_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// kindsOfWeights draws weights of many kinds: whole numbers, prices, parts, dyadic numbers, random
// ones, ones that span many powers of ten, and mixtures.
func kindsOfWeights() map[string]func(r *rand.Rand) float64 {
	some := []float64{0.1, 0.25, 1. / 3, 1, 2, 0.7, 1.5}
	return map[string]func(r *rand.Rand) float64{
		"one":      func(*rand.Rand) float64 { return 1 },
		"whole":    func(r *rand.Rand) float64 { return float64(1 + r.IntN(9)) },
		"large":    func(r *rand.Rand) float64 { return float64(1000 + r.IntN(1_000_000)) },
		"prices":   func(r *rand.Rand) float64 { return float64(100+r.IntN(900)) / 100 },
		"parts":    func(r *rand.Rand) float64 { return float64(1+r.IntN(20)) / 7 },
		"some":     func(r *rand.Rand) float64 { return some[r.IntN(len(some))] },
		"dyadic":   func(r *rand.Rand) float64 { return math.Ldexp(float64(1+r.IntN(1<<20)), -18) },
		"random":   func(r *rand.Rand) float64 { return 0.5 + 1.5*r.Float64() },
		"spread":   func(r *rand.Rand) float64 { return math.Exp(3 * r.NormFloat64()) },
		"halves":   func(r *rand.Rand) float64 { return 1 + float64(r.IntN(1<<21))/(1<<22) },
		"mostly 1": func(r *rand.Rand) float64 { return []float64{1, 1, 1, 1, 1, math.Sqrt2, 0.001}[r.IntN(7)] },
	}
}

// TestLikeCounts: weights may be numbers of rows if they are whole, and not two classes' weights.
func TestLikeCounts(t *testing.T) {
	for _, c := range []struct {
		weights []float64
		want    bool
	}{
		{[]float64{1, 2, 30}, true}, {[]float64{7, 9, 7, 30}, true}, {[]float64{1, 5, 1}, false}, {[]float64{1, 2, 2.5}, false}, {nil, false},
	} {
		least, greatest, like := sumsOf(c.weights).LikeCounts()
		if like != c.want || like && (least != slices.Min(c.weights) || greatest != slices.Max(c.weights)) {
			t.Errorf("%v: %v from %v to %v, want %v", c.weights, like, least, greatest, c.want)
		}
	}
}

func sumsOf(weights []float64) *dataset.WeightSums {
	s := new(dataset.WeightSums)
	for _, x := range weights {
		s.Add(x, 1)
	}
	return s
}

// TestWeightUnits: weights times a constant are as many units, in units of as many rows, and have the same design
// effect.
func TestWeightUnits(t *testing.T) {
	for name, draw := range kindsOfWeights() {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 1))
			weights := make([]float64, 1+r.IntN(3000))
			for i := range weights {
				weights[i] = draw(r)
			}
			units := func(factor float64) (counts []int64, scale, effect float64) {
				scaled := make([]float64, len(weights))
				for i, x := range weights {
					scaled[i] = x * factor
				}
				parts := [dataset.Parts]*dataset.WeightSums{dataset.Train: sumsOf(scaled)}
				unit := dataset.WeightUnits(&parts)[dataset.Train]
				total := int64(0)
				for _, x := range scaled {
					counts = append(counts, unit.Of(x))
					total += counts[len(counts)-1]
				}
				if mean := float64(total) / float64(len(weights)); math.Abs(mean/unit.Scale-1) > 2e-6 || total > unit.Total {
					t.Fatalf("%s, seed %d, times %v: %v units a row, scale %v; %d units of at most %d", name, seed, factor, mean,
						unit.Scale, total, unit.Total)
				}
				return counts, unit.Scale, unit.Effect
			}
			want, scale, effect := units(1)
			mean := sumsOf(weights).Mean()
			for i, n := range want { // each weight is counted to a millionth of the mean
				if got := float64(n) / scale * mean; math.Abs(got-weights[i]) > 1e-6*(mean+weights[i]) {
					t.Fatalf("%s, seed %d: weight %v counts as %v", name, seed, weights[i], got)
				}
			}
			for _, factor := range []float64{1e-9, 1e-6, 1. / 3, 0.1, 0.5, 7, 1e3, 1e9, 1 / float64(len(weights)), 1e-150} {
				got, s, e := units(factor)
				if e != effect {
					t.Fatalf("%s, seed %d, times %v: design effect %v, want %v", name, seed, factor, e, effect)
				}
				for i := range got {
					if got[i] != want[i] || s != scale {
						t.Fatalf("%s, seed %d, times %v: weight %v is %d units of scale %v, want %d of %v", name, seed, factor,
							weights[i], got[i], s, want[i], scale)
					}
				}
			}
		}
	}
}

// TestCommonUnit: by hand. Whole numbers, prices and parts are counted exactly, in their greatest
// common unit.
func TestCommonUnit(t *testing.T) {
	for _, c := range []struct {
		weights, units []float64
		scale          float64
	}{
		{[]float64{1, 1, 2}, []float64{1, 1, 2}, 4. / 3},
		{[]float64{0.25, 0.25}, []float64{1, 1}, 1},
		{[]float64{6, 4, 10}, []float64{3, 2, 5}, 10. / 3},
		{[]float64{0.1, 0.3, 0.25}, []float64{2, 6, 5}, 13. / 3},
		{[]float64{1. / 3, 0.1, 0.25}, []float64{20, 6, 15}, 41. / 3},
		{[]float64{1, 1e9}, []float64{1, 1e9}, (1 + 1e9) / 2},
	} {
		parts := [dataset.Parts]*dataset.WeightSums{dataset.Train: sumsOf(c.weights)}
		unit := dataset.WeightUnits(&parts)[dataset.Train]
		for i, x := range c.weights {
			if got := unit.Of(x); float64(got) != c.units[i] || unit.Scale != c.scale {
				t.Errorf("%v: %v is %d units of scale %v, want %v of %v", c.weights, x, got, unit.Scale, c.units[i], c.scale)
			}
		}
	}
}

// TestWeightUnitsByPart: other parts have units of their own, and the scale says how many of them
// the mean weight of a training row has. Weights beyond what can be counted are no unit.
func TestWeightUnitsByPart(t *testing.T) {
	parts := [dataset.Parts]*dataset.WeightSums{
		dataset.Train: sumsOf([]float64{2, 4}), dataset.Test: sumsOf([]float64{0.5, 1.5}),
	}
	units := dataset.WeightUnits(&parts)
	if test := units[dataset.Test]; test.Of(1.5) != 3 || test.Scale != 6 || test.Mean != 3 || units[dataset.Validation].Size != 0 {
		t.Errorf("%+v, want 6 units of .5 in the mean of 3", units)
	}
	parts = [dataset.Parts]*dataset.WeightSums{dataset.Test: sumsOf([]float64{0.5, 1.5})}
	if test := dataset.WeightUnits(&parts)[dataset.Test]; test.Scale != 2 {
		t.Errorf("%+v, want 2 units in the mean of 1", test)
	}
	far := make([]float64, 0, 101)
	for i := range 100 {
		far = append(far, 1+math.Sqrt(float64(i)))
	}
	for least, want := range map[float64]bool{1e-9: true, 1e-12: true, 1e-30: false, 1e-200: false} {
		parts = [dataset.Parts]*dataset.WeightSums{dataset.Train: sumsOf(append(far, least))}
		unit := dataset.WeightUnits(&parts)[dataset.Train]
		if n := unit.Of(least); (n > 0) != want || unit.Of(far[99]) == 0 {
			t.Errorf("%v next to 1: %d units of %+v", least, n, unit)
		}
	}
}

// TestWeightSums: sums of parts merge to the bytes of the whole in any order, the mean is the nearest to the
// exact one, and the design effect is the exact one in the first digits.
func TestWeightSums(t *testing.T) {
	for name, draw := range kindsOfWeights() {
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, 2))
			var whole dataset.WeightSums
			parts := make([]dataset.WeightSums, 1+r.IntN(4))
			const enough = 1 << 13 // bits, for all sums to be exact
			exact, squares, rows := new(big.Float).SetPrec(enough), new(big.Float).SetPrec(enough), int64(0)
			for range r.IntN(9000) {
				x, n := draw(r)*math.Pow(10, float64(r.IntN(3))), int64(r.IntN(4))
				whole.Add(x, n)
				parts[r.IntN(len(parts))].Add(x, n)
				value := big.NewFloat(x).SetPrec(enough)
				weight := new(big.Float).SetPrec(enough).Mul(value, new(big.Float).SetInt64(n))
				exact.Add(exact, weight)
				squares.Add(squares, weight.Mul(weight, value))
				rows += n
			}
			var merged dataset.WeightSums
			for _, i := range r.Perm(len(parts)) {
				b, err := json.Marshal(&parts[i])
				if err != nil {
					t.Fatal(err)
				}
				var one dataset.WeightSums
				if err := json.Unmarshal(b, &one); err != nil {
					t.Fatal(err)
				}
				merged.Merge(&one)
			}
			a, _ := json.Marshal(&whole)
			b, _ := json.Marshal(&merged)
			if !bytes.Equal(a, b) || whole.Rows != rows {
				t.Fatalf("%s, seed %d: the parts merge to other bytes", name, seed)
			}
			if rows == 0 {
				continue
			}
			mean, _ := exact.Rat(nil)
			if want, _ := mean.Quo(mean, new(big.Rat).SetInt64(rows)).Float64(); whole.Mean() != want {
				t.Errorf("%s, seed %d: mean %v, want %v", name, seed, whole.Mean(), want)
			}
			effect, _ := squares.Rat(nil)
			effect.Quo(effect, mean.Mul(mean, mean).Mul(mean, new(big.Rat).SetInt64(rows)))
			if want, _ := effect.Float64(); math.Abs(whole.Effect()-want) > 1e-8*want {
				t.Errorf("%s, seed %d: design effect %v, want %v", name, seed, whole.Effect(), want)
			}
		}
	}
	for _, b := range []string{`{"weights": [1]}`, `{"sums": [[5000, 0, 1]], "squares": [[0, 0, 1]]}`, `{"sums": [[3, 0, 1]]}`, `[]`} {
		if err := new(dataset.WeightSums).UnmarshalJSON([]byte(b)); err == nil {
			t.Errorf("no error for %s", b)
		}
	}
}

// TestWeightFault: by hand.
func TestWeightFault(t *testing.T) {
	for x, ok := range map[float64]bool{0: true, 1: true, 1e-200: true, 1e200: true, -1: false, 1e-201: false, math.Inf(1): false} {
		if got := dataset.WeightFault(x); (got == "") != ok {
			t.Errorf("%v: %q", x, got)
		}
	}
	if dataset.WeightFault(math.NaN()) == "" {
		t.Error("NaN is a weight")
	}
}

// TestWeightClass: classes do not depend on the unit, ascend, and cover a factor of the square root of 2.
func TestWeightClass(t *testing.T) {
	if got := dataset.WeightClass(100, 100); got != dataset.Buckets/2 {
		t.Errorf("the mean weight has the class %d, want the middle one", got)
	}
	for last, units := uint8(0), int64(1); units < 1<<40; units += 1 + units/7 {
		class := dataset.WeightClass(units, 1<<20)
		if class < last || class != dataset.WeightClass(units<<3, 1<<23) {
			t.Fatalf("%d units: class %d after %d, or another one in other units", units, class, last)
		}
		middle := class > 0 && class < dataset.Buckets-1
		if twice := dataset.WeightClass(2*units, 1<<20); middle && twice != min(class+2, dataset.Buckets-1) {
			t.Errorf("%d units: class %d, twice as many %d", units, class, twice)
		}
		last = class
	}
}

// TestWeightUnitsOfCounts: however many rows there are, the greatest total is a number that JSON keeps exact, and it is
// what the weights add up to. More rows are refused unless the weights have a common unit.
func TestWeightUnitsOfCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(58, 1))
	fine := []float64{r.Float64(), r.Float64(), r.Float64(), 100 * r.Float64()}
	for _, rows := range []int64{1, 1e6, 1e9, 1e11, 1e12, dataset.MostWeighted / 4, 1e13, 5e13} {
		for _, weights := range [][]float64{fine, {1, 2, 3, .5}} {
			s := new(dataset.WeightSums)
			for _, x := range weights {
				s.Add(x, rows)
			}
			exact := weights[3] == .5
			if want := exact || 4*rows <= dataset.MostWeighted; s.Countable() != want {
				t.Errorf("4 x %d rows of %v: countable is %t", rows, weights, !want)
			}
			if !s.Countable() {
				continue
			}
			unit := dataset.WeightUnits(&[dataset.Parts]*dataset.WeightSums{dataset.Train: s})[dataset.Train]
			total := int64(0)
			for _, x := range weights {
				total += unit.Of(x) * rows
			}
			scale := float64(total) / float64(4*rows)
			if total > unit.Total || unit.Total > 1<<53+3*4*rows || unit.Of(fine[0]) == 0 || math.Abs(scale/unit.Scale-1) > 1e-3 {
				t.Errorf("4 x %d rows of %v: %d units of at most %d, %v a row, scale %v", rows, weights, total, unit.Total, scale, unit.Scale)
			}
		}
	}
}

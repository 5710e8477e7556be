package dataset_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// oddFeatures have texts and numbers that a format could lose.
func oddFeatures() []dataset.Feature {
	return []dataset.Feature{
		{},
		{
			Name: "naïve \x00\xff\n", Kind: dataset.Numeric, Type: dataset.Number, Missing: math.MaxInt64,
			Other: math.MinInt64,
			Cuts:  []float64{math.Inf(-1), -math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, math.Inf(1)},
			Cost:  math.NaN(),
		},
		{
			Name: "job", Kind: dataset.Categorical, Type: dataset.Text, Values: []string{"", "\x00", "日本"}, Cost: 1e300,
			ValueCosts: map[string]float64{"": 0, "日本": math.Copysign(0, -1)}, Other: -1,
			Group: "blood, \x00", GroupCost: 0.1,
		},
	}
}

func randomFeatures(r *rand.Rand) []dataset.Feature {
	features := make([]dataset.Feature, r.IntN(15))
	for i := range features {
		f := numeric(fmt.Sprint("x", i), 1+r.IntN(300))
		if r.IntN(2) == 0 {
			f = categorical(fmt.Sprint("job", i), r.IntN(300))
			f.Type = dataset.ValueType(1 + r.IntN(2))
		}
		for j := range f.Cuts {
			f.Cuts[j] += r.Float64()
		}
		for _, v := range f.Values {
			if r.IntN(5) == 0 {
				if f.ValueCosts == nil {
					f.ValueCosts = make(map[string]float64)
				}
				f.ValueCosts[v] = r.ExpFloat64()
			}
		}
		if r.IntN(2) == 0 {
			f.Range = []float64{r.NormFloat64(), r.NormFloat64()}
		}
		f.Missing, f.Other, f.Cost = r.Int64N(1<<40), r.Int64N(1<<40), r.ExpFloat64()
		f.Unit, f.Zone = dataset.Unit(r.IntN(4)), dataset.Zone(r.IntN(3))
		f.Ordered = f.Kind == dataset.Categorical && r.IntN(2) == 0
		if r.IntN(2) == 0 {
			f.Group, f.GroupCost = fmt.Sprint("group", r.IntN(3)), r.ExpFloat64()
		}
		if r.IntN(3) == 0 {
			f.FurtherCosts = map[string]float64{"minutes": r.ExpFloat64(), "": 0}
			f.GroupFurther = map[string]float64{"minutes": r.ExpFloat64()}
		}
		f.Unordered = r.IntN(2) == 0
		features[i] = f
	}
	return features
}

func TestFeaturesRoundTrip(t *testing.T) {
	cases := [][]dataset.Feature{nil, oddFeatures()}
	for seed := range uint64(10) {
		cases = append(cases, randomFeatures(rand.New(rand.NewPCG(7, seed))))
	}
	for i, want := range cases {
		t.Run(fmt.Sprintf("case %d", i), func(t *testing.T) {
			got, err := dataset.DecodeFeatures(dataset.EncodeFeatures(want))
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("features differ (-want +got):\n%s", diff)
			}
			if !bytes.Equal(dataset.EncodeFeatures(got), dataset.EncodeFeatures(want)) {
				t.Error("features differ in their bits, which NaN and -0 do not show")
			}
		})
	}
}

// TestFeaturesBytes: the bytes of features must not depend on the order of a
// map. Of ten values, two encodings agree by chance once in 10! times.
func TestFeaturesBytes(t *testing.T) {
	f := categorical("job", 10)
	f.ValueCosts = make(map[string]float64)
	for i, v := range f.Values {
		f.ValueCosts[v] = float64(i)
	}
	first := dataset.EncodeFeatures([]dataset.Feature{f})
	for range 5 {
		if again := dataset.EncodeFeatures([]dataset.Feature{f}); !bytes.Equal(again, first) {
			t.Fatalf("bytes % x, then % x", first, again)
		}
	}
}

func TestFeaturesCut(t *testing.T) {
	b := dataset.EncodeFeatures(append(oddFeatures(), numeric("x", 3), categorical("job", 3)))
	for size := range b {
		if _, err := dataset.DecodeFeatures(b[:size]); err == nil {
			t.Errorf("cut to %d of %d bytes: no error", size, len(b))
		}
	}
}

// hostileFeatures spoil plainFeatures: the version, the number of features and,
// by hand, of feature "x" the name (2 to 4), kind and type (4, 5), cuts (6 to
// 15), values (15 to 18), missing and other (18, 19), cost (20 to 28), value
// costs (28 to 39), group and its cost (39 to 49), unordered (49), and range (50).
func hostileFeatures() []edit {
	return []edit{
		{"empty", 0, 53, nil},
		{"another version", 0, 1, []byte{1}},
		{"a feature more", 1, 2, []byte{2}},
		{"a feature less", 1, 2, []byte{0}},
		{"2^32 features", 1, 2, uvarint(1 << 32)},
		{"2^64 - 1 features", 1, 2, uvarint(math.MaxUint64)},
		{"a number of features beyond 64 bits", 1, 2, bytes.Repeat([]byte{0xff}, 11)},
		{"2^63 bytes of name", 2, 3, uvarint(1 << 63)},
		{"2^61 cuts", 6, 7, uvarint(1 << 61)}, // 2^64 bytes
		{"five cuts", 6, 7, []byte{5}},
		{"2^32 values", 15, 16, uvarint(1 << 32)},
		{"23 values of as many bytes", 15, 16, []byte{23}},
		{"2^63 bytes of value", 16, 17, uvarint(1 << 63)},
		{"missing rows beyond 64 bits", 18, 19, bytes.Repeat([]byte{0xff}, 11)},
		{"2^62 value costs", 28, 29, uvarint(1 << 62)},
		{"two value costs", 28, 29, []byte{2}},
		{"2^64 - 1 bytes of a priced value", 29, 30, uvarint(math.MaxUint64)},
		{"2^63 bytes of group", 39, 40, uvarint(1 << 63)},
		{"a flag of 2", 49, 50, []byte{2}},
		{"2^61 numbers of range", 50, 51, uvarint(1 << 61)},
		{"bytes after the features", 53, 53, []byte{0}},
	}
}

func plainFeatures() []dataset.Feature {
	return []dataset.Feature{{
		Name: "x", Kind: dataset.Categorical, Type: dataset.Text, Cuts: []float64{1}, Values: []string{"a"}, Missing: 1,
		Other: 2, Cost: 1,
		ValueCosts: map[string]float64{"b": 3}, Group: "g", GroupCost: 5,
	}}
}

func TestDecodeFeaturesErrors(t *testing.T) {
	valid := dataset.EncodeFeatures(plainFeatures())
	// by hand: 29 bytes, 10 of the priced value, 10 of the group, 1 of unordered, 1 of the range,
	// 1 of the unit and 1 of the zone
	if size := len(valid); size != 53 {
		t.Fatalf("%d bytes, want 53: the edits are of another format", size)
	}
	for _, e := range hostileFeatures() {
		if got, err := dataset.DecodeFeatures(e.apply(valid)); err == nil || got != nil {
			t.Errorf("%s: features %+v, error %v", e.name, got, err)
		}
	}
}

// TestFeaturesAllocations: memory is bounded by 64 times the input, for any lengths in
// 1 MiB of hostile bytes. A feature has at least 4 bytes in the input and about 200 in
// memory; a value has at least 1 and 16.
func TestFeaturesAllocations(t *testing.T) {
	const size, refused = 1 << 20, 1 << 12
	zeros := make([]byte, size)
	features := []byte{3}
	cuts := []byte{3, 1, 0, 1, 1}
	values := []byte{3, 1, 0, 2, 1, 0}
	costs := slices.Concat([]byte{3, 1, 0, 2, 1, 0, 0, 0, 0}, zeros[:8])
	for _, test := range []struct {
		name   string
		before []byte
		length uint64
		most   uint64
	}{
		{"features", features, size / 4, 64 * size},
		{"features beyond the bytes", features, size/4 + 2, refused},
		{"cuts", cuts, size / 8, 64 * size},
		{"cuts beyond the bytes", cuts, size/8 + 2, refused},
		{"values", values, size, 64 * size},
		{"values beyond the bytes", values, size + 4, refused},
		{"value costs", costs, size / 9, 64 * size},
		{"value costs beyond the bytes", costs, size/9 + 2, refused},
	} {
		b := slices.Concat(test.before, uvarint(test.length), zeros)
		took := allocated(func() {
			if _, err := dataset.DecodeFeatures(b); err == nil {
				t.Errorf("%s: no error", test.name)
			}
		})
		if took > test.most {
			t.Errorf("%s: %d bytes allocated for %d, want %d at most", test.name, took, len(b), test.most)
		}
	}
}

// FuzzFeatures: any bytes give an error or features; encoding, decoding and encoding these
// gives the same bytes.
func FuzzFeatures(f *testing.F) {
	valid := dataset.EncodeFeatures(plainFeatures())
	f.Add(valid)
	for _, e := range hostileFeatures() {
		f.Add(e.apply(valid))
	}
	f.Add(dataset.EncodeFeatures(oddFeatures()))
	f.Add(dataset.EncodeFeatures(randomFeatures(rand.New(rand.NewPCG(1, 1)))))
	f.Fuzz(func(t *testing.T, b []byte) {
		features, err := dataset.DecodeFeatures(b)
		if err != nil {
			return
		}
		again, err := dataset.DecodeFeatures(dataset.EncodeFeatures(features))
		if err != nil {
			t.Fatalf("its own encoding: %v", err)
		}
		if a, b := dataset.EncodeFeatures(features), dataset.EncodeFeatures(again); !bytes.Equal(a, b) {
			t.Fatalf("encoded % x, then % x", a, b)
		}
	})
}

package dataset_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// naiveCode computes a code from its definition: the number of cuts <= x, or the position
// among the values, then "other", then missing.
func naiveCode(f *dataset.Feature, v *dataset.Vector, r int) int {
	if v.Missing(r) {
		if f.Kind == dataset.Categorical {
			return len(f.Values) + 1
		}
		return len(f.Cuts) + 1
	}
	i := r
	if v.Index != nil {
		i = int(v.Index[r])
	}
	if f.Kind == dataset.Numeric {
		bin := 0
		for _, cut := range f.Cuts {
			if cut <= v.Numbers[i] {
				bin++
			}
		}
		return bin
	}
	for code, value := range f.Values {
		number, err := strconv.ParseFloat(value, 64)
		if v.Type == dataset.Text && value == v.Texts[i] ||
			v.Type == dataset.Number && err == nil && number == v.Numbers[i] {
			return code
		}
	}
	return len(f.Values)
}

// around returns numbers at, right below and right above the cuts of a feature, and NaN,
// infinities and zeros of both signs.
func around(f *dataset.Feature) []float64 {
	numbers := []float64{
		math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64,
	}
	for _, cut := range f.Cuts {
		numbers = append(numbers, cut, math.Nextafter(cut, math.Inf(-1)), math.Nextafter(cut, math.Inf(1)))
	}
	return numbers
}

// asDictionary returns the same rows by an index, with a further missing row, unused
// entries and repeated entries.
func asDictionary(v *dataset.Vector) *dataset.Vector {
	d := &dataset.Vector{
		Type: v.Type, Index: []int32{-1}, Numbers: slices.Concat(v.Numbers, v.Numbers),
		Texts: slices.Concat(v.Texts, v.Texts),
	}
	n := max(len(v.Numbers), len(v.Texts))
	for i := range n {
		d.Index = append(d.Index, int32(i), int32(n+n-1-i))
	}
	if v.Type == dataset.Text {
		d.Texts = append(d.Texts, "of no row")
	}
	return d
}

// padding is the byte around the code under test in a row's key.
const padding = 0xa5

// codesOf encodes a vector, as the second of three features, and reads the
// codes. scratch may be of another call.
func codesOf(t *testing.T, f *dataset.Feature, v *dataset.Vector, scratch []uint16) ([]int, []uint16) {
	t.Helper()
	layout := dataset.NewLayout([]dataset.Feature{numeric("before", 300), *f, numeric("behind", 2)})
	offset, width := layout.Offsets[1], layout.Widths[1]
	keys := bytes.Repeat([]byte{padding}, v.Rows()*layout.Stride)
	scratch = dataset.NewEncoder(f).Encode(v, keys, offset, layout.Stride, scratch)
	codes := make([]int, v.Rows())
	for r := range codes {
		key := keys[r*layout.Stride : (r+1)*layout.Stride]
		for i := range width {
			codes[r] |= int(key[offset+i]) << (8 * i)
			key[offset+i] = padding
		}
	}
	if !bytes.Equal(keys, bytes.Repeat([]byte{padding}, len(keys))) {
		t.Errorf("%d cuts, %d values: bytes of other features were written", len(f.Cuts), len(f.Values))
	}
	return codes, scratch
}

// checkEncode compares the codes of a vector and of its dictionary with the
// rule.
func checkEncode(t *testing.T, f *dataset.Feature, v *dataset.Vector) {
	t.Helper()
	scratch := []uint16{9999, 9998, 9997} // codes left by another feature
	few := asDictionary(v)                // of fewer rows than values
	few.Index = few.Index[:len(few.Index)/2]
	for _, v := range []*dataset.Vector{v, asDictionary(v), few} {
		if v.Type == dataset.Text && v.Index == nil {
			continue // texts always come with an index
		}
		var got []int
		got, scratch = codesOf(t, f, v, scratch)
		for r := range got {
			if want := naiveCode(f, v, r); got[r] != want {
				t.Errorf("%d cuts, %d values, dictionary %t: code of %q is %d, want %d",
					len(f.Cuts), len(f.Values), v.Index != nil, v.Spell(r), got[r], want)
			}
		}
	}
}

// TestEncodeNumeric: 254 cuts are the most whose codes take one byte.
func TestEncodeNumeric(t *testing.T) {
	for _, cuts := range []int{0, 1, 2, 3, 4, 7, 8, 127, 128, 253, 254, 255, 256, 300, 1000} {
		f := numeric("x", 1)
		r := rand.New(rand.NewPCG(8, uint64(cuts)))
		for range cuts {
			f.Cuts = append(f.Cuts, math.Ldexp(r.NormFloat64(), r.IntN(80)-40))
		}
		slices.Sort(f.Cuts)
		checkEncode(t, &f, &dataset.Vector{Type: dataset.Number, Numbers: around(&f)})
	}
}

// TestEncodeCuts: by hand, for cuts at the ends of float64 and at zero, which
// has two signs.
func TestEncodeCuts(t *testing.T) {
	f := dataset.Feature{Kind: dataset.Numeric, Cuts: []float64{-math.MaxFloat64, 0, math.MaxFloat64}}
	for _, test := range []struct {
		x    float64
		want int
	}{
		{math.Inf(-1), 0},
		{-math.MaxFloat64, 1},
		{-math.SmallestNonzeroFloat64, 1},
		{math.Copysign(0, -1), 2},
		{0, 2},
		{1, 2},
		{math.MaxFloat64, 3},
		{math.Inf(1), 3},
		{math.NaN(), 4},
	} {
		got, _ := codesOf(t, &f, &dataset.Vector{Type: dataset.Number, Numbers: []float64{test.x}}, nil)
		if got[0] != test.want {
			t.Errorf("code of %v is %d, want %d", test.x, got[0], test.want)
		}
		if bin := f.Bin(test.x); test.want < 4 && bin != test.want {
			t.Errorf("bin of %v is %d, want %d", test.x, bin, test.want)
		}
	}
}

// TestBin: Bin (used in scoring) and Encode (used in training) agree on every number.
func TestBin(t *testing.T) {
	f := numeric("x", 200)
	numbers := around(&f)[1:] // NaN has no bin
	codes, _ := codesOf(t, &f, &dataset.Vector{Type: dataset.Number, Numbers: numbers}, nil)
	for i, x := range numbers {
		if bin := f.Bin(x); bin != codes[i] {
			t.Errorf("bin of %v is %d, its code %d", x, bin, codes[i])
		}
	}
}

// TestEncodeTexts: 254 values are the most whose codes take one byte.
func TestEncodeTexts(t *testing.T) {
	for _, values := range []int{0, 1, 2, 253, 254, 255, 300} {
		f := categorical("job", values)
		v := &dataset.Vector{
			Type:  dataset.Text,
			Texts: append([]string{"", "unknown", "V0", "v0 ", "v", "NaN"}, f.Values...),
		}
		checkEncode(t, &f, v)
	}
	f := dataset.Feature{Kind: dataset.Categorical, Type: dataset.Text, Values: []string{"", "01", "1", "NaN", "é"}}
	v := &dataset.Vector{Type: dataset.Text, Texts: []string{"1", "01", "", "NaN", "nan", "1.0", "e\u0301", "é"}}
	checkEncode(t, &f, v) // texts are the same byte by byte only
}

// TestEncodeCategoricalNumbers: numbers of a categorical feature match by value, in any
// spelling.
func TestEncodeCategoricalNumbers(t *testing.T) {
	f := dataset.Feature{
		Kind: dataset.Categorical, Type: dataset.Number,
		Values: []string{"-1", "0", "0.1", "1e+21", "+Inf", "zip"},
	}
	v := &dataset.Vector{Type: dataset.Number, Numbers: append(around(&f), -1, 0.1, 1e21, 2, math.Nextafter(0.1, 1))}
	checkEncode(t, &f, v)
}

// TestEncodeSpelled: Encode finds the category that Spell writes for a number, so codes
// stay the same after a round trip through tree.json.
func TestEncodeSpelled(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	v := &dataset.Vector{Type: dataset.Number}
	f := dataset.Feature{Kind: dataset.Categorical, Type: dataset.Number}
	for i := range 200 {
		x := math.Float64frombits(r.Uint64())
		if i%2 == 0 {
			x = math.Trunc(math.Ldexp(r.NormFloat64(), r.IntN(100)))
		}
		if math.IsNaN(x) || slices.Contains(v.Numbers, x) {
			continue
		}
		v.Numbers = append(v.Numbers, x)
		f.Values = append(f.Values, v.Spell(len(v.Numbers)-1))
	}
	got, _ := codesOf(t, &f, v, nil)
	for i, code := range got {
		if code != i {
			t.Errorf("%v, spelled %q, has code %d, want %d", v.Numbers[i], f.Values[i], code, i)
		}
	}
}

// TestEncodeScratch: with the scratch of the previous call, Encode allocates nothing.
func TestEncodeScratch(t *testing.T) {
	f := categorical("job", 20)
	v := &dataset.Vector{Type: dataset.Text, Index: []int32{0, -1, 3}, Texts: f.Values}
	e, keys := dataset.NewEncoder(&f), make([]byte, v.Rows())
	scratch := e.Encode(v, keys, 0, 1, nil)
	if n := testing.AllocsPerRun(10, func() { scratch = e.Encode(v, keys, 0, 1, scratch) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestFeatureCodes: by hand, around the last code that fits one byte.
func TestFeatureCodes(t *testing.T) {
	type codes struct{ Bins, Other, Missing, Codes, Width int }
	for _, test := range []struct {
		feature dataset.Feature
		want    codes
	}{
		{numeric("x", 1), codes{1, -1, 1, 2, 1}},
		{numeric("x", 255), codes{255, -1, 255, 256, 1}},
		{numeric("x", 256), codes{256, -1, 256, 257, 2}},
		{categorical("job", 0), codes{0, 0, 1, 2, 1}},
		{categorical("job", 254), codes{254, 254, 255, 256, 1}},
		{categorical("job", 255), codes{255, 255, 256, 257, 2}},
	} {
		f := &test.feature
		got := codes{f.Bins(), f.OtherCode(), f.MissingCode(), f.Codes(), f.Width()}
		if got != test.want {
			t.Errorf("%d cuts, %d values: %+v, want %+v", len(f.Cuts), len(f.Values), got, test.want)
		}
	}
}

func TestLayout(t *testing.T) {
	got := dataset.NewLayout([]dataset.Feature{
		numeric("a", 2), numeric("b", 256), categorical("c", 3),
		categorical("d", 999),
	})
	want := dataset.Layout{Offsets: []int{0, 1, 3, 4}, Widths: []int{1, 2, 1, 2}, Stride: 6} // by hand
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("layout differs (-want +got):\n%s", diff)
	}
}

func TestKindString(t *testing.T) {
	for want, name := range map[string]fmt.Stringer{
		"numeric": dataset.Numeric, "categorical": dataset.Categorical, "unknown": dataset.Kind(0),
		"number": dataset.Number, "text": dataset.Text,
	} {
		if name.String() != want {
			t.Errorf("%#v is spelled %q, want %q", name, name, want)
		}
	}
	if s := dataset.ValueType(9).String(); s != "unknown(9)" {
		t.Errorf("value type 9 is spelled %q", s)
	}
}

// TestClassCodes: labels name a class as other types spell it; a class of this spelling comes first. Codes with leading
// zeros are no numbers.
func TestClassCodes(t *testing.T) {
	for _, c := range []struct {
		classes []string
		label   string
		want    int
	}{
		{[]string{"false", "true"}, "1", 1},
		{[]string{"false", "true"}, "0.0", 0},
		{[]string{"false", "true"}, "True", 1},
		{[]string{"0", "1"}, "FALSE", 0},
		{[]string{"False", "True"}, "true", 1},
		{[]string{"TRUE", "FALSE"}, "0", 1},
		{[]string{"FALSE", "True"}, "1.0", 1},
		{[]string{"false", "False"}, "FALSE", -1},
		{[]string{"False", "True", "maybe"}, "true", -1},
		{[]string{"0", "1"}, "1.0", 1},
		{[]string{"1", "1.0"}, "1.0", 1},
		{[]string{"0", "1", "2"}, "2.0", 2},
		{[]string{"0", "1", "2"}, "true", -1},
		{[]string{"1", "true"}, "True", -1},
		{[]string{"no", "yes"}, "1", -1},
		{[]string{"no", "yes"}, "", -1},
		{[]string{"1", "2"}, "2e0", 1},
		{[]string{"1", "2"}, "01", -1},
		{[]string{"1", "2"}, "0x1", -1},
		{[]string{"0", "1"}, "01", -1},
		{[]string{"9007199254740992", "2"}, "9007199254740993", -1},
		{[]string{"< 10", ">= 10"}, "9", 0},
		{[]string{"< 10", ">= 10"}, "9007199254740993", 1},
		{[]string{"< 10", ">= 10"}, "+Inf", 1},
		{[]string{"< 10", ">= 10"}, "NaN", -1},
		{[]string{"< 10", ">= 10"}, "09", -1},
		{[]string{"< 10", ">= 10"}, "true", -1},
	} {
		got, ok := dataset.NewClassCodes(c.classes).Read(c.label)
		if ok != (c.want >= 0) || ok && int(got) != c.want {
			t.Errorf("%q in %q: %d, %v, want %d", c.label, c.classes, got, ok, c.want)
		}
	}
}

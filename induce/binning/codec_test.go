package binning_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// encodings returns encoded summaries of all kinds and states.
func encodings(tb testing.TB, n uint64) [][]byte {
	tb.Helper()
	var list [][]byte
	for _, k := range anyKinds() {
		list = append(list, encode(tb, binning.New(k.kind, k.typ, binning.DefaultLimits())))
		for seed := range n {
			r := rand.New(rand.NewPCG(6, seed))
			list = append(list, encode(tb, randomColumn(r, k.kind, k.typ, 3+r.IntN(40)).sum()))
		}
	}
	return list
}

// TestEncoding has the bytes by hand, from the comment of AppendBinary. They change only
// with the version.
func TestEncoding(t *testing.T) {
	limits := binning.Limits{Values: 200, Categories: 3}
	numbers := limitedSummary([]float64{2, 1, 1, math.NaN()}, []int64{5, 1, 2, 300}, limits)
	text := binning.New(dataset.Categorical, dataset.Text, limits)
	v := &dataset.Vector{Type: dataset.Text, Index: []int32{1, 0, -1}, Texts: []string{"no", ""}}
	text.AddVector(v, allRows(3), nil)
	overflow := limitedColumn(4, limits).sum()
	for _, test := range []struct {
		name string
		s    *binning.Summary
		want []byte
	}{
		{"numbers", numbers, []byte{
			1, 1, 1, 0, 0, 0xc8, 1, 3, 8, 0xac, 2, // version, kind, type, flags, dropped bits; 200, 3; 8, 300
			2, 52, // values; zero bits: the keys of 1 and 2 are 0xbff<<52 and 0xc00<<52
			0xff, 0x17, 3, 1, 5, // 0xbff: 3; 1 more: 5
		}},
		{"texts", text, []byte{1, 2, 2, 0, 0, 0xc8, 1, 3, 2, 1, 2, 0, 1, 2, 'n', 'o', 1}},
		{"overflow", overflow, []byte{1, 2, 1, 1, 0, 0xc8, 1, 3, 4, 0}},
	} {
		if got := encode(t, test.s); !bytes.Equal(got, test.want) {
			t.Errorf("%s: % x, want % x", test.name, got, test.want)
		}
	}
}

// limitedColumn has the given number of categories, each in one row.
func limitedColumn(values int, limits binning.Limits) *column {
	c := categories(dataset.Number, 0, slices.Repeat([]int64{1}, values)...)
	c.limits = limits
	return c
}

// TestCodecRoundTrip: a decoded summary equals the original, also after further rows, and
// Decode returns the bytes behind it.
func TestCodecRoundTrip(t *testing.T) {
	for _, k := range anyKinds() {
		for seed := range uint64(50) {
			r := rand.New(rand.NewPCG(7, seed))
			c := randomColumn(r, k.kind, k.typ, 3+r.IntN(300))
			s := c.sum()
			b := append(encode(t, s), "behind"...)
			got, rest, err := binning.Decode(b)
			if err != nil || string(rest) != "behind" {
				t.Fatalf("%s %s, seed %d: rest %q, error %v", k.kind, k.typ, seed, rest, err)
			}
			if got.Kind() != s.Kind() || got.Type() != s.Type() || got.Limits() != s.Limits() {
				t.Fatalf("%s %s, seed %d: %s %s, limits %+v", k.kind, k.typ, seed, got.Kind(), got.Type(), got.Limits())
			}
			for range 2 {
				if diff := cmp.Diff(contentsOf(s), contentsOf(got), cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%s %s, seed %d: contents (-want +got):\n%s", k.kind, k.typ, seed, diff)
				}
				clear(b) // the summary must not point into the bytes
				c.addSomehow(rand.New(rand.NewPCG(8, seed)), s, c.cells)
				c.addSomehow(rand.New(rand.NewPCG(8, seed)), got, c.cells)
			}
		}
	}
}

func TestAppendBinaryAppends(t *testing.T) {
	s := numericSummary([]float64{1, 2})
	if got, err := s.AppendBinary([]byte("ahead")); err != nil ||
		!bytes.Equal(got, append([]byte("ahead"), encode(t, s)...)) {
		t.Errorf("%x, error %v", got, err)
	}
}

// TestDecodeCut: Decode refuses every beginning of an encoding.
func TestDecodeCut(t *testing.T) {
	for _, b := range encodings(t, 30) {
		for size := range b {
			if s, rest, err := binning.Decode(b[:size]); err == nil || s != nil || rest != nil {
				t.Fatalf("%x cut to %d of %d bytes: summary %v, error %v", b, size, len(b), s, err)
			}
		}
	}
}

// header starts an encoding, with limits of 3 values and 3 categories.
func header(kind dataset.Kind, typ dataset.ValueType, flags, dropped byte, weight, missing uint64) []byte {
	b := []byte{1, byte(kind), byte(typ), flags, dropped, 3, 3}
	return binary.AppendUvarint(binary.AppendUvarint(b, weight), missing)
}

// hostile are encodings that AppendBinary does not write.
func hostile() map[string][]byte {
	const number, category, isNumber, isText = dataset.Numeric, dataset.Categorical, dataset.Number, dataset.Text
	one := []byte{0xff, 0x17} // the key of 1 without 52 zero bits
	with := func(head []byte, tails ...[]byte) []byte { return slices.Concat(append([][]byte{head}, tails...)...) }
	huge, many := binary.AppendUvarint(nil, math.MaxInt64), binary.AppendUvarint(nil, 1<<40)
	return map[string][]byte{
		"no bytes":                   {},
		"another version":            with([]byte{2}, header(number, isNumber, 0, 0, 0, 0)[1:], []byte{0, 63}),
		"no kind":                    with(header(0, isNumber, 0, 0, 0, 0), []byte{0, 63}),
		"numeric texts":              with(header(number, isText, 0, 0, 0, 0), []byte{0}),
		"unknown flag":               with(header(category, isText, 2, 0, 0, 0), []byte{0}),
		"numbers that overflow":      header(number, isNumber, 1, 0, 5, 0),
		"dropped bits beyond 42":     with(header(number, isNumber, 0, 43, 0, 0), []byte{0, 63}),
		"dropped bits of categories": with(header(category, isNumber, 0, 1, 0, 0), []byte{0, 63}),
		"dropped bits of texts":      with(header(category, isText, 0, 1, 0, 0), []byte{0}),
		"no limit":                   with([]byte{1, 1, 1, 0, 0, 0, 3, 0, 0, 0, 63}),
		"number in too many bytes":   with([]byte{1, 1, 1, 0, 0, 3, 3, 0x80, 0, 0, 0, 63}),
		"number of 11 bytes": with([]byte{1, 1, 1, 0, 0, 3, 3}, bytes.Repeat([]byte{0xff}, 10),
			[]byte{1, 0, 0, 63}),
		"weight beyond int64":        header(category, isText, 1, 0, 1<<63, 0),
		"count of values not there":  with(header(number, isNumber, 0, 0, 3, 0), huge, []byte{52}, one, []byte{3}),
		"count of texts not there":   with(header(category, isText, 0, 0, 3, 0), huge, []byte{1, 'a', 3}),
		"length of a text not there": with(header(category, isText, 0, 0, 3, 0), []byte{1}, huge, []byte{'a', 3}),
		"sum of weights too high":    with(header(number, isNumber, 0, 0, 4, 0), []byte{1, 52}, one, []byte{3}),
		"sum of weights too low":     with(header(category, isText, 0, 0, 2, 0), []byte{1, 1, 'a', 3}),
		"sum of weights beyond int64": with(header(number, isNumber, 0, 0, math.MaxInt64, 0), []byte{2, 52}, one, huge,
			[]byte{1}, huge),
		"sum of weights beyond 2^64": with(header(number, isNumber, 0, 0, 1, 0), []byte{3, 52}, one, huge, []byte{1},
			huge, []byte{1, 3}),
		"many values not there": with(header(number, isNumber, 0, 0, 3, 0), many, []byte{52}, one, []byte{3}),
		"many texts not there":  with(header(category, isText, 0, 0, 3, 0), many, []byte{1, 'a', 3}),
		"weight zero":           with(header(number, isNumber, 0, 0, 0, 0), []byte{1, 52}, one, []byte{0}),
		"a number twice":        with(header(number, isNumber, 0, 0, 6, 0), []byte{2, 52}, one, []byte{3, 0, 3}),
		"a text twice":          with(header(category, isText, 0, 0, 6, 0), []byte{2, 1, 'a', 3, 1, 'a', 3}),
		"texts that fall":       with(header(category, isText, 0, 0, 6, 0), []byte{2, 1, 'b', 3, 1, 'a', 3}),
		"fewer zero bits than there": with(header(number, isNumber, 0, 0, 3, 0), []byte{1, 51},
			[]byte{0xfe, 0x2f, 3}),
		"64 zero bits":            with(header(number, isNumber, 0, 0, 0, 0), []byte{0, 64}),
		"62 zero bits of nothing": with(header(number, isNumber, 0, 0, 0, 0), []byte{0, 62}),
		"NaN above infinity": with(header(number, isNumber, 0, 0, 3, 0), []byte{1, 0},
			binary.AppendUvarint(nil, 0xfff<<52+1), []byte{3}),
		"NaN below negative infinity": with(header(number, isNumber, 0, 0, 3, 0), []byte{1, 0},
			binary.AppendUvarint(nil, 1<<52-1), []byte{3}),
		"key beyond 64 bits": with(header(number, isNumber, 0, 0, 6, 0), []byte{2, 52}, one, []byte{3},
			binary.AppendUvarint(nil, 1<<63), []byte{3}),
		"bits that were dropped": with(header(number, isNumber, 0, 42, 3, 0), []byte{1, 41},
			binary.AppendUvarint(nil, 0xbff<<11+1), []byte{3}),
		"more values than the limit": with(header(number, isNumber, 0, 0, 4, 0), []byte{4, 52}, one,
			[]byte{1, 1, 1, 1, 1, 1, 1}),
		"more numbers than the limit": with(header(category, isNumber, 0, 0, 4, 0), []byte{4, 52}, one,
			[]byte{1, 1, 1, 1, 1, 1, 1}),
		"more texts than the limit": with(header(category, isText, 0, 0, 4, 0),
			[]byte{4, 1, 'a', 1, 1, 'b', 1, 1, 'c', 1, 1, 'd', 1}),
		"texts without the first byte": with(header(category, isText, 0, 0, 3, 0), []byte{1, 2, 'a', 3}),
	}
}

func TestDecodeErrors(t *testing.T) {
	for name, b := range hostile() {
		if s, _, err := binning.Decode(b); err == nil || s != nil {
			t.Errorf("%s: % x: summary %+v, error %v", name, b, s, err)
		}
	}
}

// FuzzDecode: any input gives an error or a valid summary: every other function works on
// it, and it encodes to the same bytes.
func FuzzDecode(f *testing.F) {
	for _, b := range encodings(f, 5) {
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	for _, b := range hostile() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, rest, err := binning.Decode(b)
		if err != nil {
			return
		}
		// Each value of two bytes takes at most 16 bytes in a table at least three eighths
		// full, or 64 bytes as a text.
		if s.Bytes() > 32*len(b)+1024 {
			t.Fatalf("%d bytes hold %d", len(b), s.Bytes())
		}
		if again := encode(t, s); !bytes.Equal(again, b[:len(b)-len(rest)]) {
			t.Fatalf("% x encoded again: % x", b[:len(b)-len(rest)], again)
		}
		checkUse(t, s)
	})
}

// checkUse fits bins to a summary and merges it.
func checkUse(t *testing.T, s *binning.Summary) {
	t.Helper()
	if s.Kind() == dataset.Numeric {
		for _, m := range methods() {
			for _, bins := range []int{2, 3, 9} {
				checkCuts(t, s, binning.FitNumeric(s, m, bins), bins)
			}
		}
	} else if values, _, err := binning.FitCategorical(s, 2, 0); err == nil == s.Overflow() || len(values) > 2 {
		t.Errorf("values %q, error %v", values, err)
	}
	sum := binning.New(s.Kind(), s.Type(), s.Limits())
	if err := sum.Merge(s); err != nil {
		t.Fatal(err)
	}
	if got := encode(t, sum); !bytes.Equal(got, encode(t, s)) {
		t.Errorf("merged into nothing: % x", got)
	}
}

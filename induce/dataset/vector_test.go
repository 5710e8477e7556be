package dataset_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

func TestVector(t *testing.T) {
	nan := math.NaN()
	for name, test := range map[string]struct {
		v    dataset.Vector
		want []string // by hand; "" is missing
	}{
		"no rows":          {dataset.Vector{Type: dataset.Number}, nil},
		"no rows, indexed": {dataset.Vector{Type: dataset.Text, Index: []int32{}, Texts: []string{"a"}}, nil},
		"numbers": {
			dataset.Vector{Type: dataset.Number, Numbers: []float64{1, nan, 2.5}},
			[]string{"1", "", "2.5"},
		},
		"numbers, indexed": {dataset.Vector{
			Type: dataset.Number, Index: []int32{2, -1, 0, 1},
			Numbers: []float64{7, nan, 9},
		}, []string{"9", "", "7", ""}},
		"texts": {dataset.Vector{
			Type: dataset.Text, Index: []int32{1, 1, -1, 0},
			Texts: []string{"a", "b"},
		}, []string{"b", "b", "", "a"}},
		"texts with numbers": {dataset.Vector{
			Type: dataset.Text, Index: []int32{0}, Texts: []string{"a"},
			Numbers: []float64{nan},
		}, []string{"a"}},
	} {
		if test.v.Rows() != len(test.want) {
			t.Errorf("%s: %d rows, want %d", name, test.v.Rows(), len(test.want))
			continue
		}
		for r, want := range test.want {
			if got := test.v.Spell(r); got != want || test.v.Missing(r) != (want == "") {
				t.Errorf("%s: row %d is %q, missing %t; want %q", name, r, got, test.v.Missing(r), want)
			}
		}
	}
}

// TestSpellEmpty: the empty text is not missing, though both have the same spelling.
func TestSpellEmpty(t *testing.T) {
	v := dataset.Vector{Type: dataset.Text, Index: []int32{0}, Texts: []string{""}}
	if v.Missing(0) {
		t.Error("an empty text is missing")
	}
}

// TestSpellNumber: by hand, whole numbers without a point up to 1e21, others in
// the shortest form that reads back.
func TestSpellNumber(t *testing.T) {
	for want, x := range map[string]float64{
		"0": 0, "1": 1, "-1": -1, "0.1": 0.1, "-2.5": -2.5, "1000000": 1e6, "9007199254740992": 1 << 53,
		"100000000000000000000": 1e20,
		"1e+21":                 1e21, "1e-07": 1e-7, "5e-324": math.SmallestNonzeroFloat64,
		"1.7976931348623157e+308": math.MaxFloat64,
		"0.30000000000000004":     math.Nextafter(0.3, 1), "+Inf": math.Inf(1), "-Inf": math.Inf(-1),
	} {
		got := dataset.SpellNumber(x)
		if got != want {
			t.Errorf("%v is spelled %q, want %q", x, got, want)
		}
		if back, err := strconv.ParseFloat(got, 64); err != nil || back != x {
			t.Errorf("%q reads back as %v, %v, want %v", got, back, err, x)
		}
	}
}

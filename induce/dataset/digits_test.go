package dataset_test

import (
	"maps"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestNumbersBeyond: a value of more digits than float64 holds is spelled by no number, as
// another value may be nearest to that number.
func TestNumbersBeyond(t *testing.T) {
	f := dataset.Feature{Kind: dataset.Categorical, Values: []string{
		"9007199254740992", "9007199254740993", "1152921504606846976", "1152921504606846977", "01",
	}}
	want := map[float64]int{1 << 53: 0, 1 << 60: 2, 1: 4}
	if got := f.Numbers(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for text, loses := range map[string]bool{
		"9007199254740993": true, "-9007199254740993": true, "9007199254740992": false, "1e30": false, "": false,
		"100000000000000000000000": true, "0009007199254740994": false, "9007199254740993.5": false, "x": false,
	} {
		x, _ := strconv.ParseFloat(text, 64)
		if dataset.LosesDigits(text, x) != loses {
			t.Errorf("%q loses digits as %v: %v", text, x, !loses)
		}
	}
}

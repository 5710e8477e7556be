package dataset_test

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

func TestWatch(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	number := dataset.Feature{Kind: dataset.Numeric, Cuts: []float64{3}, Range: []float64{1, 5}, Missing: 1}
	unbounded := dataset.Feature{Kind: dataset.Numeric, Cuts: []float64{3}, Missing: 1}
	texts := dataset.Feature{Kind: dataset.Categorical, Values: []string{"a", "b"}, Type: dataset.Text, Missing: 1}
	codes := dataset.Feature{Kind: dataset.Categorical, Values: []string{"1", "2"}, Type: dataset.Number, Missing: 1}
	for _, test := range []struct {
		name    string
		feature dataset.Feature
		vector  dataset.Vector
		want    dataset.Novelty
	}{
		{
			"numbers", number,
			dataset.Vector{Type: dataset.Number, Numbers: []float64{nan, 1, 5, 0.9, 5.1, -inf, inf, 3}},
			dataset.Novelty{Missing: 1, Outside: 4},
		},
		{ // the float32 of 2.1 is below it, and the float32 of 2.2 above it; 2.0999999 and 2.2000001 are other numbers
			"float32s at the ends",
			dataset.Feature{Kind: dataset.Numeric, Range: []float64{2.1, 2.2}, Missing: 1},
			dataset.Vector{Type: dataset.Number, Numbers: []float64{float64(float32(2.1)), float64(float32(2.2)), 2.0999999, 2.2000001}},
			dataset.Novelty{Outside: 2},
		},
		{
			"ends that are float32s",
			dataset.Feature{Kind: dataset.Numeric, Range: []float64{float64(float32(2.2)), float64(float32(2.3))}, Missing: 1},
			dataset.Vector{Type: dataset.Number, Numbers: []float64{2.2, 2.3, 2.19, 2.31}},
			dataset.Novelty{Outside: 2},
		},
		{
			"numbers of unknown range", unbounded,
			dataset.Vector{Type: dataset.Number, Numbers: []float64{nan, 1, -inf}},
			dataset.Novelty{Missing: 1},
		},
		{"numbers by dictionary", number, dataset.Vector{
			Type: dataset.Number, Numbers: []float64{2, 7, nan},
			Index: []int32{0, 1, 1, -1, 2, 0},
		}, dataset.Novelty{Missing: 2, Outside: 2}},
		{"texts", texts, dataset.Vector{
			Type: dataset.Text, Texts: []string{"b", "c", ""},
			Index: []int32{0, 1, 1, -1, 2, 0},
		}, dataset.Novelty{Missing: 1, Unseen: 3}},
		{"texts that are all listed", texts, dataset.Vector{
			Type: dataset.Text, Texts: []string{"b", "a"},
			Index: []int32{0, 1, -1},
		}, dataset.Novelty{Missing: 1}},
		{
			"numbers as categories", codes,
			dataset.Vector{Type: dataset.Number, Numbers: []float64{1, 2, 3, nan}},
			dataset.Novelty{Missing: 1, Unseen: 1},
		},
		{"numbers as categories by dictionary", codes, dataset.Vector{
			Type: dataset.Number, Numbers: []float64{1, 9},
			Index: []int32{0, 1, 1},
		}, dataset.Novelty{Unseen: 2}},
	} {
		if got := dataset.NewWatch(&test.feature).Count(&test.vector); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		test.feature.Missing, test.want.Unseen = 0, test.want.Unseen+test.want.Missing // all training rows had a value
		w, one := dataset.NewWatch(&test.feature), dataset.Novelty{}
		if got := w.Count(&test.vector); got != test.want {
			t.Errorf("%s, of a complete feature: %+v, want %+v", test.name, got, test.want)
		}
		for r := range test.vector.Rows() { // the rows one by one
			i := r
			if test.vector.Index != nil {
				i = int(test.vector.Index[r])
			}
			switch {
			case i < 0:
				one.Add(w.Missing())
			case test.vector.Type == dataset.Text:
				one.Add(w.Text(test.vector.Texts[i]))
			default:
				one.Add(w.Number(test.vector.Numbers[i]))
			}
		}
		if one != test.want {
			t.Errorf("%s, row by row: %+v, want %+v", test.name, one, test.want)
		}
	}
}

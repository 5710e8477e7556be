package binning_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestIdentity: numbers of rows and names are keys; counts, prices, times and fractions, which may all differ, are not.
func TestIdentity(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 58))
	for _, test := range []struct {
		name  string
		rows  int
		value func(i int) float64 // NaN: none
		want  binning.Identity
	}{
		{"n", 150, func(i int) float64 { return float64(i) }, binning.Numbering},
		{"n", 1 << 18, func(i int) float64 { return float64(i + 1) }, binning.Numbering}, // in buckets
		{"n", 1 << 18, func(i int) float64 { return float64(-i) }, binning.Numbering},
		{"n", 12, func(i int) float64 { return float64(i) }, binning.NoKey},
		{"n", 150, func(i int) float64 { return float64(1871 + i) }, binning.MaybeKey}, // years, by any name
		{"month", 150, func(i int) float64 { return float64(i) }, binning.MaybeKey},
		{"hours", 150, func(i int) float64 { return float64(i) }, binning.MaybeKey},
		{"passengerid", 150, func(i int) float64 { return 1e8 + float64(i*i*977) }, binning.Key},
		{"rownames", 12, func(i int) float64 { return float64(i) }, binning.Key},
		{"Unnamed: 0", 150, func(i int) float64 { return float64(i) }, binning.Key},
		{"CustomerID", 50, func(i int) float64 { return 1e8 + float64(i*i*977) }, binning.Key},
		{"patient_id", 50, func(i int) float64 { return float64(i / 3) }, binning.NoKey},
		{"paid", 50, func(i int) float64 { return 1000 + float64(i*i) }, binning.NoKey},
		{"price", 200, func(i int) float64 { return float64(20*i + i%7) }, binning.NoKey},
		{"seconds", 5000, func(i int) float64 { return 1.7e9 + float64(60*i) }, binning.MaybeKey},
		{"x", 500, func(int) float64 { return r.Float64() }, binning.NoKey},
		{"x", 1 << 18, func(int) float64 { return r.Float64() * (1 << 18) }, binning.NoKey},
		{"x", 1 << 18, func(i int) float64 {
			return map[bool]float64{true: math.Inf(1), false: r.Float64() * (1 << 18)}[i == 70]
		}, binning.NoKey},
		{"half", 1 << 18, func(i int) float64 { return float64(i) / 2 }, binning.NoKey},
		{"n", 150, func(i int) float64 { return float64(max(1, i)) }, binning.MaybeKey}, // two rows of 1
		{"n", 1 << 18, func(i int) float64 { return float64(max(1, i)) }, binning.MaybeKey},
		{"n", 150, func(i int) float64 { return float64(max(2, i)) }, binning.NoKey},
		{"n", 1 << 18, func(i int) float64 { return float64(max(2, i)) }, binning.NoKey},
		{"seconds", 5000, func(i int) float64 { return 1.7e9 + float64(60*max(1, i)) }, binning.NoKey},
		{"n", 150, func(i int) float64 { return map[bool]float64{true: math.NaN(), false: float64(max(1, i))}[i == 70] }, binning.MaybeKey},
		{"id", 150, func(i int) float64 { return map[bool]float64{true: math.NaN(), false: float64(i)}[i == 70] }, binning.MaybeKey},
	} {
		numbers, texts := make([]float64, test.rows), make([]string, test.rows)
		rows, index := make([]int32, test.rows), make([]int32, test.rows)
		for i := range rows {
			numbers[i], rows[i], index[i] = test.value(i), int32(i), int32(i)
			texts[i] = "row " + strconv.FormatFloat(numbers[i], 'g', -1, 64)
		}
		s := binning.New(dataset.Numeric, dataset.Number, binning.DefaultLimits())
		s.AddVector(&dataset.Vector{Type: dataset.Number, Numbers: numbers}, rows, nil)
		if got := s.Identity(test.name, int64(test.rows), int64(test.rows)); got != test.want {
			t.Errorf("%d rows of %s: %d, want %d", test.rows, test.name, got, test.want)
		}
		if test.rows > 1<<16 || math.IsNaN(numbers[test.rows/2-5]) {
			continue
		}
		s = binning.New(dataset.Categorical, dataset.Text, binning.DefaultLimits())
		s.AddVector(&dataset.Vector{Type: dataset.Text, Texts: texts, Index: index}, rows, nil)
		want := binning.Key
		switch {
		case test.name == "patient_id" || test.rows < 20:
			want = binning.NoKey
		case texts[0] == texts[1]: // a key has no repeat
			want = binning.Unseen
		}
		if got := s.Identity(test.name, int64(test.rows), int64(test.rows)); got != want {
			t.Errorf("%d texts of %s: %d, want %d", test.rows, test.name, got, want)
		}
	}
}

// TestUnseen: texts are Unseen if more than half of the rows with a text, of at least 100, have one that no other row has. Of
// weighted rows, whose sums do not tell this, as many texts must leave no other choice.
func TestUnseen(t *testing.T) {
	for _, test := range []struct {
		rows, once, missing int // the other rows are pairs
		weight              int64
		want                binning.Identity
		share               float64
	}{
		{100, 52, 0, 1, binning.Unseen, 0.52},
		{100, 50, 0, 1, binning.NoKey, 0.5},
		{98, 98 - 20, 0, 1, binning.NoKey, 78.0 / 98},
		{200, 60, 100, 1, binning.Unseen, 0.6}, // the share of the rows with a text
		{200, 100, 100, 1, binning.Unseen, 1},
		{197, 98, 99, 1, binning.NoKey, 1},
		{200, 120, 0, 7, binning.Unseen, 0.6},
		{200, 120, 60, 7, binning.NoKey, 0.3}, // not .86: weights hide how many rows have a text
	} {
		var texts []string
		rows, index := make([]int32, test.rows), make([]int32, test.rows)
		weights := make([]int64, test.rows)
		for i := range rows {
			rows[i], weights[i] = int32(i), test.weight
			switch at := i - test.missing; {
			case at < 0:
				index[i] = -1
				continue
			case at < test.once || (at-test.once)%2 == 0:
				texts = append(texts, "text "+strconv.Itoa(at))
			}
			index[i] = int32(len(texts) - 1)
		}
		s := binning.New(dataset.Categorical, dataset.Text, binning.DefaultLimits())
		s.AddVector(&dataset.Vector{Type: dataset.Text, Texts: texts, Index: index}, rows, weights)
		n := int64(test.rows)
		if got := s.Identity("x", n, n); got != test.want || math.Abs(s.Unseen(n)-test.share) > 1e-9 {
			t.Errorf("%+v: %d, share %g", test, got, s.Unseen(n))
		}
	}
}

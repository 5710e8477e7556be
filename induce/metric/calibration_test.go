package metric_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/metric"
)

// samplesOf returns the calibrations of samples of rows, dealt to leaves by their shares. The true
// probability of the second class is the probability of the leaf plus or minus off, in turn.
func samplesOf(seed uint64, samples, rows int, leaves, shares []float64, off float64) []*metric.Calibration {
	r := rand.New(rand.NewPCG(seed, 7))
	var list []*metric.Calibration
	for range samples {
		counts := make([]metric.Leaf, len(leaves))
		for i, p := range leaves {
			counts[i] = metric.Leaf{Probabilities: []float64{1 - p, p}, Weights: make([]int64, 2)}
		}
		for range rows {
			at, u := 0, r.Float64()
			for u -= shares[at]; u > 0 && at < len(leaves)-1; u -= shares[at] {
				at++
			}
			class := 0
			if r.Float64() < leaves[at]+off*float64(1-at%2*2) {
				class = 1
			}
			counts[at].Weights[class]++
			counts[at].Rows++
		}
		m := metric.Evaluate(counts, []string{"no", "yes"}, 1)
		list = append(list, m.Calibration)
	}
	return list
}

// TestCalibrationChance: exact probabilities are called off in about 5 % of samples, whatever the number of
// rows, of leaves and of rows of the rarer class. The truth is the simulation's: the labels are drawn by
// the probabilities of the leaves. chance_error is the mean of the observed errors.
func TestCalibrationChance(t *testing.T) {
	eight, even := []float64{.1, .2, .3, .4, .5, .6, .7, .8}, []float64{.125, .125, .125, .125, .125, .125, .125, .125}
	const samples = 1500
	for name, c := range map[string]struct {
		rows           int
		leaves, shares []float64
	}{
		"100 rows":     {100, eight, even},
		"200 rows":     {200, eight, even},
		"500 rows":     {500, eight, even},
		"one leaf":     {100, []float64{.3}, []float64{1}},
		"a rare class": {500, []float64{.005, .02, .3}, []float64{.6, .35, .05}},
		"nearly sure":  {300, []float64{.02, .97, .6}, []float64{.5, .45, .05}},
	} {
		off, observed, expected := 0.0, 0.0, 0.0
		for _, s := range samplesOf(1, samples, c.rows, c.leaves, c.shares, 0) {
			if s.Off() != (s.ObservedError > *s.ChanceLimit) || *s.ExpectedError > s.ObservedError {
				t.Fatalf("%s: %+v", name, *s)
			}
			if s.Off() {
				off++
			}
			observed += s.ObservedError / samples
			expected += *s.ChanceError / samples
		}
		if share := off / samples; share < 0.02 || share > 0.08 {
			t.Errorf("%s: %.3f of the samples are off, want about 0.05", name, share)
		}
		if math.Abs(observed/expected-1) > 0.1 {
			t.Errorf("%s: mean observed error %.4f, chance error %.4f", name, observed, expected)
		}
	}
}

// TestCalibrationPower: probabilities that are off by 0.1 are found with enough rows, and the expected error is
// near 0.1 where the observed error is too high by chance.
func TestCalibrationPower(t *testing.T) {
	leaves, shares := []float64{.15, .25, .35, .45, .55, .65, .75, .85}, []float64{.125, .125, .125, .125, .125, .125, .125, .125}
	for _, rows := range []int{500, 2000} {
		far, mean := 0.0, 0.0
		const samples = 200
		for _, s := range samplesOf(2, samples, rows, leaves, shares, 0.1) {
			if s.FarOff() {
				far++
			}
			mean += *s.ExpectedError / samples
		}
		if far/samples < 0.9 || math.Abs(mean-0.1) > 0.015 {
			t.Errorf("%d rows: far off in %.2f of the samples, by %.4f on average; want 0.9 and 0.1", rows, far/samples, mean)
		}
	}
}

// TestCalibrationOfOlderDocuments: a document without observed_error has it as expected_error. Reading
// it gives the figures of today.
func TestCalibrationOfOlderDocuments(t *testing.T) {
	for _, off := range []float64{0, 0.3} {
		p := 0.3 + off
		m := metric.Evaluate([]metric.Leaf{{Probabilities: []float64{1 - p, p}, Weights: []int64{65, 35}, Rows: 100}}, []string{"a", "b"}, 1)
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var old map[string]any
		if err = json.Unmarshal(b, &old); err != nil {
			t.Fatal(err)
		}
		c, _ := old["calibration"].(map[string]any)
		c["expected_error"] = c["observed_error"]
		for name := range c {
			if strings.HasPrefix(name, "observed") || strings.HasPrefix(name, "chance") {
				delete(c, name)
			}
		}
		if b, err = json.Marshal(old); err != nil {
			t.Fatal(err)
		}
		var read metric.Metrics
		if err = json.Unmarshal(b, &read); err != nil {
			t.Fatal(err)
		}
		if err = read.Check(); err != nil {
			t.Fatal(err)
		}
		if got := read.Calibration; !cmp.Equal(got, m.Calibration) {
			t.Errorf("off by %v: %+v, want %+v", off, *got, *m.Calibration)
		}
	}
}

// TestCalibrationOfWeightedRows: exact probabilities of rows with log-normal weights are called off in about 5 % of
// samples, as those of equal rows are.
func TestCalibrationOfWeightedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const samples, rows, scale = 600, 400, 1 << 20
	off := 0.0
	for range samples {
		leaves := make([]metric.Leaf, 4)
		for i := range leaves {
			p := 0.15 + 0.2*float64(i)
			leaves[i] = metric.Leaf{Probabilities: []float64{1 - p, p}, Weights: make([]int64, 2), Squares: make([]float64, 2)}
		}
		for range rows {
			l, class, w := &leaves[r.IntN(4)], 0, math.Exp(r.NormFloat64())
			if r.Float64() < l.Probabilities[1] {
				class = 1
			}
			l.Rows++
			l.Weights[class] += int64(w * scale)
			l.Squares[class] += math.Pow(float64(int64(w*scale)), 2)
		}
		m := metric.Evaluate(leaves, []string{"no", "yes"}, scale)
		if m.Calibration.Off() {
			off++
		}
	}
	if share := off / samples; share < 0.02 || share > 0.1 {
		t.Errorf("%.3f of the samples are off, want about 0.05", share)
	}
}

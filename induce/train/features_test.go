package train_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/train"
	"github.com/espalier-ml/espalier/io/longtest"
)

// TestFewFeatures: if repeats are free, the frontier has a tree that makes the most of a single
// feature. It ranks rows as well as the best tree of a training that has no other feature.
func TestFewFeatures(t *testing.T) {
	longtest.Skip(t)
	r := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // data of a test
	alone := make([]map[string]any, 6000)
	all := make([]map[string]any, len(alone))
	for i := range all {
		x, z := r.Float64(), r.Float64()
		class := "no"
		if r.Float64() < x*(0.4+0.6*z) {
			class = "yes"
		}
		alone[i] = map[string]any{"x": x, "class": class}
		all[i] = map[string]any{"x": x, "z": z, "class": class}
	}
	whole, single := bestOfOne(t, all), bestOfOne(t, alone)
	if whole < single-0.002 {
		t.Errorf("the best tree that buys one feature has an AUC of %.4f, with that feature alone %.4f", whole, single)
	}
}

// bestOfOne returns the highest merit of a tree that buys at most one feature.
func bestOfOne(t *testing.T, rows []map[string]any) float64 {
	t.Helper()
	s := settings.Default()
	s.Label, s.FreeRepeats = "class", true
	_, report, err := train.Train(context.Background(), rows, s)
	if err != nil {
		t.Fatal(err)
	}
	highest := 0.0
	for i := range report.Frontier {
		p := &report.Frontier[i]
		if cost := p.ExpectedCost; cost <= 1 {
			highest = max(highest, p.Merit)
		}
	}
	return highest
}

package boost_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// twoOfMany returns objects of two categorical features of 300 values each. Each value adds its own effect to the log
// odds of the second class.
func twoOfMany(seed uint64, objects int) (*dataset.Objects, []dataset.Feature) {
	const values = 300
	features := make([]dataset.Feature, 2)
	for f := range features {
		features[f] = dataset.Feature{Name: fmt.Sprint("f", f), Kind: dataset.Categorical}
		for v := range values {
			features[f].Values = append(features[f].Values, fmt.Sprintf("v%03d", v))
		}
	}
	effects := rand.New(rand.NewPCG(1, 2)) // the same for all objects
	var effect [2][values]float64
	for f := range effect {
		for v := range effect[f] {
			effect[f][v] = effects.NormFloat64()
		}
	}
	r := rand.New(rand.NewPCG(seed, 3))
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, objects)
	for range objects {
		codes := []int{r.IntN(values), r.IntN(values)}
		class := uint16(0)
		if r.NormFloat64() < effect[0][codes[0]]+effect[1][codes[1]] {
			class = 1
		}
		o.Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	return o, features
}

// TestSets: sets of at most 32 values tell most of what 600 effects tell about other objects.
func TestSets(t *testing.T) {
	training, features := twoOfMany(4, 20_000)
	b := boost.Fit(training, features, []int{0, 1}, all(training), make([]float64, training.Len()), boost.Options{})
	most := 0
	for _, tree := range b.Trees {
		for i := range tree {
			most = max(most, len(tree[i].Codes))
		}
	}
	if most < 2 || most > 32 {
		t.Errorf("the largest set has %d values: want 2 to 32", most)
	}
	tests, _ := twoOfMany(5, 20_000)
	loss := logLoss(tests, scoresOf(b, tests, features, make([]float64, tests.Len())))
	// With such rows and the same number, size and rate of the trees, LightGBM 4.6 has 0.450 with sets and 0.532 with
	// single values; the true probabilities have 0.413.
	if loss > 0.47 {
		t.Errorf("log loss %.3f: want at most 0.47", loss)
	}
}

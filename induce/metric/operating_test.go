package metric_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/metric"
)

// TestOperatingPoints: by hand, with Wilson's intervals as statsmodels 0.14 has them (proportion_confint). Of 10 rows of p,
// 9 are in the leaf of .9; of 30 others, 6 are.
func TestOperatingPoints(t *testing.T) {
	leaves := []metric.Leaf{
		{Probabilities: []float64{.1, .9}, Class: 1, Weights: []int64{6, 9}, Rows: 15},
		{Probabilities: []float64{.85, .15}, Weights: []int64{14, 1}, Rows: 15},
		{Probabilities: []float64{.98, .02}, Weights: []int64{10, 0}, Rows: 10},
		{Probabilities: []float64{.5, .5}, Weights: []int64{0, 0}}, // has no rows: no threshold of its own
	}
	m := metric.Evaluate(leaves, names(2), 1)
	points := m.PerClass[1].OperatingPoints()
	if len(points) != 3 || points[2].Threshold != 0 {
		t.Fatalf("%+v", points)
	}
	if points[0].Threshold != .5 || points[1].Threshold != .08 {
		t.Errorf("thresholds %v and %v, want .5 and .08", points[0].Threshold, points[1].Threshold)
	}
	p := &points[0]
	for _, x := range []struct {
		name            string
		got             metric.Estimate
		want, low, high float64
	}{
		{"sensitivity", p.Sensitivity, .9, .59585, .98212},
		{"specificity", p.Specificity, .8, .62694, .90495},
		{"PPV", p.PPV, .6, .35747, .80176},
		{"NPV", p.NPV, .96, .80456, .99291},
		{"sensitivity of all", points[2].Sensitivity, 1, .72247, 1},
		{"specificity of all", points[2].Specificity, 0, 0, .11351},
		{"PPV of all", points[2].PPV, .25, .14188, .40194},
	} {
		if math.Abs(x.got.Value-x.want) > 1e-9 || math.Abs(x.got.Low-x.low) > 1e-5 || math.Abs(x.got.High-x.high) > 1e-5 {
			t.Errorf("%s: %+v, want %v (%v to %v)", x.name, x.got, x.want, x.low, x.high)
		}
	}
	if near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }; !near(p.Found, 9./40) || !near(p.Missed, 1./40) || !near(p.FalseAlarms, 6./40) {
		t.Errorf("found %v, missed %v, false alarms %v", p.Found, p.Missed, p.FalseAlarms)
	}
	if !math.IsNaN(points[2].NPV.Value) {
		t.Errorf("all: %+v", points[2])
	}
}

// TestOperatingPointsByThreshold: each point has the shares that predicting the class from its threshold on gives, and no
// probability equals a threshold.
func TestOperatingPointsByThreshold(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		leaves := make([]metric.Leaf, 2+r.IntN(30))
		for i := range leaves {
			p := float64(r.IntN(40)) / 39 // many ties, 0 and 1
			leaves[i] = metric.Leaf{
				Probabilities: []float64{1 - p, p}, Weights: []int64{r.Int64N(4), r.Int64N(4) * r.Int64N(2)}, Rows: 1,
			}
		}
		m := metric.Evaluate(leaves, names(2), 1)
		for class := range m.PerClass {
			points := m.PerClass[class].OperatingPoints()
			for i, p := range points {
				var hits, own, alarms, others float64
				for _, l := range leaves {
					mine, rest := float64(l.Weights[class]), float64(l.Weights[1-class])
					own += mine
					others += rest
					if l.Probabilities[class] >= p.Threshold {
						hits += mine
						alarms += rest
					}
					if i < len(points)-1 && l.Probabilities[class] == p.Threshold && mine+rest > 0 {
						t.Errorf("the threshold %v is a probability", p.Threshold)
					}
				}
				if p.Sensitivity.Value != hits/own || math.Abs(p.Specificity.Value-(1-alarms/others)) > 1e-12 {
					t.Fatalf("class %d, point %d: %v and %v, want %v and %v", class, i, p.Sensitivity.Value, p.Specificity.Value, hits/own,
						1-alarms/others)
				}
			}
		}
	}
}

// TestOutlined: the highest threshold of each sensitivity, each point once.
func TestOutlined(t *testing.T) {
	m := metric.Evaluate(rankedLeaves(rand.New(rand.NewPCG(1, 2)), 60), names(2), 1)
	points := m.PerClass[1].OperatingPoints()
	list := metric.Outlined(points, .99, .5, .5, .95)
	if len(list) != 3 {
		t.Fatalf("%d points", len(list))
	}
	for i, want := range []float64{.5, .95, .99} {
		if list[i].Sensitivity.Value < want {
			t.Errorf("sensitivity %v, want %v", list[i].Sensitivity.Value, want)
		}
		for _, p := range points {
			if p.Threshold > list[i].Threshold && p.Sensitivity.Value >= want {
				t.Errorf("sensitivity %v at the threshold %v, though %v has it as well", want, list[i].Threshold, p.Threshold)
			}
		}
	}
}

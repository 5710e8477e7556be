package metric_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
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

// TestOperatingIntervals: a tree and a threshold are fixed, and rows are drawn. The truth of the sensitivity, the specificity and the
// predictive values is in about 95 of 100 intervals, for classes that are balanced, rare and very rare.
func TestOperatingIntervals(t *testing.T) {
	const (
		runs = 1000
		from = 3 // leaf from which on the class is predicted
	)
	r := rand.New(rand.NewPCG(78, 2))
	likelihood := []float64{.05, .15, .4, 1.2, 4, 12} // by leaf: in proportion to the likelihood of the class over the likelihood of the others
	others := []float64{.3, .3, .2, .12, .06, .02}
	for _, prevalence := range []float64{.5, .08, .01} {
		model := &tree.Tree{Nodes: make([]tree.Node, len(others))}
		model.Label.Classes = []string{"well", "ill"}
		own := make([]float64, len(others))
		sum := 0.0
		for i := range own {
			own[i] = likelihood[i] * others[i]
			sum += own[i]
		}
		for i := range own {
			own[i] /= sum
			p := prevalence * own[i] / (prevalence*own[i] + (1-prevalence)*others[i])
			model.Nodes[i].Probabilities = []float64{1 - p, p}
			if i >= from {
				model.Nodes[i].Class = 1
			}
		}
		found, alarms := 0.0, 0.0
		for i := from; i < len(own); i++ {
			found += own[i]
			alarms += others[i]
		}
		hits, misses := prevalence*found, prevalence*(1-found)
		wrong, right := (1-prevalence)*alarms, (1-prevalence)*(1-alarms)
		truth := []float64{found, 1 - alarms, hits / (hits + wrong), right / (right + misses)}
		for _, rows := range []int{1000, 5000} {
			var covered [4]int
			drawn := 0
			for range runs {
				counts := &tree.LeafCounts{Rows: make([]int64, len(own))}
				for range own {
					counts.Weights = append(counts.Weights, []int64{0, 0})
				}
				for range rows {
					class, shares := 0, others
					if r.Float64() < prevalence {
						class, shares = 1, own
					}
					leaf, u := 0, r.Float64()
					for u -= shares[leaf]; u > 0 && leaf < len(shares)-1; u -= shares[leaf] {
						leaf++
					}
					counts.Weights[leaf][class]++
					counts.Rows[leaf]++
				}
				p := metric.OfLeaves(model, counts, 1).PerClass[1].Decided(model.Nodes[from].Probabilities[1])
				if p == nil { // no row of the class
					continue
				}
				drawn++
				for i, e := range []metric.Estimate{p.Sensitivity, p.Specificity, p.PPV, p.NPV} {
					if e.Low <= truth[i] && truth[i] <= e.High {
						covered[i]++
					}
				}
			}
			for i, name := range []string{"sensitivity", "specificity", "PPV", "NPV"} {
				share := float64(covered[i]) / float64(drawn)
				t.Logf("%v ill, %d rows: %s %.3f in %.3f of %d intervals", prevalence, rows, name, truth[i], share, drawn)
				if share < .92 || share > .99 {
					t.Errorf("%v ill, %d rows: %s is in %.3f of %d intervals, want about .95", prevalence, rows, name, share, drawn)
				}
			}
		}
	}
}

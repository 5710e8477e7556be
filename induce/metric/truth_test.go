package metric_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/longtest"
)

// The tests in this file draw samples from distributions whose figures are known, and count how many intervals hold
// them. A coverage of .93 to .97 is right.

// covers checks the number of intervals of samples that hold the true value, within three standard deviations of the
// binomial distribution.
func covers(t *testing.T, what string, held, samples int, least, most float64) {
	t.Helper()
	n := float64(samples)
	from, to := n*least-3*math.Sqrt(n*least*(1-least)), n*most+3*math.Sqrt(n*most*(1-most))
	if x := float64(held); x < from || x > to {
		t.Errorf("%s: %d of %d intervals hold the true value, want a share of %v to %v", what, held, samples, least, most)
	}
}

// ranked returns the table of a tree with n leaves, whose scores are normal with the standard deviation 1 and the mean 0
// for the first of two classes, or apart for the second. Weights are proportions of the class. Cuts between leaves are
// from low to high.
func ranked(apart, low, high float64, n int) []metric.Leaf {
	const unit = 1 << 40
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	leaves := make([]metric.Leaf, n)
	from := math.Inf(-1)
	for i := range leaves {
		to := low + (high-low)*float64(i)/float64(n-2)
		if i == n-1 {
			to = math.Inf(1)
		}
		weights := []int64{int64(unit * (normal(to) - normal(from))), int64(unit * (normal(to-apart) - normal(from-apart)))}
		p := float64(i) / float64(n)
		leaves[i] = metric.Leaf{Probabilities: []float64{1 - p, p}, Weights: weights}
		from = to
	}
	return leaves
}

// drawn returns a sample of leaves with a number of rows of each class.
func drawn(r *rand.Rand, leaves []metric.Leaf, rows ...int) []metric.Leaf {
	sample := make([]metric.Leaf, len(leaves))
	for i := range sample {
		sample[i] = leaves[i]
		sample[i].Weights = make([]int64, len(rows))
	}
	for class, n := range rows {
		ends := make([]int64, len(leaves))
		sum := int64(0)
		for i := range leaves {
			sum += leaves[i].Weights[class]
			ends[i] = sum
		}
		for range n {
			x, at := r.Int64N(sum), 0
			for ends[at] <= x {
				at++
			}
			sample[at].Weights[class]++
			sample[at].Rows++
		}
	}
	return sample
}

// TestAreaNearOneAndOfFewRows: normal scores with areas from .6 to .997, in 60 leaves and in 7, and from 4 to 500 rows of
// a class.
func TestAreaNearOneAndOfFewRows(t *testing.T) {
	r := rand.New(rand.NewPCG(56, 13))
	// The difference of the means of both classes, for the areas .6, .75, .9, .97 and .997.
	for _, apart := range []float64{.3583, .9539, 1.8124, 2.6599, 3.8859} {
		for _, shape := range []struct {
			leaves    int
			low, high float64
		}{{60, -2.5, 2.5 + apart}, {7, -1.5, 1.5 + apart}} {
			all := ranked(apart, shape.low, shape.high, shape.leaves)
			truth := *metric.MeanArea(all)
			for _, rows := range [][]int{{196, 4}, {490, 10}, {80, 20}, {50, 50}, {500, 500}} {
				samples, held := 1000, 0
				if rows[0]+rows[1] == 1000 {
					samples = 300
				}
				for range samples {
					if i := metric.Area(drawn(r, all, rows...)); i.Low <= truth && truth <= i.High {
						held++
					}
				}
				most := .97
				if rows[1] <= 20 || truth > .95 {
					most = .995 // there are few values of the area, and none is too low
				}
				covers(t, fmt.Sprintf("area %.4f in %d leaves, %v rows", truth, shape.leaves, rows), held, samples, .93, most)
			}
		}
	}
}

// risk is a leaf with the probability of the second class, its cost and its share of the rows.
type risk struct{ p, cost, share float64 }

// risksOf are leaves of a tree that is right about the probabilities.
func risksOf() []risk {
	return []risk{
		{.05, 1, .2}, {.15, 1, .18}, {.3, 2, .15}, {.4, 3, .12}, {.55, 3, .12}, {.7, 2, .1}, {.85, 5, .08}, {.95, 8, .05},
	}
}

// weightUnit is the number of units in a weight of 1.
const weightUnit = 1 << 20

// sampleOf draws rows. weight returns the weight of row i, given its leaf and class.
func sampleOf(r *rand.Rand, rows int, weight func(i, leaf, class int) float64) []metric.Leaf {
	list := risksOf()
	leaves := make([]metric.Leaf, len(list))
	for i, l := range list {
		class := 0
		if l.p > .5 {
			class = 1
		}
		leaves[i] = metric.Leaf{
			Probabilities: []float64{1 - l.p, l.p}, Class: class, Weights: make([]int64, 2), Squares: make([]float64, 2), Cost: l.cost,
		}
	}
	for i := range rows {
		at, x := 0, r.Float64()
		for x >= list[at].share && at < len(list)-1 {
			x -= list[at].share
			at++
		}
		class := 0
		if r.Float64() < list[at].p {
			class = 1
		}
		w := int64(weightUnit * weight(i, at, class))
		leaves[at].Weights[class] += w
		leaves[at].Squares[class] += float64(w) * float64(w)
		leaves[at].Rows++
	}
	return leaves
}

// TestWeightsHold: weights that depend on nothing, on the class, on the leaf, and 20 heavy rows of 1,000. The true values
// are those of 400,000 rows with the mean weight of their leaf and class.
func TestWeightsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(56, 4))
	normal := func(deviation float64) float64 { return math.Exp(deviation * r.NormFloat64()) }
	ofLeaf := []float64{4.5, .4, 1.3, 2.7, .6, 1, 3.3, .45}
	one := func(int, int, int) float64 { return 1 }
	for _, c := range []struct {
		name   string
		rows   int
		weight func(i, leaf, class int) float64
		mean   func(i, leaf, class int) float64
	}{
		{"equal", 300, one, one},
		{"log-normal, sd 1", 300, func(int, int, int) float64 { return normal(1) }, one},
		{"log-normal, sd 2", 1000, func(int, int, int) float64 { return normal(2) }, one},
		{
			"by class", 300, func(_, _, class int) float64 { return normal(1) / float64(1+9*class) },
			func(_, _, class int) float64 { return 1 / float64(1+9*class) },
		},
		{
			"by leaf", 1000, func(_, leaf, _ int) float64 { return ofLeaf[leaf] * normal(.5) },
			func(_, leaf, _ int) float64 { return ofLeaf[leaf] },
		},
		{"20 heavy rows", 1000, func(i, _, _ int) float64 {
			if i < 20 {
				return 1
			}
			return 1e-5
		}, one},
	} {
		const samples = 400
		names := []string{"no", "yes"}
		truth := metric.Evaluate(sampleOf(r, 400_000, c.mean), names, 1)
		var held [4]int
		for range samples {
			m := metric.Evaluate(sampleOf(r, c.rows, c.weight), names, weightUnit)
			for k, x := range []struct {
				i *metric.Interval
				x *float64
			}{
				{m.Intervals.AUCOvRMacro, truth.AUCOvRMacro},
				{m.Intervals.Accuracy, truth.Accuracy},
				{m.Intervals.BalancedAccuracy, truth.BalancedAccuracy},
				{m.Intervals.ExpectedCost, truth.ExpectedCost},
			} {
				if x.i.Low <= *x.x && *x.x <= x.i.High {
					held[k]++
				}
			}
		}
		for k, what := range []string{"AUC", "accuracy", "balanced accuracy", "cost"} {
			covers(t, c.name+", "+what, held[k], samples, .93, .98)
		}
	}
}

// pairsOf draws rows that two trees score, which are equally good: the class depends on the sum of two numbers, and each
// tree knows one of them. weight returns the weight of row i, and group the group of row i.
func pairsOf(r *rand.Rand, rows int, weight func(i int) float64, group func(i int) int) []metric.PairedRows {
	const leaves = 5
	var list []metric.PairedRows
	at := make(map[[3]int]int)
	type drawn struct{ x, z, class int }
	known, buckets := make(map[int]drawn), make(map[int]uint8)
	leaf := func(at int) metric.Leaf {
		p := (float64(at) + .5) / leaves
		return metric.Leaf{Probabilities: []float64{1 - p, p}, Class: min(1, at*2/leaves)}
	}
	mean := 0.0
	weights := make([]float64, rows)
	for i := range weights {
		weights[i] = weight(i)
		mean += weights[i] / float64(rows)
	}
	for i := range rows {
		g := group(i)
		one, found := known[g]
		if !found {
			x, z := r.IntN(leaves), r.IntN(leaves)
			one = drawn{x: x, z: z}
			if p := .1 + .8*float64(x+z)/(2*leaves-2); r.Float64() < p && (g >= -len(weights) || r.Float64() < .055) {
				one.class = 1
			}
			known[g], buckets[g] = one, dataset.Bucket(r.Uint64())
		}
		w, bucket := int64(weightUnit*weights[i]), buckets[g]
		if g == i {
			bucket = dataset.WeightClass(w, weightUnit*mean)
		}
		key := [3]int{one.x, one.z, int(bucket)}
		n, found := at[key]
		if !found {
			n = len(list)
			at[key] = n
			a, b, weights := leaf(one.x), leaf(one.z), make([]int64, 2)
			a.Weights, b.Weights = weights, weights
			list = append(list, metric.PairedRows{A: a, B: b, ByClass: make([]int64, 2), Bucket: bucket})
		}
		p := &list[n]
		p.A.Weights[one.class] += w
		p.ByClass[one.class]++
		p.A.Rows++
		p.B.Rows++
	}
	return list
}

// TestEqualTreesAreEqual: of samples of rows that are equal, weighted or in groups, a share of about .05 calls one of two
// equally good trees better.
func TestEqualTreesAreEqual(t *testing.T) {
	longtest.Skip(t)
	r := rand.New(rand.NewPCG(56, 5))
	one := func(int) float64 { return 1. / weightUnit }
	alone := func(i int) int { return i }
	for _, c := range []struct {
		name   string
		rows   int
		weight func(i int) float64
		group  func(i int) int
		keyed  bool
	}{
		{"equal", 300, one, alone, false},
		{"40 rows", 40, one, alone, false},
		{"of 500 rows 14 of the second class", 500, one, func(i int) int { return i - 1000 }, false},
		{"log-normal, sd 1", 300, func(int) float64 { return math.Exp(r.NormFloat64()) }, alone, false},
		{"log-normal, sd 2", 1000, func(int) float64 { return math.Exp(2 * r.NormFloat64()) }, alone, false},
		{"20 heavy rows", 1000, func(i int) float64 { return math.Max(1e-5, float64(20-i)/math.Abs(float64(20-i)+.1)) }, alone, false},
		{"50 groups of 10", 500, one, func(i int) int { return -1 - i/10 }, true},
		{"50 groups of 30", 1500, one, func(i int) int { return -1 - i/30 }, true},
		{"groups of 1 to 50 rows", 1275, one, func(i int) int { return -int(math.Sqrt(float64(2*i)+.25)+.5) - 1 }, true},
		{"groups with weights", 500, func(int) float64 { return math.Exp(r.NormFloat64()) }, func(i int) int { return -1 - i/10 }, true},
	} {
		samples := 400
		if c.keyed {
			samples = 150 // a jackknife takes a while
		}
		var differ [4]int
		for range samples {
			m := metric.Compare(pairsOf(r, c.rows, c.weight, c.group), 2, 1, nil, c.keyed)
			for k, d := range []*metric.Difference{m.AUCOvRMacro, m.Accuracy, m.BalancedAccuracy, m.LogLoss} {
				if d == nil || d.Interval == nil {
					continue
				}
				if d.Interval.Low > 0 || d.Interval.High < 0 {
					differ[k]++
				}
			}
		}
		for k, what := range []string{"AUC", "accuracy", "balanced accuracy", "log loss"} {
			covers(t, c.name+", difference of "+what, samples-differ[k], samples, .93, .98)
		}
	}
}

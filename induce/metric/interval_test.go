package metric_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/metric"
)

// rowOf is a row with the probabilities of its leaf.
type rowOf struct {
	class int
	p     []float64
}

func rowsOf(leaves []metric.Leaf) []rowOf {
	var rows []rowOf
	for _, l := range leaves {
		for c, w := range l.Weights {
			rows = append(rows, slices.Repeat([]rowOf{{c, l.Probabilities}}, int(w))...)
		}
	}
	return rows
}

// beats is 1 if the first row has the higher probability of a class, 1/2 if the rows
// tie, else 0.
func beats(a, b rowOf, class int) float64 {
	switch {
	case a.p[class] > b.p[class]:
		return 1
	case a.p[class] < b.p[class]:
		return 0
	default:
		return 0.5
	}
}

// bruteDeLong returns the area of one class against the rest and its variance, by the
// formulas of DeLong, DeLong and Clarke-Pearson for a single curve: the sample
// variances of the structural components over their numbers.
func bruteDeLong(rows []rowOf, class int) (area, variance float64) {
	var own, rest []rowOf
	for _, r := range rows {
		if r.class == class {
			own = append(own, r)
		} else {
			rest = append(rest, r)
		}
	}
	v10, v01 := make([]float64, len(own)), make([]float64, len(rest))
	for i, a := range own {
		for j, b := range rest {
			v10[i] += beats(a, b, class) / float64(len(rest))
			v01[j] += beats(a, b, class) / float64(len(own))
		}
	}
	area, s10 := sampleMoments(v10)
	_, s01 := sampleMoments(v01)
	return area, s10/float64(len(own)) + s01/float64(len(rest))
}

func sampleMoments(xs []float64) (center, variance float64) {
	for _, x := range xs {
		center += x / float64(len(xs))
	}
	for _, x := range xs {
		variance += (x - center) * (x - center) / float64(len(xs)-1)
	}
	return center, variance
}

// TestAreaOfTwoClasses: the error is DeLong's, row by row.
func TestAreaOfTwoClasses(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	for range 200 {
		leaves := randomLeaves(r, 2+r.IntN(12), 2, 7)
		leaves[0].Weights, leaves[0].Rows = []int64{2, 3}, 5
		for i := range leaves { // makes the classes' probabilities complements
			leaves[i].Probabilities[0] = 1 - leaves[i].Probabilities[1]
		}
		auc, variance := bruteDeLong(rowsOf(leaves), 1)
		got := metric.Area(leaves)
		if math.Abs(got.Value-auc) > 1e-12 || math.Abs(got.StandardError-math.Sqrt(variance)) > 1e-7 {
			t.Fatalf("area %v, error %v, want %v, %v", got.Value, got.StandardError, auc, math.Sqrt(variance))
		}
	}
}

// bruteMacro returns the mean area of several classes and its variance, from the
// covariances of the classes' areas: for each two areas and each class of rows, the
// sample covariance of the rows' terms in the two areas.
func bruteMacro(rows []rowOf, classes int) (area, variance float64) {
	count := make([]float64, classes)
	for _, r := range rows {
		count[r.class]++
	}
	moves := make([][]float64, classes) // by class and row: term of the row in the class's area
	for c := range moves {
		auc, _ := bruteDeLong(rows, c)
		area += auc / float64(classes)
		moves[c] = make([]float64, len(rows))
		for i, a := range rows {
			for _, b := range rows {
				switch {
				case a.class == c && b.class != c:
					moves[c][i] += beats(a, b, c) / count[c] / (float64(len(rows)) - count[c])
				case a.class != c && b.class == c:
					moves[c][i] += beats(b, a, c) / count[c] / (float64(len(rows)) - count[c])
				}
			}
		}
	}
	for a := range moves {
		for b := range moves {
			for k := range classes {
				variance += count[k] * covariance(rows, k, moves[a], moves[b]) / float64(classes*classes)
			}
		}
	}
	return area, variance
}

// covariance returns the sample covariance over the rows of a class.
func covariance(rows []rowOf, class int, x, y []float64) float64 {
	var n, sumX, sumY, sum float64
	for i, r := range rows {
		if r.class == class {
			n, sumX, sumY = n+1, sumX+x[i], sumY+y[i]
		}
	}
	for i, r := range rows {
		if r.class == class {
			sum += (x[i] - sumX/n) * (y[i] - sumY/n)
		}
	}
	return sum / (n - 1)
}

func TestAreaOfManyClasses(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	for range 60 {
		classes := 3 + r.IntN(3)
		leaves := randomLeaves(r, 2+r.IntN(8), classes, 5)
		leaves[0].Weights, leaves[0].Rows = slices.Repeat([]int64{2}, classes), int64(2*classes)
		auc, variance := bruteMacro(rowsOf(leaves), classes)
		got := metric.Area(leaves)
		if math.Abs(got.Value-auc) > 1e-12 || math.Abs(got.StandardError-math.Sqrt(variance)) > 1e-7 {
			t.Fatalf("%d classes: area %v, error %v, want %v, %v", classes, got.Value, got.StandardError, auc,
				math.Sqrt(variance))
		}
		m := metric.Evaluate(leaves, names(classes), 1)
		if *m.AUCOvRMacro != got.Value || *m.Intervals.AUCOvRMacro != got.Interval {
			t.Fatalf("Evaluate: %v, %+v, want %+v", *m.AUCOvRMacro, *m.Intervals.AUCOvRMacro, *got)
		}
	}
}

// population draws samples of rows from a distribution over leaves and classes.
type population struct {
	leaves []metric.Leaf // with weights in proportion
	ends   []int64       // running sums of the weights
}

func newPopulation(leaves []metric.Leaf) *population {
	p := &population{leaves: leaves}
	sum := int64(0)
	for _, l := range leaves {
		for _, w := range l.Weights {
			sum += w
			p.ends = append(p.ends, sum)
		}
	}
	return p
}

func (p *population) sample(r *rand.Rand, rows int) []metric.Leaf {
	classes := len(p.leaves[0].Weights)
	leaves := slices.Clone(p.leaves)
	for i := range leaves {
		leaves[i].Weights, leaves[i].Rows = make([]int64, classes), 0
	}
	for range rows {
		cell, _ := slices.BinarySearch(p.ends, 1+r.Int64N(p.ends[len(p.ends)-1]))
		leaves[cell/classes].Weights[cell%classes]++
		leaves[cell/classes].Rows++
	}
	return leaves
}

// populations returns populations with areas from poor to nearly perfect.
func populations() map[string][]metric.Leaf {
	good := []metric.Leaf{
		{Probabilities: []float64{.99, .01}, Weights: []int64{500, 5}, Cost: 1, Tests: 1},
		{Probabilities: []float64{.8, .2}, Weights: []int64{80, 15}, Cost: 7, Tests: 2},
		{Probabilities: []float64{.4, .6}, Class: 1, Weights: []int64{20, 40}, Cost: 9, Tests: 3},
		{Probabilities: []float64{.1, .9}, Class: 1, Weights: []int64{10, 330}, Cost: 9, Tests: 3},
	}
	fair := binaryLeaves()
	return map[string][]metric.Leaf{"good": good, "fair": fair, "three classes": threeLeaves()}
}

// TestIntervalsCover: about 95 % of the samples' intervals contain the population's
// value. For 2,000 samples, 93 % to 97 % is four standard errors.
func TestIntervalsCover(t *testing.T) {
	const samples, rows = 2000, 400
	for name, leaves := range populations() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(13, 1))
			classes := names(len(leaves[0].Weights))
			costs := [][]float64{{0, 2, 1}, {9, 0, 3}, {4, 5, 0}}
			truth, all := metric.EvaluatePriced(leaves, classes, costs), newPopulation(leaves)
			covered := make(map[string]int)
			for range samples {
				m := metric.EvaluatePriced(all.sample(r, rows), classes, costs)
				for what, i := range map[string]struct {
					*metric.Interval
					truth *float64
				}{
					"auc":               {m.Intervals.AUCOvRMacro, truth.AUCOvRMacro},
					"accuracy":          {m.Intervals.Accuracy, truth.Accuracy},
					"balanced accuracy": {m.Intervals.BalancedAccuracy, truth.BalancedAccuracy},
					"cost":              {m.Intervals.ExpectedCost, truth.ExpectedCost},
					"tests":             {m.Intervals.ExpectedTests, truth.ExpectedTests},
					"error cost":        {m.Intervals.ExpectedErrorCost, truth.ExpectedErrorCost},
					"total cost":        {m.Intervals.ExpectedTotalCost, truth.ExpectedTotalCost},
				} {
					if i.Low <= *i.truth && *i.truth <= i.High {
						covered[what]++
					}
				}
			}
			for what, n := range covered {
				share := float64(n) / samples
				if constant := name == "three classes" && (what == "cost" || what == "tests"); constant &&
					n == samples {
					continue // all leaves cost the same
				}
				if share < 0.93 || share > 0.97 {
					t.Errorf("%s: %v of the intervals hold the population's", what, share)
				}
			}
		})
	}
}

// TestBootstrapAgrees: the standard deviation over 4,000 resamples with replacement
// within classes equals DeLong's standard error to 5 %, which is more than four of
// its own standard errors.
func TestBootstrapAgrees(t *testing.T) {
	const resamples = 4000
	for name, leaves := range populations() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(14, 1))
			var areas []float64
			for range resamples {
				resample := slices.Clone(leaves)
				for i := range resample {
					resample[i].Weights = make([]int64, len(leaves[i].Weights))
				}
				for c := range leaves[0].Weights {
					one := make([]metric.Leaf, len(leaves))
					n := 0
					for i, l := range leaves {
						one[i].Weights = []int64{l.Weights[c]}
						n += int(l.Weights[c])
					}
					for i, l := range newPopulation(one).sample(r, n) {
						resample[i].Weights[c] = l.Weights[0]
					}
				}
				areas = append(areas, *metric.Evaluate(resample, names(len(leaves[0].Weights)), 1).AUCOvRMacro)
			}
			for i := range leaves {
				leaves[i].Rows = 0
				for _, w := range leaves[i].Weights {
					leaves[i].Rows += w
				}
			}
			_, variance := sampleMoments(areas)
			// A resample varies by (n-1)/n of the sample variance.
			got := metric.Area(leaves).StandardError
			if ratio := math.Sqrt(variance) / got; ratio < 0.95 || ratio > 1.05 {
				t.Errorf("standard error %v, bootstrap %v", got, math.Sqrt(variance))
			}
		})
	}
}

// TestIntervalsAtTheEdges: an estimate of 0 or 1 has an interval of positive length.
func TestIntervalsAtTheEdges(t *testing.T) {
	perfect := []metric.Leaf{
		{Probabilities: []float64{1, 0}, Class: 0, Weights: []int64{300, 0}, Rows: 300},
		{Probabilities: []float64{0, 1}, Class: 1, Weights: []int64{0, 50}, Rows: 50},
	}
	m := metric.Evaluate(perfect, []string{"a", "b"}, 1)
	// scipy 1.17.1: binomtest(50, 50).proportion_ci(method="wilson").
	want := metric.Interval{Low: 0.9286524008666412, High: 1}
	if diff := cmp.Diff(want, *m.Intervals.AUCOvRMacro, within()); diff != "" {
		t.Errorf("perfect (-want +got):\n%s", diff)
	}
	// By hand: binomtest(300, 300).proportion_ci(method="wilson") begins at 0.9873570287754, so the mean of both recalls
	// at 1 - sqrt(0.0126429712246^2 + 0.0713475991334^2)/2.
	if i := m.Intervals.BalancedAccuracy; math.Abs(i.Low-0.9637704380944) > 1e-12 || i.High != 1 {
		t.Errorf("perfect: balanced accuracy %+v", *i)
	}
	slices.Reverse(perfect[0].Probabilities)
	slices.Reverse(perfect[1].Probabilities)
	if i := metric.Area(perfect); i.Value != 0 || i.Low != 0 || math.Abs(i.High-(1-want.Low)) > 1e-12 {
		t.Errorf("all wrong: %+v, want 0 to %v", *i, 1-want.Low)
	}
	// A single leaf ranks no row before another, whatever the rows.
	lone := metric.Area([]metric.Leaf{{Probabilities: []float64{.5, .5}, Weights: []int64{7, 3}, Rows: 10}})
	if *lone != (metric.Estimate{Value: 0.5, Interval: metric.Interval{Low: 0.5, High: 0.5}}) {
		t.Errorf("one leaf: %+v, want exactly 0.5", *lone)
	}
	m = metric.Evaluate(binaryLeaves(), []string{"no", "yes"}, 1)
	// scipy 1.17.1: binomtest(47, 57).proportion_ci(method="wilson").
	want = metric.Interval{
		StandardError: math.Sqrt(47. / 57 * 10 / 57 / 57), Low: 0.7063264717030607,
		High: 0.9018114776029004,
	}
	if diff := cmp.Diff(want, *m.Intervals.Accuracy, within()); diff != "" {
		t.Errorf("accuracy (-want +got):\n%s", diff)
	}
	// By hand: costs of 23 rows at 1, 9 at 2.5, 8 at 4, 17 at 5, of mean 162.5/57.
	mean := 162.5 / 57
	variance := (23*(1-mean)*(1-mean) + 9*(2.5-mean)*(2.5-mean) + 8*(4-mean)*(4-mean) + 17*(5-mean)*(5-mean)) / 56
	if got := m.Intervals.ExpectedCost.StandardError; math.Abs(got-math.Sqrt(variance/57)) > 1e-12 {
		t.Errorf("error of the cost %v, want %v", got, math.Sqrt(variance/57))
	}
}

// TestIntervalsUndefined: there are no intervals of undefined values, nor if leaves do
// not count their rows.
func TestIntervalsUndefined(t *testing.T) {
	if metric.Area(nil) != nil {
		t.Error("area without leaves")
	}
	one := []metric.Leaf{{Probabilities: []float64{.5, .5}, Weights: []int64{3, 0}, Rows: 3}}
	if metric.Area(one) != nil || metric.Evaluate(one, names(2), 1).Intervals.AUCOvRMacro != nil {
		t.Error("area of rows of one class")
	}
	uncounted := binaryLeaves()
	for i := range uncounted {
		uncounted[i].Rows = 0
	}
	if i := metric.Evaluate(uncounted, names(2), 1).Intervals; metric.Area(uncounted) != nil ||
		*i != (metric.Intervals{}) {
		t.Errorf("intervals of no rows: %+v", *i)
	}
}

// TestSingleRowOfAClass: a single row has no sample variance. By hand: the row beats 3
// of 4 others, so its variance is at most 3/4 * 1/4, and the others' is 1/4 over 4.
func TestSingleRowOfAClass(t *testing.T) {
	got := metric.Area([]metric.Leaf{
		{Probabilities: []float64{.9, .1}, Weights: []int64{3, 0}, Rows: 3},
		{Probabilities: []float64{.5, .5}, Weights: []int64{0, 1}, Rows: 1},
		{Probabilities: []float64{.1, .9}, Weights: []int64{1, 0}, Rows: 1},
	})
	if want := math.Sqrt(3./16 + 1./16); got.Value != 0.75 || math.Abs(got.StandardError-want) > 1e-12 {
		t.Errorf("area %v, error %v, want 0.75, %v", got.Value, got.StandardError, want)
	}
}

// TestWeightedRows: only the rows' shares of the weight count, so the unit of the
// weights does not matter. Twice the rows halve the variance.
func TestWeightedRows(t *testing.T) {
	once := metric.Area(binaryLeaves()).StandardError
	leaves := binaryLeaves()
	for i := range leaves {
		for c := range leaves[i].Weights {
			leaves[i].Weights[c] *= 1_000_000
		}
	}
	if got := metric.Area(leaves).StandardError; math.Abs(got/once-1) > 1e-12 {
		t.Errorf("weights of another unit: error %v, want %v", got, once)
	}
	for i := range leaves {
		leaves[i].Rows *= 1000
	}
	// The tolerance is for n in place of n-1.
	if got := metric.Area(leaves).StandardError * math.Sqrt(1000); math.Abs(got/once-1) > 0.03 {
		t.Errorf("a thousand times the rows: error %v, want %v", got, once)
	}
}

// TestAreaIgnoresOrder: the order of the leaves changes no bit.
func TestAreaIgnoresOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	for _, classes := range []int{2, 3, 7} {
		leaves := randomLeaves(r, 100, classes, 1000)
		want := metric.Area(leaves)
		for range 20 {
			r.Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
			if got := metric.Area(leaves); !reflect.DeepEqual(got, want) {
				t.Fatalf("%d classes: %+v, then %+v", classes, *want, *got)
			}
		}
	}
}

func TestErrorCosts(t *testing.T) {
	m := metric.EvaluatePriced(binaryLeaves(), []string{"no", "yes"}, [][]float64{{0, 1}, {10, -1}})
	// By hand: of the confusion {{32, 2}, {8, 15}}.
	if want := (2 + 80 - 15) / 57.; math.Abs(*m.ExpectedErrorCost-want) > 1e-12 {
		t.Errorf("expected error cost %v, want %v", *m.ExpectedErrorCost, want)
	}
	if total := *m.ExpectedCost + *m.ExpectedErrorCost; math.Abs(*m.ExpectedTotalCost-total) > 1e-12 {
		t.Errorf("expected total cost %v, want %v", *m.ExpectedTotalCost, total)
	}
	m = metric.EvaluatePriced(nil, []string{"no", "yes"}, [][]float64{{0, 1}, {1, 0}})
	if m.ExpectedErrorCost != nil {
		t.Error("expected error cost of no rows")
	}
}

// FuzzEvaluate: for any counts of leaves the metrics are within their bounds, and JSON
// can hold them.
func FuzzEvaluate(f *testing.F) {
	f.Add(uint64(1), uint8(2), uint8(3), int64(5))
	f.Add(uint64(2), uint8(7), uint8(40), int64(1<<40))
	f.Add(uint64(3), uint8(1), uint8(1), int64(2))
	f.Add(uint64(4), uint8(3), uint8(0), int64(2))
	f.Fuzz(func(t *testing.T, seed uint64, classes, leaves uint8, most int64) {
		r := rand.New(rand.NewPCG(seed, 0))
		k := 1 + int(classes%8)
		list := randomLeaves(r, int(leaves), k, 1+most&(1<<40-1))
		for i := range list {
			if r.IntN(3) == 0 {
				list[i].Weights[r.IntN(k)] = 0
			}
		}
		m := metric.Evaluate(list, names(k), 1)
		if _, err := json.Marshal(m); err != nil {
			t.Fatal(err)
		}
		if m.Weight == 0 {
			return
		}
		for what, i := range map[string]*metric.Interval{
			fmt.Sprint(m.AUCOvRMacro): m.Intervals.AUCOvRMacro, "accuracy": m.Intervals.Accuracy,
			"balanced": m.Intervals.BalancedAccuracy,
		} {
			if i != nil && !(0 <= i.Low && i.Low <= i.High && i.High <= 1 && i.StandardError >= 0) {
				t.Errorf("%s: %+v", what, *i)
			}
		}
		if c := m.Calibration; !(*c.ExpectedError <= c.MaximumError+1e-12 && c.MaximumError <= 1) {
			t.Errorf("calibration %+v", *c)
		}
		for _, c := range m.PerClass {
			if !slices.IsSorted(c.Gains) ||
				c.Gains != nil && (len(c.Gains) != metric.Shares || math.Abs(c.Gains[metric.Shares-1]-1) > 1e-12) {
				t.Errorf("gains %v", c.Gains)
			}
		}
	})
}

// TestMeanOf: by hand. Values that are not defined do not count.
func TestMeanOf(t *testing.T) {
	list := []*metric.Estimate{
		{Value: .8, Interval: metric.Interval{StandardError: .03, Low: .7, High: .9}},
		nil,
		{Value: .6, Interval: metric.Interval{StandardError: .04, Low: .5, High: .8}},
	}
	got := metric.MeanOf(list, 2)
	want := &metric.Estimate{
		Value: .7, Interval: metric.Interval{StandardError: .05, Low: .7 - math.Sqrt(.02), High: .7 + math.Sqrt(.05)},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none := metric.MeanOf([]*metric.Estimate{nil}, 1); none != nil {
		t.Errorf("mean %v of no value", none)
	}
}

// TestAreaError: the example of Hanley and McNeil (Radiology 143, 1982, page 31): an area of 0.893
// on 51 abnormal and 58 normal images has a standard error of 0.032. The error of a tree without a
// signal is the error of the statistic of Mann and Whitney, the root of (m+n+1)/(12mn). By hand:
// classes without rows, or with all rows, have no error.
func TestAreaError(t *testing.T) {
	for _, c := range []struct {
		area, want float64
		rows       []float64
	}{
		{.893, .032, []float64{51, 58}},
		{.5, math.Sqrt(110. / 12 / 51 / 58), []float64{51, 58}},
		{1, 0, []float64{51, 58}},
		{.9, 0, []float64{0, 58}},
	} {
		if got := metric.AreaError(c.area, c.rows); math.Abs(got-c.want) > .0005 {
			t.Errorf("area %v of %v rows: %v, want %v", c.area, c.rows, got, c.want)
		}
	}
}

// TestMeanAreaError: where labels are dealt at random, the mean of the areas of classes varies by at most the error,
// whether classes are equal or rare, and whether the ranks by two classes are opposite or not. By hand: five equal classes
// have a fifth of the variance of each, times 100/80.
func TestMeanAreaError(t *testing.T) {
	want := math.Sqrt(101. / 12 / 20 / 80 / 5 * 1.25)
	if got := metric.MeanAreaError(.5, []float64{20, 20, 20, 20, 20}); math.Abs(got-want) > 1e-12 {
		t.Errorf("five classes: %v, want %v", got, want)
	}
	for name, c := range map[string]struct {
		rows []float64
		line bool // the ranks by classes are on a line, as where probabilities follow one number
	}{
		"equal":             {[]float64{20, 20, 20, 20, 20}, false},
		"equal, on a line":  {[]float64{20, 20, 20, 20, 20}, true},
		"rare":              {[]float64{120, 60, 8, 6, 6}, false},
		"rare, on a line":   {[]float64{120, 60, 8, 6, 6}, true},
		"three, on a line":  {[]float64{40, 20, 10}, true},
		"twenty, of 5 rows": {slices.Repeat([]float64{5}, 20), false},
	} {
		r := rand.New(rand.NewPCG(58, 6))
		var labels []int
		for k, n := range c.rows {
			labels = append(labels, slices.Repeat([]int{k}, int(n))...)
		}
		leaves := make([]metric.Leaf, len(labels))
		for i := range leaves {
			p := make([]float64, len(c.rows))
			for k := range p {
				if p[k] = r.Float64(); c.line {
					p[k] = (float64(k) - float64(len(p)-1)/2) * float64(i)
				}
			}
			leaves[i] = metric.Leaf{Probabilities: p, Rows: 1}
		}
		const draws = 2000
		var sum, squares float64
		for range draws {
			r.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
			for i := range leaves {
				leaves[i].Weights = make([]int64, len(c.rows))
				leaves[i].Weights[labels[i]] = 1
			}
			x := *metric.MeanArea(leaves)
			sum += x
			squares += x * x
		}
		sd := math.Sqrt(squares/draws - sum/draws*sum/draws)
		if ratio := sd / metric.MeanAreaError(.5, c.rows); ratio > 1.05 || !c.line && ratio < .85 {
			t.Errorf("%s: the mean of the areas varies by %.2f errors", name, ratio)
		}
	}
}

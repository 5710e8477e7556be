package metric_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/metric"
)

// scoredTwice is a row with its predictions by two trees.
type scoredTwice struct {
	a, b   metric.Leaf
	class  int
	weight int64
}

// drawTwice draws rows with few distinct predictions, some of them alike.
func drawTwice(r *rand.Rand, n, classes int, weighted bool) []scoredTwice {
	draw := func() metric.Leaf {
		l := metric.Leaf{Probabilities: make([]float64, classes), Cost: float64(r.IntN(4)), Tests: r.IntN(3)}
		sum := 0.0
		for k := range l.Probabilities {
			l.Probabilities[k] = float64(1 + r.IntN(3))
			sum += l.Probabilities[k]
		}
		for k := range l.Probabilities {
			l.Probabilities[k] /= sum
		}
		l.Class = slices.Index(l.Probabilities, slices.Max(l.Probabilities))
		return l
	}
	rows := make([]scoredTwice, n)
	for i := range rows {
		rows[i] = scoredTwice{a: draw(), class: r.IntN(classes), weight: 1}
		if rows[i].b = draw(); r.IntN(3) == 0 {
			rows[i].b = rows[i].a
		}
		if weighted {
			rows[i].weight = 1 + r.Int64N(4)
		}
	}
	return rows
}

// paired returns an entry for each row.
func paired(rows []scoredTwice, classes int) []metric.PairedRows {
	list := make([]metric.PairedRows, len(rows))
	for i, r := range rows {
		weights, counts := make([]int64, classes), make([]int64, classes)
		weights[r.class], counts[r.class] = r.weight, 1
		r.a.Weights, r.a.Rows, r.b.Weights, r.b.Rows = weights, 1, weights, 1
		list[i] = metric.PairedRows{A: r.a, B: r.b, ByClass: counts}
	}
	return list
}

// naiveMean is a mean over rows with the standard error of the difference, row by row.
func naiveMean(rows []scoredTwice, value func(l *metric.Leaf, class int) float64) *metric.Difference {
	var a, b, center, weight float64
	for _, r := range rows {
		w := float64(r.weight)
		a, b, weight = a+w*value(&r.a, r.class), b+w*value(&r.b, r.class), weight+w
		center += w * (value(&r.b, r.class) - value(&r.a, r.class))
	}
	square, n := naiveSquare(rows, func(i int) float64 {
		d := value(&rows[i].b, rows[i].class) - value(&rows[i].a, rows[i].class) - center/weight
		return d * d
	})
	return &metric.Difference{
		A: a / weight, B: b / weight, Difference: center / weight,
		Interval: &metric.Interval{StandardError: math.Sqrt(square / (n - 1))},
	}
}

// naiveSquare is the mean of a squared deviation, and the effective number n of the rows: the mean by squared weight
// counts n times, and the mean by weight 20 times.
func naiveSquare(rows []scoredTwice, square func(i int) float64) (mean, n float64) {
	var weight, weights, own, owns float64
	for i, r := range rows {
		w := float64(r.weight)
		weight, weights = weight+w, weights+w*square(i)
		own, owns = own+w*w, owns+w*w*square(i)
	}
	n = weight * weight / own
	return (n*owns/own + 20*weights/weight) / (n + 20), n
}

// naiveMoves are the components of DeLong and others, by all pairs of rows: by how much each row moves
// the mean of the areas of the ranked classes, which is the second result.
func naiveMoves(rows []scoredTwice, side func(*scoredTwice) *metric.Leaf, ranked []int) (moves []float64, area float64) {
	moves = make([]float64, len(rows))
	for _, k := range ranked {
		var own, rest float64
		for _, r := range rows {
			if r.class == k {
				own += float64(r.weight)
			} else {
				rest += float64(r.weight)
			}
		}
		for i := range rows {
			for j := range rows {
				if rows[i].class != k || rows[j].class == k {
					continue
				}
				wins := 0.5
				if x, y := side(&rows[i]).Probabilities[k], side(&rows[j]).Probabilities[k]; x != y {
					wins = 0
					if x > y {
						wins = 1
					}
				}
				share := wins / own / rest / float64(len(ranked))
				moves[i] += share * float64(rows[j].weight)
				moves[j] += share * float64(rows[i].weight)
				area += share * float64(rows[i].weight*rows[j].weight)
			}
		}
	}
	return moves, area
}

// naiveArea is the difference of the areas, with the variance by DeLong's covariances of the two
// curves: var A + var B - 2 cov.
func naiveArea(rows []scoredTwice, classes int) *metric.Difference {
	ranked := []int{1}
	if classes > 2 {
		ranked = nil
		for k := range classes {
			ranked = append(ranked, k)
		}
	}
	a, areaA := naiveMoves(rows, func(r *scoredTwice) *metric.Leaf { return &r.a }, ranked)
	b, areaB := naiveMoves(rows, func(r *scoredTwice) *metric.Leaf { return &r.b }, ranked)
	covariance := func(x, y []float64) float64 {
		sum := 0.0
		for k := range classes {
			var own []scoredTwice
			var at []int
			var weight, meanX, meanY float64
			for i, r := range rows {
				if r.class == k {
					own, at = append(own, r), append(at, i)
					weight += float64(r.weight)
					meanX += float64(r.weight) * x[i]
					meanY += float64(r.weight) * y[i]
				}
			}
			square, n := naiveSquare(own, func(i int) float64 { return (x[at[i]] - meanX/weight) * (y[at[i]] - meanY/weight) })
			sum += weight * weight * square / (n - 1)
		}
		return sum
	}
	variance := covariance(a, a) + covariance(b, b) - 2*covariance(a, b)
	return &metric.Difference{
		A: areaA, B: areaB, Difference: areaB - areaA,
		Interval: &metric.Interval{StandardError: math.Sqrt(max(0, variance))},
	}
}

// naiveBalanced is the difference of the mean recalls.
func naiveBalanced(rows []scoredTwice, classes int, hit func(*metric.Leaf, int) float64) *metric.Difference {
	sum := &metric.Difference{Interval: new(metric.Interval)}
	for k := range classes {
		var own []scoredTwice
		for _, r := range rows {
			if r.class == k {
				own = append(own, r)
			}
		}
		one := naiveMean(own, hit)
		variance := one.Interval.StandardError * one.Interval.StandardError
		sum.A += one.A / float64(classes)
		sum.B += one.B / float64(classes)
		sum.Difference += one.Difference / float64(classes)
		sum.Interval.StandardError += variance / float64(classes*classes)
	}
	sum.Interval.StandardError = math.Sqrt(sum.Interval.StandardError)
	return sum
}

// TestCompare: all metrics, differences and intervals equal a naive computation row by row, with
// and without weights.
func TestCompare(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(61, seed))
		classes := 2 + r.IntN(3)
		rows := drawTwice(r, 60+r.IntN(60), classes, seed%2 == 1)
		costs := make([][]float64, classes)
		for k := range costs {
			for c := range classes {
				costs[k] = append(costs[k], float64(k*c+c))
			}
		}
		got := metric.Compare(paired(rows, classes), classes, 1, costs, false)
		hit := func(l *metric.Leaf, class int) float64 {
			if l.Class == class {
				return 1
			}
			return 0
		}
		brier := func(l *metric.Leaf, class int) float64 {
			if classes == 2 {
				return math.Pow(l.Probabilities[1]-float64(class), 2)
			}
			sum := 0.0
			for c, p := range l.Probabilities {
				if c == class {
					p = 1 - p
				}
				sum += p * p
			}
			return sum
		}
		for name, d := range map[string][2]*metric.Difference{
			"AUC":      {got.AUCOvRMacro, naiveArea(rows, classes)},
			"accuracy": {got.Accuracy, naiveMean(rows, hit)},
			"balanced": {got.BalancedAccuracy, naiveBalanced(rows, classes, hit)},
			"log loss": {got.LogLoss, naiveMean(rows, func(l *metric.Leaf, k int) float64 { return -math.Log(l.Probabilities[k]) })},
			"Brier":    {got.Brier, naiveMean(rows, brier)},
			"cost":     {got.ExpectedCost, naiveMean(rows, func(l *metric.Leaf, _ int) float64 { return l.Cost })},
			"tests":    {got.ExpectedTests, naiveMean(rows, func(l *metric.Leaf, _ int) float64 { return float64(l.Tests) })},
			"errors":   {got.ExpectedErrorCost, naiveMean(rows, func(l *metric.Leaf, k int) float64 { return costs[k][l.Class] })},
		} {
			checkDifference(t, seed, name, d[0], d[1])
		}
	}
}

// checkDifference compares a difference with the naive one, whose interval has only the error.
func checkDifference(t *testing.T, seed uint64, name string, got, want *metric.Difference) {
	t.Helper()
	half := (got.Interval.High - got.Interval.Low) / 2
	if e := want.Interval.StandardError; half < 1.9599*e || half > 2.6*e { // Student's t for more than five degrees of freedom
		t.Fatalf("seed %d, %s: an interval of %v to either side of a standard error of %v", seed, name, half, e)
	}
	for _, pair := range [][2]float64{
		{got.A, want.A},
		{got.B, want.B},
		{got.Difference, want.Difference},
		{got.Interval.StandardError, want.Interval.StandardError},
		{got.Interval.Low, want.Difference - half},
		{got.Interval.High, want.Difference + half},
	} {
		if !(math.Abs(pair[0]-pair[1]) <= 1e-11) {
			t.Fatalf("seed %d, %s: %+v %+v, want %+v %+v", seed, name, got, got.Interval, want, want.Interval)
		}
	}
}

// TestCompareWithItself: a tree has no differences from itself, and the intervals have no width, also
// with a class of one row.
func TestCompareWithItself(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 1))
	rows := drawTwice(r, 50, 3, true)
	for i := range rows {
		rows[i].b, rows[i].class = rows[i].a, rows[i].class%2
	}
	rows[0].class = 2
	m := metric.Compare(paired(rows, 3), 3, 1, nil, false)
	for name, d := range map[string]*metric.Difference{
		"AUC": m.AUCOvRMacro, "accuracy": m.Accuracy, "balanced": m.BalancedAccuracy, "log loss": m.LogLoss,
		"Brier": m.Brier, "cost": m.ExpectedCost, "tests": m.ExpectedTests,
	} {
		if d.A != d.B || d.Difference != 0 || d.Interval == nil || *d.Interval != (metric.Interval{}) {
			t.Errorf("%s: %+v, %+v", name, d, d.Interval)
		}
	}
	rows[0].b = rows[1].a // now the class of one row has a difference
	rows[0].a.Class, rows[0].b.Class, rows[0].weight = 2, 0, 1
	if m := metric.Compare(paired(rows, 3), 3, 1, nil, false); m.BalancedAccuracy.Interval != nil || m.Accuracy.Interval == nil {
		t.Errorf("balanced accuracy %+v, accuracy %+v: want an interval of the second alone", m.BalancedAccuracy, m.Accuracy)
	}
}

// TestCompareGroups: rows with the same predictions may stand together.
func TestCompareGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(63, 1))
	rows := drawTwice(r, 80, 2, false)
	together := paired(rows[:1], 2)
	for i := range rows {
		if i > 0 {
			rows[i].a, rows[i].b = rows[0].a, rows[0].b
			together[0].A.Weights[rows[i].class] += rows[i].weight
			together[0].A.Rows++
			together[0].B.Rows++
			together[0].ByClass[rows[i].class]++
		}
	}
	got, want := metric.Compare(together, 2, 1, nil, false), metric.Compare(paired(rows, 2), 2, 1, nil, false)
	near := cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("single rows (-) and rows together (+):\n%s", diff)
	}
}

// TestCompareWithoutLabels: the costs alone are compared; nothing without rows.
func TestCompareWithoutLabels(t *testing.T) {
	rows := drawTwice(rand.New(rand.NewPCG(64, 1)), 30, 2, false)
	for i := range rows {
		rows[i].class = 0
	}
	m := metric.Compare(paired(rows, 1), 0, 1, nil, false)
	want := naiveMean(rows, func(l *metric.Leaf, _ int) float64 { return l.Cost })
	checkDifference(t, 0, "cost", m.ExpectedCost, want)
	if m.Rows != 30 || m.Accuracy != nil || m.AUCOvRMacro != nil || m.LogLoss != nil {
		t.Errorf("%+v", m)
	}
	if m := metric.Compare(nil, 2, 1, nil, false); m.Rows != 0 || m.ExpectedCost != nil {
		t.Errorf("without rows: %+v", m)
	}
}

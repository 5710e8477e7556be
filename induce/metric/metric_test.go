package metric_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/metric"
)

// The expected values of the first two tests are from scikit-learn 1.9.1, with one
// row per unit of weight:
//
//	y, p, z = [], [], []  # true class, probabilities, predicted class
//	for i, row in enumerate(weights):
//	    for c, n in enumerate(row):
//	        y += [c] * n; p += [probabilities[i]] * n; z += [predicted[i]] * n
//	roc_auc_score(y, p[:, 1])                                  # binary
//	roc_auc_score(y, p, multi_class="ovr" or "ovo", average="macro")
//	roc_auc_score(y == c, p[:, c])                             # a class against the rest
//	brier_score_loss(y, p[:, 1]) or (y, p, scale_by_half=False)
//	accuracy_score(y, z), balanced_accuracy_score(y, z), log_loss(y, p)
//	precision_recall_fscore_support(y, z), confusion_matrix(y, z)
//	recall_score(y != c, z != c)                               # specificity
//	average_precision_score(y == c, p[:, c]), mean((p[:, c] - (y == c))**2)
//	# gains: numpy.interp at 0.1, 0.2, .. 1 of the cumulative shares of y == c
//	# over those of all rows, by distinct p[:, c] descending
//	scipy.stats.binomtest(sum(y == z), len(y)).proportion_ci(method="wilson")  # scipy 1.17.1
func binaryLeaves() []metric.Leaf {
	return []metric.Leaf{
		{Probabilities: []float64{.9, .1}, Class: 0, Weights: []int64{20, 3}, Rows: 23, Cost: 1, Tests: 1},
		{Probabilities: []float64{.6, .4}, Class: 0, Weights: []int64{5, 4}, Rows: 9, Cost: 2.5, Tests: 2},
		{Probabilities: []float64{.6, .4}, Class: 0, Weights: []int64{7, 1}, Rows: 8, Cost: 4, Tests: 3},
		{Probabilities: []float64{.25, .75}, Class: 1, Weights: []int64{2, 9}, Rows: 11, Cost: 5, Tests: 4},
		{Probabilities: []float64{0, 1}, Class: 1, Weights: []int64{0, 6}, Rows: 6, Cost: 5, Tests: 4},
	}
}

func threeLeaves() []metric.Leaf {
	return []metric.Leaf{
		{Probabilities: []float64{.7, .2, .1}, Class: 0, Weights: []int64{11, 2, 1}, Rows: 14},
		{Probabilities: []float64{.2, .5, .3}, Class: 1, Weights: []int64{3, 8, 4}, Rows: 15},
		{Probabilities: []float64{.1, .3, .6}, Class: 2, Weights: []int64{0, 2, 9}, Rows: 11},
		{Probabilities: []float64{.25, .25, .5}, Class: 2, Weights: []int64{1, 1, 2}, Rows: 4},
		{Probabilities: []float64{.1, .8, .1}, Class: 1, Weights: []int64{0, 5, 0}, Rows: 5},
		{Probabilities: []float64{.7, .1, .2}, Class: 0, Weights: []int64{4, 0, 3}, Rows: 7},
	}
}

func is(x float64) *float64 { return &x }

// within compares floats with a tolerance for rounding.
func within() cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a)) })
}

// pointEstimates leaves out the intervals and the ROC curves; other tests check them.
func pointEstimates() cmp.Option {
	return cmp.Options{cmpopts.IgnoreFields(metric.Metrics{}, "Intervals"), cmpopts.IgnoreFields(metric.Class{}, "ROC")}
}

// addLift sets the lift: the gain over the share of the rows.
func addLift(m *metric.Metrics) {
	for c := range m.PerClass {
		for i, gain := range m.PerClass[c].Gains {
			m.PerClass[c].Lift = append(m.PerClass[c].Lift, gain/(float64(i+1)/10))
		}
	}
}

func TestEvaluateBinary(t *testing.T) {
	auc := is(0.8452685421994885)
	want := metric.Metrics{
		Rows: 57, Weight: 57, AUCOvRMacro: auc, AUCOvOMacro: auc,
		Accuracy: is(0.8245614035087719), BalancedAccuracy: is(0.7966751918158568),
		LogLoss: is(0.44014130019310765), LogLossSkill: is(0.3473671346553334), Brier: is(0.14100877192982458),
		Confusion: [][]int64{{32, 2}, {8, 15}},
		PerClass: []metric.Class{
			{
				Class: "no", Precision: is(0.8), Recall: is(0.9411764705882353), F1: is(0.8648648648648649), AUC: auc,
				Support:    34,
				Prevalence: is(0.5964912280701754), Specificity: is(0.6521739130434783),
				AveragePrecision: is(0.8330775788576301), Brier: is(0.14100877192982458),
				Gains: []float64{
					0.14578005115089518, 0.29156010230179036, 0.43734015345268545, 0.5831202046035807,
					0.7024221453287197, 0.8207612456747405, 0.9391003460207612, 0.9711229946524065, 1, 1,
				},
			},
			{
				Class: "yes", Precision: is(0.8823529411764706), Recall: is(0.6521739130434783), F1: is(0.75), AUC: auc,
				Support:    23,
				Prevalence: is(0.40350877192982454), Specificity: is(0.9411764705882353),
				AveragePrecision: is(0.7866469242159106), Brier: is(0.14100877192982458),
				Gains: []float64{
					0.24782608695652175, 0.4529644268774704, 0.6534526854219949, 0.7263427109974425,
					0.79923273657289, 0.8706994328922495, 0.9030245746691872, 0.9353497164461247, 0.9676748582230624,
					1,
				},
			},
		},
		// By hand: (23*1 + 9*2.5 + 8*4 + 17*5) / 57, (23 + 18 + 24 + 68) / 57.
		ExpectedCost: is(162.5 / 57), ExpectedTests: is(133.0 / 57),
		// By hand: the leaves' rows by the probability of "yes". Chance: by SciPy.
		Calibration: &metric.Calibration{
			Class: "yes", ObservedError: 0.05701754385964912, MaximumError: 0.4 - 5./17,
			ExpectedError: new(0.), ChanceError: new(0.06851716231706206), ChanceLimit: new(0.12465618941862702),
			Bins: []metric.CalibrationBin{
				{From: .1, To: .2, Weight: 23, MeanProbability: .1, ObservedShare: 3. / 23},
				{From: .4, To: .5, Weight: 17, MeanProbability: .4, ObservedShare: 5. / 17},
				{From: .7, To: .8, Weight: 11, MeanProbability: .75, ObservedShare: 9. / 11},
				{From: .9, To: 1, Weight: 6, MeanProbability: 1, ObservedShare: 1},
			},
		},
	}
	addLift(&want)
	if diff := cmp.Diff(want, metric.Evaluate(binaryLeaves(), []string{"no", "yes"}, 1), within(),
		pointEstimates()); diff != "" {
		t.Errorf("metrics differ (-want +got):\n%s", diff)
	}
}

func TestEvaluateThreeClasses(t *testing.T) {
	want := metric.Metrics{
		Rows: 56, Weight: 56, AUCOvRMacro: is(0.8334321163268532), AUCOvOMacro: is(0.8330127218631374),
		Accuracy: is(0.6964285714285714), BalancedAccuracy: is(0.6968810916179337),
		LogLoss: is(0.7708796120679937), LogLossSkill: is(0.29811016541847724), Brier: is(0.44821428571428573),
		Confusion: [][]int64{{15, 3, 1}, {2, 13, 3}, {4, 4, 11}},
		PerClass: []metric.Class{
			{
				Class: "a", Precision: is(0.7142857142857143), Recall: is(0.7894736842105263), F1: is(0.75),
				AUC: is(0.8613086770981508), Support: 19,
				Prevalence: is(0.3392857142857143), Specificity: is(0.8378378378378378),
				AveragePrecision: is(0.6725939849624061), Brier: is(0.13571428571428573),
				Gains: []float64{
					0.21052631578947367, 0.42105263157894735, 0.631578947368421, 0.8078947368421053,
					0.8736842105263157, 0.9326315789473685, 0.9915789473684211, 1, 1, 1,
				},
			},
			{
				Class: "b", Precision: is(0.65), Recall: is(0.7222222222222222), F1: is(0.6842105263157895),
				AUC: is(0.8267543859649124), Support: 18,
				Prevalence: is(0.32142857142857145), Specificity: is(0.8157894736842105),
				AveragePrecision: is(0.6866432594543194), Brier: is(0.14857142857142858),
				Gains: []float64{
					0.29555555555555557, 0.4614814814814815, 0.6274074074074074, 0.7464646464646465,
					0.803030303030303, 0.8694444444444444, 0.9222222222222222, 0.9666666666666667, 1, 1,
				},
			},
			{
				Class: "c", Precision: is(0.7333333333333333), Recall: is(0.5789473684210527),
				F1: is(0.6470588235294118), AUC: is(0.8122332859174963), Support: 19,
				Prevalence: is(0.3392857142857143), Specificity: is(0.8918918918918919),
				AveragePrecision: is(0.6646867475814844), Brier: is(0.16392857142857142),
				Gains: []float64{
					0.24114832535885167, 0.4789473684210526, 0.6042105263157895, 0.6828070175438596,
					0.7614035087719299, 0.8706766917293234, 0.9534626038781164, 0.9689750692520777, 0.9844875346260388,
					1,
				},
			},
		},
		ExpectedCost: is(0), ExpectedTests: is(0),
		// By hand: the leaves' rows by the probability of the class predicted. Chance: by SciPy.
		Calibration: &metric.Calibration{
			ObservedError: 0.075, MaximumError: 9./11 - .6,
			ExpectedError: new(0.), ChanceError: new(0.0968672369930063), ChanceLimit: new(0.16696292986464942),
			Bins: []metric.CalibrationBin{
				{From: .5, To: .6, Weight: 19, MeanProbability: .5, ObservedShare: 10. / 19},
				{From: .6, To: .7, Weight: 11, MeanProbability: .6, ObservedShare: 9. / 11},
				{From: .7, To: .8, Weight: 21, MeanProbability: .7, ObservedShare: 15. / 21},
				{From: .8, To: .9, Weight: 5, MeanProbability: .8, ObservedShare: 1},
			},
		},
	}
	addLift(&want)
	if diff := cmp.Diff(want, metric.Evaluate(threeLeaves(), []string{"a", "b", "c"}, 1), within(),
		pointEstimates()); diff != "" {
		t.Errorf("metrics differ (-want +got):\n%s", diff)
	}
}

func TestEvaluateUndefined(t *testing.T) {
	t.Run("no rows", func(t *testing.T) {
		leaves := []metric.Leaf{{Probabilities: []float64{.5, .5}, Weights: []int64{0, 0}}}
		for _, leaves := range [][]metric.Leaf{nil, leaves} {
			want := metric.Metrics{
				Confusion: [][]int64{{0, 0}, {0, 0}},
				PerClass:  []metric.Class{{Class: "a"}, {Class: "b"}},
			}
			if diff := cmp.Diff(want, metric.Evaluate(leaves, []string{"a", "b"}, 1)); diff != "" {
				t.Errorf("metrics differ (-want +got):\n%s", diff)
			}
		}
	})
	t.Run("one class has all rows", func(t *testing.T) {
		m := metric.Evaluate([]metric.Leaf{
			{Probabilities: []float64{.8, .2}, Class: 0, Weights: []int64{3, 0}},
			{Probabilities: []float64{.4, .6}, Class: 1, Weights: []int64{1, 0}},
		}, []string{"a", "b"}, 1)
		if m.AUCOvRMacro != nil || m.AUCOvOMacro != nil || m.PerClass[0].AUC != nil {
			t.Error("area with rows of one class only is defined")
		}
		if m.PerClass[1].Recall != nil || *m.PerClass[1].Precision != 0 || *m.PerClass[1].F1 != 0 {
			t.Errorf("class without rows: %+v", m.PerClass[1])
		}
		if *m.BalancedAccuracy != 0.75 { // by hand: the recall of the only class with rows
			t.Errorf("balanced accuracy %v, want 0.75", *m.BalancedAccuracy)
		}
	})
	t.Run("a class without rows or predictions", func(t *testing.T) {
		leaves := threeLeaves()
		for i := range leaves {
			leaves[i].Probabilities = append(leaves[i].Probabilities, 0)
			leaves[i].Weights = append(leaves[i].Weights, 0)
		}
		m := metric.Evaluate(leaves, []string{"a", "b", "c", "d"}, 1)
		want := metric.Class{Class: "d", Prevalence: is(0), Specificity: is(1), Brier: is(0)}
		if diff := cmp.Diff(want, m.PerClass[3]); diff != "" {
			t.Errorf("empty class differs (-want +got):\n%s", diff)
		}
		three := metric.Evaluate(threeLeaves(), []string{"a", "b", "c"}, 1)
		if *m.AUCOvRMacro != *three.AUCOvRMacro || *m.AUCOvOMacro != *three.AUCOvOMacro || *m.Brier != *three.Brier {
			t.Error("an empty class changes the averages")
		}
	})
	t.Run("one class", func(t *testing.T) {
		m := metric.Evaluate([]metric.Leaf{{Probabilities: []float64{1}, Weights: []int64{4}}}, []string{"a"}, 1)
		if m.AUCOvRMacro != nil || m.AUCOvOMacro != nil || *m.Accuracy != 1 || *m.Brier != 0 {
			t.Errorf("metrics of one class: %+v", m)
		}
	})
}

// TestLogLossClips: by hand, -ln(1e-15) for each row whose class has probability 0.
func TestLogLossClips(t *testing.T) {
	m := metric.Evaluate([]metric.Leaf{{Probabilities: []float64{1, 0}, Weights: []int64{0, 2}}}, []string{"a", "b"}, 1)
	if want := 15 * math.Ln10; math.Abs(*m.LogLoss-want) > 1e-9 {
		t.Errorf("log loss %v, want %v", *m.LogLoss, want)
	}
}

// bruteArea counts pairs of rows.
func bruteArea(leaves []metric.Leaf, positive int, negative func(c int) bool) float64 {
	var won, pairs float64
	for _, a := range leaves {
		for _, b := range leaves {
			for c, w := range b.Weights {
				if !negative(c) {
					continue
				}
				n := float64(a.Weights[positive]) * float64(w)
				pairs += n
				switch pa, pb := a.Probabilities[positive], b.Probabilities[positive]; {
				case pa > pb:
					won += n
				case pa == pb:
					won += n / 2
				}
			}
		}
	}
	return won / pairs
}

func randomLeaves(r *rand.Rand, n, classes int, most int64) []metric.Leaf {
	leaves := make([]metric.Leaf, n)
	for i := range leaves {
		l := metric.Leaf{Class: r.IntN(classes), Cost: r.Float64(), Tests: r.IntN(9)}
		rest := 8
		for c := range classes {
			p := r.IntN(rest + 1)
			if c == classes-1 {
				p = rest
			}
			rest -= p
			l.Probabilities = append(l.Probabilities, float64(p)/8) // few values, many ties
			w := r.Int64N(most)
			l.Weights = append(l.Weights, w)
			l.Rows += w
		}
		leaves[i] = l
	}
	return leaves
}

func names(n int) []string { return strings.Split("abcdefghijklmnopqrstuvwxyz"[:n], "") }

func TestAreasByPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		classes := 2 + r.IntN(4)
		leaves := randomLeaves(r, 2+r.IntN(20), classes, 9)
		leaves[0].Weights = slices.Repeat([]int64{1}, classes) // every class has rows
		m := metric.Evaluate(leaves, names(classes), 1)
		var rest, pairs, count float64
		for c := range classes {
			want := bruteArea(leaves, c, func(o int) bool { return o != c })
			if classes > 2 && math.Abs(*m.PerClass[c].AUC-want) > 1e-12 {
				t.Fatalf("class %d: area %v, want %v", c, *m.PerClass[c].AUC, want)
			}
			rest += want / float64(classes)
			for o := range c {
				pairs += (bruteArea(leaves, c, func(x int) bool { return x == o }) + bruteArea(leaves, o,
					func(x int) bool { return x == c })) / 2
				count++
			}
		}
		if math.Abs(*m.AUCOvRMacro-rest) > 1e-12 || math.Abs(*m.AUCOvOMacro-pairs/count) > 1e-12 {
			t.Fatalf("%d classes: areas %v and %v, want %v and %v", classes, *m.AUCOvRMacro, *m.AUCOvOMacro, rest,
				pairs/count)
		}
	}
}

// TestAreaOfLargeWeights: by hand, half of the pairs and a tie.
func TestAreaOfLargeWeights(t *testing.T) {
	const w = 1 << 60
	m := metric.Evaluate([]metric.Leaf{
		{Probabilities: []float64{.9, .1}, Weights: []int64{w, 0}},
		{Probabilities: []float64{.5, .5}, Weights: []int64{w, w}},
		{Probabilities: []float64{.4, .6}, Weights: []int64{0, w}},
	}, []string{"a", "b"}, 1)
	if *m.AUCOvRMacro != 0.875 {
		t.Errorf("area %v, want 0.875", *m.AUCOvRMacro)
	}
}

func TestEvaluateIgnoresOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, classes := range []int{2, 3, 7} {
		leaves := randomLeaves(r, 200, classes, 1000)
		for i := range leaves { // another order of these sums would change their rounding
			for c := range leaves[i].Probabilities {
				leaves[i].Probabilities[c] = r.Float64()
			}
		}
		want := metric.Evaluate(leaves, names(classes), 1)
		for range 20 {
			r.Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
			if got := metric.Evaluate(leaves, names(classes), 1); !reflect.DeepEqual(got, want) {
				t.Fatalf("%d classes: order of the leaves changes the metrics:\n%s", classes, cmp.Diff(want, got))
			}
		}
	}
}

// TestEvaluateLaws: splitting a leaf in two with the same probabilities, and
// scaling all weights, leaves the metrics as they are.
func TestEvaluateLaws(t *testing.T) {
	leaves := threeLeaves()
	want := metric.Evaluate(leaves, names(3), 1)

	half := leaves[0]
	leaves[0].Weights, half.Weights = []int64{4, 2, 0}, []int64{7, 0, 1}
	leaves[0].Rows, half.Rows = 6, 8
	if diff := cmp.Diff(want, metric.Evaluate(append(leaves, half), names(3), 1), within()); diff != "" {
		t.Errorf("a leaf in two halves differs (-want +got):\n%s", diff)
	}

	leaves = threeLeaves()
	for i := range leaves {
		for c := range leaves[i].Weights {
			leaves[i].Weights[c] *= 1_000_000
		}
	}
	got := metric.Evaluate(leaves, names(3), 1_000_000)
	if got.Weight != 56_000_000 || got.WeightScale != 1_000_000 {
		t.Errorf("weight %d in units of 1/%v, want 56000000 of 1/1000000", got.Weight, got.WeightScale)
	}
	got.Weight, got.WeightScale, got.Confusion = want.Weight, 0, want.Confusion
	for c := range got.PerClass {
		got.PerClass[c].Support = want.PerClass[c].Support
	}
	for i := range got.Calibration.Bins {
		got.Calibration.Bins[i].Weight /= 1_000_000
	}
	if diff := cmp.Diff(want, got, within()); diff != "" {
		t.Errorf("scaled weights differ (-want +got):\n%s", diff)
	}
}

func TestEvaluatePanics(t *testing.T) {
	good := metric.Leaf{Probabilities: []float64{1, 0}, Weights: []int64{1, 0}}
	bad := map[string]metric.Leaf{
		"probabilities": {Probabilities: []float64{1}, Weights: []int64{1, 0}},
		"weights":       {Probabilities: []float64{1, 0}, Weights: []int64{1}},
		"class":         {Probabilities: []float64{1, 0}, Weights: []int64{1, 0}, Class: 2},
	}
	for name, leaf := range bad {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			metric.Evaluate([]metric.Leaf{good, leaf}, []string{"a", "b"}, 1)
		})
	}
}

// TestJSONNames pins the names in metrics.json and their order.
func TestJSONNames(t *testing.T) {
	b, err := json.Marshal(metric.Evaluate(nil, []string{"a"}, 1))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"rows":0,"weight":0,"auc_ovr_macro":null,"auc_ovo_macro":null,"accuracy":null,` +
		`"balanced_accuracy":null,"log_loss":null,"brier":null,"confusion":[[0]],` +
		`"per_class":[{"class":"a","precision":null,"recall":null,"f1":null,` +
		`"auc":null,"support":0,"prevalence":null,"specificity":null,"average_precision":null,` +
		`"brier":null,"gains":null,"lift":null}],` +
		`"expected_cost":null,"expected_tests":null,"intervals":null,"calibration":null}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

// TestLossDeviation: by hand. The log loss of half of the rows is ln 2, and the log loss of the other half is ln 4.
func TestLossDeviation(t *testing.T) {
	leaves := []metric.Leaf{
		{Probabilities: []float64{.5, .5}, Weights: []int64{1, 2}},
		{Probabilities: []float64{.75, .25}, Weights: []int64{0, 3}},
	}
	if got, want := metric.LossDeviation(leaves), math.Ln2/2; math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := metric.LossDeviation(nil); got != 0 {
		t.Errorf("without rows: %v", got)
	}
}

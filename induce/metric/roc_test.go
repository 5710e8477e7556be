package metric_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/metric"
)

// TestROC: the expected values are of roc_curve(y == c, p[:, c], drop_intermediate=False) of
// scikit-learn 1.9.1 on the rows of metric_test.go.
func TestROC(t *testing.T) {
	for _, x := range []struct {
		leaves []metric.Leaf
		want   []*metric.ROC
	}{
		{binaryLeaves(), []*metric.ROC{
			{
				FalsePositiveRate: []float64{0, 0.13043478260869565, 0.34782608695652173, 0.7391304347826086, 1},
				TruePositiveRate:  []float64{0, 0.5882352941176471, 0.9411764705882353, 1, 1},
			},
			{
				FalsePositiveRate: []float64{0, 0, 0.058823529411764705, 0.4117647058823529, 1},
				TruePositiveRate:  []float64{0, 0.2608695652173913, 0.6521739130434783, 0.8695652173913043, 1},
			},
		}},
		{threeLeaves(), []*metric.ROC{
			{
				FalsePositiveRate: []float64{0, 0.16216216216216217, 0.24324324324324326, 0.5675675675675675, 1},
				TruePositiveRate:  []float64{0, 0.7894736842105263, 0.8421052631578947, 1, 1},
			},
			{
				FalsePositiveRate: []float64{0, 0, 0.18421052631578946, 0.42105263157894735, 0.5, 0.8157894736842105, 1},
				TruePositiveRate: []float64{
					0, 0.2777777777777778, 0.7222222222222222, 0.8333333333333334, 0.8888888888888888, 1, 1,
				},
			},
			{
				FalsePositiveRate: []float64{
					0, 0.05405405405405406, 0.10810810810810811, 0.40540540540540543, 0.5135135135135135, 1,
				},
				TruePositiveRate: []float64{
					0, 0.47368421052631576, 0.5789473684210527, 0.7894736842105263, 0.9473684210526315, 1,
				},
			},
		}},
	} {
		m := metric.Evaluate(x.leaves, names(len(x.want)), 1)
		for c := range x.want {
			rates := &metric.ROC{FalsePositiveRate: m.PerClass[c].ROC.FalsePositiveRate, TruePositiveRate: m.PerClass[c].ROC.TruePositiveRate}
			if diff := cmp.Diff(x.want[c], rates, within()); diff != "" {
				t.Errorf("class %d of %d (-want +got):\n%s", c, len(x.want), diff)
			}
		}
	}
}

// areaBelow returns the area below a ROC curve.
func areaBelow(c *metric.ROC) float64 {
	area := 0.0
	for i := 1; i < len(c.FalsePositiveRate); i++ {
		area += (c.FalsePositiveRate[i] - c.FalsePositiveRate[i-1]) * (c.TruePositiveRate[i] + c.TruePositiveRate[i-1]) / 2
	}
	return area
}

// rankedLeaves returns leaves of two classes with probabilities of their own: the curve of
// each weight's draw has about as many corners.
func rankedLeaves(r *rand.Rand, n int) []metric.Leaf {
	leaves := make([]metric.Leaf, n)
	for i := range leaves {
		p := (float64(i) + 0.5) / float64(n)
		leaves[i] = metric.Leaf{
			Probabilities: []float64{1 - p, p}, Weights: []int64{r.Int64N(9), r.Int64N(int64(1 + 9*i/n))}, Rows: 1,
		}
	}
	return leaves
}

// TestROCLaws: a curve ascends from (0, 0) to (1, 1), has no corner on the line between its
// neighbours, and the area of its class below it, to 0.002 if it has lost corners. It does
// not depend on the order of leaves, and it is undefined where the area is.
func TestROCLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 1))
	lost := 0
	for k := range 300 {
		classes := 2 + r.IntN(4)
		leaves := randomLeaves(r, 1+r.IntN(40), classes, 5)
		if k%10 == 0 {
			classes, leaves = 2, rankedLeaves(r, 50+r.IntN(900))
		}
		m := metric.Evaluate(leaves, names(classes), 1)
		r.Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
		if diff := cmp.Diff(m, metric.Evaluate(leaves, names(classes), 1)); diff != "" {
			t.Fatalf("by the order of leaves:\n%s", diff)
		}
		for c := range m.PerClass {
			one := m.PerClass[c]
			if (one.ROC == nil) != (one.AUC == nil) {
				t.Fatalf("curve %v, area %v", one.ROC, one.AUC)
			}
			if one.ROC == nil {
				continue
			}
			x, y := one.ROC.FalsePositiveRate, one.ROC.TruePositiveRate
			n := len(x)
			if len(y) != n || n < 2 || n > metric.ROCPoints || x[0] != 0 || y[0] != 0 || x[n-1] != 1 || y[n-1] != 1 ||
				!slices.IsSorted(x) || !slices.IsSorted(y) {
				t.Fatalf("curve %v", one.ROC)
			}
			for i := 1; i+1 < n; i++ {
				if d := (x[i]-x[i-1])*(y[i+1]-y[i]) - (x[i+1]-x[i])*(y[i]-y[i-1]); math.Abs(d) < 1e-15 {
					t.Fatalf("corner %d of %v lies on a line", i, one.ROC)
				}
			}
			allowed := 1e-12
			if n == metric.ROCPoints {
				allowed, lost = 0.002, lost+1
			}
			if d := areaBelow(one.ROC) - *one.AUC; math.Abs(d) > allowed {
				t.Fatalf("area %v below the curve of %d points, %v of the class", areaBelow(one.ROC), n, *one.AUC)
			}
		}
	}
	if lost == 0 {
		t.Error("no curve has lost corners")
	}
}

// TestROCKeepsTheFarthest: a curve with too many corners keeps its greatest step, and each
// corner that is left out lies near it.
func TestROCKeepsTheFarthest(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 1))
	leaves := rankedLeaves(r, 600)
	leaves[300].Weights = []int64{0, 3000} // a step that none may overlook
	got := metric.Evaluate(leaves, names(2), 1).PerClass[1].ROC
	step := 0.0
	for i := 1; i < len(got.TruePositiveRate); i++ {
		if got.FalsePositiveRate[i] == got.FalsePositiveRate[i-1] {
			step = max(step, got.TruePositiveRate[i]-got.TruePositiveRate[i-1])
		}
	}
	if len(got.TruePositiveRate) != metric.ROCPoints || step < 0.4 {
		t.Errorf("%d points, the greatest step is %v", len(got.TruePositiveRate), step)
	}
	farthest := 0.0
	own, rest := 0.0, 0.0
	var sums [2]float64
	for _, l := range leaves {
		sums[0], sums[1] = sums[0]+float64(l.Weights[0]), sums[1]+float64(l.Weights[1])
	}
	for i := len(leaves) - 1; i >= 0; i-- {
		rest, own = rest+float64(leaves[i].Weights[0])/sums[0], own+float64(leaves[i].Weights[1])/sums[1]
		farthest = max(farthest, distance(got, rest, own))
	}
	if farthest > 0.005 {
		t.Errorf("a point is %v away from the curve", farthest)
	}
}

// distance returns how far a point is from a curve.
func distance(c *metric.ROC, x, y float64) float64 {
	least := math.Inf(1)
	for i := 1; i < len(c.FalsePositiveRate); i++ {
		x0, y0 := c.FalsePositiveRate[i-1], c.TruePositiveRate[i-1]
		dx, dy := c.FalsePositiveRate[i]-x0, c.TruePositiveRate[i]-y0
		along := max(0, min(1, ((x-x0)*dx+(y-y0)*dy)/(dx*dx+dy*dy)))
		least = min(least, math.Hypot(x-x0-along*dx, y-y0-along*dy))
	}
	return least
}

// TestROCOfLargeWeights: weights near the bound of 2^60 turn no straight line into corners.
func TestROCOfLargeWeights(t *testing.T) {
	const unit = 1 << 55
	var leaves []metric.Leaf
	for i := range 5 {
		p := float64(i+1) / 10
		leaves = append(leaves, metric.Leaf{Probabilities: []float64{1 - p, p}, Weights: []int64{unit, 3 * unit}, Rows: 1})
	}
	got := metric.Evaluate(leaves, names(2), 1).PerClass[1].ROC
	want := &metric.ROC{FalsePositiveRate: []float64{0, 1}, TruePositiveRate: []float64{0, 1}}
	got.Thresholds = nil
	got.EffectiveRows = 0
	got.EffectiveOthers = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestROCInJSON: the curve of a class without one is absent.
func TestROCInJSON(t *testing.T) {
	b, err := json.Marshal(metric.Evaluate(binaryLeaves()[4:], names(2), 1).PerClass[0])
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	if _, ok := fields["roc"]; ok {
		t.Errorf("%s", b)
	}
}

func BenchmarkROC(b *testing.B) {
	leaves := rankedLeaves(rand.New(rand.NewPCG(63, 1)), 20_000)
	for b.Loop() {
		metric.Evaluate(leaves, names(2), 1)
	}
}

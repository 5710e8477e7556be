package weighing

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBalanced: scikit-learn 1.9.1,
//
//	compute_class_weight("balanced", classes=[0, 1, 2], y=[0]*3 + [1]*11 + [2]*86)
//	[11.11111111  3.03030303  0.3875969 ]
//
// and a class without rows, which scikit-learn does not take.
func TestBalanced(t *testing.T) {
	want := []int64{11_111_111, 3_030_303, 387_597}
	for _, unit := range []int64{1, 1_000_000, 1 << 52} { // of weights
		if diff := cmp.Diff(want, BalancedClassWeights([]int64{3 * unit, 11 * unit, 86 * unit})); diff != "" {
			t.Errorf("unit %d (-want +got):\n%s", unit, diff)
		}
	}
	want = []int64{11_111_111, 1_000_000, 3_030_303, 387_597}
	if diff := cmp.Diff(want, BalancedClassWeights([]int64{3, 0, 11, 86})); diff != "" {
		t.Errorf("with an empty class (-want +got):\n%s", diff)
	}
	if got := BalancedClassWeights([]int64{1, 1 << 59}); got[0] != math.MaxInt64 || got[1] != 500_000 {
		t.Errorf("a class of next to nothing: %v, want the greatest number and a half", got)
	}
}

// TestBalancedBalance: classes weigh the same but for what a rounded factor
// makes of their rows, and all together what they did.
func TestBalancedBalance(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 1000 {
		totals := make([]int64, 2+r.IntN(6))
		sum := 0.0
		for k := range totals {
			totals[k] = 1 + r.Int64N(1<<(1+r.IntN(40)))
			sum += float64(totals[k])
		}
		for k, f := range BalancedClassWeights(totals) {
			want := sum / float64(len(totals))
			if got := float64(totals[k]) * float64(f) / 1e6; math.Abs(got-want) > float64(totals[k])*0.6e-6+1e-9*want {
				t.Fatalf("totals %v: class %d weighs %v, want %v", totals, k, got, want)
			}
		}
	}
}

// TestMeanFactor: by hand. Balanced factors have the mean 1; the factor of a class without weight
// and rows of the factor 0 do not count.
func TestMeanFactor(t *testing.T) {
	for _, c := range []struct {
		totals, factors []int64
		want            float64
	}{
		{[]int64{1, 3}, []int64{1_000_000, 3_000_000}, 2.5},
		{[]int64{1, 3}, []int64{1_000, 1_000}, 0.001},
		{[]int64{1, 3, 0}, []int64{2_000_000, 0, 9_000_000}, 2},
		{[]int64{3, 11, 86}, BalancedClassWeights([]int64{3, 11, 86}), 0},
	} {
		if got := meanFactor(c.totals, c.factors); got != c.want {
			t.Errorf("totals %v, factors %v: mean %v, want %v", c.totals, c.factors, got, c.want)
		}
	}
}

// TestCheckTotal: by hand. 2^40 rows of weight 1e6 in units of 1e-6 are 2^80.
func TestCheckTotal(t *testing.T) {
	for _, c := range []struct {
		totals, factors []int64
		divisor         int64
		want            string // in the error; empty: none
	}{
		{[]int64{5, 7}, []int64{1_000_000, 500_000}, 1, ""},
		{[]int64{5, 0}, []int64{0, 500_000}, 1, "weight 0"},
		{[]int64{1 << 40, 1}, []int64{1e12, 1}, 1, "divide the weights of the classes"},
		{[]int64{1 << 40, 1}, []int64{1e12, 1}, 1_000_000, "divide the weights of the classes"},
		{[]int64{1 << 38, 1}, []int64{1e12, 1}, 1_000_000, ""}, // 2^58
		{[]int64{1 << 58, 1}, []int64{1e6, 1e6}, 1_000_000, ""},
		{[]int64{1 << 58, 1}, []int64{4e6, 1e6}, 1_000_000, "divide the weights of the classes"},
	} {
		_, err := checkTotal(c.totals, &Rule{ClassWeights: c.factors, ClassDivisor: c.divisor})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("totals %v, factors %v: %v, want %q", c.totals, c.factors, err, c.want)
		}
	}
}

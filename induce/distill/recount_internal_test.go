package distill

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestApportion: by hand. 7 by 2 : 1 : 3 is 2 1/3, 1 1/6 and 3 1/2: the last has the largest
// remainder. 1 by equal shares goes to the first.
func TestApportion(t *testing.T) {
	for _, c := range []struct {
		weights []int64
		total   int64
		want    []int64
	}{
		{[]int64{2, 1, 3}, 7, []int64{2, 1, 4}},
		{[]int64{5, 5, 5}, 1, []int64{1, 0, 0}},
		{[]int64{0, 4}, 9, []int64{0, 9}},
		{[]int64{1, 1}, 0, []int64{0, 0}},
		{[]int64{math.MaxInt64 / 2, math.MaxInt64 / 2}, math.MaxInt64 - 1, []int64{math.MaxInt64 / 2, math.MaxInt64 / 2}},
	} {
		if got := apportion(c.weights, c.total); !slices.Equal(got, c.want) {
			t.Errorf("%d by %v: %v, want %v", c.total, c.weights, got, c.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		weights, total := make([]int64, 1+r.IntN(6)), r.Int64N(1<<40)
		for k := range weights {
			weights[k] = r.Int64N(1 << r.IntN(40))
		}
		weights[0]++
		dealt, whole := apportion(weights, total), sum(weights)
		if sum(dealt) != total {
			t.Fatalf("%d by %v: %v", total, weights, dealt)
		}
		for k, w := range weights {
			if share := float64(total) * (float64(w) / float64(whole)); math.Abs(float64(dealt[k])-share) > 1+1e-6*share {
				t.Fatalf("%d by %v: %v, want about %v of class %d", total, weights, dealt, share, k)
			}
		}
	}
}

func sum(list []int64) int64 {
	total := int64(0)
	for _, x := range list {
		total += x
	}
	return total
}

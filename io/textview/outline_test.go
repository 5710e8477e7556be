package textview_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/io/textview"
)

// TestOutline: by hand. Costs are 0, 1, 2, .. 40 unless the case says otherwise.
func TestOutline(t *testing.T) {
	even := make([]float64, 41)
	for i := range even {
		even[i] = float64(i)
	}
	for _, c := range []struct {
		what   string
		costs  []float64
		chosen int
		keep   []int
		most   int
		want   []int
	}{
		{"all fit", even[:5], 2, nil, 12, []int{0, 1, 2, 3, 4}},
		// steps of 39/5
		{"the last is chosen", even, 40, nil, 6, []int{1, 8, 16, 24, 32, 40}},
		// steps of 39/4
		{"a point to keep", even, 40, []int{5}, 6, []int{1, 5, 10, 20, 30, 40}},
		// 9/4 and 30/3
		{"a quarter goes beyond", even, 10, nil, 8, []int{1, 3, 5, 7, 10, 20, 30, 40}},
		// steps of 39/3
		{"the bare leaf is chosen", even, 0, nil, 5, []int{0, 1, 14, 27, 40}},
		// steps of 102/5
		{"a gap", []float64{0, 1, 2, 3, 100, 101, 102, 103}, 7, nil, 6, []int{1, 3, 7}},
		// a step of 4
		{"no bare leaf", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 8, nil, 3, []int{0, 4, 8}},
		// the first, three and the last
		{"more to keep than fit", even, 40, []int{2, 3, 4}, 4, []int{1, 2, 3, 4, 40}},
		// both steps come to the dearest of 2
		{"equal costs but for the last", []float64{0, 2, 2, 2, 2, 3}, 5, []int{1}, 4, []int{1, 4, 5}},
		// steps of 8/3
		{"nothing past a last of almost the same cost", append(even[:10:10], 9.5), 9, nil, 5, []int{1, 3, 6, 9, 10}},
		{"all are free", make([]float64, 3), 1, nil, 2, []int{0, 1, 2}},
	} {
		if got := textview.OutlineFrontier(c.costs, c.chosen, c.keep, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// TestOutlineLaws: an outline is ascending and has all points that must be picked. It
// is longer than asked for only if these are more. No gap in cost is left that a
// free place could have filled.
func TestOutlineLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 2000 {
		costs := make([]float64, 1+r.IntN(300))
		for i := range costs[1:] {
			costs[i+1] = costs[i] + r.ExpFloat64()
		}
		last := len(costs) - 1
		chosen, keep, most := r.IntN(len(costs)), []int{r.IntN(len(costs))}, 5+r.IntN(12)
		got := textview.OutlineFrontier(costs, chosen, keep, most)
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) || len(got) > most {
			t.Fatalf("%v of %d: want at most %d, ascending", got, len(costs), most)
		}
		for _, i := range []int{chosen, keep[0], min(1, last), last} {
			if !slices.Contains(got, i) {
				t.Fatalf("%v of %d lacks %d", got, len(costs), i)
			}
		}
		if len(costs) > most && chosen == last {
			widest := 0.0
			for i := 1; i < len(got); i++ {
				widest = max(widest, costs[got[i]]-costs[got[i-1]+1])
			}
			if step := (costs[last] - costs[1]) / float64(most-3); widest > 2*step {
				t.Fatalf("%v of %d, at most %d: a gap of %v, steps of %v", got, len(costs), most, widest, step)
			}
		}
	}
}

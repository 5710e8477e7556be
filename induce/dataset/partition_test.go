package dataset_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestPartition: Partition and Deal sort some objects or all of them by their codes, of one or two bytes, as a stable
// sort by group does.
func TestPartition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 500 {
		n, most := 1+r.IntN(40), []int{2, 200, 60000}[r.IntN(3)]
		codes, all := new(dataset.Codes), make([]int32, n)
		for i := range n {
			all[i] = int32(i)
			if code := r.IntN(most); most <= 256 {
				codes.U8 = append(codes.U8, uint8(code))
			} else {
				codes.U16 = append(codes.U16, uint16(code))
			}
		}
		ids, some := []int32(nil), all
		if r.IntN(2) == 0 {
			ids = slices.DeleteFunc(slices.Clone(all), func(int32) bool { return r.IntN(2) == 0 })
			if ids == nil {
				ids = []int32{}
			}
			some = ids
		}
		low := r.IntN(most)
		high := low + r.IntN(most-low)
		group := func(code int) int {
			if low <= code && code <= high {
				return 1
			}
			return 0
		}
		want := slices.Clone(some)
		slices.SortStableFunc(want, func(a, b int32) int { return group(codes.At(int(a))) - group(codes.At(int(b))) })
		outside := 0
		for _, id := range some {
			outside += 1 - group(codes.At(int(id)))
		}

		into := make([]int32, len(some))
		if got := codes.Partition(ids, into, uint32(low), uint32(high-low)); got != outside || !slices.Equal(into, want) {
			t.Fatalf("codes %v from %d to %d: %d of %v, want %d of %v", codes, low, high, got, into, outside, want)
		}
		parts := codes.Deal(ids, into, 2, group)
		if !slices.Equal(parts[0], want[:outside]) || !slices.Equal(parts[1], want[outside:]) {
			t.Fatalf("codes %v from %d to %d: %v, want %d of %v", codes, low, high, parts, outside, want)
		}
	}
}

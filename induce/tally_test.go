package induce_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestTally: the sums equal sums in a map, for codes of one and of two bytes, with a common code and without.
func TestTally(t *testing.T) {
	var tally induce.Tally
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(70, seed))
		codes := 1 + r.IntN(300)
		all := make([]int, 200)
		for i := range all {
			if all[i] = r.IntN(codes); r.IntN(2) == 0 {
				all[i] = 0
			}
		}
		counter := induce.ColumnCounter{Codes: &dataset.Codes{}, Common: r.IntN(2) - 1}
		for _, code := range all {
			if codes <= 256 {
				counter.Codes.U8 = append(counter.Codes.U8, uint8(code))
			} else {
				counter.Codes.U16 = append(counter.Codes.U16, uint16(code))
			}
		}
		s := induce.Selection{}
		want := make(map[int32]int32)
		tally.Numbers, tally.Total = tally.Numbers[:0], 0
		for i, code := range all {
			if r.IntN(20) > int(seed)%20 {
				continue
			}
			number := int32(1 + r.IntN(9))
			s.Order = append(s.Order, int32(i))
			tally.Numbers = append(tally.Numbers, number)
			tally.Total += number
			want[int32(code)] += number
		}
		tally.Add(&counter, &s, codes)
		if len(tally.Present) != len(want) || !slices.IsSorted(tally.Present) {
			t.Fatalf("seed %d: the codes are %v, want those of %v", seed, tally.Present, want)
		}
		for at, code := range tally.Present {
			if tally.Sums[at] != want[code] {
				t.Errorf("seed %d: the sum of code %d is %d, want %d", seed, code, tally.Sums[at], want[code])
			}
		}
	}
}

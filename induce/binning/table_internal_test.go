package binning

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKeys: keys are in the order of their numbers, and keyNumber inverts numberKey.
func TestKeys(t *testing.T) {
	const most, least = math.MaxFloat64, math.SmallestNonzeroFloat64
	inf := math.Inf(1)
	ascending := []float64{
		-inf, -most, -2, math.Nextafter(-1, -2), -1, -0x1p-1022, -least, 0, least, 0x1p-1022, 1,
		math.Nextafter(1, 2), 2, most, inf,
	}
	before := uint64(keyNone)
	for _, x := range ascending {
		key := numberKey(x)
		if key <= before {
			t.Errorf("key %x of %v is not above %x", key, x, before)
		}
		if back := keyNumber(key); back != x {
			t.Errorf("key of %v leads to %v", x, back)
		}
		before = key
	}
	if zero := keyNumber(numberKey(math.Copysign(0, -1))); math.Signbit(zero) {
		t.Error("negative zero has a key of its own")
	}
}

// randomKeys returns distinct keys that differ in at most the low bits.
func randomKeys(r *rand.Rand, n, low int) []entry {
	var list []entry
	seen := make(map[uint64]bool)
	for len(list) < n {
		if key := keyZero | r.Uint64()>>(64-low); !seen[key] {
			list, seen[key] = append(list, entry{key, 1 + r.Int64N(9)}), true
		}
	}
	return list
}

// TestTable: a table has each added key once, and sorted returns the keys in ascending
// order. The lengths are around the growth of the table and the change of the sorting
// method; the keys differ around the 24 bits that are sorted at a time.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 11, 12, 13, 24, 25, 127, 128, 129, 1000} {
		for _, low := range []int{10, 23, 24, 25, 33, 63} {
			want := randomKeys(r, n, low)
			var sums table
			for _, e := range want {
				sums.add(e.key, 1)
				if sums.add(e.key, e.weight-1); r.IntN(50) == 0 {
					sums.reserve(r.IntN(3 * n))
				}
			}
			slices.SortFunc(want, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
			if got := sums.sorted(); sums.n != n || !slices.Equal(got, want) {
				t.Errorf("%d keys of %d bits: %d sorted to %v, want %v", n, low, sums.n, got, want)
			}
			got := compareEntries(slices.Collect(sums.scattered()))
			if !slices.Equal(got, want) {
				t.Errorf("%d keys of %d bits: scattered to %v, want %v", n, low, got, want)
			}
			if 4*n > 3*len(sums.slots) {
				t.Errorf("%d keys in %d slots", n, len(sums.slots))
			}
		}
	}
}

// TestTableReserve: reserve allocates no more than the requested keys need.
func TestTableReserve(t *testing.T) {
	for _, n := range []int{1, 12, 13, 24, 25, 96, 97} {
		var sums table
		sums.reserve(n)
		if got := len(sums.slots); 4*n > 3*got || got > minSlots && 4*n <= 3*got/2 {
			t.Errorf("%d slots for %d keys", got, n)
		}
	}
}

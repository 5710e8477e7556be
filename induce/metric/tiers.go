package metric

import (
	"math"
	"slices"
)

// Tiers are the distinct probabilities of a class among the leaves with rows of the class. They
// divide the line of probabilities into slots: slot 2i+1 is tier i, and slot 2i is between tiers
// i-1 and i. Otherwise an area only depends on the weight of the rows in each slot. Most leaves
// have no rows of a rare class, so there are few slots.
type Tiers struct{ bits []uint64 }

// Clear removes all tiers.
func (t *Tiers) Clear() { t.bits = t.bits[:0] }

// Add adds a probability. Call Settle after the last one.
func (t *Tiers) Add(probability float64) { t.bits = append(t.bits, order(probability)) }

// Settle sorts the tiers.
func (t *Tiers) Settle() {
	slices.Sort(t.bits)
	t.bits = slices.Compact(t.bits)
}

// Slots returns how many slots there are.
func (t *Tiers) Slots() int { return 2*len(t.bits) + 1 }

// Slot returns the slot of a probability.
func (t *Tiers) Slot(probability float64) int32 {
	x := order(probability)
	low := 0
	n := len(t.bits)
	if n == 0 || x < t.bits[0] { // true for nearly all leaves without rows of a rare class
		return 0
	}
	for n > 0 { // without branching, because no processor could predict the half
		half := (n + 1) / 2
		next := low
		if t.bits[low+half-1] < x {
			next = low + half
		}
		low = next
		n -= half
	}
	if low < len(t.bits) && t.bits[low] == x {
		return int32(2*low + 1)
	}
	return int32(2 * low)
}

// order returns the bits of a number >= 0, which are ordered like the numbers.
func order(x float64) uint64 { return math.Float64bits(x + 0) } // -0 becomes 0

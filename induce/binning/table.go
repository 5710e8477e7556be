package binning

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// A key is a float64 as an unsigned integer in the same order: positive numbers count up
// from 1<<63, negative numbers count down. Both zeros are 1<<63. NaN has no key, so no
// number has the key 0.
const (
	keyZero = 1 << 63
	keyNone = 0
)

// numberKey returns the key of x, which is not NaN.
func numberKey(x float64) uint64 {
	b := int64(math.Float64bits(x))
	sign := b >> 63 // 0 or -1
	return uint64((b&math.MaxInt64^sign)-sign) ^ keyZero
}

// keyNumber returns the number of a key.
func keyNumber(key uint64) float64 {
	if key >= keyZero {
		return math.Float64frombits(key ^ keyZero)
	}
	return -math.Float64frombits(keyZero - key)
}

// entry is a key with its weight.
type entry struct {
	key    uint64
	weight int64
}

// table sums weights by key: open addressing with linear probing, at most three
// quarters full. A decoded table is a list until a key is added: mostly it is only read.
type table struct {
	slots []entry // a power of two, or none
	shift uint8   // 64 - log2(len(slots))
	n     int     // keys
	list  []entry // all entries, ascending, instead of the slots; nil if they are in the slots
}

const minSlots = 16

// slotOf returns the first slot of the search for a key. The multiplier is the golden
// ratio. The key is folded first, as the low bits of whole numbers are all zero.
func slotOf(key uint64, shift uint8) uint64 {
	const golden = 0x9e3779b97f4a7c15
	return (key ^ key>>32) * golden >> (shift & 63)
}

func (t *table) add(key uint64, weight int64) {
	if 4*t.n >= 3*len(t.slots) {
		t.reserve(t.n + 1)
	}
	mask := uint64(len(t.slots) - 1)
	for at := slotOf(key, t.shift); ; at++ {
		e := &t.slots[at&mask]
		if e.key == key {
			e.weight += weight
			return
		}
		if e.key == keyNone {
			*e = entry{key, weight}
			t.n++
			return
		}
	}
}

// reserve makes room for n keys in all.
func (t *table) reserve(n int) {
	if 4*n <= 3*len(t.slots) {
		return
	}
	size := max(minSlots, 1<<bits.Len(uint(4*n-1)/3))
	old := t.slots
	if t.list != nil {
		old = t.list
		t.list = nil
	}
	t.slots = make([]entry, size)
	t.n = 0
	t.shift = uint8(64 - bits.TrailingZeros(uint(size)))
	for _, e := range old {
		if e.key != keyNone {
			t.add(e.key, e.weight)
		}
	}
}

// scattered yields the entries in a fixed order that differs from the order of the slots.
// The slots are in the order of their hashes: inserted in this order, they would crowd
// one end of a smaller table after the other.
func (t *table) scattered() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, e := range t.list {
			if !yield(e) {
				return
			}
		}
		const stride = 0x9e3779b1 // odd, so each slot is visited once
		mask := uint64(len(t.slots) - 1)
		for i := range uint64(len(t.slots)) {
			if e := t.slots[i*stride&mask]; e.key != keyNone && !yield(e) {
				return
			}
		}
	}
}

// sorted returns the entries in ascending order of their keys. They must not be changed.
func (t *table) sorted() []entry {
	if t.list != nil {
		return t.list
	}
	list := make([]entry, 0, t.n)
	for _, e := range t.slots {
		if e.key != keyNone {
			list = append(list, e)
		}
	}
	return sortEntries(list)
}

// sortEntries sorts by key. It may return another slice than its argument.
//
// It sorts by the 24 highest bits in which keys differ, byte by byte. The few entries
// that agree in these bits are sorted by comparing.
func sortEntries(list []entry) []entry {
	const fewest = 128 // fewer entries are sorted faster by comparing alone
	if len(list) < fewest {
		return compareEntries(list)
	}
	var different uint64
	for i := range list {
		different |= list[i].key ^ list[0].key
	}
	shift := max(0, bits.Len64(different)-24)
	from := list
	to := make([]entry, len(list))
	for s := shift; s < shift+24; s += 8 {
		if byte(different>>s) == 0 {
			continue
		}
		sortByByte(to, from, s)
		from, to = to, from
	}
	for start, i := 0, 1; i <= len(from); i++ {
		if i < len(from) && from[i].key>>shift == from[start].key>>shift {
			continue
		}
		if i > start+1 {
			compareEntries(from[start:i])
		}
		start = i
	}
	return from
}

func compareEntries(list []entry) []entry {
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return list
}

// sortByByte copies the entries, sorted by the byte of their keys that starts at bit shift. The
// sort is stable.
func sortByByte(to, from []entry, shift int) {
	var starts [257]int
	for i := range from {
		starts[int(byte(from[i].key>>(shift&63)))+1]++
	}
	for i := range 256 {
		starts[i+1] += starts[i]
	}
	for _, e := range from {
		at := &starts[byte(e.key>>(shift&63))]
		to[*at] = e
		*at++
	}
}

package dataset

import (
	"math/bits"
	"slices"
)

// ByRow distributes the rows of the objects among up to 256 piles, and returns grouped objects
// whose buckets are the piles. The pile of a row depends on the seed, on the codes, and on the
// position of the row among the rows with these codes, in class order. Since equal rows of one
// class are interchangeable, this amounts to assigning each row at random. If rows have weights,
// the rows of an object count as equally heavy or, if the groups of the objects are classes of
// weights (see WeightClass), the rows of each such class do. The objects must not be soft.
func (o *Objects) ByRow(piles int, seed uint64) *Objects {
	dealt := *o
	dealt.KeepGroups()
	var shares []GroupShare
	for i, hash := range o.Hashes(seed) {
		shares = o.dealObject(shares[:0], i, hash, uint64(piles))
		dealt.groups.add(shares)
	}
	return &dealt
}

// Ungrouped returns the objects without their groups.
func (o *Objects) Ungrouped() *Objects {
	plain := *o
	plain.groups = nil
	return &plain
}

// dealObject appends the shares of the piles in object i. hash is the hash of its codes.
func (o *Objects) dealObject(list []GroupShare, i int, hash, piles uint64) []GroupShare {
	if o.Grouped() {
		return o.dealClasses(list, i, hash, piles)
	}
	rows := o.RowsOf(i)
	pile := func(row int64) uint8 {
		if row == 0 {
			return uint8(hash % piles)
		}
		return uint8(mix(hash, uint64(row)) % piles)
	}
	first, before := int64(0), int64(0)
	for _, s := range o.Raw(i) {
		before += s.Weight
		end := scaled(rows, before, o.Weight[i])
		if end == first { // a class with less than half a row
			list = addShare(list, GroupShare{Bucket: pile(first), Class: s.Class, Weight: s.Weight})
			continue
		}
		given := int64(0)
		for row := first; row < end; row++ {
			upTo := scaled(s.Weight, row+1-first, end-first)
			list = addShare(list, GroupShare{Bucket: pile(row), Class: s.Class, Weight: upTo - given, Rows: 1})
			given = upTo
		}
		first = end
	}
	return slices.DeleteFunc(list, func(s GroupShare) bool { return s.Weight == 0 })
}

// dealClasses is dealObject for an object whose groups are classes of weights.
func (o *Objects) dealClasses(list []GroupShare, i int, hash, piles uint64) []GroupShare {
	for _, s := range o.Groups(i) {
		of, given := mix(hash, uint64(s.place())), int64(0)
		for row := range s.Rows {
			upTo := scaled(s.Weight, row+1, s.Rows)
			pile := uint8(mix(of, uint64(row)) % piles)
			list = addShare(list, GroupShare{Bucket: pile, Class: s.Class, Weight: upTo - given, Rows: 1})
			given = upTo
		}
	}
	return slices.DeleteFunc(list, func(s GroupShare) bool { return s.Weight == 0 })
}

// scaled returns x * part / whole, rounded half up, for 0 <= part <= whole.
func scaled(x, part, whole int64) int64 {
	hi, lo := bits.Mul64(uint64(x), uint64(part))
	lo, carry := bits.Add64(lo, uint64(whole)/2, 0)
	quotient, _ := bits.Div64(hi+carry, lo, uint64(whole))
	return int64(quotient)
}

package forest

import (
	"math/bits"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
)

const (
	// mostLots is the greatest number of lots in which the rows of an entry are drawn.
	mostLots = 16
	// mostDraws is the greatest number of times that a tree draws one lot.
	mostDraws = 8
	// weightBits is the bit length of the scaled weight of all entries. With mostDraws, the
	// weights of a tree stay below 2^31, and their squares below 2^62.
	weightBits = 28
)

// entry is a unit of drawing: the rows of one class in one object and, if the objects are grouped,
// in one bucket. The classes of the rows of a soft object are not known, so the entries of its
// classes have the same hash and are drawn together.
type entry struct {
	hash   uint64
	object int32
	weight uint32 // scaled weight of a lot, at least 1
	class  uint16
	lots   uint16
	bucket uint8 // bucket of the rows' groups; 0 without groups
}

// drawing draws the rows of trees. The draws of a tree from an entry only depend on the seed, the
// tree and the codes of the object. If the objects are grouped, a tree only draws from some buckets,
// and learns nothing from the other buckets.
type drawing struct {
	entries []entry
	first   []int32  // first entry of each object; after the last object, the number of entries
	chances []uint64 // chances of at most 0, 1, .. draws of a lot, times 2^64
	row     float64  // mean scaled weight of a row
	grouped bool
}

// newDrawing returns a drawing in which a tree draws about the given number of lots, or fewer if there
// are fewer; nil for objects without weight.
func newDrawing(o *dataset.Objects, draws int) *drawing {
	var total, rows int64
	for i := range o.Len() {
		total += o.Weight[i]
		rows += o.RowsOf(i)
	}
	if total <= 0 {
		return nil
	}
	d := &drawing{entries: make([]entry, 0, o.Len()), first: make([]int32, 0, o.Len()+1), grouped: o.Grouped()}
	shift := weightBits - bits.Len64(uint64(total))
	lots := 0
	hashes := o.Hashes(0)
	for i := range o.Len() {
		d.first = append(d.first, int32(len(d.entries)))
		from := len(d.entries)
		if d.grouped {
			d.addGrouped(o, i, hashes[i], shift)
		} else {
			d.add(o, i, hashes[i], shift)
		}
		for _, e := range d.entries[from:] {
			lots += int(e.lots)
		}
	}
	d.first = append(d.first, int32(len(d.entries)))
	mean := min(1, float64(draws)/float64(lots))
	if d.grouped {
		mean *= 1000. / bagged
	}
	d.chances = poisson(mean)
	d.row = float64(total) / float64(rows) // scaled below, by a power of two
	for ; shift > 0; shift-- {
		d.row *= 2
	}
	for ; shift < 0; shift++ {
		d.row /= 2
	}
	return d
}

// add adds the entries of object i, which has the given hash.
func (d *drawing) add(o *dataset.Objects, i int, hash uint64, shift int) {
	for _, cw := range o.Raw(i) {
		e := entry{hash: hash, object: int32(i), class: cw.Class, lots: uint16(min(o.RowsOf(i), mostLots))}
		if !o.Soft() {
			e.hash = mix(hash, uint64(cw.Class))
			e.lots = lotsOf(cw.Weight, o.Weight[i], o.RowsOf(i))
		}
		d.append(e, cw.Weight, shift)
	}
}

// addGrouped is add for a grouped object: each bucket of its rows has entries.
func (d *drawing) addGrouped(o *dataset.Objects, i int, hash uint64, shift int) {
	var rows [dataset.Buckets]int64 // rows by bucket, for soft objects
	shares := o.Groups(i)
	for _, s := range shares {
		rows[s.Bucket] += s.Rows
	}
	for _, s := range shares {
		e := entry{hash: mix(hash, bucketHash(s.Bucket)), object: int32(i), class: s.Class, bucket: s.Bucket}
		weight := s.Weight
		if o.Soft() {
			weight, e.lots = s.Soft, uint16(min(rows[s.Bucket], mostLots))
		} else {
			e.hash, e.lots = mix(e.hash, uint64(s.Class)), uint16(min(s.Rows, mostLots))
		}
		if weight > 0 {
			d.append(e, weight, shift)
		}
	}
}

// append adds an entry with the given weight.
func (d *drawing) append(e entry, weight int64, shift int) {
	e.lots = max(e.lots, 1)
	e.weight = scaled(weight, shift, e.lots)
	d.entries = append(d.entries, e)
}

// bagged is the mean number of buckets, in 1000, that a tree draws from. It is the share 1 - 1/e of
// rows that are drawn at least once with replacement.
const bagged = 632

// drawsFrom reports whether a tree draws from a bucket.
func drawsFrom(tree uint64, bucket uint8) bool {
	at, _ := bits.Mul64(mix(tree, bucketHash(bucket)), 1000)
	return at < bagged
}

// bucketHash returns a number for a bucket that differs from the numbers of all classes.
func bucketHash(bucket uint8) uint64 { return 1<<40 + uint64(bucket) }

// lotsOf returns the number of lots of a class of an object: about the class's number of rows, at most
// mostLots. weight is the class's part of the weight all of the object with the given rows.
func lotsOf(weight, all, rows int64) uint16 {
	if weight >= all {
		return uint16(min(rows, mostLots))
	}
	high, low := bits.Mul64(uint64(weight), uint64(rows))
	low, carry := bits.Add64(low, uint64(all)/2, 0)
	if high += carry; high >= uint64(all) {
		return mostLots
	}
	n, _ := bits.Div64(high, low, uint64(all))
	return uint16(min(n, mostLots))
}

// scaled returns a lot's share of a weight, times 2^shift and rounded, but at least 1.
func scaled(weight int64, shift int, lots uint16) uint32 {
	w := uint64(weight)
	if shift >= 0 {
		w <<= shift
	} else {
		w >>= -shift
	}
	return uint32(max((w+uint64(lots)/2)/uint64(lots), 1))
}

// poisson returns the chances of at most 0, 1, .. draws, times 2^64, for the given mean number of
// draws.
func poisson(mean float64) []uint64 {
	chances := make([]uint64, mostDraws)
	p := portable.Exp(-mean)
	for n, sum := 0, 0.0; n < mostDraws; n++ {
		sum += p
		p = p * mean / float64(n+1)
		chances[n] = uint64(min(sum, 1-0x1p-53)*(1<<53)) << 11
	}
	return chances
}

// draw returns the number of times that a tree draws lots of an entry, and left, the number of lots
// that the tree has not seen. If the objects are grouped, left is all lots if the tree does not draw
// from the bucket, otherwise 0.
func (d *drawing) draw(tree uint64, e *entry) (drawn, left int) {
	if d.grouped {
		if !drawsFrom(tree, e.bucket) {
			return 0, int(e.lots)
		}
		drawn, _ = d.drawLots(tree, e)
		return drawn, 0
	}
	return d.drawLots(tree, e)
}

// drawLots is draw for an entry that the tree draws from.
func (d *drawing) drawLots(tree uint64, e *entry) (drawn, left int) {
	h := mix(tree, e.hash)
	for range e.lots {
		n := 0
		for n < mostDraws && h >= d.chances[n] {
			n++
		}
		if drawn += n; n == 0 {
			left++
		}
		h = mix(h, 1)
	}
	return drawn, left
}

// mix hashes two words (the finisher of splitmix64).
func mix(a, b uint64) uint64 {
	x := a + (b+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// random is a sequence of random numbers.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix(uint64(*r), 0)
}

// below returns a number in [0, n).
func (r *random) below(n int) int {
	high, _ := bits.Mul64(r.next(), uint64(n))
	return int(high)
}

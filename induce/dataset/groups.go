package dataset

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/wire"
)

// Rows with the same key form a group: a patient with several visits, for example. Folds and the
// parts that a teacher holds out must not divide a group. Objects do not store keys, so each row
// carries the bucket of its key, and each object lists the weight of its rows by bucket. Growing
// trees ignores these lists.

// Buckets is the number of buckets among which groups are distributed. The usual numbers of folds
// divide it, and it gives enough degrees of freedom for standard errors by bucket.
const Buckets = 60

// bucketSalt makes the bucket of a key independent of its part of the split.
const bucketSalt = 0x517cc1b727220a95

// Bucket returns the bucket of a row, in [0, Buckets), given the hash of its key: see HashText and
// HashNumber. The seed of the hash thus determines which groups share a bucket.
func Bucket(hash uint64) uint8 {
	bucket, _ := bits.Mul64(mix(hash, bucketSalt), Buckets)
	return uint8(bucket)
}

// GroupShare is the part of an object that belongs to one bucket and one label.
type GroupShare struct {
	Bucket uint8
	Class  uint16
	Weight int64 // weight of the labels, see Objects.Labels
	Soft   int64 // raw class weight of soft objects, see Objects.Raw; otherwise 0
	Rows   int64 // number of rows
}

// shareBytes is the memory of a GroupShare.
const shareBytes = 32

func (s *GroupShare) place() uint32 { return uint32(s.Bucket)<<16 | uint32(s.Class) }

// addShare adds a share to a list ordered by bucket and class.
func addShare(list []GroupShare, s GroupShare) []GroupShare {
	at, found := slices.BinarySearchFunc(list, s.place(), func(have GroupShare, place uint32) int {
		return cmp.Compare(have.place(), place)
	})
	if !found {
		return slices.Insert(list, at, s)
	}
	have := &list[at]
	have.Weight += s.Weight
	have.Soft += s.Soft
	have.Rows += s.Rows
	return list
}

// tableGroups holds the group shares of the objects of a table.
type tableGroups struct {
	most   int            // the table keeps shares while it has at most this many objects
	shares [][]GroupShare // by object, ordered by bucket and class
	bytes  int
}

// KeepGroups makes an empty table keep the group shares of its objects. Once it has more than most
// objects, it drops all shares, because nobody would use them.
func (t *Table) KeepGroups(most int64) {
	if most > 0 {
		t.groups = &tableGroups{most: int(min(most, 1<<62))}
	}
}

// addGroup adds a share to an object of a table that keeps groups.
func (t *Table) addGroup(id int, s GroupShare) {
	g := t.groups
	if t.n > g.most {
		t.groups = nil
		return
	}
	for len(g.shares) < t.n {
		g.shares = append(g.shares, nil)
		g.bytes += 24
	}
	before := cap(g.shares[id])
	g.shares[id] = addShare(g.shares[id], s)
	g.bytes += shareBytes * (cap(g.shares[id]) - before)
}

// sharesOf returns the shares of an object of a table that keeps groups.
func (t *Table) sharesOf(id int) []GroupShare { return t.groups.shares[id] }

// groupLists are the shares of objects: those of object i are entries[at[i]:at[i+1]].
type groupLists struct {
	at      []int
	entries []GroupShare
}

func (g *groupLists) add(list []GroupShare) {
	g.entries = append(g.entries, list...)
	g.at = append(g.at, len(g.entries))
}

// KeepGroups makes o, which must be empty, take over group shares from blocks that have them.
func (o *Objects) KeepGroups() { o.groups = &groupLists{at: make([]int, 1, cap(o.Class)+1)} }

// Grouped reports whether the objects have group shares.
func (o *Objects) Grouped() bool { return o.groups != nil }

// Groups returns the shares of object i, ordered by bucket and class. The objects must be grouped.
func (o *Objects) Groups(i int) []GroupShare {
	return o.groups.entries[o.groups.at[i]:o.groups.at[i+1]]
}

// AppendGrouped appends an object, given its codes in feature order and its group shares, ordered
// by bucket and class. The objects must be grouped and not soft.
func (o *Objects) AppendGrouped(codes []int, shares []GroupShare) {
	o.appendCodes(codes)
	o.appendShares(shares, make([]int64, o.Classes), nil)
}

// appendShares appends the class weights of an object, which are sums over its shares. labels and
// soft are scratch: they have a zero for each class before and after the call. soft is nil unless
// the objects are soft.
func (o *Objects) appendShares(shares []GroupShare, labels, soft []int64) {
	rows := int64(0)
	for i := range shares {
		s := &shares[i]
		labels[s.Class] += s.Weight
		if soft != nil {
			soft[s.Class] += s.Soft
		}
		rows += s.Rows
	}
	if soft != nil {
		o.addSoftClasses(listed(labels), listed(soft), rows)
	} else {
		o.addClasses(listed(labels), rows)
	}
	o.groups.add(shares)
}

// listed returns the weights other than 0, and resets all to 0.
func listed(weights []int64) []ClassWeight {
	var list []ClassWeight
	for k, w := range weights {
		if w != 0 {
			list = append(list, ClassWeight{uint16(k), w})
			weights[k] = 0
		}
	}
	return list
}

// OfBuckets returns the parts of grouped objects that belong to the accepted buckets, in the same
// order. Objects without such parts are left out.
func (o *Objects) OfBuckets(keep func(bucket uint8) bool) *Objects {
	ids := make([]int32, 0, o.Len())
	kept := make([]GroupShare, 0, len(o.groups.entries))
	ends := make([]int, 0, o.Len())
	for i := range o.Len() {
		before := len(kept)
		for _, s := range o.Groups(i) {
			if keep(s.Bucket) {
				kept = append(kept, s)
			}
		}
		if len(kept) > before {
			ids = append(ids, int32(i))
			ends = append(ends, len(kept))
		}
	}
	some := o.withCodes(ids)
	some.KeepGroups()
	labels := make([]int64, o.Classes)
	soft := []int64(nil)
	if o.Soft() {
		soft = make([]int64, o.Classes)
	}
	from := 0
	for _, to := range ends {
		some.appendShares(kept[from:to], labels, soft)
		from = to
	}
	return some
}

// The groups of a block follow its objects, so that a reader can skip them:
//
//	per object    uvarint: number of shares; per share its bucket (1 byte), then uvarints:
//	              class and weight; soft weight if the objects are soft; rows if the block has rows
//	length        of the above, 8 bytes, little endian
const groupsLength = 8

func appendShares(dst []byte, shares []GroupShare, soft, hasRows bool) []byte {
	w := wire.Writer(dst).Length(len(shares))
	for i := range shares {
		s := &shares[i]
		w = w.Byte(s.Bucket).Length(int(s.Class)).Count(s.Weight)
		if soft {
			w = w.Count(s.Soft)
		}
		if hasRows {
			w = w.Count(s.Rows)
		}
	}
	return w
}

// endGroups ends the groups of a block, which start at position from.
func endGroups(dst []byte, from int) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(len(dst)-from))
}

// cutGroups splits the groups off a block that has them.
func (r *blockReader) cutGroups() error {
	end := len(r.Rest) - groupsLength
	if end < 0 {
		return errBlock
	}
	length := binary.LittleEndian.Uint64(r.Rest[end:])
	if length > uint64(end) {
		return errBlock
	}
	from := end - int(length)
	r.Rest, r.groups = r.Rest[:from], &blockReader{
		Reader: wire.Reader{Rest: r.Rest[from:end]}, hasRows: r.hasRows, soft: r.soft,
	}
	return nil
}

// shares reads the shares of the next object, using the memory of dst. labels and rows are the
// weights and rows of the object, with which the shares must agree. Each bucket must have some
// weight.
func (r *blockReader) shares(dst []GroupShare, classes int, labels []ClassWeight, rows int64) ([]GroupShare, error) {
	g := r.groups
	_, weight := Majority(labels)
	n := g.Uvarint()
	if g.Bad || n == 0 || n > uint64(Buckets*classes) {
		return nil, errBlock
	}
	dst = dst[:0]
	next := uint32(0) // least position that may follow
	for range n {
		s, ok := g.share(classes)
		if !ok || s.place() < next || s.Weight > weight || s.Rows > rows {
			return nil, errBlock
		}
		next = s.place() + 1
		weight -= s.Weight
		rows -= s.Rows
		dst = append(dst, s)
	}
	if weight != 0 || rows != 0 || !allWeighted(dst, g.soft) {
		return nil, errBlock
	}
	return dst, nil
}

// allWeighted reports whether each bucket has some weight and, for soft objects, some soft weight.
func allWeighted(shares []GroupShare, soft bool) bool {
	for from := 0; from < len(shares); {
		var weight, softWeight int64
		bucket := shares[from].Bucket
		for ; from < len(shares) && shares[from].Bucket == bucket; from++ {
			weight += shares[from].Weight
			softWeight += shares[from].Soft
		}
		if weight == 0 || soft && softWeight == 0 {
			return false
		}
	}
	return true
}

// share reads a single share.
func (r *blockReader) share(classes int) (s GroupShare, ok bool) {
	if len(r.Rest) == 0 || r.Rest[0] >= Buckets {
		return s, false
	}
	s.Bucket = r.Rest[0]
	r.Rest = r.Rest[1:]
	class := r.Uvarint()
	s.Class, s.Weight = uint16(class), int64(r.AtMost(maxBlockCount))
	s.Rows = s.Weight
	if r.soft {
		s.Soft = int64(r.AtMost(maxBlockCount))
	}
	if r.hasRows {
		s.Rows = int64(r.AtMost(maxBlockCount))
	}
	return s, !r.Bad && class < uint64(classes) && (s.Weight != 0 || s.Soft != 0 || s.Rows != 0)
}

// endGroups checks that no bytes follow the shares of the last object.
func (r *blockReader) endGroups() error {
	if r.groups.Bad || len(r.groups.Rest) > 0 {
		return errBlock
	}
	return nil
}

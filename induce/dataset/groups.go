package dataset

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/wire"
)

// Rows with one key are a group: a patient with several visits, for example. Folds and the parts
// that a teacher holds out must not divide a group. Objects do not know keys, so each row carries
// the bucket of its key, and each object lists what its rows of each bucket weigh. Growth of trees
// ignores these lists.

// Buckets is the number of buckets that groups are dealt into. The usual numbers of folds divide
// it, and standard errors by bucket have enough degrees of freedom.
const Buckets = 60

// bucketSalt makes the bucket of a key independent of its part of the split.
const bucketSalt = 0x517cc1b727220a95

// Bucket returns the bucket of a row, from 0 to Buckets-1, given the hash of its key: see HashText
// and HashNumber. The seed of the hash thereby decides which groups share a bucket.
func Bucket(hash uint64) uint8 {
	bucket, _ := bits.Mul64(mix(hash, bucketSalt), Buckets)
	return uint8(bucket)
}

// GroupShare is what the rows of one bucket and one label have of an object.
type GroupShare struct {
	Bucket uint8
	Class  uint16
	Weight int64 // of the labels, see Objects.Labels
	Soft   int64 // raw class weight of soft objects, see Objects.Raw; of others 0
	Rows   int64 // number of rows
}

// shareBytes is the memory of a GroupShare.
const shareBytes = 32

func (s *GroupShare) place() uint32 { return uint32(s.Bucket)<<16 | uint32(s.Class) }

func (s *GroupShare) empty() bool { return s.Weight == 0 && s.Soft == 0 && s.Rows == 0 }

// addShare adds a share to a list in the order of buckets and classes.
func addShare(list []GroupShare, s GroupShare) []GroupShare {
	at, found := slices.BinarySearchFunc(list, s.place(), func(have GroupShare, place uint32) int {
		return cmp.Compare(have.place(), place)
	})
	if !found {
		return slices.Insert(list, at, s)
	}
	have := &list[at]
	have.Weight, have.Soft, have.Rows = have.Weight+s.Weight, have.Soft+s.Soft, have.Rows+s.Rows
	return list
}

// tableGroups are the shares of the objects of a table.
type tableGroups struct {
	most   int            // objects up to which the table keeps shares
	shares [][]GroupShare // by object, in the order of buckets and classes
	bytes  int
}

// KeepGroups makes an empty table keep what each bucket of groups has of its objects. Once it has
// more than so many objects it drops all of that, as nobody would use it.
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

// addGroups adds shares to an object so many times.
func (t *Table) addGroups(id int, shares []GroupShare, times int64) {
	for _, s := range shares {
		s.Weight, s.Soft, s.Rows = times*s.Weight, times*s.Soft, times*s.Rows
		if t.groups != nil {
			t.addGroup(id, s)
		}
	}
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

// KeepGroups makes objects, of which there are none so far, take over the shares of groups from
// blocks that have them.
func (o *Objects) KeepGroups() { o.groups = &groupLists{at: make([]int, 1, cap(o.Class)+1)} }

// Grouped reports whether the objects know the groups of their rows.
func (o *Objects) Grouped() bool { return o.groups != nil }

// Groups returns what the buckets have of object i, in the order of buckets and classes. The
// objects must be grouped.
func (o *Objects) Groups(i int) []GroupShare {
	return o.groups.entries[o.groups.at[i]:o.groups.at[i+1]]
}

// AppendGrouped appends one object from its codes in feature order and the shares of its groups, in
// the order of buckets and classes. The objects must be grouped and not soft.
func (o *Objects) AppendGrouped(codes []int, shares []GroupShare) {
	o.appendCodes(codes)
	o.appendShares(shares, make([]int64, o.Classes), nil)
}

// appendShares appends the class weights of an object, which are the sums over shares. labels and
// soft have a zero for each class before and after; soft is nil unless the objects are soft.
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

// listed returns the weights that are not 0, and sets all to 0.
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

// OfBuckets returns what some buckets have of grouped objects, in the same order: objects of which
// they have nothing are left out.
func (o *Objects) OfBuckets(keep func(bucket uint8) bool) *Objects {
	ids, kept := make([]int32, 0, o.Len()), make([]GroupShare, 0, len(o.groups.entries))
	ends := make([]int, 0, o.Len())
	for i := range o.Len() {
		before := len(kept)
		for _, s := range o.Groups(i) {
			if keep(s.Bucket) {
				kept = append(kept, s)
			}
		}
		if len(kept) > before {
			ids, ends = append(ids, int32(i)), append(ends, len(kept))
		}
	}
	some := o.withCodes(ids)
	some.KeepGroups()
	labels, soft := make([]int64, o.Classes), []int64(nil)
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

// The groups of a block follow its objects, so that who does not want them need not read them:
//
//	per object    uvarint: number of shares; of each share its bucket (1 byte), then uvarints:
//	              class and weight; soft weight if the objects are soft; rows if the block has rows
//	length        of the above, 8 bytes, little endian
const groupsLength = 8

func appendShares(dst []byte, shares []GroupShare, soft, hasRows bool) []byte {
	n := 0
	for i := range shares {
		if !shares[i].empty() {
			n++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for i := range shares {
		s := &shares[i]
		if s.empty() {
			continue
		}
		dst = binary.AppendUvarint(append(dst, s.Bucket), uint64(s.Class))
		dst = binary.AppendUvarint(dst, uint64(s.Weight))
		if soft {
			dst = binary.AppendUvarint(dst, uint64(s.Soft))
		}
		if hasRows {
			dst = binary.AppendUvarint(dst, uint64(s.Rows))
		}
	}
	return dst
}

// endGroups ends the groups of a block, which begin at a position.
func endGroups(dst []byte, from int) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(len(dst)-from))
}

// cutGroups cuts the groups off a block that has them.
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

// shares reads the shares of the next object of the given labels and rows, in the memory of dst. Each
// bucket has some weight.
func (r *blockReader) shares(dst []GroupShare, classes int, labels []ClassWeight, rows int64) ([]GroupShare, error) {
	g := r.groups
	_, weight := Majority(labels)
	n := g.Uvarint()
	if g.Bad || n == 0 || n > uint64(Buckets*classes) {
		return nil, errBlock
	}
	dst = dst[:0]
	next := uint32(0) // least place that may follow
	for range n {
		s, ok := g.share(classes)
		if !ok || s.place() < next || s.Weight > weight || s.Rows > rows {
			return nil, errBlock
		}
		next, weight, rows = s.place()+1, weight-s.Weight, rows-s.Rows
		dst = append(dst, s)
	}
	if weight != 0 || rows != 0 || !allWeighted(dst, g.soft) {
		return nil, errBlock
	}
	return dst, nil
}

// allWeighted reports whether each bucket of an object has some weight; soft: some soft weight too.
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

// share reads one share.
func (r *blockReader) share(classes int) (s GroupShare, ok bool) {
	if len(r.Rest) == 0 || r.Rest[0] >= Buckets {
		return s, false
	}
	s.Bucket, r.Rest = r.Rest[0], r.Rest[1:]
	class := r.Uvarint()
	s.Class, s.Weight = uint16(class), int64(r.AtMost(maxBlockCount))
	s.Rows = s.Weight
	if r.soft {
		s.Soft = int64(r.AtMost(maxBlockCount))
	}
	if r.hasRows {
		s.Rows = int64(r.AtMost(maxBlockCount))
	}
	return s, !r.Bad && class < uint64(classes) && !s.empty()
}

// endGroups checks that nothing follows the shares of the last object.
func (r *blockReader) endGroups() error {
	if r.groups.Bad || len(r.groups.Rest) > 0 {
		return errBlock
	}
	return nil
}

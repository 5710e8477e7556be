package dataset

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
)

// Codes is the column of codes of a feature, with one code per object. U8 is set if the Width of
// the feature is 1, otherwise U16.
type Codes struct {
	U8  []uint8
	U16 []uint16
}

// At returns the code of object i.
func (c *Codes) At(i int) int {
	if c.U8 != nil {
		return int(c.U8[i])
	}
	return int(c.U16[i])
}

// Objects are coalesced rows, stored as columns.
type Objects struct {
	Classes int
	Codes   []Codes  // per feature
	Class   []uint16 // class with the most weight among the labels of the rows; ties: the first class
	Weight  []int64  // total weight of all classes, in fixed-point units
	Rows    []int64  // number of rows; nil if each row weighs 1, so that Weight counts rows

	raw    classLists    // see Raw
	labels *classLists   // see Labels; nil if equal to raw
	units  []ClassWeight // by class: an entry for an object of this class and of weight 1
	groups *groupLists   // see Groups; nil if the objects are not grouped
}

// classLists holds the class weights of objects. They take no memory for an object of weight 1, and
// little for an object of one class. at is nil while all objects weigh 1. Otherwise at[i] is 0 for
// an object of weight 1. For other objects its low bits are one more than the position of the
// object's first entry; if manyEntries is set, the entry before that holds how many entries the
// object has. Objects of small weight share the entry of their class and weight, because most
// objects are of this kind.
type classLists struct {
	at      []uint32
	entries []ClassWeight
	shared  []uint32 // by class and weight: see share
}

// manyEntries marks an object with several classes.
const manyEntries = 1 << 31

// Objects of one class share an entry if they weigh less than 1<<lightBits and their class is below
// sharedClasses, so that the table of shared entries stays small.
const (
	lightBits     = 4
	sharedClasses = 1 << 8
)

// Len returns the number of objects.
func (o *Objects) Len() int { return len(o.Class) }

// TotalWeight returns the weight of all objects.
func (o *Objects) TotalWeight() int64 { return portable.Sum(o.Weight) }

// ClassWeights returns the weight of each class over all objects.
func (o *Objects) ClassWeights() []int64 {
	weights := make([]int64, o.Classes)
	for i := range o.Len() {
		for _, w := range o.Raw(i) {
			weights[w.Class] += w.Weight
		}
	}
	return weights
}

// Raw returns the weights of the classes in object i, in class order, without classes of weight 0.
// Trees grow from these weights. They must not be changed.
func (o *Objects) Raw(i int) []ClassWeight {
	if o.raw.at == nil || o.raw.at[i] == 0 {
		k := o.Class[i]
		return o.units[k : k+1 : k+1]
	}
	return o.raw.of(o.raw.at[i] - 1)
}

// Labels returns the weights of the labels of the rows in object i, in the form of Raw. For soft
// objects they differ from Raw and may use another unit; otherwise they are equal.
func (o *Objects) Labels(i int) []ClassWeight {
	if o.labels == nil {
		return o.Raw(i)
	}
	if o.labels.at == nil || o.labels.at[i] == 0 {
		k := o.Class[i]
		return o.units[k : k+1 : k+1]
	}
	return o.labels.of(o.labels.at[i] - 1)
}

// Soft reports whether the class weights are soft: Raw then differs from Labels.
func (o *Objects) Soft() bool { return o.labels != nil }

// soften makes an empty set of objects soft.
func (o *Objects) soften() {
	o.labels = new(classLists)
	if o.Rows == nil {
		o.Rows = make([]int64, 0, cap(o.Class)) // the weights of soft objects do not count rows
	}
}

// of returns the entries of an object, given the position of its first entry.
func (l *classLists) of(at uint32) []ClassWeight {
	n := uint32(1)
	if at&manyEntries != 0 {
		at &^= manyEntries
		n = uint32(l.entries[at-1].Weight)
	}
	return l.entries[at : at+n : at+n]
}

// full reports whether no further object fits.
func (l *classLists) full() bool { return len(l.entries) >= manyEntries-(1<<17) }

// add appends the class weights of the last object. classes holds the classes of all objects. unit
// means that the object weighs 1, all of it in its class.
func (l *classLists) add(list []ClassWeight, unit bool, classes []uint16) {
	if unit && l.at == nil {
		return
	}
	if l.at == nil {
		l.at = make([]uint32, len(classes)-1, cap(classes))
	}
	at := uint32(0)
	switch {
	case unit:
	case len(list) > 1:
		l.entries = append(l.entries, ClassWeight{Weight: int64(len(list))})
		at = uint32(len(l.entries)+1) | manyEntries
		l.entries = append(l.entries, list...)
	case list[0].Weight < 1<<lightBits && list[0].Class < sharedClasses:
		at = l.share(list[0])
	default:
		l.entries = append(l.entries, list[0])
		at = uint32(len(l.entries))
	}
	l.at = append(l.at, at)
}

// share returns one more than the position of the shared entry of this class and weight.
func (l *classLists) share(cw ClassWeight) uint32 {
	i := int(cw.Class)<<lightBits | int(cw.Weight)
	if i >= len(l.shared) {
		l.shared = append(l.shared, make([]uint32, (int(cw.Class)+1)<<lightBits-len(l.shared))...)
	}
	if l.shared[i] == 0 {
		l.entries = append(l.entries, cw)
		l.shared[i] = uint32(len(l.entries))
	}
	return l.shared[i]
}

// RowsOf returns how many rows object i has.
func (o *Objects) RowsOf(i int) int64 {
	if o.Rows == nil {
		return o.Weight[i]
	}
	return o.Rows[i]
}

// NewObjects returns an empty set of objects, with room for n.
func NewObjects(layout Layout, classes int, weighted bool, n int) *Objects {
	o := &Objects{
		Classes: classes,
		Codes:   make([]Codes, len(layout.Widths)),
		Class:   make([]uint16, 0, n),
		Weight:  make([]int64, 0, n),
		units:   units(classes),
	}
	if weighted {
		o.Rows = make([]int64, 0, n)
	}
	for i, w := range layout.Widths {
		if w == 1 {
			o.Codes[i].U8 = make([]uint8, 0, n)
		} else {
			o.Codes[i].U16 = make([]uint16, 0, n)
		}
	}
	return o
}

// Objects returns the objects of the table, including their groups if the table keeps them.
func (t *Table) Objects(classes int) *Objects {
	o := NewObjects(t.layout, classes, t.hasRows, t.n)
	if t.groups != nil {
		o.KeepGroups()
	}
	if t.soft > 0 {
		o.soften()
	}
	for f, width := range t.layout.Widths {
		c := &o.Codes[f]
		if width == 1 {
			c.U8 = t.appendColumn(c.U8, t.layout.Offsets[f], width, 0, t.n)
			continue
		}
		column := t.appendColumn(nil, t.layout.Offsets[f], width, 0, t.n)
		for i := 0; i < len(column); i += width {
			c.U16 = append(c.U16, binary.LittleEndian.Uint16(column[i:]))
		}
	}
	var labels, soft []ClassWeight
	for id := range t.n {
		var rows int64
		if t.hasRows {
			p, at := t.place(id)
			rows = p.rows[at]
		}
		if t.groups != nil {
			o.groups.add(t.sharesOf(id))
		}
		labels = t.classWeights(id, labels)
		if t.soft == 0 {
			o.addClasses(labels, rows)
			continue
		}
		soft = t.softWeights(id, soft)
		o.addSoftClasses(labels, soft, rows)
	}
	return o
}

// units returns an entry of weight 1 for each class.
func units(classes int) []ClassWeight {
	list := make([]ClassWeight, classes)
	for k := range list {
		list[k] = ClassWeight{uint16(k), 1}
	}
	return list
}

// Majority returns the class with the most weight, or the first of several such classes, and the
// total weight of all classes.
func Majority(raw []ClassWeight) (class uint16, total int64) {
	var most int64
	for _, cw := range raw {
		total += cw.Weight
		if cw.Weight > most {
			class = cw.Class
			most = cw.Weight
		}
	}
	return class, total
}

// addClasses appends the weights of one object, without its codes.
func (o *Objects) addClasses(raw []ClassWeight, rows int64) {
	class, total := Majority(raw)
	o.Class = append(o.Class, class)
	o.Weight = append(o.Weight, total)
	if o.Rows != nil {
		o.Rows = append(o.Rows, rows)
	}
	o.raw.add(raw, len(raw) == 1 && raw[0].Weight == 1, o.Class)
}

// addSoftClasses is addClasses for a soft object.
func (o *Objects) addSoftClasses(labels, raw []ClassWeight, rows int64) {
	class, _ := Majority(labels)
	_, total := Majority(raw)
	o.Class = append(o.Class, class)
	o.Weight = append(o.Weight, total)
	o.Rows = append(o.Rows, rows)
	o.raw.add(raw, raw[0] == ClassWeight{class, 1} && len(raw) == 1, o.Class)
	o.labels.add(labels, len(labels) == 1 && labels[0].Weight == 1, o.Class)
}

// Append appends one object: its codes in feature order, the weights of its
// classes in class order, and its rows.
func (o *Objects) Append(codes []int, raw []ClassWeight, rows int64) {
	o.appendCodes(codes)
	o.addClasses(raw, rows)
}

// AppendSoft is Append for a soft object: labels has the weights of the labels of the rows, raw the
// weights that trees grow from. Either all objects are soft or none are.
func (o *Objects) AppendSoft(codes []int, labels, raw []ClassWeight, rows int64) {
	if o.labels == nil {
		o.soften()
	}
	o.appendCodes(codes)
	o.addSoftClasses(labels, raw, rows)
}

func (o *Objects) appendCodes(codes []int) {
	for f, code := range codes {
		if c := &o.Codes[f]; c.U8 != nil {
			c.U8 = append(c.U8, uint8(code))
		} else {
			c.U16 = append(c.U16, uint16(code))
		}
	}
}

// Hashes returns a hash of the codes of each object.
func (o *Objects) Hashes(seed uint64) []uint64 {
	hashes := make([]uint64, o.Len())
	key := make([]byte, 2*len(o.Codes))
	for i := range hashes {
		for f := range o.Codes {
			code := o.Codes[f].At(i)
			key[2*f], key[2*f+1] = byte(code), byte(code>>8)
		}
		hashes[i] = hashBytes(seed, key)
	}
	return hashes
}

// ByHash returns the numbers of the objects in an order that only depends on the objects, by a hash
// of their codes, as if they were shuffled. Objects with equal codes are ordered by their class
// weights.
func (o *Objects) ByHash() []int32 { return o.FirstByHash(o.Len()) }

// FirstByHash returns the first most numbers of ByHash. It sorts little more than these.
func (o *Objects) FirstByHash(most int) []int32 {
	hashes := o.Hashes(0)
	ids := make([]int32, 0, o.Len())
	for bound := boundOfHashes(most, len(hashes)); ; bound = 2*min(bound, math.MaxUint64/2) + 1 {
		for i, hash := range hashes {
			if hash <= bound {
				ids = append(ids, int32(i))
			}
		}
		if len(ids) >= min(most, len(hashes)) {
			break
		}
		ids = ids[:0]
	}
	slices.SortFunc(ids, func(a, b int32) int {
		if hashes[a] != hashes[b] {
			return cmp.Compare(hashes[a], hashes[b])
		}
		return o.compare(int(a), int(b))
	})
	return ids[:min(most, len(ids))]
}

// boundOfHashes returns a bound below which very likely at least most, and few more, of n uniform
// hashes lie.
func boundOfHashes(most, n int) uint64 {
	const reserve = 1000
	if more := most + most/8 + reserve; more < n {
		return math.MaxUint64 / uint64(n) * uint64(more)
	}
	return math.MaxUint64
}

// compare compares two objects by their codes, then by their class weights.
func (o *Objects) compare(i, j int) int {
	for f := range o.Codes {
		if c := cmp.Compare(o.Codes[f].At(i), o.Codes[f].At(j)); c != 0 {
			return c
		}
	}
	return slices.CompareFunc(o.Raw(i), o.Raw(j), func(a, b ClassWeight) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Weight, b.Weight))
	})
}

// Select returns the objects with the given numbers, in that order.
func (o *Objects) Select(ids []int32) *Objects {
	s := o.withCodes(ids)
	for _, id := range ids {
		if o.Soft() {
			s.addSoftClasses(o.Labels(int(id)), o.Raw(int(id)), o.RowsOf(int(id)))
		} else {
			s.addClasses(o.Raw(int(id)), o.RowsOf(int(id)))
		}
	}
	if o.Grouped() {
		s.KeepGroups()
		for _, id := range ids {
			s.groups.add(o.Groups(int(id)))
		}
	}
	return s
}

// withCodes returns the objects with the given numbers, with their codes but without class weights.
func (o *Objects) withCodes(ids []int32) *Objects {
	s := &Objects{
		Classes: o.Classes,
		Codes:   make([]Codes, len(o.Codes)),
		Class:   make([]uint16, 0, len(ids)),
		Weight:  make([]int64, 0, len(ids)),
		units:   o.units,
	}
	if o.Rows != nil {
		s.Rows = make([]int64, 0, len(ids))
	}
	for f := range o.Codes {
		if c := o.Codes[f]; c.U8 != nil {
			s.Codes[f].U8 = Pick(c.U8, ids)
		} else {
			s.Codes[f].U16 = Pick(c.U16, ids)
		}
	}
	if o.Soft() {
		s.soften()
	}
	return s
}

// Pick returns the entries at the given positions.
func Pick[T any, I int | int32](list []T, at []I) []T {
	some := make([]T, len(at))
	for i, k := range at {
		some[i] = list[k]
	}
	return some
}

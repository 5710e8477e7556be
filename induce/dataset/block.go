package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/wire"
)

// blockVersion opens each object block.
const blockVersion = 1

// maxBlockCount bounds the weight and the rows of an object in a block.
const maxBlockCount = 1 << 62

// errBlock is the error for bytes that are not an object block of the expected layout.
var errBlock = errors.New("not an object block of this layout")

// AppendBlock appends objects [from, to) of the table to dst as a single block:
//
//	version, flags        1 byte each; flag 1: rows follow; flag 2: the objects are soft; flag 4:
//	                      groups follow the objects, see groupsLength
//	objects               uvarint
//	codes                 per feature a column of objects * width bytes
//	per object            uvarints: number of classes, then class and weight of each; rows. For
//	                      soft objects these are the label weights; raw weights follow likewise
func (t *Table) AppendBlock(dst []byte, from, to int) []byte {
	dst = appendBlockHead(dst, to-from, t.hasRows, t.soft > 0, t.groups != nil)
	for f, width := range t.layout.Widths {
		dst = t.appendColumn(dst, t.layout.Offsets[f], width, from, to)
	}
	dst = t.appendTail(dst, from, to)
	if t.groups == nil {
		return dst
	}
	at := len(dst)
	return endGroups(t.appendGroups(dst, from, to), at)
}

// appendGroups appends the group shares of objects [from, to). The table must keep groups.
func (t *Table) appendGroups(dst []byte, from, to int) []byte {
	for id := from; id < to; id++ {
		dst = appendShares(dst, t.sharesOf(id), t.soft > 0, t.hasRows)
	}
	return dst
}

// appendTail appends the part of a block of objects [from, to) that follows the columns.
func (t *Table) appendTail(dst []byte, from, to int) []byte {
	var raw []ClassWeight
	for id := from; id < to; id++ {
		raw = t.classWeights(id, raw)
		var rows int64
		if t.hasRows {
			p, at := t.place(id)
			rows = p.rows[at]
		}
		dst = appendClasses(dst, raw, rows, t.hasRows)
		if t.soft > 0 {
			raw = t.softWeights(id, raw)
			dst = appendClasses(dst, raw, 0, false)
		}
	}
	return dst
}

// appendColumn appends the codes of a feature.
func (t *Table) appendColumn(dst []byte, offset, width, from, to int) []byte {
	stride := t.layout.Stride
	at := len(dst)
	dst = slices.Grow(dst, (to-from)*width)[:at+(to-from)*width]
	column := dst[at:]
	for from < to {
		p, i := t.place(from)
		n := min(to-from, len(p.class)-i)
		keys := p.keys[i*stride+offset:]
		if width == 1 {
			for i := range column[:n] {
				column[i] = keys[i*stride]
			}
		} else {
			for i := range n {
				column[2*i], column[2*i+1] = keys[i*stride], keys[i*stride+1]
			}
		}
		column = column[n*width:]
		from += n
	}
	return dst
}

// AppendBlock appends all objects to dst as one block.
func (o *Objects) AppendBlock(dst []byte) []byte {
	dst = appendBlockHead(dst, o.Len(), o.Rows != nil, o.Soft(), o.Grouped())
	for f := range o.Codes {
		dst = append(dst, o.Codes[f].U8...)
		for _, c := range o.Codes[f].U16 {
			dst = binary.LittleEndian.AppendUint16(dst, c)
		}
	}
	for i := range o.Class {
		if o.labels != nil {
			dst = appendClasses(dst, o.Labels(i), o.RowsOf(i), true)
			dst = appendClasses(dst, o.Raw(i), 0, false)
			continue
		}
		dst = appendClasses(dst, o.Raw(i), o.RowsOf(i), o.Rows != nil)
	}
	if !o.Grouped() {
		return dst
	}
	at := len(dst)
	for i := range o.Class {
		dst = appendShares(dst, o.Groups(i), o.Soft(), o.Rows != nil)
	}
	return endGroups(dst, at)
}

// The flags of a block.
const (
	blockRows = 1 << iota
	blockSoft
	blockGroups

	blockFlags = blockRows | blockSoft | blockGroups
)

func appendBlockHead(dst []byte, objects int, hasRows, soft, grouped bool) []byte {
	var flags byte
	if hasRows {
		flags |= blockRows
	}
	if soft {
		flags |= blockSoft
	}
	if grouped {
		flags |= blockGroups
	}
	return wire.Writer(dst).Byte(blockVersion).Byte(flags).Length(objects)
}

func appendClasses(dst []byte, raw []ClassWeight, rows int64, hasRows bool) []byte {
	w := wire.Writer(dst).Length(len(raw))
	for _, cw := range raw {
		w = w.Length(int(cw.Class)).Count(cw.Weight)
	}
	if hasRows {
		w = w.Count(rows)
	}
	return w
}

// blockReader reads the part of a block that follows the columns, object by object.
type blockReader struct {
	wire.Reader

	objects int
	hasRows bool
	soft    bool
	columns [][]byte     // per feature
	groups  *blockReader // shares of the objects, see shares; nil if the block has none
}

// openBlock checks a block's head against the layout.
func openBlock(b []byte, layout Layout) (*blockReader, error) {
	if len(b) < 2 || b[0] != blockVersion || b[1]&^blockFlags != 0 || b[1]&(blockRows|blockSoft) == blockSoft {
		return nil, errBlock
	}
	r := &blockReader{hasRows: b[1]&blockRows != 0, soft: b[1]&blockSoft != 0, Reader: wire.Reader{Rest: b[2:]}}
	n := r.Uvarint()
	if r.Bad || n > uint64(len(b)) || int(n)*layout.Stride > len(r.Rest) {
		return nil, errBlock
	}
	r.objects = int(n)
	r.columns = make([][]byte, len(layout.Widths))
	for f, width := range layout.Widths {
		size := r.objects * width
		r.columns[f] = r.Rest[:size]
		r.Rest = r.Rest[size:]
	}
	if b[1]&blockGroups != 0 {
		return r, r.cutGroups()
	}
	return r, nil
}

// classes reads the class weights and the rows of the next object. If the block does not store
// rows, they equal the weight. The fast path is for objects of few rows and one class, by far the
// most frequent.
func (r *blockReader) classes(dst []ClassWeight, classes int) (raw []ClassWeight, rows int64, err error) {
	b := r.Rest
	if len(b) < 3 || b[0] != 1 || b[1]|b[2] >= 0x80 || int(b[1]) >= classes || b[2] == 0 || r.hasRows {
		return r.manyClasses(dst, classes)
	}
	r.Rest = b[3:]
	return append(dst[:0], ClassWeight{uint16(b[1]), int64(b[2])}), int64(b[2]), nil
}

// manyClasses is classes for any object.
func (r *blockReader) manyClasses(dst []ClassWeight, classes int) (raw []ClassWeight, rows int64, err error) {
	raw, total, err := r.list(dst, classes)
	if err == nil && r.hasRows {
		total = r.Uvarint()
	}
	if err != nil || r.Bad || total > maxBlockCount {
		return nil, 0, errBlock
	}
	return raw, int64(total), nil
}

// list reads a list of classes with their weights, and sums up the weights.
func (r *blockReader) list(dst []ClassWeight, classes int) (list []ClassWeight, total uint64, err error) {
	n := r.Uvarint()
	if r.Bad || n == 0 || n > uint64(classes) {
		return nil, 0, errBlock
	}
	dst = dst[:0]
	next := uint64(0) // least class that may follow
	for range n {
		class := r.Uvarint()
		weight := r.Uvarint()
		if class < next || class >= uint64(classes) || weight == 0 || weight > maxBlockCount-total {
			return nil, 0, errBlock
		}
		dst = append(dst, ClassWeight{uint16(class), int64(weight)})
		next = class + 1
		total += weight
	}
	if r.Bad {
		return nil, 0, errBlock
	}
	return dst, total, nil
}

// end checks that no bytes follow the last object.
func (r *blockReader) end() error {
	if r.Bad || len(r.Rest) > 0 {
		return errBlock
	}
	return nil
}

// BlockLen returns the number of objects in a block.
func BlockLen(b []byte) (int, error) {
	if len(b) < 2 || b[0] != blockVersion {
		return 0, errBlock
	}
	r := wire.Reader{Rest: b[2:]}
	n := r.AtMost(uint64(len(b)))
	if r.Bad {
		return 0, errBlock
	}
	return int(n), nil
}

// AppendFrom appends the objects of a block to o.
func (o *Objects) AppendFrom(block []byte, layout Layout) error {
	r, err := openBlock(block, layout)
	if err != nil {
		return err
	}
	if len(o.Codes) != len(r.columns) {
		return fmt.Errorf("%w: %d features, expected %d", errBlock, len(r.columns), len(o.Codes))
	}
	if err := o.checkSoft(r); err != nil {
		return err
	}
	for f, column := range r.columns {
		c := &o.Codes[f]
		if layout.Widths[f] == 1 {
			c.U8 = append(c.U8, column...)
			continue
		}
		for i := 0; i < len(column); i += 2 {
			c.U16 = append(c.U16, binary.LittleEndian.Uint16(column[i:]))
		}
	}
	return o.appendClasses(r)
}

// checkSoft checks that the block is soft if and only if the objects are. If there are no objects
// yet, a soft block makes them soft.
func (o *Objects) checkSoft(r *blockReader) error {
	if r.objects == 0 || r.soft == o.Soft() {
		return nil
	}
	if o.Len() > 0 || o.Soft() {
		return fmt.Errorf("%w: some objects are soft and others are not", errBlock)
	}
	o.soften()
	return nil
}

var errObjects = errors.New("more soft objects than memory can number: take less --memory, or fewer rows")

func (o *Objects) appendClasses(r *blockReader) error {
	if r.objects > 0 && r.groups == nil {
		o.groups = nil
	}
	var labels, soft []ClassWeight
	var shares []GroupShare
	for range r.objects {
		var rows int64
		var err error
		if labels, rows, err = r.classes(labels, o.Classes); err != nil {
			return err
		}
		if o.groups != nil && r.groups != nil {
			if shares, err = r.shares(shares, o.Classes, labels, rows); err != nil {
				return err
			}
			o.groups.add(shares)
		}
		if !r.soft {
			o.addClasses(labels, rows)
			continue
		}
		if soft, _, err = r.list(soft, o.Classes); err != nil {
			return err
		}
		if o.raw.full() || o.labels.full() {
			return errObjects
		}
		o.addSoftClasses(labels, soft, rows)
	}
	if o.groups != nil && r.groups != nil {
		return errors.Join(r.end(), r.endGroups())
	}
	return r.end()
}

// EachClasses calls visit for each object of a block, with its weights of labels (see
// Objects.Labels) and its raw class weights (see Objects.Raw), both in class order, and its rows.
// The slices are only valid during the call. Unless codes is nil, the rows are also added to codes,
// by feature and code.
func EachClasses(
	block []byte, layout Layout, classes int, codes [][]int64, visit func(labels, raw []ClassWeight, rows int64),
) error {
	r, err := openBlock(block, layout)
	if err != nil {
		return err
	}
	var counted []int64
	if codes != nil {
		counted = make([]int64, 0, r.objects)
	}
	var labels, soft []ClassWeight
	for range r.objects {
		var rows int64
		if labels, rows, err = r.classes(labels, classes); err != nil {
			return err
		}
		raw := labels
		if r.soft {
			if soft, _, err = r.list(soft, classes); err != nil {
				return err
			}
			raw = soft
		}
		if codes != nil {
			counted = append(counted, rows)
		}
		visit(labels, raw, rows)
	}
	for f, counts := range codes {
		if err := countColumn(r.columns[f], layout.Widths[f], counted, counts); err != nil {
			return err
		}
	}
	return r.end()
}

// countColumn adds the rows of objects to the counts of their codes.
func countColumn(column []byte, width int, rows, counts []int64) error {
	for i, n := range rows {
		code := int(column[i*width])
		if width > 1 {
			code |= int(column[i*width+1]) << 8
		}
		if code >= len(counts) {
			return errBlock
		}
		counts[code] += n
	}
	return nil
}

// AddBlock coalesces the objects of a block into the table.
//
// It is a hot loop: keys of several objects are assembled feature by feature.
func (t *Table) AddBlock(block []byte, classes int) error {
	const ahead = 16
	r, err := openBlock(block, t.layout)
	if err != nil {
		return err
	}
	if r.soft != (t.soft > 0) || r.soft && classes != t.soft {
		return errBlock
	}
	stride := t.layout.Stride
	if r.objects > 0 && r.groups == nil {
		t.groups = nil
	}
	var keys []byte
	var object blockObject
	for from := 0; from < r.objects; from += ahead {
		to := min(from+ahead, r.objects)
		keys = r.keys(keys[:0], t.layout, from, to)
		for i := range to - from {
			if err := r.next(&object, classes, t.groups != nil); err != nil {
				return err
			}
			key := keys[i*stride : (i+1)*stride]
			t.addObject(key, HashKey(key), &object)
		}
	}
	return r.end()
}

// addObject adds an object of a block.
func (t *Table) addObject(key []byte, hash uint64, o *blockObject) {
	id := 0
	for j, cw := range o.labels {
		id = t.Add(key, hash, cw.Class, cw.Weight, o.rows*int64(boolToInt(j == 0)))
	}
	for _, s := range o.shares {
		if t.groups != nil {
			t.addGroup(id, s)
		}
	}
	if t.soft > 0 {
		t.addSoft(id, o.soft)
	}
}

// blockObject is an object of a block without its key. Its memory is reused for the next object.
type blockObject struct {
	labels []ClassWeight
	soft   []ClassWeight // if the block is soft
	shares []GroupShare  // if they were requested
	rows   int64
}

// next reads the next object of the block, including its shares if grouped is true.
func (r *blockReader) next(o *blockObject, classes int, grouped bool) (err error) {
	if o.labels, o.rows, err = r.classes(o.labels, classes); err != nil {
		return err
	}
	if grouped {
		if o.shares, err = r.shares(o.shares, classes, o.labels, o.rows); err != nil {
			return err
		}
	}
	if r.soft {
		o.soft, _, err = r.list(o.soft, classes)
	}
	return err
}

// keys appends the keys of objects [from, to) to dst.
func (r *blockReader) keys(dst []byte, layout Layout, from, to int) []byte {
	stride := layout.Stride
	size := (to - from) * stride
	dst = slices.Grow(dst, size)[:size]
	for f, column := range r.columns {
		at := layout.Offsets[f]
		if layout.Widths[f] == 1 {
			for _, code := range column[from:to] {
				dst[at] = code
				at += stride
			}
			continue
		}
		for i := from; i < to; i++ {
			dst[at], dst[at+1] = column[2*i], column[2*i+1]
			at += stride
		}
	}
	return dst
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

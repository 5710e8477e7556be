package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// blockVersion opens each object block.
const blockVersion = 1

// maxBlockCount bounds the weight and the rows of an object in a block.
const maxBlockCount = 1 << 62

// errBlock is the error of bytes that are not an object block of the expected layout.
var errBlock = errors.New("not an object block of this layout")

// AppendBlock appends objects [from, to) of the table to dst as one block:
//
//	version, flags        1 byte each; flag 1: rows follow
//	objects               uvarint
//	codes                 per feature a column of objects * width bytes
//	per object            uvarints: number of classes, then class and weight of each; rows
func (t *Table) AppendBlock(dst []byte, from, to int) []byte {
	dst = appendBlockHead(dst, to-from, t.hasRows)
	for f, width := range t.layout.Widths {
		dst = t.appendColumn(dst, t.layout.Offsets[f], width, from, to)
	}
	var raw []ClassWeight
	for id := from; id < to; id++ {
		raw = t.classWeights(id, raw)
		var rows int64
		if t.hasRows {
			p, at := t.place(id)
			rows = p.rows[at]
		}
		dst = appendClasses(dst, raw, rows, t.hasRows)
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
		column, from = column[n*width:], from+n
	}
	return dst
}

// AppendBlock appends all objects to dst as one block.
func (o *Objects) AppendBlock(dst []byte) []byte {
	dst = appendBlockHead(dst, o.Len(), o.Rows != nil)
	for f := range o.Codes {
		dst = append(dst, o.Codes[f].U8...)
		for _, c := range o.Codes[f].U16 {
			dst = binary.LittleEndian.AppendUint16(dst, c)
		}
	}
	for i := range o.Class {
		dst = appendClasses(dst, o.Raw(i), o.RowsOf(i), o.Rows != nil)
	}
	return dst
}

func appendBlockHead(dst []byte, objects int, hasRows bool) []byte {
	var flags byte
	if hasRows {
		flags = 1
	}
	return binary.AppendUvarint(append(dst, blockVersion, flags), uint64(objects))
}

func appendClasses(dst []byte, raw []ClassWeight, rows int64, hasRows bool) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(raw)))
	for _, cw := range raw {
		dst = binary.AppendUvarint(dst, uint64(cw.Class))
		dst = binary.AppendUvarint(dst, uint64(cw.Weight))
	}
	if hasRows {
		dst = binary.AppendUvarint(dst, uint64(rows))
	}
	return dst
}

// blockReader walks the parts of a block after its columns.
type blockReader struct {
	objects int
	hasRows bool
	columns [][]byte // per feature
	rest    []byte
	bad     bool
}

// openBlock checks a block's head against the layout.
func openBlock(b []byte, layout Layout) (*blockReader, error) {
	if len(b) < 2 || b[0] != blockVersion || b[1] > 1 {
		return nil, errBlock
	}
	r := &blockReader{hasRows: b[1] != 0, rest: b[2:]}
	n := r.uvarint()
	if r.bad || n > uint64(len(b)) || int(n)*layout.Stride > len(r.rest) {
		return nil, errBlock
	}
	r.objects = int(n)
	r.columns = make([][]byte, len(layout.Widths))
	for f, width := range layout.Widths {
		size := r.objects * width
		r.columns[f], r.rest = r.rest[:size], r.rest[size:]
	}
	return r, nil
}

func (r *blockReader) uvarint() uint64 {
	x, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return x
}

// classes reads the class weights and the rows of the next object. If the block has no
// rows, the number of rows is the weight. By far the most objects are few rows of one class.
func (r *blockReader) classes(dst []ClassWeight, classes int) (raw []ClassWeight, rows int64, err error) {
	b := r.rest
	if len(b) < 3 || b[0] != 1 || b[1]|b[2] >= 0x80 || int(b[1]) >= classes || b[2] == 0 || r.hasRows {
		return r.manyClasses(dst, classes)
	}
	r.rest = b[3:]
	return append(dst[:0], ClassWeight{uint16(b[1]), int64(b[2])}), int64(b[2]), nil
}

// manyClasses is classes for any object.
func (r *blockReader) manyClasses(dst []ClassWeight, classes int) (raw []ClassWeight, rows int64, err error) {
	n := r.uvarint()
	if r.bad || n == 0 || n > uint64(classes) {
		return nil, 0, errBlock
	}
	dst = dst[:0]
	var next, total uint64 // next: least class that may follow; total: weight so far
	for range n {
		class, weight := r.uvarint(), r.uvarint()
		if class < next || class >= uint64(classes) || weight == 0 || weight > maxBlockCount-total {
			return nil, 0, errBlock
		}
		dst = append(dst, ClassWeight{uint16(class), int64(weight)})
		next, total = class+1, total+weight
	}
	if r.hasRows {
		total = r.uvarint()
	}
	if r.bad || total > maxBlockCount {
		return nil, 0, errBlock
	}
	return dst, int64(total), nil
}

// end checks that nothing follows the last object.
func (r *blockReader) end() error {
	if len(r.rest) > 0 {
		return errBlock
	}
	return nil
}

// BlockLen returns the number of objects in a block.
func BlockLen(b []byte) (int, error) {
	if len(b) < 2 || b[0] != blockVersion {
		return 0, errBlock
	}
	n, w := binary.Uvarint(b[2:])
	if w <= 0 || n > uint64(len(b)) {
		return 0, errBlock
	}
	return int(n), nil
}

// AppendFrom appends the objects of a block.
func (o *Objects) AppendFrom(block []byte, layout Layout) error {
	r, err := openBlock(block, layout)
	if err != nil {
		return err
	}
	if len(o.Codes) != len(r.columns) {
		return fmt.Errorf("%w: %d features, expected %d", errBlock, len(r.columns), len(o.Codes))
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

// AppendClassesFrom appends the weights and rows of a block's objects without
// their codes.
func (o *Objects) AppendClassesFrom(block []byte, layout Layout) error {
	r, err := openBlock(block, layout)
	if err != nil {
		return err
	}
	return o.appendClasses(r)
}

func (o *Objects) appendClasses(r *blockReader) error {
	var raw []ClassWeight
	for range r.objects {
		var rows int64
		var err error
		if raw, rows, err = r.classes(raw, o.Classes); err != nil {
			return err
		}
		o.addClasses(raw, rows)
	}
	return r.end()
}

// EachClasses calls visit with the class weights, in class order, and the rows of each
// object of a block. The next call changes raw.
func EachClasses(block []byte, layout Layout, classes int, visit func(raw []ClassWeight, rows int64)) error {
	r, err := openBlock(block, layout)
	if err != nil {
		return err
	}
	var raw []ClassWeight
	for range r.objects {
		var rows int64
		if raw, rows, err = r.classes(raw, classes); err != nil {
			return err
		}
		visit(raw, rows)
	}
	return r.end()
}

// AddBlock coalesces the objects of a block into the table.
func (t *Table) AddBlock(block []byte, classes int) error {
	r, err := openBlock(block, t.layout)
	if err != nil {
		return err
	}
	key := make([]byte, t.layout.Stride)
	var raw []ClassWeight
	for i := range r.objects {
		for f, column := range r.columns {
			at, width := t.layout.Offsets[f], t.layout.Widths[f]
			copy(key[at:at+width], column[i*width:])
		}
		var rows int64
		if raw, rows, err = r.classes(raw, classes); err != nil {
			return err
		}
		hash := HashKey(key)
		for j, cw := range raw {
			t.Add(key, hash, cw.Class, cw.Weight, rows*int64(boolToInt(j == 0)))
		}
	}
	return r.end()
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

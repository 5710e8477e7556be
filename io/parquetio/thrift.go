package parquetio

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// maxThriftDepth bounds the nesting of metadata. Parquet's own is below ten.
const maxThriftDepth = 32

var errThrift = errors.New("malformed metadata")

// unmarshal decodes the struct at the start of b, and returns its length. The decoder
// allocates lists by their stated length, and recurses into unknown fields. So the struct
// is walked first.
func unmarshal(b []byte, v any) (int, error) {
	w := thriftWalker{varints{rest: b}}
	w.walkStruct(0)
	if w.bad {
		return 0, errThrift
	}
	n := len(b) - len(w.rest)
	var compact thrift.CompactProtocol
	if err := thrift.NewDecoder(compact.NewReaderFromBytes(b[:n])).Decode(v); err != nil {
		return 0, err
	}
	return n, nil
}

// thriftWalker checks the form of compact Thrift: all lengths are within the bytes, and the
// nesting is bounded.
type thriftWalker struct{ varints }

// varints reads bytes from the front. Numbers need not be in their shortest form.
type varints struct {
	rest []byte
	bad  bool // the bytes ended within a number
}

func (w *thriftWalker) take(n uint64) {
	if n > uint64(len(w.rest)) {
		w.bad = true
		w.rest = nil
		return
	}
	w.rest = w.rest[n:]
}

func (w *thriftWalker) byte() byte {
	if len(w.rest) == 0 {
		w.bad = true
		return 0
	}
	b := w.rest[0]
	w.rest = w.rest[1:]
	return b
}

func (w *varints) uvarint() uint64 {
	x, n := binary.Uvarint(w.rest)
	if n <= 0 {
		w.bad = true
		w.rest = nil
		return 0
	}
	w.rest = w.rest[n:]
	return x
}

func (w *thriftWalker) walkStruct(depth int) {
	if depth > maxThriftDepth {
		w.bad = true
	}
	for !w.bad {
		b := w.byte()
		if b == 0 {
			return
		}
		if b>>4 == 0 {
			w.uvarint() // the number of the field
		}
		if t := thrift.Type(b & 0xF); t != thrift.TRUE && t != thrift.FALSE { // the type of a flag is its value
			w.walkValue(t, depth)
		}
	}
}

func (w *thriftWalker) walkValue(t thrift.Type, depth int) {
	switch t {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		w.take(1)
	case thrift.I16, thrift.I32, thrift.I64:
		w.uvarint()
	case thrift.DOUBLE:
		w.take(8)
	case thrift.UUID:
		w.take(16)
	case thrift.BINARY:
		w.take(w.uvarint())
	case thrift.LIST, thrift.SET:
		head := w.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = w.uvarint()
		}
		w.walkItems(n, depth, thrift.Type(head&0xF))
	case thrift.MAP:
		if n := w.uvarint(); n > 0 {
			types := w.byte()
			w.walkItems(n, depth, thrift.Type(types>>4), thrift.Type(types&0xF))
		}
	case thrift.STRUCT:
		w.walkStruct(depth + 1)
	default:
		w.bad = true
	}
}

func (w *thriftWalker) walkItems(n uint64, depth int, types ...thrift.Type) {
	if n > uint64(len(w.rest)) || depth > maxThriftDepth { // an item has at least one byte
		w.bad = true
	}
	for ; n > 0 && !w.bad; n-- {
		for _, t := range types {
			w.walkValue(t, depth+1)
		}
	}
}

package wire

import (
	"encoding/binary"
	"math"
)

// Reader reads bytes from the front. After the first fault it reads zeros and empty texts: so readers
// check Bad once for many values, but before a value sizes memory or a loop.
type Reader struct {
	Rest []byte // what is not read yet; nil after a fault
	Bad  bool   // a value was cut short, not in its shortest form, or above its limit
}

// Fail notes a fault.
func (r *Reader) Fail() { r.Rest, r.Bad = nil, true }

// Uvarint reads an unsigned number in its shortest form.
func (r *Reader) Uvarint() uint64 {
	if b := r.Rest; len(b) > 0 && b[0] < 0x80 {
		r.Rest = b[1:]
		return uint64(b[0])
	}
	return r.long()
}

// long reads an unsigned number of several bytes.
func (r *Reader) long() uint64 {
	x, n := binary.Uvarint(r.Rest)
	if n <= 0 || n > 1 && r.Rest[n-1] == 0 {
		r.Fail()
		return 0
	}
	r.Rest = r.Rest[n:]
	return x
}

// Varint reads a signed number in its shortest form.
func (r *Reader) Varint() int64 {
	x := r.Uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

// AtMost reads an unsigned number of at most most.
func (r *Reader) AtMost(most uint64) uint64 {
	x := r.Uvarint()
	if x > most {
		r.Fail()
		return 0
	}
	return x
}

// Count reads an unsigned number that fits int64.
func (r *Reader) Count() int64 { return int64(r.AtMost(math.MaxInt64)) }

// Length reads the length of a list whose members take at least size bytes each.
func (r *Reader) Length(size int) int {
	x := r.Uvarint()
	if x > uint64(len(r.Rest)/size) {
		r.Fail()
		return 0
	}
	return int(x)
}

// Take reads n bytes; nil if there are fewer.
func (r *Reader) Take(n int) []byte {
	if n > len(r.Rest) {
		r.Fail()
		return nil
	}
	b := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return b
}

// Bytes reads a list of bytes with its length.
func (r *Reader) Bytes() []byte { return r.Take(r.Length(1)) }

// Text reads a text with its length.
func (r *Reader) Text() string { return string(r.Bytes()) }

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if len(r.Rest) == 0 {
		r.Fail()
		return 0
	}
	c := r.Rest[0]
	r.Rest = r.Rest[1:]
	return c
}

// Float reads the eight bytes of a number, the lowest one first.
func (r *Reader) Float() float64 {
	b := r.Take(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// Floats reads a list of numbers with its length.
func (r *Reader) Floats() []float64 {
	list := make([]float64, r.Length(8))
	b := r.Take(8 * len(list))
	for i := range list {
		list[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return list
}

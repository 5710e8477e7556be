// Package wire writes and reads the numbers, texts and lists of the binary forms that workers and files
// exchange. It is not meant for other programs.
package wire

import (
	"encoding/binary"
	"math"
)

// Writer is a list of bytes to which values are appended. Each method returns the longer list, as append
// does, and the Reader's method of the same name reads the value.
type Writer []byte

// Uvarint writes an unsigned number in its shortest form.
func (w Writer) Uvarint(x uint64) Writer { return binary.AppendUvarint(w, x) }

// Varint writes a signed number in its shortest form.
func (w Writer) Varint(x int64) Writer { return binary.AppendVarint(w, x) }

// Count writes a number that is not negative.
func (w Writer) Count(x int64) Writer { return binary.AppendUvarint(w, uint64(x)) }

// Length writes the length of a list, or another int that is not negative.
func (w Writer) Length(n int) Writer { return binary.AppendUvarint(w, uint64(n)) }

// Bytes writes a list of bytes with its length.
func (w Writer) Bytes(b []byte) Writer { return append(w.Length(len(b)), b...) }

// Text writes a text with its length.
func (w Writer) Text(s string) Writer { return append(w.Length(len(s)), s...) }

// Byte writes a byte.
func (w Writer) Byte(c byte) Writer { return append(w, c) }

// Float writes the eight bytes of a number, the lowest one first.
func (w Writer) Float(x float64) Writer {
	return binary.LittleEndian.AppendUint64(w, math.Float64bits(x))
}

// Floats writes a list of numbers with its length.
func (w Writer) Floats(list []float64) Writer {
	w = w.Length(len(list))
	for _, x := range list {
		w = w.Float(x)
	}
	return w
}

package wire_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/wire"
)

// TestNumbers: what encoding/binary writes is read back, and nothing is left.
func TestNumbers(t *testing.T) {
	for _, x := range []uint64{0, 1, 127, 128, 1 << 14, 1<<63 - 1, 1 << 63, math.MaxUint64} {
		b := binary.AppendVarint(binary.AppendUvarint(nil, x), int64(x))
		b = append(binary.LittleEndian.AppendUint16(b, uint16(x)), 3, 'a', 'b', 'c')
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(x)))
		r := wire.Reader{Rest: b}
		if u, v, w := r.Uvarint(), r.Varint(), r.Uint16(); u != x || v != int64(x) || w != uint16(x) {
			t.Errorf("%d: read %d, %d, %d", x, u, v, w)
		}
		if text, f := r.Bytes(), r.Float(); string(text) != "abc" || f != float64(x) || r.Bad || len(r.Rest) > 0 {
			t.Errorf("%d: read %q, %v, then %+v", x, text, f, r)
		}
	}
}

// TestFaults: after a fault nothing is left and zeros follow.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		read  func(r *wire.Reader)
	}{
		"no byte":        {nil, func(r *wire.Reader) { r.Byte() }},
		"no number":      {nil, func(r *wire.Reader) { r.Uvarint() }},
		"cut short":      {[]byte{0x80}, func(r *wire.Reader) { r.Varint() }},
		"not shortest":   {[]byte{0x81, 0}, func(r *wire.Reader) { r.Uvarint() }},
		"11 bytes":       {[]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), func(r *wire.Reader) { r.Uvarint() }},
		"above limit":    {[]byte{9, 1}, func(r *wire.Reader) { r.AtMost(8) }},
		"list too long":  {[]byte{2, 1, 1, 1}, func(r *wire.Reader) { r.Length(2) }},
		"text too long":  {[]byte{2, 1}, func(r *wire.Reader) { r.Bytes() }},
		"half a number":  {[]byte{1, 2, 3, 4}, func(r *wire.Reader) { r.Float() }},
		"one byte of 2":  {[]byte{1}, func(r *wire.Reader) { r.Uint16() }},
		"too many bytes": {[]byte{1}, func(r *wire.Reader) { r.Take(2) }},
	} {
		r := wire.Reader{Rest: c.bytes}
		if c.read(&r); !r.Bad || r.Rest != nil || r.Uvarint() != 0 || r.Byte() != 0 || r.Bytes() != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

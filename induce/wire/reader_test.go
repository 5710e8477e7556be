package wire_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/wire"
)

// TestNumbers: what Writer writes is what encoding/binary writes; Reader reads it back, and nothing is left.
func TestNumbers(t *testing.T) {
	for _, x := range []uint64{0, 1, 127, 128, 1 << 14, 1<<63 - 1, 1 << 63, math.MaxUint64} {
		b := binary.AppendVarint(binary.AppendUvarint(nil, x), int64(x))
		b = append(b, byte(x), 3, 'a', 'b', 'c')
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(x)))
		w := wire.Writer(nil).Uvarint(x).Varint(int64(x)).Byte(byte(x)).Text("abc").Float(float64(x))
		if !bytes.Equal(w, b) {
			t.Errorf("%d: written as %x, want %x", x, w, b)
		}
		r := wire.Reader{Rest: b}
		if u, v, w := r.Uvarint(), r.Varint(), r.Byte(); u != x || v != int64(x) || w != byte(x) {
			t.Errorf("%d: read %d, %d, %d", x, u, v, w)
		}
		if text, f := r.Text(), r.Float(); text != "abc" || f != float64(x) || r.Bad || len(r.Rest) > 0 {
			t.Errorf("%d: read %q, %v, then %+v", x, text, f, r)
		}
	}
}

// TestLists: lists and counts are read back.
func TestLists(t *testing.T) {
	floats := []float64{0, math.Copysign(0, -1), 0.5, math.Inf(1)}
	r := wire.Reader{Rest: wire.Writer(nil).Floats(floats).Floats(nil).Bytes([]byte{7}).Count(math.MaxInt64).Length(300)}
	if got, empty := r.Floats(), r.Floats(); !slices.Equal(got, floats) || !math.Signbit(got[1]) || len(empty) > 0 {
		t.Errorf("read %v and %v, want %v and no number", got, empty, floats)
	}
	if b, n := r.Bytes(), r.Count(); string(b) != "\x07" || n != math.MaxInt64 || r.Uvarint() != 300 || r.Bad || len(r.Rest) > 0 {
		t.Errorf("read %v and %d, then %+v", b, n, r)
	}
}

// TestFaults: after a fault nothing is left and zeros follow.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		read  func(r *wire.Reader)
	}{
		"no byte":         {nil, func(r *wire.Reader) { r.Byte() }},
		"no number":       {nil, func(r *wire.Reader) { r.Uvarint() }},
		"cut short":       {[]byte{0x80}, func(r *wire.Reader) { r.Varint() }},
		"not shortest":    {[]byte{0x81, 0}, func(r *wire.Reader) { r.Uvarint() }},
		"11 bytes":        {[]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), func(r *wire.Reader) { r.Uvarint() }},
		"above limit":     {[]byte{9, 1}, func(r *wire.Reader) { r.AtMost(8) }},
		"list too long":   {[]byte{2, 1, 1, 1}, func(r *wire.Reader) { r.Length(2) }},
		"count too large": {binary.AppendUvarint(nil, 1<<63), func(r *wire.Reader) { r.Count() }},
		"half a list":     {[]byte{1, 1, 2, 3}, func(r *wire.Reader) { r.Floats() }},
		"text too long":   {[]byte{2, 1}, func(r *wire.Reader) { r.Bytes() }},
		"half a number":   {[]byte{1, 2, 3, 4}, func(r *wire.Reader) { r.Float() }},
		"too many bytes":  {[]byte{1}, func(r *wire.Reader) { r.Take(2) }},
	} {
		r := wire.Reader{Rest: c.bytes}
		if c.read(&r); !r.Bad || r.Rest != nil || r.Uvarint() != 0 || r.Byte() != 0 || r.Bytes() != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

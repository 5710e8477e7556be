package parquetio

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

var errDelta = errors.New("malformed delta encoding")

// Bounds of the delta encoding's blocks; writers use 128 values in 4 parts.
const (
	maxDeltaBlock = 1 << 16
	maxDeltaWidth = 64
)

// deltaInts decodes exactly n DELTA_BINARY_PACKED integers, and returns the bytes after them.
// parquet-go allocates memory by the number in the header, and does not report the end of the
// values.
func deltaInts(dst []int64, b []byte, n int) (values []int64, rest []byte, err error) {
	r := deltaReader{varints{rest: b}}
	block := r.uvarint()
	parts := r.uvarint()
	total := r.uvarint()
	last := r.varint()
	if r.bad || total != uint64(n) || parts == 0 || block > maxDeltaBlock || block%(parts*8) != 0 {
		return nil, nil, errDelta
	}
	values = dst[:0]
	if n > 0 {
		values = append(values, last)
	}
	for len(values) < n && !r.bad {
		values = r.block(values, int(block/parts), int(parts), n)
	}
	if r.bad {
		return nil, nil, errDelta
	}
	return values, r.rest, nil
}

type deltaReader struct{ varints }

func (r *deltaReader) varint() int64 {
	x := r.uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

// block appends the values of a block. A block has parts of size values each. Each value is its
// predecessor plus the block's least delta plus a number of the part's bit width.
func (r *deltaReader) block(values []int64, size, parts, n int) []int64 {
	least := r.varint()
	if r.bad || size == 0 || len(r.rest) < parts {
		r.bad = true
		return values
	}
	widths := r.rest[:parts]
	r.rest = r.rest[parts:]
	for _, w := range widths {
		if len(values) == n {
			return values // further parts have no bytes
		}
		if values = r.part(values, least, int(w), min(size, n-len(values)), size); r.bad {
			return values
		}
	}
	return values
}

func (r *deltaReader) part(values []int64, least int64, width, need, size int) []int64 {
	length := width * size / 8
	if short := (width*need + 7) / 8; length > len(r.rest) && short <= len(r.rest) {
		length = len(r.rest) // some writers do not pad the last part
	}
	if width > maxDeltaWidth || length > len(r.rest) {
		r.bad = true
		return values
	}
	packed := r.rest[:length]
	r.rest = r.rest[length:]
	last := values[len(values)-1]
	for i := range need {
		last += least + int64(bitsAt(packed, i*width, width))
		values = append(values, last)
	}
	return values
}

// bitsAt returns width bits of b, starting at a bit, lowest first.
func bitsAt(b []byte, at, width int) uint64 {
	if width == 0 {
		return 0
	}
	i := at / 8
	shift := at % 8
	var word [16]byte
	copy(word[:], b[i:min(len(b), i+9)])
	lo, hi := binary.LittleEndian.Uint64(word[:]), binary.LittleEndian.Uint64(word[8:])
	x := lo>>shift | hi<<(64-shift)
	return x & (1<<(width-1)<<1 - 1)
}

// prefixedLimit bounds the bytes of decoded DELTA_BYTE_ARRAY values: a few encoded bytes
// can repeat a long value many times.
const prefixedLimit = maxPage

// deltaTexts turns n DELTA_LENGTH_BYTE_ARRAY values into the PLAIN layout.
func (s *scratch) deltaTexts(b []byte, n int) ([]byte, error) {
	lengths, rest, err := deltaInts(s.ints, b, n)
	if err != nil {
		return nil, err
	}
	s.ints = lengths
	s.plain = s.plain[:0]
	for _, length := range lengths {
		if length < 0 || length > int64(len(rest)) {
			return nil, errDelta
		}
		s.plain = binary.LittleEndian.AppendUint32(s.plain, uint32(length))
		s.plain = append(s.plain, rest[:length]...)
		rest = rest[length:]
	}
	return s.plain, nil
}

// deltaPrefixed turns n DELTA_BYTE_ARRAY values into the PLAIN layout: that of
// BYTE_ARRAY, or of FIXED_LEN_BYTE_ARRAY if width is not zero.
func (s *scratch) deltaPrefixed(b []byte, n, width int) ([]byte, error) {
	prefixes, rest, err := deltaInts(s.ints, b, n)
	if err != nil {
		return nil, err
	}
	s.ints = prefixes
	lengths, rest, err := deltaInts(s.moreInts, rest, n)
	if err != nil {
		return nil, err
	}
	s.moreInts = lengths
	out := s.plain[:0]
	lastStart := 0
	for i, length := range lengths {
		prefix := prefixes[i]
		last := out[lastStart:]
		if prefix < 0 || prefix > int64(len(last)) || length < 0 || length > int64(len(rest)) {
			return nil, errDelta
		}
		total := int(prefix + length)
		if width != 0 && total != width || len(out)+total > prefixedLimit {
			return nil, errDelta
		}
		if width == 0 {
			out = binary.LittleEndian.AppendUint32(out, uint32(total))
		}
		lastStart = len(out)
		out = append(out, last[:prefix]...)
		out = append(out, rest[:length]...)
		rest = rest[length:]
	}
	s.plain = out
	return out, nil
}

// deltaNumbers turns n DELTA_BINARY_PACKED integers into the PLAIN layout.
func (s *scratch) deltaNumbers(b []byte, n, width int) ([]byte, error) {
	values, _, err := deltaInts(s.ints, b, n)
	if err != nil {
		return nil, err
	}
	s.ints = values
	s.plain = s.plain[:0]
	for _, v := range values {
		if width == 4 {
			s.plain = binary.LittleEndian.AppendUint32(s.plain, uint32(v))
		} else {
			s.plain = binary.LittleEndian.AppendUint64(s.plain, uint64(v))
		}
	}
	return s.plain, nil
}

// joinStreams turns n BYTE_STREAM_SPLIT values into the PLAIN layout: byte k
// of all values stands together.
func (s *scratch) joinStreams(b []byte, n, width int) ([]byte, error) {
	hi, size := bits.Mul64(uint64(n), uint64(width))
	if hi != 0 || size != uint64(len(b)) {
		return nil, errors.New("malformed byte stream split")
	}
	s.plain = grow(s.plain, len(b))
	for k := range width {
		stream := b[k*n : (k+1)*n]
		for i, at := 0, k; i < n; i, at = i+1, at+width {
			s.plain[at] = stream[i]
		}
	}
	return s.plain, nil
}

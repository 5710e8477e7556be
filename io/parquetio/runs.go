package parquetio

import (
	"encoding/binary"
	"errors"
)

// maxOvershoot is the greatest number of unneeded values in the last bit-packed run. Writers
// pad groups of eight, some writers whole runs of 63 groups.
const maxOvershoot = 504

var errRuns = errors.New("malformed run-length encoding")

// run is one run of the run-length and bit-packed hybrid.
type run struct {
	count  int
	packed bool
	data   []byte // the repeated value, or the packed values
}

// nextRun cuts the first run off b, of which need values are wanted. The last packed run may have
// fewer bytes than it claims, if these hold the wanted values: old writers do not pad it. short is
// the number of bytes that it lacks.
func nextRun(b []byte, width, need int) (r run, rest []byte, short int, err error) {
	head, n := binary.Uvarint(b)
	if n <= 0 || head>>1 > maxRowGroupRows+maxOvershoot {
		return run{}, nil, 0, errRuns
	}
	b = b[n:]
	r = run{count: int(head >> 1), packed: head&1 != 0}
	size := (width + 7) / 8
	if r.packed {
		size = r.count * width
		r.count *= 8
	}
	if size > len(b) {
		if !r.packed || len(b)*8 < need*width || r.count > need+maxOvershoot {
			return run{}, nil, 0, errRuns
		}
		r.data = b
		return r, nil, size - len(b), nil
	}
	r.data = b[:size]
	return r, b[size:], 0, nil
}

// checkRuns returns the shortest run of bytes at the start of b with at least n values, and
// their number. The number is less than n if b ends before. short is the number of bytes that the
// last run lacks. A run's few bytes may claim billions of values, so this check comes before
// decoding.
func checkRuns(b []byte, width, n int) (used []byte, count, short int, err error) {
	rest := b
	for count < n && len(rest) > 0 {
		var r run
		if r, rest, short, err = nextRun(rest, width, n-count); err != nil {
			return nil, 0, 0, err
		}
		count += r.count
	}
	if count > n+maxOvershoot {
		return nil, 0, 0, errRuns
	}
	return b[:len(b)-len(rest)], count, short, nil
}

// runLevels decodes n definition levels of a single bit into bytes, and counts the zeros, which are
// missing values. If none is missing, it may return nil.
func (s *scratch) runLevels(b []byte, n int) (levels []byte, missing int, err error) {
	s.levels = s.levels[:0]
	for len(s.levels) < n {
		var r run
		if r, b, _, err = nextRun(b, 1, n-len(s.levels)); err != nil {
			return nil, 0, err
		}
		need := min(r.count, n-len(s.levels))
		switch {
		case r.packed:
			missing += s.packedLevels(r.data, need)
		case r.data[0] > 1 && r.data[0] != 0xff: // some writers fill the byte with the bit
			return nil, 0, errRuns
		case r.data[0] != 0 && need == n:
			return nil, 0, nil
		default:
			missing += s.repeatLevel(r.data[0]&1, need)
		}
	}
	return s.levels, missing, nil
}

func (s *scratch) repeatLevel(level byte, n int) (missing int) {
	for range n {
		s.levels = append(s.levels, level)
	}
	return n * int(1-level)
}

// packedLevels unpacks n/8 bytes into one byte per bit, lowest bit first.
func (s *scratch) packedLevels(b []byte, n int) (missing int) {
	at := len(s.levels)
	missing = n
	for _, x := range b[:(n+7)/8] {
		const each, bit = 0x0101010101010101, 0x8040201008040201
		set := (uint64(x)*each&bit + 0x7f*each) >> 7 & each
		s.levels = binary.LittleEndian.AppendUint64(s.levels, set)
	}
	s.levels = s.levels[:at+n]
	for _, level := range s.levels[at:] {
		missing -= int(level)
	}
	return missing
}

// bitLevels decodes levels of the deprecated BIT_PACKED encoding: highest bit first, as Parquet
// has it, or lowest bit first, as Impala wrote it.
func (s *scratch) bitLevels(b []byte, n int, lowestFirst bool) (levels []byte, missing int) {
	s.levels = s.levels[:0]
	for i := range n {
		at := 7 - i%8
		if lowestFirst {
			at = i % 8
		}
		level := b[i/8] >> at & 1
		s.levels = append(s.levels, level)
		missing += int(1 - level)
	}
	return s.levels, missing
}

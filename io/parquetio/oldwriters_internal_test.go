package parquetio

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestUnpaddedLevels: by hand. The last packed run may lack bytes that hold no wanted level.
func TestUnpaddedLevels(t *testing.T) {
	run := append(binary.AppendUvarint(nil, 2<<1|1), 0b0101_0101) // two groups of eight, one byte
	var s scratch
	if got, missing, err := s.runLevels(run, 8); err != nil || missing != 4 || !slices.Equal(got, []byte{1, 0, 1, 0, 1, 0, 1, 0}) {
		t.Errorf("%v, %d missing, %v", got, missing, err)
	}
	if _, _, err := s.runLevels(run, 9); err == nil {
		t.Error("a level that is not there")
	}
	d := decoder{scratch: &s, hasDictionary: true, size: 8}
	index := make([]int32, 3, 3+maxOvershoot)
	data := []byte{3, 1<<1 | 1, 0b01_010_001} // indexes 1 and 2 of three bits, and half of the next
	if err := d.decodeIndexes(index[:0], data, 2); err != nil || index[:2][0] != 1 || index[:2][1] != 2 {
		t.Errorf("indexes %v, %v", index, err)
	}
	if err := d.decodeIndexes(index[:0], data, 3); err == nil {
		t.Error("an index that is not there")
	}
}

// TestBitPackedLevels: by hand. Levels with the encoding BIT_PACKED are read as their writer meant
// them, and refused if the writer is not known.
func TestBitPackedLevels(t *testing.T) {
	for createdBy, want := range map[string][]byte{
		"parquet-mr version 1.0.0": {1, 0, 0, 0, 0, 0, 0, 0, 0, 1},
		"impala version 1.2":       {0, 0, 0, 0, 0, 0, 0, 1, 1, 0},
		"parquet-cpp":              nil, "": nil,
	} {
		d := decoder{scratch: new(scratch), writer: writerOf(createdBy)}
		p := page{rows: 10, data: []byte{0b1000_0000, 0b0100_0001}}
		err := d.levelsV1(&p, format.BitPacked)
		if !slices.Equal(p.levels, want) || (want == nil) == (err == nil) {
			t.Errorf("%s: levels %v, %v, want %v", createdBy, p.levels, err, want)
		}
		var e *dataset.DataError
		if want == nil && (!errors.As(err, &e) || !strings.Contains(e.Problem, "BIT_PACKED")) {
			t.Errorf("%s: %v", createdBy, err)
		}
	}
}

// TestSpareBits: numbers of 8 and 16 bits are the same whatever fills the higher bits.
func TestSpareBits(t *testing.T) {
	for _, filled := range []string{"\xff\x00\x00\x00", "\xff\xff\xff\xff"} {
		for l, want := range map[leaf]float64{
			{kind: uint32s, width: 4, spare: 24}: 255, {kind: int32s, width: 4, spare: 24}: -1,
		} {
			if got, err := l.appendNumbers(nil, []byte(filled), 1); err != nil || got[0] != want {
				t.Errorf("%x: %v, %v, want %v", filled, got, err, want)
			}
		}
	}
}

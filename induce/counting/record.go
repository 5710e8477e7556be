package counting

import (
	"errors"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/wire"
)

// Share is the value of a counter, such as the weight of the rows of a class.
type Share struct {
	Class  int32
	Weight int64
}

// ErrRecord is the error for encoded counts that are cut short, or that count something else.
var ErrRecord = errors.New("counts of another tree")

// AppendRecord appends a number of rows as varints, then how many shares there are, then the
// shares, which ascend by class. A class is written as its distance from the class before.
func AppendRecord(b []byte, rows int64, shares []Share) []byte {
	w := wire.Writer(b).Varint(rows).Length(len(shares))
	before := int32(-1)
	for _, s := range shares {
		w = w.Length(int(s.Class - before)).Varint(s.Weight)
		before = s.Class
	}
	return w
}

// Listed returns the counters that are not 0.
func Listed(weights []int64) []Share {
	var shares []Share
	for k, w := range weights {
		if w != 0 {
			shares = append(shares, Share{int32(k), w})
		}
	}
	return shares
}

// Merged sorts shares by class, and adds up the shares of the same class.
func Merged(shares []Share) []Share {
	slices.SortFunc(shares, func(a, b Share) int { return int(a.Class - b.Class) })
	kept := shares[:0]
	for _, s := range shares {
		if n := len(kept); n > 0 && kept[n-1].Class == s.Class {
			kept[n-1].Weight += s.Weight
		} else {
			kept = append(kept, s)
		}
	}
	return kept
}

// Reader reads records one after another.
type Reader struct {
	wire.Reader

	Rows   int64
	Shares []Share // ascending by class
}

// Next reads the next record, whose classes must be below classes. The shares are valid until the
// next call.
func (r *Reader) Next(classes int) error {
	r.Shares = r.Shares[:0]
	r.Rows = r.Varint()
	count := r.Uvarint()
	switch {
	case r.Bad:
		return fmt.Errorf("%w: cut short", ErrRecord)
	case count > uint64(classes):
		return fmt.Errorf("%w: %d classes", ErrRecord, count)
	}
	class := -1
	for range count {
		step := r.Uvarint()
		weight := r.Varint()
		if r.Bad || step == 0 || step > uint64(classes-1-class) {
			return fmt.Errorf("%w: a class that the tree does not have", ErrRecord)
		}
		class += int(step)
		r.Shares = append(r.Shares, Share{int32(class), weight})
	}
	return nil
}

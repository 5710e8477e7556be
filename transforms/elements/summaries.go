package elements

import (
	"errors"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/wire"
)

// ErrSummaries is the error for a value that is not a block of summaries.
var ErrSummaries = errors.New("not a block of summaries")

// AppendSummary appends the length and the bytes of a summary. A nil summary has length 0. It reuses the memory of
// scratch, and returns it.
func AppendSummary(b, scratch []byte, s *binning.Summary) (appended, reuse []byte, err error) {
	if s == nil {
		return wire.Writer(b).Length(0), scratch, nil
	}
	one, err := s.AppendBinary(scratch[:0])
	return wire.Writer(b).Bytes(one), one, err
}

// CutSummary returns the bytes of the first summary of a block, and the remainder of the block. A
// nil summary has no bytes.
func CutSummary(b []byte) (one, rest []byte, err error) {
	r := wire.Reader{Rest: b}
	if one = r.Bytes(); r.Bad {
		return nil, nil, ErrSummaries
	}
	return one, r.Rest, nil
}

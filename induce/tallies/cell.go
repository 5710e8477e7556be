package tallies

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/wire"
)

// A tally counts equal rows by a key. The key of a row is its part (a byte), then the cell of its
// label, then the cells of its features. A cell is a byte for type and unit, then the 8 bytes of a
// number, a small whole number as a uvarint, or the length and the bytes of a text. If groups
// must stay together, the bucket of the row's group follows (a byte). If rows have weights, the
// cell of the weight comes last: see CutWeight.

// The types of cells in addition to dataset.ValueType.
const (
	cellMissing = 0
	cellWhole   = 1<<unitShift - 1 // a number in [0, wholeEnd) without a fraction
)

// wholeEnd bounds the numbers that take at most two bytes.
const wholeEnd = 1 << 14

// AppendCell appends a cell to a key.
func AppendCell(b []byte, c *rowtype.Cell) []byte {
	unit := byte(c.Unit) << unitShift
	if c.Type == dataset.Number && c.Number >= 0 && c.Number < wholeEnd && c.Number == math.Trunc(c.Number) {
		return wire.Writer(b).Byte(cellWhole | unit).Length(int(c.Number))
	}
	b = append(b, byte(c.Type)|unit)
	switch c.Type {
	case dataset.Number:
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(c.Number))
	case dataset.Text:
		b = wire.Writer(b).Text(c.Text)
	}
	return b
}

// ErrRow is the error for a key that was not made by an Encoder.
var ErrRow = errors.New("not a tallied row")

// unitShift is the position of the unit in the first byte of a cell. The type is in the bits below.
const unitShift = 4

// cellType is the type and the unit of the cells of a column. It is zero for a column without any
// value.
type cellType struct {
	typ  dataset.ValueType
	unit dataset.Unit
}

// keyCell is a cell of a key.
type keyCell struct {
	cellType

	number float64
	text   []byte // part of the key
}

// cutCell takes the first cell off a key.
func cutCell(b []byte) (c keyCell, rest []byte, err error) {
	if len(b) == 0 {
		return c, nil, ErrRow
	}
	c.typ = dataset.ValueType(b[0] & (1<<unitShift - 1))
	c.unit = dataset.Unit(b[0] >> unitShift)
	b = b[1:]
	switch c.typ {
	case cellMissing:
		return c, b, nil
	case dataset.Number:
		if len(b) < 8 {
			return c, nil, ErrRow
		}
		c.number = math.Float64frombits(binary.BigEndian.Uint64(b))
		return c, b[8:], nil
	case cellWhole:
		r := wire.Reader{Rest: b}
		c.typ = dataset.Number
		if c.number = float64(r.AtMost(wholeEnd - 1)); r.Bad {
			return c, nil, ErrRow
		}
		return c, r.Rest, nil
	case dataset.Text:
		r := wire.Reader{Rest: b}
		if c.text = r.Bytes(); r.Bad {
			return c, nil, ErrRow
		}
		return c, r.Rest, nil
	default:
		return c, nil, ErrRow
	}
}

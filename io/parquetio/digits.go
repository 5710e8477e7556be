package parquetio

import (
	"encoding/binary"
	"math/big"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// columnStats has the bounds of a chunk's values as its footer states them.
type columnStats struct {
	OldMax []byte             `thrift:"1,optional"` // compared as signed numbers, whatever the type
	OldMin []byte             `thrift:"2,optional"`
	Nulls  thrift.Null[int64] `thrift:"3,optional"`
	Max    []byte             `thrift:"5,optional"`
	Min    []byte             `thrift:"6,optional"`
}

// exactDigits is the number of decimal digits that float64 always holds.
const exactDigits = 15

// useStatistics marks the columns without any value, and integer columns with values that float64
// may not hold exactly, according to the bounds in the footer or, for decimals without bounds, to
// their precision. Then it drops the statistics.
func (f *File) useStatistics() {
	for i := range f.columns {
		l := &f.leaves[i]
		c := &f.columns[i]
		if !c.Nested {
			c.Null = c.Null || f.hasNone(l)
		}
		if !l.exceeds() || c.Null {
			continue
		}
		for g := range f.rowGroups {
			if l.chunk < len(f.rowGroups[g].Columns) {
				c.Wide = c.Wide || l.isWide(&f.rowGroups[g].Columns[l.chunk].Meta.V.Statistics)
			}
		}
	}
	for g := range f.rowGroups {
		for i := range f.rowGroups[g].Columns {
			f.rowGroups[g].Columns[i].Meta.V.Statistics = columnStats{}
		}
	}
}

// isWide reports whether a chunk may have values that float64 does not hold.
func (l *leaf) isWide(stats *columnStats) bool {
	low, high := stats.Min, stats.Max
	if l.kind == int64s && low == nil && high == nil {
		low, high = stats.OldMin, stats.OldMax
	}
	if low == nil || high == nil {
		return l.precision > exactDigits
	}
	return l.beyond(low) || l.beyond(high)
}

// hasNone reports whether a column has rows, and all of them are null, by the footer.
func (f *File) hasNone(l *leaf) bool {
	for g := range f.rowGroups {
		if l.chunk >= len(f.rowGroups[g].Columns) {
			return false
		}
		nulls := &f.rowGroups[g].Columns[l.chunk].Meta.V.Statistics.Nulls
		if !nulls.Valid || nulls.V != f.rowGroups[g].NumRows {
			return false
		}
	}
	return f.Rows > 0
}

func decimalPrecision(e *format.SchemaElement) int32 {
	if d, ok := e.LogicalType.Value.(*format.DecimalType); ok {
		return d.Precision
	}
	return e.Precision.V
}

// exceeds reports whether the type has whole numbers that float64 does not hold.
func (l *leaf) exceeds() bool {
	switch l.kind {
	case int64s, uint64s:
		return true
	case decimal64, decimalBytes:
		return l.scale == 0
	default:
		return false
	}
}

// beyond reports whether a value is beyond 2^53.
func (l *leaf) beyond(value []byte) bool {
	x := l.whole(value)
	return x.Abs(x).Cmp(big.NewInt(maxExact)) > 0
}

// whole returns a value of a type of whole numbers.
func (l *leaf) whole(value []byte) *big.Int {
	if l.kind == decimalBytes {
		return bigEndian(value)
	}
	var b [8]byte
	copy(b[:], value)
	switch x := binary.LittleEndian.Uint64(b[:]); l.kind {
	case uint64s:
		return new(big.Int).SetUint64(x)
	case uint32s:
		return new(big.Int).SetUint64(uint64(uint32(x) << l.spare >> l.spare))
	case int32s, decimal32:
		return big.NewInt(int64(int32(uint32(x)) << l.spare >> l.spare))
	default:
		return big.NewInt(int64(x))
	}
}

// bigEndian reads a two's complement number of any length.
func bigEndian(b []byte) *big.Int {
	x := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}

// spellDigits spells a whole number with all of its digits.
func (l *leaf) spellDigits(value []byte) (string, error) {
	switch {
	case l.scale != 0 || l.kind != decimal32 && l.kind != int32s && l.kind != uint32s && !l.exceeds():
		return "", fault("numbers with a fraction, and other files hold whole numbers beyond 2^53",
			"write the column in the same way in all files")
	case len(value) > maxDecimal:
		return "", longDecimal(len(value))
	default:
		return l.whole(value).String(), nil
	}
}

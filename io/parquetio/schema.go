package parquetio

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Column describes one top-level column of a file.
type Column struct {
	Name        string
	Type        dataset.ValueType // 0 for an unreadable column
	Unit        dataset.Unit      // unit of points in time
	Zone        dataset.Zone      // zone of timestamps, if the logical type specifies it
	Null        bool              // the column has no values: its logical type is null, or the footer counts none
	Physical    string            // Parquet's name of the physical type
	Logical     string            // Parquet's name of the logical type; empty if absent
	Nested      bool              // a group or a repeated column: not readable
	Unsupported string            // reason why the column is unreadable; empty if it is readable
	Optional    bool              // values may be missing
	Duration    string            // Arrow's unit of durations, stored as numbers: s, ms, us or ns; empty: no durations
	Index       bool              // the column was the index of a data frame
	Wide        bool              // whole numbers that float64 may not hold exactly: see RowGroup
}

// kind is the conversion of a column's stored values to numbers or texts.
type kind uint8

const (
	unreadable kind = iota
	boolean
	int32s
	uint32s
	int64s  // values beyond float64's whole numbers are refused
	uint64s // as int64s
	ticks32 // times and timestamps, converted to microseconds: see leaf.tick
	ticks64
	int96s
	floats
	doubles
	float16s
	decimal32
	decimal64
	decimalBytes
	text
	uuid
)

// leaf describes a column for decoding.
type leaf struct {
	kind     kind
	physical format.Type
	width    int // bytes of a value; 0 for BYTE_ARRAY, unused for BOOLEAN
	scale    int // number of digits after the decimal point
	// precision is the number of digits of a decimal; 0 for other columns.
	precision int32
	spare     uint8 // see spareBits
	unit      dataset.Unit
	tick      time.Duration // file's unit of ticks
	optional  bool
	digits    bool // numbers are read as texts, see RowGroup
	chunk     int  // position of the column's chunk in each row group
}

const maxDecimalScale = 1000

// readSchema lists the top-level columns of a schema, which is a tree in
// depth-first order, and counts its leaves: the chunks of a row group.
func readSchema(elements []format.SchemaElement) (columns []Column, leaves []leaf, chunks int, err error) {
	if len(elements) == 0 {
		return nil, nil, 0, errors.New("its schema is empty")
	}
	seen := make(map[string]int)
	next := 1
	for range elements[0].NumChildren.V {
		if next >= len(elements) {
			return nil, nil, 0, errors.New("its schema ends early")
		}
		e := &elements[next]
		end, count, err := subtree(elements, next)
		if err != nil {
			return nil, nil, 0, err
		}
		column, l := describeColumn(e)
		l.chunk = chunks
		if at, ok := seen[column.Name]; ok {
			column.Unsupported = "the name occurs twice in the file"
			columns[at].Unsupported = column.Unsupported
		}
		seen[column.Name] = len(columns)
		columns = append(columns, column)
		leaves = append(leaves, l)
		next = end
		chunks += count
	}
	if next != len(elements) {
		return nil, nil, 0, errors.New("its schema has columns outside of the root")
	}
	return columns, leaves, chunks, nil
}

// subtree returns the position after the subtree at start, and the number of its leaves.
func subtree(elements []format.SchemaElement, start int) (end, leaves int, err error) {
	for open := int64(1); open > 0; open-- {
		if start >= len(elements) {
			return 0, 0, errors.New("its schema ends early")
		}
		e := &elements[start]
		start++
		switch {
		case isGroup(e) && e.NumChildren.V < 0:
			return 0, 0, fmt.Errorf("its schema has a group of %d columns", e.NumChildren.V)
		case isGroup(e):
			open += int64(e.NumChildren.V)
		default:
			leaves++
		}
	}
	return start, leaves, nil
}

func isGroup(e *format.SchemaElement) bool { return !e.Type.Valid }

func describeColumn(e *format.SchemaElement) (Column, leaf) {
	c := Column{
		Name:     strings.Clone(e.Name), // it shares the footer's memory
		Optional: e.RepetitionType.V == format.Optional,
		Logical:  logicalName(e),
	}
	repeated := e.RepetitionType.V == format.Repeated
	if isGroup(e) || repeated {
		c.Nested = true
		if !isGroup(e) {
			c.Physical = e.Type.V.String()
		}
		return c, leaf{}
	}
	l := leaf{
		physical: e.Type.V,
		width:    physicalWidth(e),
		scale:    int(decimalScale(e)),
		optional: c.Optional,
	}
	if isDecimal(e) {
		l.precision = decimalPrecision(e)
	}
	l.spare = spareBits(e)
	c.Physical = l.physical.String()
	if l.physical == format.FixedLenByteArray {
		c.Physical = fmt.Sprintf("%s(%d)", c.Physical, l.width)
	}
	l.unit, l.tick = unitOf(e)
	l.kind, c.Unsupported = kindOf(e, l)
	switch l.kind {
	case unreadable:
	case boolean, text, uuid:
		c.Type = dataset.Text
	default:
		c.Type, c.Unit, c.Zone = dataset.Number, l.unit, zoneOf(e)
	}
	_, c.Null = e.LogicalType.Value.(*format.NullType)
	return c, l
}

func physicalWidth(e *format.SchemaElement) int {
	switch e.Type.V {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return int(e.TypeLength.V)
	default:
		return 0
	}
}

func decimalScale(e *format.SchemaElement) int32 {
	if d, ok := e.LogicalType.Value.(*format.DecimalType); ok {
		return d.Scale
	}
	return e.Scale.V
}

func logicalName(e *format.SchemaElement) string {
	if e.LogicalType.Value != nil {
		return e.LogicalType.String()
	}
	if e.ConvertedType.Valid {
		return convertedName(e.ConvertedType.V)
	}
	return ""
}

// convertedName names the annotation of old files, without logical types.
func convertedName(t deprecated.ConvertedType) string {
	names := [...]string{
		"UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE", "TIME_MILLIS", "TIME_MICROS",
		"TIMESTAMP_MILLIS", "TIMESTAMP_MICROS", "UINT_8", "UINT_16", "UINT_32", "UINT_64",
		"INT_8", "INT_16", "INT_32", "INT_64", "JSON", "BSON", "INTERVAL",
	}
	if t < 0 || int(t) >= len(names) {
		return ""
	}
	return names[t]
}

// kindOf returns the kind of a column, or the reason why it is unreadable.
func kindOf(e *format.SchemaElement, l leaf) (k kind, reason string) {
	switch l.physical {
	case format.Boolean:
		return boolean, ""
	case format.Int32:
		return kindOfInt32(e, l)
	case format.Int64:
		return kindOfInt64(e, l)
	case format.Int96:
		return int96s, ""
	case format.Float:
		return floats, ""
	case format.Double:
		return doubles, ""
	case format.ByteArray:
		return kindOfByteArray(e, l)
	case format.FixedLenByteArray:
		return kindOfFixed(e, l)
	default:
		return unreadable, fmt.Sprintf("its physical type %d is not known", l.physical)
	}
}

// unitOf returns the unit of a column of points in time. For times and timestamps it also
// returns the file's unit: a nanosecond, a microsecond or a millisecond.
func unitOf(e *format.SchemaElement) (u dataset.Unit, tick time.Duration) {
	if e.Type.V == format.Int96 {
		return dataset.Timestamp, time.Nanosecond
	}
	switch t := e.LogicalType.Value.(type) {
	case *format.DateType:
		return dataset.Date, 0
	case *format.TimeType:
		return dataset.Time, tickOf(t.Unit)
	case *format.TimestampType:
		return dataset.Timestamp, tickOf(t.Unit)
	case nil:
		return convertedUnit(e)
	default:
		return dataset.Plain, 0
	}
}

// zoneOf returns the zone of timestamps. Columns of INT96 and of old files, without logical types, have
// timestamps of both kinds: it depends on the writer.
func zoneOf(e *format.SchemaElement) dataset.Zone {
	t, ok := e.LogicalType.Value.(*format.TimestampType)
	switch {
	case !ok:
		return dataset.NoZone
	case t.IsAdjustedToUTC:
		return dataset.UTC
	default:
		return dataset.Local
	}
}

func tickOf(u format.TimeUnit) time.Duration {
	if u.Value == nil {
		return 0
	}
	return u.Value.Duration()
}

// convertedUnit is unitOf for old files, without logical types.
func convertedUnit(e *format.SchemaElement) (u dataset.Unit, tick time.Duration) {
	if !e.ConvertedType.Valid {
		return dataset.Plain, 0
	}
	switch e.ConvertedType.V {
	case deprecated.Date:
		return dataset.Date, 0
	case deprecated.TimeMillis:
		return dataset.Time, time.Millisecond
	case deprecated.TimeMicros:
		return dataset.Time, time.Microsecond
	case deprecated.TimestampMillis:
		return dataset.Timestamp, time.Millisecond
	case deprecated.TimestampMicros:
		return dataset.Timestamp, time.Microsecond
	default:
		return dataset.Plain, 0
	}
}

func isDecimal(e *format.SchemaElement) bool {
	_, ok := e.LogicalType.Value.(*format.DecimalType)
	return ok || e.LogicalType.Value == nil && e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Decimal
}

func decimalOr(k kind, l leaf) (kind, string) {
	if l.scale < 0 || l.scale > maxDecimalScale {
		return unreadable, fmt.Sprintf("its decimal scale %d is out of range", l.scale)
	}
	return k, ""
}

func kindOfInt32(e *format.SchemaElement, l leaf) (kind, string) {
	switch {
	case isDecimal(e):
		return decimalOr(decimal32, l)
	case l.unit == dataset.Time || l.unit == dataset.Timestamp:
		return tickedOr(ticks32, l)
	}
	if isUnsigned(e) {
		return uint32s, ""
	}
	return int32s, ""
}

// tickedOr refuses ticks of an unknown unit.
func tickedOr(k kind, l leaf) (kind, string) {
	if l.tick <= 0 {
		return unreadable, fmt.Sprintf("the unit of its %s is not known", l.unit.Things())
	}
	return k, ""
}

func kindOfInt64(e *format.SchemaElement, l leaf) (kind, string) {
	if isDecimal(e) {
		return decimalOr(decimal64, l)
	}
	if l.unit == dataset.Time || l.unit == dataset.Timestamp {
		return tickedOr(ticks64, l)
	}
	if isUnsigned(e) {
		return uint64s, ""
	}
	return int64s, ""
}

func isUnsigned(e *format.SchemaElement) bool {
	if t, ok := e.LogicalType.Value.(*format.IntType); ok {
		return !t.IsSigned
	}
	if e.LogicalType.Value != nil || !e.ConvertedType.Valid {
		return false
	}
	switch e.ConvertedType.V {
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return true
	default:
		return false
	}
}

// spareBits returns how many of the highest bits of an INT32 are meaningless because the number has
// 8 or 16 bits: some writers fill them with the sign, others with zeros.
func spareBits(e *format.SchemaElement) uint8 {
	bits := 32
	if t, ok := e.LogicalType.Value.(*format.IntType); ok {
		bits = int(t.BitWidth)
	} else if e.ConvertedType.Valid && e.LogicalType.Value == nil {
		switch e.ConvertedType.V {
		case deprecated.Uint8, deprecated.Int8:
			bits = 8
		case deprecated.Uint16, deprecated.Int16:
			bits = 16
		default:
		}
	}
	if bits != 8 && bits != 16 {
		return 0
	}
	return uint8(32 - bits)
}

func kindOfByteArray(e *format.SchemaElement, l leaf) (kind, string) {
	if isDecimal(e) {
		return decimalOr(decimalBytes, l)
	}
	switch t := e.LogicalType.Value.(type) {
	case nil, *format.StringType, *format.EnumType, *format.JsonType, *format.BsonType, *format.NullType:
		return text, ""
	default:
		return unreadable, fmt.Sprintf("its logical type %s is neither a number nor a text", t)
	}
}

func kindOfFixed(e *format.SchemaElement, l leaf) (kind, string) {
	if l.width <= 0 {
		return unreadable, "its values have no length"
	}
	if isDecimal(e) {
		return decimalOr(decimalBytes, l)
	}
	switch t := e.LogicalType.Value.(type) {
	case *format.UUIDType:
		if l.width == 16 {
			return uuid, ""
		}
		return unreadable, fmt.Sprintf("its values have %d bytes, a UUID has 16", l.width)
	case *format.Float16Type:
		if l.width == 2 {
			return float16s, ""
		}
		return unreadable, fmt.Sprintf("its values have %d bytes, a FLOAT16 has 2", l.width)
	case nil:
	default:
		return unreadable, fmt.Sprintf("its logical type %s is neither a number nor a text", t)
	}
	if e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Interval {
		return unreadable, "an INTERVAL is three numbers"
	}
	return unreadable, "bytes of fixed length without a logical type have no meaning as a number or text"
}

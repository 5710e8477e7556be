package parquetio

import (
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

func element(name string, physical format.Type, edit func(*format.SchemaElement)) format.SchemaElement {
	e := format.SchemaElement{Name: name, Type: thrift.New(physical)}
	if edit != nil {
		edit(&e)
	}
	return e
}

func group(name string, children int32) format.SchemaElement {
	return format.SchemaElement{Name: name, NumChildren: thrift.New(children)}
}

// TestKinds covers the annotations of old and unusual writers.
func TestKinds(t *testing.T) {
	converted := func(c deprecated.ConvertedType) func(*format.SchemaElement) {
		return func(e *format.SchemaElement) { e.ConvertedType = thrift.New(c) }
	}
	logical := func(l format.LogicalTypeValue, length int32) func(*format.SchemaElement) {
		return func(e *format.SchemaElement) {
			e.LogicalType.Value = l
			e.TypeLength = thrift.New(length)
		}
	}
	for _, c := range []struct {
		physical format.Type
		edit     func(*format.SchemaElement)
		want     kind
		logical  string
		reason   string
	}{
		{format.ByteArray, converted(deprecated.UTF8), text, "UTF8", ""},
		{format.ByteArray, converted(deprecated.Bson), text, "BSON", ""},
		{format.Int32, converted(deprecated.Date), int32s, "DATE", ""},
		{format.Int32, converted(deprecated.Uint16), uint32s, "UINT_16", ""},
		{format.Int64, converted(deprecated.Uint64), uint64s, "UINT_64", ""},
		{format.Int64, converted(deprecated.Int64), int64s, "INT_64", ""},
		{format.Int64, converted(deprecated.TimestampMicros), ticks64, "TIMESTAMP_MICROS", ""},
		{format.Int64, converted(deprecated.Decimal), decimal64, "DECIMAL", ""},
		{format.Int64, converted(99), int64s, "", ""},
		{format.FixedLenByteArray, logical(nil, 3), unreadable, "", "fixed length"},
		{format.FixedLenByteArray, logical(nil, 0), unreadable, "", "no length"},
		{format.FixedLenByteArray, logical(&format.UUIDType{}, 15), unreadable, "UUID", "15 bytes"},
		{format.FixedLenByteArray, logical(&format.Float16Type{}, 4), unreadable, "FLOAT16", "4 bytes"},
		{format.FixedLenByteArray, logical(&format.DecimalType{Scale: -1}, 4), unreadable, "DECIMAL(0,-1)", "scale"},
		{format.ByteArray, logical(&format.GeometryType{}, 0), unreadable, `GEOMETRY("OGC:CRS84")`, "GEOMETRY"},
		{99, nil, unreadable, "", "physical type 99"},
	} {
		e := element("x", c.physical, c.edit)
		column, l := describeColumn(&e)
		if l.kind != c.want || column.Logical != c.logical || !strings.Contains(column.Unsupported, c.reason) ||
			(l.kind == unreadable) != (column.Unsupported != "") {
			t.Errorf("%s %s: kind %d, %+v", c.physical, c.logical, l.kind, column)
		}
	}
	interval := element("x", format.FixedLenByteArray, converted(deprecated.Interval))
	interval.TypeLength = thrift.New(int32(12))
	if column, _ := describeColumn(&interval); !strings.Contains(column.Unsupported, "INTERVAL") {
		t.Errorf("%+v", column)
	}
}

func TestReadSchema(t *testing.T) {
	x := element("x", format.Double, nil)
	list := element("list", format.Int32, func(e *format.SchemaElement) {
		e.RepetitionType = thrift.New(format.Repeated)
	})
	columns, leaves, chunks, err := readSchema([]format.SchemaElement{
		group("root", 4), group("struct", 2), x, group("inner", 1), x, x, list, group("empty", 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(columns) != 4 || chunks != 4 || leaves[1].chunk != 2 {
		t.Errorf("%d columns, %d chunks, column x in chunk %d", len(columns), chunks, leaves[1].chunk)
	}
	for i, nested := range []bool{true, false, true, true} {
		if columns[i].Nested != nested {
			t.Errorf("%+v", columns[i])
		}
	}
	columns, _, _, err = readSchema([]format.SchemaElement{group("root", 2), x, x})
	if err != nil || columns[0].Unsupported == "" || columns[1].Unsupported == "" {
		t.Errorf("a name that occurs twice: %+v, %v", columns, err)
	}
	for problem, elements := range map[string][]format.SchemaElement{
		"empty":       nil,
		"ends early":  {group("root", 2), x},
		"outside":     {group("root", 1), x, x},
		"of -1 colum": {group("root", 1), group("g", -1), x},
		"early":       {group("root", 1), group("g", 1<<30), x},
	} {
		if _, _, _, err := readSchema(elements); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("got %v, expected %q", err, problem)
		}
	}
}

// TestThriftWalker checks that lengths beyond the bytes are refused before decoding.
func TestThriftWalker(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":        {},
		"no end":       {0x15, 0x02},
		"list":         {0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00},
		"binary":       {0x48, 0xff, 0xff, 0xff, 0x0f, 0x00},
		"map":          {0x4b, 0xff, 0xff, 0xff, 0x0f, 0xcc, 0x00},
		"unknown type": {0x1e, 0x00},
		"deep structs": []byte(strings.Repeat("\x1c", 1<<20)),
		"deep lists":   []byte("\x19" + strings.Repeat("\x19", 1<<20)),
	} {
		if _, err := unmarshal(b, new(fileMeta)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

package gorows

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/tree"
)

// field is the place of a column in a struct. Numbers, strings, bools and pointers to these are
// read directly from memory, other columns by reflection.
type field struct {
	offset  uint32 // from the beginning of the struct
	kind    kind
	pointer bool // the place has a pointer to the value
}

// kind is a Go type of values in memory.
type kind uint8

const (
	byReflection kind = iota
	inFloat64
	inFloat32
	inInt64
	inInt32
	inInt16
	inInt8
	inUint64
	inUint32
	inUint16
	inUint8
	inString
	inBool
)

// kindOf returns the kind of a type.
func kindOf(t reflect.Type) kind {
	kinds := map[reflect.Kind]kind{
		reflect.Float64: inFloat64, reflect.Float32: inFloat32,
		reflect.Int64: inInt64, reflect.Int32: inInt32, reflect.Int16: inInt16, reflect.Int8: inInt8,
		reflect.Uint64: inUint64, reflect.Uint32: inUint32, reflect.Uint16: inUint16,
		reflect.Uint8: inUint8, reflect.String: inString, reflect.Bool: inBool,
	}
	switch k := t.Kind(); {
	case t == reflect.TypeFor[json.Number]():
		return byReflection
	case k == reflect.Int && strconv.IntSize == 64:
		return inInt64
	case k == reflect.Int:
		return inInt32
	case k == reflect.Uint && strconv.IntSize == 64:
		return inUint64
	case k == reflect.Uint:
		return inUint32
	default:
		return kinds[k]
	}
}

// fieldOf returns the place of a column in a struct type.
func fieldOf(t reflect.Type, c *rowtype.Column) field {
	var f field
	if c.Type == 0 || c.Unit != dataset.Plain || c.Scale != 0 || t.Size() > math.MaxUint32 {
		return f
	}
	for _, i := range c.Field {
		if t.Kind() != reflect.Struct {
			return field{} // inside a pointer to an embedded struct
		}
		f.offset += uint32(t.Field(i).Offset)
		t = t.Field(i).Type
	}
	if f.pointer = t.Kind() == reflect.Pointer; f.pointer {
		t = t.Elem()
	}
	f.kind = kindOf(t)
	return f
}

// place returns the address of the value; nil if the field is a nil pointer.
func (f *field) place(row unsafe.Pointer) unsafe.Pointer {
	at := unsafe.Add(row, f.offset)
	if f.pointer {
		return *(*unsafe.Pointer)(at)
	}
	return at
}

// mostExact is the number below which float64 holds every integer exactly.
const mostExact = 1 << 53

// number reads the number in the field; NaN is missing. ok is false if it takes reflection to read
// or refuse the value, for example an integer that float64 may not hold exactly.
func (f *field) number(row unsafe.Pointer) (x float64, ok bool) {
	at := f.place(row)
	if at == nil {
		return math.NaN(), true
	}
	switch f.kind {
	case inFloat64:
		return *(*float64)(at), true
	case inFloat32:
		return float64(*(*float32)(at)), true
	case inInt64:
		x = float64(*(*int64)(at))
	case inInt32:
		return float64(*(*int32)(at)), true
	case inInt16:
		return float64(*(*int16)(at)), true
	case inInt8:
		return float64(*(*int8)(at)), true
	case inUint64:
		x = float64(*(*uint64)(at))
	case inUint32:
		return float64(*(*uint32)(at)), true
	case inUint16:
		return float64(*(*uint16)(at)), true
	case inUint8:
		return float64(*(*uint8)(at)), true
	default:
		return 0, false
	}
	return x, -mostExact < x && x < mostExact
}

// value reads the field as a value of a tree. ok is as for number.
func (f *field) value(row unsafe.Pointer) (v tree.Value, ok bool) {
	switch f.kind {
	case inString, inBool:
		at := f.place(row)
		switch {
		case at == nil:
		case f.kind == inBool:
			v = tree.Text(strconv.FormatBool(*(*bool)(at)))
		default:
			v = tree.Text(*(*string)(at))
		}
		return v, true
	default:
		x, ok := f.number(row)
		return tree.Number(x), ok
	}
}

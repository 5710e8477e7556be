package rowtype

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Reader reads columns of rows, in a given order.
type Reader struct {
	schema  *Schema
	Columns []Column
}

// Reader returns a reader of the named columns. If it returns an error, the reader still has a
// column for every name, but must not read rows.
func (s *Schema) Reader(names []string) (*Reader, error) {
	r := &Reader{schema: s}
	var faults []error
	for _, name := range names {
		c, err := s.Column(name)
		if err != nil {
			faults = append(faults, err)
			c = &Column{Name: name}
		}
		r.Columns = append(r.Columns, *c)
	}
	return r, errors.Join(faults...)
}

// Read appends the cells of a row to dst.
func (r *Reader) Read(row any, dst []Cell) ([]Cell, error) {
	if r.schema.Map {
		return r.readMap(row, dst)
	}
	v, err := r.behind(row)
	if err != nil {
		return nil, err
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		if len(c.Field) == 1 { // the usual types, without a call
			switch x := v.Field(c.Field[0]); {
			case x.Kind() == reflect.Float64:
				dst = append(dst, numberCell(x.Float()))
				continue
			case x.Kind() == reflect.String && x.Type() != jsonNumberType:
				dst = append(dst, Cell{Type: dataset.Text, Text: x.String()})
				continue
			}
		}
		x, err := c.Of(v)
		if err != nil {
			return nil, err
		}
		dst = append(dst, x)
	}
	return dst, nil
}

// behind returns the struct or the map that a row is or points to.
func (r *Reader) behind(row any) (reflect.Value, error) {
	v := reflect.ValueOf(row)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return v, NilRow(r.schema.Type)
		}
		v = v.Elem()
	}
	return v, nil
}

// NilRow returns the error for a row that is a nil pointer, given the name of its type.
func NilRow(pointer string) error {
	return &dataset.DataError{
		Problem: fmt.Sprintf("a nil row of type %s, expected a row", pointer), Hint: "filter such rows out before",
	}
}

// Of returns the value of the column in a struct.
func (c *Column) Of(row reflect.Value) (Cell, error) {
	field, err := row.FieldByIndexErr(c.Field)
	if err != nil {
		return Cell{}, nil //nolint:nilerr // the pointer to an embedded struct is nil: a missing value
	}
	return c.read(field)
}

// readMap appends the cells of a row that is a map to dst.
func (r *Reader) readMap(row any, dst []Cell) ([]Cell, error) {
	switch m := row.(type) {
	case map[string]string:
		for i := range r.Columns {
			x := Cell{Absent: true}
			if text, ok := m[r.Columns[i].Name]; ok {
				x = Cell{Type: dataset.Text, Text: text}
			}
			dst = append(dst, x)
		}
		return dst, nil
	case map[string]any:
		for i := range r.Columns {
			value, there := m[r.Columns[i].Name]
			x, err := r.Columns[i].Read(value)
			if err != nil {
				return nil, err
			}
			x.Absent = !there
			dst = append(dst, x)
		}
		return dst, nil
	}
	v, err := r.behind(row)
	if err != nil {
		return nil, err
	}
	for i := range r.Columns {
		name := reflect.ValueOf(r.Columns[i].Name).Convert(v.Type().Key())
		value := v.MapIndex(name)
		x, err := r.Columns[i].read(value)
		if err != nil {
			return nil, err
		}
		x.Absent = !value.IsValid()
		dst = append(dst, x)
	}
	return dst, nil
}

// CheckKeys returns an error for a map that lacks the key of a column. cells are the cells of the
// row.
func (r *Reader) CheckKeys(row any, cells []Cell) error {
	at := slices.IndexFunc(cells, func(c Cell) bool { return c.Absent })
	if at < 0 {
		return nil
	}
	var keys []string
	for _, key := range reflect.Indirect(reflect.ValueOf(row)).MapKeys() {
		keys = append(keys, key.String())
	}
	return &dataset.DataError{
		Column:  r.Columns[at].Name,
		Problem: fmt.Sprintf("the row has no such key, only %q", first(keys)),
		Hint:    "correct the key; a missing value is a key with nil, or with an empty text if it is a number",
	}
}

// Read returns a value of a map or of decoded JSON. Numbers, texts, booleans and points in time are
// values; nil, NaN and a zero time are missing. A boolean is the text "true" or "false". The column
// decides the unit of a time.Time: see Cell.Fit for the type that a feature takes.
func (c *Column) Read(value any) (Cell, error) {
	switch x := value.(type) { // the usual types, without reflection
	case float64:
		return numberCell(x), nil
	case string:
		return Cell{Type: dataset.Text, Text: x}, nil
	default:
		return c.read(reflect.ValueOf(value))
	}
}

// read returns the value of a field or of an entry of a map.
func (c *Column) read(v reflect.Value) (Cell, error) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem() // the zero Value for nil
	}
	switch v.Kind() {
	case reflect.Invalid:
		return Cell{}, nil
	case reflect.Float64, reflect.Float32:
		return numberCell(v.Float()), nil
	case reflect.Bool:
		return Cell{Type: dataset.Text, Text: strconv.FormatBool(v.Bool())}, nil
	case reflect.String:
		return c.text(v), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return c.whole(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		x := v.Uint()
		if c.Scale != 0 {
			return c.decimal(strconv.FormatUint(x, 10))
		}
		if f := float64(x); f >= math.MaxUint64 || uint64(f) != x { // float64(x) may be 2^64, which uint64 cannot hold
			return digits(strconv.FormatUint(x, 10)), nil
		}
		return numberCell(float64(x)), nil
	case reflect.Struct:
		return c.readStruct(v)
	default:
		return Cell{}, c.strange(v)
	}
}

// readStruct returns a point in time, or the value of a nullable struct.
func (c *Column) readStruct(v reflect.Value) (Cell, error) {
	switch t := v.Type(); {
	case nullable(t):
		if !v.Field(1).Bool() {
			return Cell{}, nil
		}
		return c.read(v.Field(0))
	case !isTime(t):
		return Cell{}, c.strange(v)
	case t != timeType:
		v = v.Convert(timeType)
	case v.CanAddr():
		return c.time(*v.Addr().Interface().(*time.Time)) //nolint:errcheck // the type has been looked at
	}
	return c.time(v.Interface().(time.Time)) //nolint:errcheck // likewise
}

// strange returns the error for a value of a type that no column has.
func (c *Column) strange(v reflect.Value) error {
	e := &dataset.DataError{
		Column: c.Name, Value: fmt.Sprint(v.Interface()), Hint: c.hint("convert the value before"),
		Problem: fmt.Sprintf("a value of type %s, expected a number, a string, a bool or a time.Time", v.Type()),
	}
	if b, err := json.Marshal(v.Interface()); err == nil {
		e.Value = string(b)
	}
	switch v.Type() {
	case reflect.TypeFor[[]any]():
		e.Problem = "an array, expected a single value"
	case reflect.TypeFor[map[string]any]():
		e.Problem = "an object, expected a single value"
	}
	return e
}

var jsonNumberType = reflect.TypeFor[json.Number]() //nolint:gochecknoglobals // a constant

// text returns a string. A json.Number is a number.
func (c *Column) text(v reflect.Value) Cell {
	text := v.String()
	if v.Type() != jsonNumberType {
		return Cell{Type: dataset.Text, Text: text}
	}
	x, ok := dataset.Plain.ParseValue(text)
	if !ok {
		return digits(text)
	}
	return numberCell(x)
}

// digits returns a whole number that float64 cannot hold.
func digits(text string) Cell { return Cell{Type: dataset.Text, Text: text, Inexact: true} }

// whole returns an integer in the unit of the column.
func (c *Column) whole(x int64) (Cell, error) {
	if c.Scale != 0 {
		return c.decimal(strconv.FormatInt(x, 10))
	}
	column := *c
	if c.Type == 0 { // a number in a map has no unit
		column.Unit = dataset.Plain
	}
	switch {
	case column.Unit == dataset.Plain || column.Unit == dataset.Date:
	case c.Tick < time.Microsecond:
		x = dataset.FloorDiv(x, int64(time.Microsecond/max(c.Tick, 1)))
	default:
		factor := int64(c.Tick / time.Microsecond)
		if x*factor/factor != x {
			return Cell{}, c.inexact(fmt.Sprintf("%d x %v", x, c.Tick))
		}
		x *= factor
	}
	return column.count(x)
}

// count returns the number for n counts of the column's unit: days or microseconds. It returns an
// error for a point in time that a float64 cannot hold exactly.
func (c *Column) count(n int64) (Cell, error) {
	x, ok := c.Unit.Exact(n)
	switch {
	case ok:
		return Cell{Type: dataset.Number, Unit: c.Unit, Number: x}, nil
	case c.Unit == dataset.Plain:
		return digits(strconv.FormatInt(n, 10)), nil
	default:
		return Cell{}, c.inexact(c.Unit.SpellCount(n))
	}
}

// decimal returns the float64 nearest to digits/10^Scale, which is also the value that
// is read from Parquet files.
func (c *Column) decimal(digits string) (Cell, error) {
	x, err := strconv.ParseFloat(digits+"e"+strconv.Itoa(-c.Scale), 64)
	return numberCell(x), err
}

// inexact returns the error for a point in time that a float64 cannot hold exactly.
func (c *Column) inexact(value string) error {
	e := c.Unit.Inexact(value)
	e.Column, e.Hint = c.Name, c.hint(e.Hint)
	return e
}

// hint returns the hint for a value that the column does not take. general is the hint if the kind of
// the feature is unknown.
func (c *Column) hint(general string) string {
	if c.Kind == 0 {
		return general
	}
	return Wanted(c.Kind, c.Unit)
}

// time returns a point in time in the column's unit, rounded down to a multiple of Tick.
// It is a timestamp if the column has no unit.
func (c *Column) time(at time.Time) (Cell, error) {
	if at.IsZero() {
		return Cell{}, nil // a zero time is a missing value
	}
	column := *c
	if column.Unit == dataset.Plain {
		column.Unit = dataset.Timestamp
	}
	n, ok := column.Unit.Of(column.Zone.In(at))
	if !ok {
		return Cell{}, column.inexact(at.String())
	}
	if tick := int64(c.Tick / time.Microsecond); tick > 1 && column.Unit != dataset.Date {
		n = dataset.FloorDiv(n, tick) * tick
	}
	return column.count(n)
}

package transforms

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// rowSchema says how the columns of rows of one Go type are read. It travels to
// workers, which may know the type without its tags.
type rowSchema struct {
	Type    string      `json:"type"` // name of the Go type
	Map     bool        `json:"map,omitempty"`
	Columns []rowColumn `json:"columns"` // of a struct, in the order of its fields; none of a map
}

// rowColumn is a column of rows.
type rowColumn struct {
	Name  string            `json:"name"`
	Field []int             `json:"field,omitempty"` // of a struct, for reflect.Value.FieldByIndex
	Type  dataset.ValueType `json:"type,omitempty"`  // 0: each row decides
	Whole bool              `json:"whole,omitempty"` // the Go type is an integer
	Unit  dataset.Unit      `json:"unit,omitempty"`  // unit of numbers
	Tick  time.Duration     `json:"tick,omitempty"`  // of points in time: precision, and what a whole number counts
	Scale int               `json:"scale,omitempty"` // of decimals in whole numbers: digits behind the point

	Unsupported string `json:"unsupported,omitempty"` // why the field cannot be read; empty: it can be read
}

// cell is a row's value in one column: a number or a text. The zero cell is a missing
// value.
type cell struct {
	typ    dataset.ValueType
	unit   dataset.Unit // of a number
	number float64
	text   string
}

// value returns the cell as an input of a tree.
func (c *cell) value() tree.Value {
	switch c.typ {
	case dataset.Number:
		return tree.Number(c.number)
	case dataset.Text:
		return tree.Text(c.text)
	default:
		return tree.Value{}
	}
}

// spell returns the value in the spelling of class names.
func (c *cell) spell() string {
	if c.typ == dataset.Number {
		return dataset.SpellNumber(c.number)
	}
	return c.text
}

// schemaOf returns how to read the rows of a PCollection.
func schemaOf(rows beam.PCollection) (*rowSchema, error) {
	if !rows.IsValid() {
		return nil, errors.New("the PCollection of rows is not valid")
	}
	t := rows.Type()
	if typex.IsComposite(t.Type()) {
		return nil, fmt.Errorf("rows are of type %v, want a struct, or a map from string: put a key into the row, or drop "+
			"it with beam.DropKey", t)
	}
	return schemaOfType(t.Type())
}

// schemaOfType returns how to read rows of a Go type.
func schemaOfType(t reflect.Type) (*rowSchema, error) {
	s := &rowSchema{Type: t.String()}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		s.Map = true
	case t.Kind() == reflect.Struct && t != timeType:
		s.Columns = columnsOf(t, nil)
	default:
		return nil, fmt.Errorf("rows are of type %s, want a struct, or a map from string", s.Type)
	}
	return s, s.dropHidden()
}

// dropHidden removes hidden columns, by Go's rule: of several fields of one name, the
// least deeply embedded one hides the others. Two such fields at equal depth are an error.
func (s *rowSchema) dropHidden() error {
	least := make(map[string]int) // least depth by name
	for i := range s.Columns {
		c := &s.Columns[i]
		if depth, ok := least[c.Name]; !ok || len(c.Field) < depth {
			least[c.Name] = len(c.Field)
		}
	}
	s.Columns = slices.DeleteFunc(s.Columns, func(c rowColumn) bool { return len(c.Field) > least[c.Name] })
	var faults []error
	seen := make(map[string]bool)
	for i := range s.Columns {
		name := s.Columns[i].Name
		if seen[name] {
			faults = append(faults, fmt.Errorf("rows of type %s have two fields for column %q: give one of them another "+
				"name, as in `espalier:\"name\"`", s.Type, name))
		}
		seen[name] = true
	}
	return errors.Join(faults...)
}

var timeType = reflect.TypeFor[time.Time]() //nolint:gochecknoglobals // a constant

// columnsOf lists the fields of a struct that are columns: the exported fields, and the
// fields of embedded structs in place of these. An unexported field with the name of a
// column in its tag is listed too, as one that cannot be read. at is the index of the
// struct within the row.
func columnsOf(t reflect.Type, at []int) []rowColumn {
	var columns []rowColumn
	for i := range t.NumField() {
		f := t.Field(i)
		field := append(slices.Clone(at), i)
		tag := parseTag(&f)
		if tag.skip {
			continue
		}
		if inner, ok := embedded(&f); ok && tag.name == "" {
			if len(at) < maxEmbedded { // a struct may embed a pointer to itself
				columns = append(columns, columnsOf(inner, field)...)
			}
			continue
		}
		if !f.IsExported() && tag.name == "" {
			continue
		}
		columns = append(columns, newColumn(&f, field, &tag))
	}
	return columns
}

// maxEmbedded is the greatest depth of embedded structs whose fields are columns.
const maxEmbedded = 8

// embedded returns the struct that a field embeds, directly or by a pointer.
func embedded(f *reflect.StructField) (reflect.Type, bool) {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t, f.Anonymous && t.Kind() == reflect.Struct && t != timeType
}

// newColumn returns the column of a field.
func newColumn(f *reflect.StructField, field []int, tag *fieldTag) rowColumn {
	c := rowColumn{Name: f.Name, Field: field}
	if tag.name != "" {
		c.Name = tag.name
	}
	if !f.IsExported() {
		c.Unsupported = fmt.Sprintf("the name %s is not exported, begin it with a capital letter", f.Name)
		return c
	}
	c.describe(f.Type, tag)
	return c
}

// describe derives how to read the column from the field's Go type and its tags.
func (c *rowColumn) describe(t reflect.Type, tag *fieldTag) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == timeType {
		c.Type, c.Unit, c.Tick = dataset.Number, tag.unit, tag.tick
		if c.Unit == dataset.Plain {
			c.Unit = dataset.Timestamp
		}
		return
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String:
		c.Type = dataset.Text
	case reflect.Float32, reflect.Float64:
		c.Type = dataset.Number
	case reflect.Interface:
	default:
		if isWhole(t.Kind()) {
			c.Type, c.Whole, c.Scale = dataset.Number, tag.scale == 0, tag.scale
			c.Unit, c.Tick = tag.unit, tag.tick
			if c.Tick == 0 && t.Kind() == reflect.Int32 {
				c.Tick = time.Millisecond // as in parquet-go
			}
			return
		}
		c.Unsupported = fmt.Sprintf("its type is %s, want a number, a string, a bool, a time.Time, or a pointer to one", t)
	}
}

func isWhole(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uintptr }

// column returns the column of a name. Maps have a column for every name.
func (s *rowSchema) column(name string) (*rowColumn, error) {
	if s.Map {
		return &rowColumn{Name: name}, nil
	}
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Name == name {
			if c.Unsupported != "" {
				return nil, fmt.Errorf("rows of type %s: the field of column %q cannot be read: %s", s.Type, name, c.Unsupported)
			}
			return c, nil
		}
	}
	return nil, fmt.Errorf("rows of type %s have no field for column %q, only for %q: name it with a tag, as in "+
		"`espalier:%q`", s.Type, name, s.names(), name)
}

// names returns the names of the columns, in the order of the fields.
func (s *rowSchema) names() []string {
	names := make([]string, len(s.Columns))
	for i := range s.Columns {
		names[i] = s.Columns[i].Name
	}
	return names
}

// has reports whether there is a column of a name. It may be one that cannot be read.
func (s *rowSchema) has(name string) bool { return slices.Contains(s.names(), name) }

// rowReader reads some columns of rows, in a given order.
type rowReader struct {
	schema  *rowSchema
	columns []rowColumn
}

// reader returns a reader of the named columns. With an error the reader still has a
// column for every name, but must not read rows.
func (s *rowSchema) reader(names []string) (*rowReader, error) {
	r := &rowReader{schema: s}
	var faults []error
	for _, name := range names {
		c, err := s.column(name)
		if err != nil {
			faults, c = append(faults, err), &rowColumn{Name: name}
		}
		r.columns = append(r.columns, *c)
	}
	return r, errors.Join(faults...)
}

// read appends a row's cells to dst.
func (r *rowReader) read(row any, dst []cell) ([]cell, error) {
	if r.schema.Map {
		return r.readMap(row, dst)
	}
	v := reflect.ValueOf(row)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, &dataset.DataError{
				Problem: fmt.Sprintf("a nil row of type %s, expected a row", r.schema.Type),
				Hint:    "filter such rows out before",
			}
		}
		v = v.Elem()
	}
	for i := range r.columns {
		c := &r.columns[i]
		field, err := v.FieldByIndexErr(c.Field)
		if err != nil {
			dst = append(dst, cell{}) // the pointer to an embedded struct is nil
			continue
		}
		x, err := c.read(field)
		if err != nil {
			return nil, err
		}
		dst = append(dst, x)
	}
	return dst, nil
}

// readMap appends the cells of a row that is a map to dst.
func (r *rowReader) readMap(row any, dst []cell) ([]cell, error) {
	switch m := row.(type) {
	case map[string]string:
		for i := range r.columns {
			var x cell
			if text, ok := m[r.columns[i].Name]; ok {
				x = cell{typ: dataset.Text, text: text}
			}
			dst = append(dst, x)
		}
		return dst, nil
	case map[string]any:
		for i := range r.columns {
			x, err := r.columns[i].read(reflect.ValueOf(m[r.columns[i].Name]))
			if err != nil {
				return nil, err
			}
			dst = append(dst, x)
		}
		return dst, nil
	}
	v := reflect.ValueOf(row)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	for i := range r.columns {
		name := reflect.ValueOf(r.columns[i].Name).Convert(v.Type().Key())
		x, err := r.columns[i].read(v.MapIndex(name))
		if err != nil {
			return nil, err
		}
		dst = append(dst, x)
	}
	return dst, nil
}

// read returns the value of a field or of an entry of a map.
func (c *rowColumn) read(v reflect.Value) (cell, error) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem() // the zero Value for nil
	}
	switch v.Kind() {
	case reflect.Invalid:
		return cell{}, nil
	case reflect.Float64, reflect.Float32:
		return numberCell(v.Float()), nil
	case reflect.Bool:
		return cell{typ: dataset.Text, text: strconv.FormatBool(v.Bool())}, nil
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
			return cell{}, c.inexact(strconv.FormatUint(x, 10))
		}
		return numberCell(float64(x)), nil
	default:
		if at, ok := v.Interface().(time.Time); ok {
			return c.time(at)
		}
		return cell{}, &dataset.DataError{
			Column: c.Name, Value: fmt.Sprint(v.Interface()),
			Problem: fmt.Sprintf("a value of type %s, expected a number, a string, a bool or a time.Time", v.Type()),
		}
	}
}

// text returns a string. A json.Number is a number.
func (c *rowColumn) text(v reflect.Value) cell {
	if n, ok := v.Interface().(json.Number); ok {
		if x, err := n.Float64(); err == nil {
			return numberCell(x)
		}
	}
	return cell{typ: dataset.Text, text: v.String()}
}

// whole returns a whole number in the column's unit.
func (c *rowColumn) whole(x int64) (cell, error) {
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
		x = floorDiv(x, int64(time.Microsecond/max(c.Tick, 1)))
	default:
		factor := int64(c.Tick / time.Microsecond)
		if x*factor/factor != x {
			return cell{}, c.inexact(fmt.Sprintf("%d x %v", x, c.Tick))
		}
		x *= factor
	}
	return column.count(x)
}

// count returns the number for n counts of the column's unit: days or microseconds. It
// fails if a float64 cannot hold n exactly.
func (c *rowColumn) count(n int64) (cell, error) {
	x, ok := c.Unit.Exact(n)
	if !ok {
		return cell{}, c.inexact(c.Unit.SpellCount(n))
	}
	return cell{typ: dataset.Number, unit: c.Unit, number: x}, nil
}

// decimal returns the float64 nearest to digits/10^Scale, which is also the value that
// is read from Parquet files.
func (c *rowColumn) decimal(digits string) (cell, error) {
	x, err := strconv.ParseFloat(digits+"e"+strconv.Itoa(-c.Scale), 64)
	return numberCell(x), err
}

// inexact returns the error of a value that a float64 cannot hold exactly.
func (c *rowColumn) inexact(value string) error {
	e := c.Unit.Inexact(value)
	e.Column = c.Name
	if c.Unit == dataset.Plain {
		e.Hint = "make the field a string, or leave it out"
	}
	return e
}

// time returns a point in time in the column's unit, rounded down to a multiple of Tick.
// It is a timestamp if the column has no unit.
func (c *rowColumn) time(at time.Time) (cell, error) {
	if at.IsZero() {
		return cell{}, nil // a zero time is a missing value
	}
	column := *c
	if column.Unit == dataset.Plain {
		column.Unit = dataset.Timestamp
	}
	n, ok := column.Unit.Of(at)
	if !ok {
		return cell{}, column.inexact(at.String())
	}
	if tick := int64(c.Tick / time.Microsecond); tick > 1 && column.Unit != dataset.Date {
		n = floorDiv(n, tick) * tick
	}
	return column.count(n)
}

// numberCell returns the cell of a number. NaN is a missing value, and -0 becomes 0.
func numberCell(x float64) cell {
	if x != x {
		return cell{}
	}
	return cell{typ: dataset.Number, number: x + 0}
}

// asNumber turns a text into a number or, if the unit is one of time, into a point in
// time: see jobs.NumberIn.
func (c *cell) asNumber(column string, unit dataset.Unit) error {
	if c.typ != dataset.Text {
		return nil
	}
	x, ok := jobs.NumberIn(c.text, unit)
	switch {
	case !ok && unit != dataset.Plain:
		return &dataset.DataError{
			Column: column, Value: c.text, Problem: fmt.Sprintf("not a %s, as the feature needs", unit),
			Hint: "write it as " + unit.Example(),
		}
	case !ok:
		return &dataset.DataError{
			Column: column, Value: c.text, Problem: "not a number, as the feature needs",
			Hint: "leave the column out of Numeric, or filter the row out before",
		}
	}
	*c = numberCell(x)
	c.unit = unit
	return nil
}

// fit converts a cell to the kind and the unit of a tree's feature, or refuses it. It is
// for columns whose type only the rows tell.
func (c *cell) fit(in *tree.Input) error {
	if c.typ == dataset.Text && (in.Kind == dataset.Numeric || in.Unit != dataset.Plain) {
		return c.asNumber(in.Name, in.Unit)
	}
	if c.typ == dataset.Number && c.unit != in.Unit {
		return &dataset.DataError{
			Column: in.Name, Value: c.unit.Spell(c.number),
			Problem: fmt.Sprintf("the row has one of the %s, the feature takes %s", c.unit.Things(), in.Unit.Things()),
			Hint:    "give a time.Time or a text in ISO 8601 for a point in time, and a number for a number",
		}
	}
	return nil
}

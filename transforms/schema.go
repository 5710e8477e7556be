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
	Type    string      `json:"type"` // as Go spells it
	Map     bool        `json:"map,omitempty"`
	Columns []rowColumn `json:"columns"` // in the order of fields; of maps those that were asked for
}

// rowColumn is a column of rows.
type rowColumn struct {
	Name  string            `json:"name"`
	Field []int             `json:"field,omitempty"` // of structs, see reflect.Value.FieldByIndex
	Type  dataset.ValueType `json:"type,omitempty"`  // 0: known only once the row is seen
	Whole bool              `json:"whole,omitempty"` // numbers are integers
	Unit  dataset.Unit      `json:"unit,omitempty"`  // what numbers count
	Tick  time.Duration     `json:"tick,omitempty"`  // of times: what the row counts, or is precise to
	Scale int               `json:"scale,omitempty"` // of whole numbers that are decimals: digits behind the point

	Unsupported string `json:"unsupported,omitempty"` // why the field cannot be read; empty: it can
}

// cell is what a row holds in one column: a number, a text or, as the zero cell,
// nothing.
type cell struct {
	typ    dataset.ValueType
	unit   dataset.Unit // of a number
	number float64
	text   string
}

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

// spell returns the value as classes are spelled.
func (c *cell) spell() string {
	if c.typ == dataset.Number {
		return dataset.SpellNumber(c.number)
	}
	return c.text
}

// schemaOf returns how rows of a PCollection are read.
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
	return s, s.hide()
}

// hide leaves out the fields of embedded structs that a field of the same name
// hides in Go, one that lies less deep. Two fields of equal depth are a fault.
func (s *rowSchema) hide() error {
	least := make(map[string]int) // depth by name
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

// columnsOf lists the fields of a struct that are columns: the exported ones, those
// of embedded structs in their place, and unexported ones that a tag names, which
// cannot be read.
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

// maxEmbedded is the depth to which structs that are embedded in each other are
// looked into.
const maxEmbedded = 8

// embedded returns the struct that a field embeds, itself or by a pointer.
func embedded(f *reflect.StructField) (reflect.Type, bool) {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t, f.Anonymous && t.Kind() == reflect.Struct && t != timeType
}

func newColumn(f *reflect.StructField, field []int, tag *fieldTag) rowColumn {
	c := rowColumn{Name: f.Name, Field: field}
	if tag.name != "" {
		c.Name = tag.name
	}
	if !f.IsExported() {
		c.Unsupported = fmt.Sprintf("its name %s is not exported, begin it with a capital letter", f.Name)
		return c
	}
	c.describe(f.Type, tag)
	return c
}

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
				c.Tick = time.Millisecond // as parquet-go writes it
			}
			return
		}
		c.Unsupported = fmt.Sprintf("it is of type %s, want a number, a string, a bool, a time.Time, or a pointer to one", t)
	}
}

func isWhole(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uintptr }

// column returns the column of that name.
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

// names returns the names of the columns, in the order of fields.
func (s *rowSchema) names() []string {
	names := make([]string, len(s.Columns))
	for i := range s.Columns {
		names[i] = s.Columns[i].Name
	}
	return names
}

// has reports whether there is a column of that name, which may be unreadable.
func (s *rowSchema) has(name string) bool { return slices.Contains(s.names(), name) }

// rowReader reads the columns that were asked for of rows, in that order.
type rowReader struct {
	schema  *rowSchema
	columns []rowColumn
}

// reader returns the reader of columns by name. It is not to be used where there
// is an error, but has as many columns.
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
			dst = append(dst, cell{}) // of an embedded struct by a pointer that is nil
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

// read returns what a field or an entry of a map holds.
func (c *rowColumn) read(v reflect.Value) (cell, error) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem() // of nil: the zero Value
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
		if f := float64(x); f >= math.MaxUint64 || uint64(f) != x { // the former rounds up to 2^64
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

func (c *rowColumn) text(v reflect.Value) cell {
	if n, ok := v.Interface().(json.Number); ok {
		if x, err := n.Float64(); err == nil {
			return numberCell(x)
		}
	}
	return cell{typ: dataset.Text, text: v.String()}
}

func (c *rowColumn) whole(x int64) (cell, error) {
	if c.Scale != 0 {
		return c.decimal(strconv.FormatInt(x, 10))
	}
	as := *c
	if c.Type == 0 { // a map's number says nothing of what it counts
		as.Unit = dataset.Plain
	}
	switch {
	case as.Unit == dataset.Plain || as.Unit == dataset.Date:
	case c.Tick < time.Microsecond:
		x = floorDiv(x, int64(time.Microsecond/max(c.Tick, 1)))
	default:
		up := int64(c.Tick / time.Microsecond)
		if x*up/up != x {
			return cell{}, c.inexact(fmt.Sprintf("%d x %v", x, c.Tick))
		}
		x *= up
	}
	return as.count(x)
}

// count returns a count of the column's unit.
func (c *rowColumn) count(n int64) (cell, error) {
	x, ok := c.Unit.Exact(n)
	if !ok {
		return cell{}, c.inexact(c.Unit.SpellCount(n))
	}
	return cell{typ: dataset.Number, unit: c.Unit, number: x}, nil
}

// decimal returns the float64 nearest to digits/10^Scale, as it is read from
// Parquet files.
func (c *rowColumn) decimal(digits string) (cell, error) {
	x, err := strconv.ParseFloat(digits+"e"+strconv.Itoa(-c.Scale), 64)
	return numberCell(x), err
}

func (c *rowColumn) inexact(value string) error {
	e := c.Unit.Inexact(value)
	e.Column = c.Name
	if c.Unit == dataset.Plain {
		e.Hint = "make the field a string or leave it out"
	}
	return e
}

// time returns a point in time in the column's unit, or as a timestamp where that is
// not known before the row is seen; rounded down to what the field is precise to.
func (c *rowColumn) time(at time.Time) (cell, error) {
	if at.IsZero() {
		return cell{}, nil // no time at all
	}
	as := *c
	if as.Unit == dataset.Plain {
		as.Unit = dataset.Timestamp
	}
	n, ok := as.Unit.Of(at)
	if !ok {
		return cell{}, as.inexact(at.String())
	}
	if tick := int64(c.Tick / time.Microsecond); tick > 1 && as.Unit != dataset.Date {
		n = floorDiv(n, tick) * tick
	}
	return as.count(n)
}

// numberCell returns a number, without the sign of zero; NaN is missing.
func numberCell(x float64) cell {
	if x != x {
		return cell{}
	}
	return cell{typ: dataset.Number, number: x + 0}
}

// asNumber reads a text as a number or, of a unit, as a point in time: see numberIn.
func (c *cell) asNumber(column string, unit dataset.Unit) error {
	if c.typ != dataset.Text {
		return nil
	}
	x, ok := jobs.NumberIn(c.text, unit)
	switch {
	case !ok && unit != dataset.Plain:
		return &dataset.DataError{
			Column: column, Value: c.text, Problem: fmt.Sprintf("not a %s, which the feature is", unit),
			Hint: "write it as " + unit.Example(),
		}
	case !ok:
		return &dataset.DataError{
			Column: column, Value: c.text, Problem: "not a number, which the feature is made of",
			Hint: "leave the column out of the numeric ones, or the row out of the input",
		}
	}
	*c = numberCell(x)
	c.unit = unit
	return nil
}

// fit makes a value of a column whose type is not known before one that a feature
// can have.
func (c *cell) fit(in *tree.Input) error {
	if c.typ == dataset.Text && (in.Kind == dataset.Numeric || in.Unit != dataset.Plain) {
		return c.asNumber(in.Name, in.Unit)
	}
	if c.typ == dataset.Number && c.unit != in.Unit {
		return &dataset.DataError{
			Column: in.Name, Value: c.unit.Spell(c.number),
			Problem: fmt.Sprintf("the row has one of the %s, the feature is of %s", c.unit.Things(), in.Unit.Things()),
			Hint:    "give a time.Time or a text in ISO 8601 for a point in time, and a number for a number",
		}
	}
	return nil
}

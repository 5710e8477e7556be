package rowtype

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Schema describes how to read the columns of rows of a Go type. It is sent to workers, which may
// know the type without its tags.
type Schema struct {
	Type    string   `json:"type"` // name of the Go type
	Map     bool     `json:"map,omitempty"`
	Columns []Column `json:"columns"` // columns of a struct, in the order of its fields; empty for a map
}

// Column is a column of rows.
type Column struct {
	Name  string            `json:"name"`
	Field []int             `json:"field,omitempty"` // for a struct: argument of reflect.Value.FieldByIndex
	Type  dataset.ValueType `json:"type,omitempty"`  // 0: each row decides
	Whole bool              `json:"whole,omitempty"` // the Go type is an integer
	Unit  dataset.Unit      `json:"unit,omitempty"`  // unit of numbers
	Zone  dataset.Zone      `json:"zone,omitempty"`  // zone of timestamps, as a tree takes them
	Tick  time.Duration     `json:"tick,omitempty"`  // for points in time: their precision, and the unit of integers
	Scale int               `json:"scale,omitempty"` // for decimals stored as integers: digits after the decimal point

	Kind        dataset.Kind `json:"-"`                     // kind of the feature, which decides the hints of errors; 0: unknown
	Unsupported string       `json:"unsupported,omitempty"` // why the field cannot be read; empty if it can
}

// SchemaOf returns how to read rows of a Go type.
func SchemaOf(t reflect.Type) (*Schema, error) {
	s := &Schema{Type: t.String()}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		s.Map = true
	case t.Kind() == reflect.Struct && !isTime(t):
		s.Columns = columnsOf(t, nil)
	default:
		return nil, fmt.Errorf("rows are of type %s, want a struct, or a map from string", s.Type)
	}
	return s, s.dropHidden()
}

// dropHidden removes hidden columns, by Go's rule: the least deeply embedded field of a name hides
// all other fields of that name. Two such fields at equal depth are an error.
func (s *Schema) dropHidden() error {
	least := make(map[string]int) // least depth by name
	for i := range s.Columns {
		c := &s.Columns[i]
		if depth, ok := least[c.Name]; !ok || len(c.Field) < depth {
			least[c.Name] = len(c.Field)
		}
	}
	s.Columns = slices.DeleteFunc(s.Columns, func(c Column) bool { return len(c.Field) > least[c.Name] })
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

// isTime reports whether a type is time.Time, or has it underneath.
func isTime(t reflect.Type) bool { return t.Kind() == reflect.Struct && t.ConvertibleTo(timeType) }

// nullable reports whether a type is a struct of a value and a field Valid, as
// sql.NullFloat64 and sql.Null[T] are.
func nullable(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).IsExported() && t.Field(1).Name == "Valid" &&
		t.Field(1).Type.Kind() == reflect.Bool
}

// under returns the type of the values behind pointers and within nullable structs.
func under(t reflect.Type) reflect.Type {
	for {
		switch {
		case t.Kind() == reflect.Pointer:
			t = t.Elem()
		case nullable(t):
			t = t.Field(0).Type
		default:
			return t
		}
	}
}

// columnsOf lists the fields of a struct that are columns: the exported fields, where an embedded
// struct is replaced by its fields. An unexported field whose tag names a column is also listed, as
// a column that cannot be read. at is the index of the struct within the row.
func columnsOf(t reflect.Type, at []int) []Column {
	var columns []Column
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
	return t, f.Anonymous && t.Kind() == reflect.Struct && !isTime(t) && !nullable(t)
}

// newColumn returns the column of a field.
func newColumn(f *reflect.StructField, field []int, tag *fieldTag) Column {
	c := Column{Name: f.Name, Field: field}
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
func (c *Column) describe(t reflect.Type, tag *fieldTag) {
	t = under(t)
	if isTime(t) {
		c.Type = dataset.Number
		c.Unit = tag.unit
		c.Tick = tag.tick
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
			c.Type = dataset.Number
			c.Whole = tag.scale == 0
			c.Scale = tag.scale
			c.Unit = tag.unit
			c.Tick = tag.tick
			if c.Tick == 0 && t.Kind() == reflect.Int32 {
				c.Tick = time.Millisecond // as in parquet-go
			}
			return
		}
		c.Unsupported = fmt.Sprintf("its type is %s, want a number, a string, a bool, a time.Time, or a pointer to one", t)
		if k := t.Kind(); k == reflect.Struct || k == reflect.Slice {
			c.Unsupported += "; make columns of its values, or leave it out"
		}
	}
}

func isWhole(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uintptr }

// Column returns the column with this name. Maps have a column for every name.
func (s *Schema) Column(name string) (*Column, error) {
	if s.Map {
		return &Column{Name: name}, nil
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
		"`espalier:%q`", s.Type, name, s.Names(), name)
}

// Names returns the names of the columns, in the order of the fields.
func (s *Schema) Names() []string {
	names := make([]string, len(s.Columns))
	for i := range s.Columns {
		names[i] = s.Columns[i].Name
	}
	return names
}

// Has reports whether there is a column with this name, even if it cannot be read.
func (s *Schema) Has(name string) bool { return slices.Contains(s.Names(), name) }

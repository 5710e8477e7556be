package transformstest

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export"
)

// Rows makes n rows for a tree, in an order that the seed decides: rows that reach each leaf, and rows with the numbers
// next to each cut, each value, values that the tree has not seen, and no value. With n 0 there is one row of each kind. T
// is a struct whose fields are columns, as for transforms.Score, or a map[string]any. A column with the name of the tree's
// label has the class that the tree predicts. Values that a field cannot hold, such as no value in a float64, become its
// zero value, and the class is of that value.
func Rows[T any](tb testing.TB, t *tree.Tree, n int, seed uint64) []T {
	tb.Helper()
	schema, err := rowtype.SchemaOf(reflect.TypeFor[T]())
	if err != nil {
		tb.Fatal(err)
	}
	tested := t.Tested()
	var names []string
	for i := range tested.Features {
		names = append(names, tested.Features[i].Name)
	}
	read, err := schema.Reader(names)
	if err != nil {
		tb.Fatal(err)
	}
	scorer := tested.Scorer()
	var kinds []T
	for _, cells := range export.GoldenRows(t) {
		row := reflect.New(reflect.TypeFor[T]()).Elem()
		for i, c := range cells {
			switch {
			case c.Number != nil:
				set(schema, row, names[i], *c.Number)
			case c.Text != nil:
				set(schema, row, names[i], *c.Text)
			}
		}
		got, err := read.Read(row.Interface(), nil)
		if err != nil {
			tb.Fatal(err)
		}
		values := make([]tree.Value, len(scorer.Features()))
		for i, in := range scorer.Features() {
			values[i] = tree.CellValue(&got[in.Feature])
		}
		p, err := scorer.Predict(values)
		if err != nil {
			tb.Fatal(err)
		}
		set(schema, row, t.Label.Column, p.Class)
		kinds = append(kinds, row.Interface().(T)) //nolint:errcheck // the row was made so
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	if n == 0 {
		return kinds
	}
	rows := make([]T, n)
	for i := range rows {
		rows[i] = kinds[i%len(kinds)]
	}
	return rows
}

// set sets a column of a row to a number or a text, if the row has the column and can hold the value.
func set(s *rowtype.Schema, row reflect.Value, name string, value any) {
	v := reflect.ValueOf(value)
	if s.Map {
		if row.IsNil() {
			row.Set(reflect.MakeMap(row.Type()))
		}
		if v.CanConvert(row.Type().Elem()) {
			row.SetMapIndex(reflect.ValueOf(name).Convert(row.Type().Key()), v.Convert(row.Type().Elem()))
		}
		return
	}
	c, err := s.Column(name)
	if err != nil {
		return
	}
	field := row
	for _, i := range c.Field {
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		field = field.Field(i)
	}
	for field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	if isText := v.Kind() == reflect.String; v.CanConvert(field.Type()) && isText == (field.Kind() == reflect.String) {
		field.Set(v.Convert(field.Type()))
	}
}

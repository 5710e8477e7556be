// Package binding binds trees to the columns of rows of a Go type. It serves gorows and transforms. It
// is not meant for other programs.
package binding

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Binding is a tree bound to the columns of rows of a Go type. It is read-only, so goroutines may
// share it.
type Binding struct {
	Scorer  *tree.Scorer
	Columns []rowtype.Column // by input of the tree

	reader  *rowtype.Reader
	inputs  []tree.Input
	untyped []bool // by input: whether each row decides the type of its value
}

// New finds the columns that a tree tests among the columns of the rows. The error names all
// columns that are missing, or that have another type than the feature of the tree.
func New(t *tree.Tree, schema *rowtype.Schema) (*Binding, error) {
	b := &Binding{Scorer: t.Scorer()}
	b.inputs = b.Scorer.Features()
	names := make([]string, len(b.inputs))
	for i := range b.inputs {
		names[i] = b.inputs[i].Name
	}
	var err error
	b.reader, err = schema.Reader(names)
	faults := []error{err}
	for i := range b.inputs {
		faults = append(faults, b.check(i, schema))
	}
	b.Columns = b.reader.Columns
	return b, errors.Join(faults...)
}

// check compares the type of a column with the type that the input takes.
func (b *Binding) check(i int, schema *rowtype.Schema) error {
	c := &b.reader.Columns[i]
	in := &b.inputs[i]
	c.Kind = in.Kind
	b.untyped = append(b.untyped, c.Type == 0)
	switch {
	case c.Type == dataset.Text && (in.Kind == dataset.Numeric || in.Unit != dataset.Plain):
		return fmt.Errorf("rows of type %s: column %q is a text, want a %s: the tree's feature has %s", schema.Type, c.Name,
			in.Unit.Thing(), in.Unit.Things())
	case c.Type == dataset.Number && c.Unit != in.Unit:
		hint := "train again"
		if in.Unit != dataset.Plain {
			hint = fmt.Sprintf("say so with a tag, as in `espalier:\",%s\"`, or train again", in.Unit)
		}
		return fmt.Errorf("rows of type %s: column %q has %s, want %s as the tree's feature: %s", schema.Type, c.Name, c.Unit.Things(),
			in.Unit.Things(), hint)
	case c.Type == 0:
		c.Unit = in.Unit // in case the row has a time.Time
	}
	if c.Unit == in.Unit {
		c.Zone = in.Zone
	}
	return nil
}

// Read appends the cells of a row to dst, one for each input, in the form that the tree takes.
func (b *Binding) Read(row any, dst []rowtype.Cell) ([]rowtype.Cell, error) {
	cells, err := b.reader.Read(row, dst)
	if err != nil {
		return nil, err
	}
	for i := range b.inputs {
		if err := b.fit(i, &cells[len(dst)+i]); err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// CheckKeys returns an error for a map that lacks the key of an input: see Reader.CheckKeys.
func (b *Binding) CheckKeys(row any, cells []rowtype.Cell) error {
	return b.reader.CheckKeys(row, cells)
}

// Cell returns the value of an input in a struct, in the form that the tree takes.
func (b *Binding) Cell(i int, row reflect.Value) (rowtype.Cell, error) {
	x, err := b.Columns[i].Of(row)
	if err == nil {
		err = b.fit(i, &x)
	}
	return x, err
}

// fit converts a cell to the type of the input, if only the row decides the type.
func (b *Binding) fit(i int, x *rowtype.Cell) error {
	if !b.untyped[i] && !x.Inexact {
		return nil
	}
	in := &b.inputs[i]
	return x.Fit(in.Name, in.Kind, in.Unit)
}

// AppendValues appends the values of cells to dst.
func AppendValues(dst []tree.Value, cells []rowtype.Cell) []tree.Value {
	for i := range cells {
		dst = append(dst, tree.CellValue(&cells[i]))
	}
	return dst
}

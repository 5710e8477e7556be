package parquetrows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

func init() { beam.RegisterDoFn(reflect.TypeFor[readFn]()) }

// Read returns the rows of Parquet files as a PCollection<T>. T is a registered struct, with
// the columns of its fields as package gorows finds them; other columns are not read. URLs are
// plain paths, file://, gs:// or s3://, and may be patterns or folders. The footers are read
// when the pipeline is built. Each row group is read by one worker.
//
// A null makes a pointer nil, a sql.Null... invalid, a time zero and a float NaN; any other
// field with a null is an error, as is a number that the field cannot hold. Whole numbers
// beyond 2^53 are refused unless a float64 holds them exactly.
//
// Read panics where TryRead returns an error.
func Read[T any](s beam.Scope, urls ...string) beam.PCollection {
	return beam.Must(TryRead[T](s, urls...))
}

// TryRead is Read with an error instead of a panic. It names all fields without a column, or
// with one of another type.
func TryRead[T any](s beam.Scope, urls ...string) (beam.PCollection, error) {
	fail := func(err error) (beam.PCollection, error) {
		return beam.PCollection{}, fmt.Errorf("parquetrows.Read: %w", err)
	}
	typ := reflect.TypeFor[T]()
	schema, err := rowtype.SchemaOf(typ)
	if err != nil {
		return fail(err)
	}
	if typ.Kind() != reflect.Struct {
		return fail(fmt.Errorf("rows are of type %s, want a struct", typ))
	}
	in, err := source.OpenInput(context.Background(), source.Process, urls, &parallel.Steps{})
	if err != nil {
		return fail(err)
	}
	if err := check(in, schema); err != nil {
		return fail(err)
	}
	var tasks [][]byte
	for i := range in.Tasks {
		tasks = append(tasks, jobs.MustJSON(in.Tasks[i]))
	}
	if len(tasks) == 0 {
		return fail(errors.New("no file has a row"))
	}
	s = s.Scope("parquetrows.Read")
	fn := &readFn{Schema: jobs.MustJSON(schema), Type: beam.EncodedType{T: typ}}
	rows, err := beam.TryParDo(s, fn, beam.Reshuffle(s, beam.CreateList(s, tasks)),
		beam.TypeDefinition{Var: beam.TType, T: typ})
	if err != nil {
		return fail(err)
	}
	return rows[0], nil
}

// check compares the fields with the columns of the files.
func check(in *source.Input, schema *rowtype.Schema) error {
	columns := make(map[string]int)
	for i := range in.Columns {
		columns[in.Columns[i].Name] = i
	}
	var faults []error
	for i := range schema.Columns {
		c, err := schema.Column(schema.Columns[i].Name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		at, ok := columns[c.Name]
		if !ok {
			faults = append(faults, fmt.Errorf("the files have no column for the field of %q, only %q", c.Name, in.Names()))
			continue
		}
		column := &in.Columns[at]
		if err := in.Check(column); err != nil {
			faults = append(faults, err)
		} else if !column.Null && c.Type == dataset.Number && (column.Type != dataset.Number || column.Unit != c.Unit) {
			things := "texts"
			if column.Type == dataset.Number {
				things = column.Unit.Things()
			}
			faults = append(faults, fmt.Errorf("column %q of the files has %s, the field takes %s: change the field's type, or "+
				"its tag as in `espalier:\",date\"`", c.Name, things, c.Unit.Things()))
		}
	}
	return errors.Join(faults...)
}

// readFn reads the rows of row groups.
type readFn struct {
	Schema []byte // rowtype.Schema
	Type   beam.EncodedType

	columns []rowtype.Column
	names   []string
	vectors []dataset.Vector
}

// Setup decodes the schema.
func (f *readFn) Setup() error {
	var schema rowtype.Schema
	if err := json.Unmarshal(f.Schema, &schema); err != nil {
		return err
	}
	f.columns, f.names = schema.Columns, schema.Names()
	f.vectors = make([]dataset.Vector, len(f.columns))
	return nil
}

func (f *readFn) ProcessElement(ctx context.Context, encoded []byte, emit func(beam.T)) error {
	var task jobs.Task
	if err := json.Unmarshal(encoded, &task); err != nil {
		return err
	}
	return jobs.Carry(f.read(ctx, task, emit))
}

// read emits the rows of a row group.
func (f *readFn) read(ctx context.Context, task jobs.Task, emit func(beam.T)) (err error) {
	storage, err := jobs.OpenStorage(ctx)
	if err != nil {
		return err
	}
	g, err := storage.RowGroup(ctx, task, f.names)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	for i := range f.vectors {
		if err := g.ReadColumn(i, &f.vectors[i]); err != nil {
			return err
		}
	}
	for r := range g.Rows() {
		row := reflect.New(f.Type.T).Elem()
		for i := range f.columns {
			if err := f.columns[i].Set(row, cellOf(&f.vectors[i], r, f.columns[i].Unit)); err != nil {
				return placed(err, task)
			}
		}
		emit(row.Interface())
	}
	return nil
}

// cellOf returns the value of a row.
func cellOf(v *dataset.Vector, r int, unit dataset.Unit) rowtype.Cell {
	if v.Missing(r) {
		return rowtype.Cell{}
	}
	at := r
	if v.Index != nil {
		at = int(v.Index[r])
	}
	if v.Type == dataset.Text {
		return rowtype.Cell{Type: dataset.Text, Text: v.Texts[at]}
	}
	return rowtype.Cell{Type: dataset.Number, Unit: unit, Number: v.Numbers[at]}
}

// placed adds the place of a row group to an error.
func placed(err error, task jobs.Task) error {
	var e *dataset.DataError
	if errors.As(err, &e) {
		e.File, e.RowGroup = task.File, &task.RowGroup
	}
	return err
}

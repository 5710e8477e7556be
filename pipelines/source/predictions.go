package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// predictionsFile writes the predictions of one file.
type predictionsFile struct {
	ctx      context.Context // of the run
	url      string
	files    *Files
	original *parquetio.Original
	writer   *parquetio.Writer
	copied   []copiedColumn
	written  []writtenColumn
	index    []uint16  // of a row group
	numbers  []float64 // of a row group
}

// writtenColumn is a column of predictions.
type writtenColumn struct {
	jobs.PredictionColumn

	places []uint16 // the place of each value in the dictionary
}

// copiedColumn is a column of the input file, or a column of its path with one value.
type copiedColumn struct {
	path  bool
	index uint16 // of the one value; parquetio.Null: it is null
}

// Predictions begins the file of predictions that a task names: columns copied from its
// input, then columns of predictions.
func (f *Files) Predictions(
	ctx context.Context, t jobs.Task, copied []string, columns []jobs.PredictionColumn,
) (jobs.Predictions, error) {
	p := &predictionsFile{ctx: ctx, url: t.Output, files: f}
	var fields []parquetio.Field
	for _, name := range copied {
		i := slices.IndexFunc(t.Path, func(c jobs.PathColumn) bool { return c.Name == name })
		if i < 0 && p.original == nil {
			if err := p.open(ctx, f, &t); err != nil {
				return nil, err
			}
		}
		column, field := copiedColumn{}, parquetio.Field{Name: name, Original: p.original}
		if i >= 0 {
			column, field = constant(&t.Path[i])
		}
		p.copied, fields = append(p.copied, column), append(fields, field)
	}
	for _, c := range columns {
		column, field := writtenColumn{PredictionColumn: c}, parquetio.Field{Name: c.Name}
		if c.By != jobs.ByRow {
			var err error
			if field.Dictionary, column.places, err = distinctValues(c.Values); err != nil {
				return nil, fmt.Errorf("column %q: %w", c.Name, err)
			}
		}
		p.written, fields = append(p.written, column), append(fields, field)
	}
	var err error
	options := parquetio.WriterOptions{IfAbsent: true, OrSame: t.Repeated}
	p.writer, err = parquetio.NewWriter(ctx, f.Store, t.Output, fields, options)
	if err != nil {
		p.close()
		return nil, usage.MarkOutput(err)
	}
	return p, nil
}

func (p *predictionsFile) open(ctx context.Context, f *Files, t *jobs.Task) error {
	file, err := f.Parquet.Open(ctx, objectstore.Object{URL: t.File, Size: t.Size, Generation: t.Generation})
	if err != nil {
		return err
	}
	p.original, err = file.Original(ctx)
	return err
}

// constant returns the column of a path's value.
func constant(c *jobs.PathColumn) (copiedColumn, parquetio.Field) {
	column, field := copiedColumn{path: true}, parquetio.Field{Name: c.Name, Optional: true}
	if c.Null {
		column.index = parquetio.Null
	}
	if field.Dictionary = []string{c.Text}; c.Type == dataset.Number {
		field.Dictionary = []float64{c.Number}
	}
	return column, field
}

// distinctValues returns the distinct values of a list, in the order of their first
// appearance, and for each value of the list its place among them.
func distinctValues(values any) (any, []uint16, error) {
	switch v := values.(type) {
	case []string:
		d, places := distinctOf(v)
		return d, places, nil
	case []float64:
		d, places := distinctOf(v)
		return d, places, nil
	case []int32:
		d, places := distinctOf(v)
		return d, places, nil
	default:
		return nil, nil, fmt.Errorf("cannot write values of type %T", values)
	}
}

func distinctOf[T comparable](values []T) (distinct []T, places []uint16) {
	seen := make(map[T]uint16, len(values))
	for _, v := range values {
		at, ok := seen[v]
		if !ok {
			at = uint16(len(distinct))
			seen[v], distinct = at, append(distinct, v)
		}
		places = append(places, at)
	}
	return distinct, places
}

// RowGroup writes a row group.
func (p *predictionsFile) RowGroup(group int, rows *jobs.PredictedRows) error {
	p.index = jobs.Resized(p.index, len(rows.Leaves))
	index := p.index
	for _, c := range p.copied {
		if !c.path {
			if err := p.writer.CopyChunks(group); err != nil {
				return usage.MarkOutput(err)
			}
			continue
		}
		for r := range index {
			index[r] = c.index
		}
		if err := p.writer.WriteIndexes(index); err != nil {
			return usage.MarkOutput(err)
		}
	}
	for i := range p.written {
		if err := p.write(&p.written[i], rows); err != nil {
			return usage.MarkOutput(err)
		}
	}
	return nil
}

// write writes a column of predictions for a row group.
func (p *predictionsFile) write(c *writtenColumn, rows *jobs.PredictedRows) error {
	switch c.By {
	case jobs.ByRow:
		p.numbers = jobs.Resized(p.numbers, len(rows.Leaves))
		for r := range p.numbers {
			p.numbers[r] = rows.Scores.Of(r)[c.Class]
		}
		return p.writer.WriteNumbers(p.numbers)
	case jobs.ByClass:
		for r, class := range rows.Scores.Classes {
			p.index[r] = c.places[class]
		}
	default:
		for r, leaf := range rows.Leaves {
			p.index[r] = c.places[leaf]
		}
	}
	return p.writer.WriteIndexes(p.index)
}

// Commit makes the file visible.
func (p *predictionsFile) Commit() error {
	defer p.close()
	p.files.Committing.RLock()
	defer p.files.Committing.RUnlock()
	if p.ctx.Err() != nil { // the run may have removed its files by now
		return errors.Join(p.ctx.Err(), p.writer.Abort())
	}
	err := p.writer.Commit()
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s was not there when the run began, and is now: "+
			"nothing is overwritten; choose another folder", p.url)
	}
	if err != nil {
		return usage.MarkOutput(err)
	}
	p.files.Predicted.Store(p.url, true)
	return nil
}

// Abort drops the file.
func (p *predictionsFile) Abort() error {
	p.close()
	return p.writer.Abort()
}

func (p *predictionsFile) close() {
	if p.original != nil {
		_ = p.original.Close() // read only: nothing can be lost
		p.original = nil
	}
}

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
	written  [][]uint16 // by column of predictions: the place of each leaf's value in the dictionary
	index    []uint16   // of a row group
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
		values, places, err := distinctValues(c.Values)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
		p.written, fields = append(p.written, places), append(fields, parquetio.Field{Name: c.Name, Dictionary: values})
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
func (p *predictionsFile) RowGroup(group int, leaves []uint16) error {
	if cap(p.index) < len(leaves) {
		p.index = make([]uint16, len(leaves))
	}
	index := p.index[:len(leaves)]
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
	for _, places := range p.written {
		for r, leaf := range leaves {
			index[r] = places[leaf]
		}
		if err := p.writer.WriteIndexes(index); err != nil {
			return usage.MarkOutput(err)
		}
	}
	return nil
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

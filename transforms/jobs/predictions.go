package jobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
)

// Predictions writes the file of predictions for one file of rows.
type Predictions interface {
	// RowGroup writes the predictions for a row group of the input, by tree, and copies its columns.
	RowGroup(group int, rows ...*PredictedRows) error
	// Commit makes the file visible.
	Commit() error
	// Abort drops the file. After Commit it does nothing.
	Abort() error
}

// PredictedRows holds the predictions of a tree for a row group.
type PredictedRows struct {
	// Leaves has the index of each row's leaf, among the leaves in the order of nodes.
	Leaves []uint16
	// Scores holds the class and the probabilities of each row; for a tree without leaf models it
	// is empty.
	Scores *tree.Scores
}

// PredictionColumn is a column of predictions.
type PredictionColumn struct {
	Name   string
	Values any // []string, []float64 or []int32; nil if By is ByRow
	By     ValuesBy
	Class  int // index of the class whose probabilities the column has, if By is ByRow
	Tree   int // index of the tree that predicts
}

// ValuesBy describes which rows of a column of predictions share a value.
type ValuesBy uint8

// The kinds of columns of predictions.
const (
	ByLeaf  ValuesBy = iota // a value for each leaf, in the order of nodes
	ByClass                 // a value for each predicted class, in the order of classes
	ByRow                   // a probability for each row
)

// AlsoPrefix returns the prefix of the columns of the n-th tree that scores the same rows: empty for the
// first tree, n = 0; then also_, also2_ and so on.
func AlsoPrefix(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "also_"
	default:
		return fmt.Sprintf("also%d_", n)
	}
}

// AlsoKey returns the key of the n-th tree in the metadata of footers, given the first tree's key.
func AlsoKey(n int, key string) string {
	domain, name, _ := strings.Cut(key, ".")
	return domain + "." + AlsoPrefix(n) + name
}

// PredictionColumns returns the columns of predictions of the n-th tree: class, probabilities, leaf, number
// of tests, billed cost of the tests and, unless paths is nil, the path. With leaf models, classes and
// probabilities may differ between the rows of a leaf. The names begin with AlsoPrefix.
func PredictionColumns(n int, t *tree.Tree, paths []string) []PredictionColumn {
	scorer := t.Scorer()
	var classes []string
	var leaves, tests []int32
	var costs []float64
	probabilities := make([][]float64, len(t.Label.Classes))
	for i := range t.Nodes {
		p := scorer.LeafPrediction(i)
		if p == nil {
			continue
		}
		classes = append(classes, p.Class)
		leaves = append(leaves, int32(p.Leaf))
		tests = append(tests, int32(p.Tests))
		costs = append(costs, p.Cost)
		for k, x := range p.Probabilities {
			probabilities[k] = append(probabilities[k], x)
		}
	}
	columns := []PredictionColumn{{Name: "prediction", Values: classes}}
	if scorer.Modelled() {
		columns[0].Values = t.Label.Classes
		columns[0].By = ByClass
	}
	for k, class := range t.Label.Classes {
		column := PredictionColumn{Name: "probability_" + class, Values: probabilities[k]}
		if scorer.Modelled() {
			column.Values = nil
			column.By = ByRow
			column.Class = k
		}
		columns = append(columns, column)
	}
	columns = append(columns, PredictionColumn{Name: "leaf", Values: leaves},
		PredictionColumn{Name: "tests", Values: tests}, PredictionColumn{Name: "cost", Values: costs})
	if paths != nil {
		columns = append(columns, PredictionColumn{Name: "path", Values: paths})
	}
	for i := range columns {
		columns[i].Name = AlsoPrefix(n) + columns[i].Name
		columns[i].Tree = n
	}
	return columns
}

// predictionsFile writes the predictions for a single file.
type predictionsFile struct {
	ctx      context.Context // context of the run
	url      string
	files    *Files
	original *parquetio.Original
	writer   *parquetio.Writer
	copied   []copiedColumn
	written  []writtenColumn
	index    []uint16  // scratch: an index for each row of a row group
	numbers  []float64 // scratch: a number for each row of a row group
}

// writtenColumn is a column of predictions.
type writtenColumn struct {
	PredictionColumn

	places []uint16 // index of each value in the dictionary
}

// copiedColumn is a column of the input file, or a column of its path, which has a single value.
type copiedColumn struct {
	path  bool
	index uint16 // index of the single value; parquetio.Null if it is null
}

// Predictions starts the file of predictions that a task names: columns copied from its input, then
// columns of predictions. Its footer has the metadata.
func (f *Files) Predictions(
	ctx context.Context, t Task, copied []string, columns []PredictionColumn, metadata map[string]string,
) (Predictions, error) {
	p := &predictionsFile{ctx: ctx, url: t.Output, files: f}
	var fields []parquetio.Field
	for _, name := range copied {
		i := slices.IndexFunc(t.Path, func(c PathColumn) bool { return c.Name == name })
		if i < 0 && p.original == nil {
			if err := p.open(ctx, f, &t); err != nil {
				return nil, err
			}
		}
		column := copiedColumn{}
		field := parquetio.Field{Name: name, Original: p.original}
		if i >= 0 {
			column, field = constant(&t.Path[i])
		}
		p.copied = append(p.copied, column)
		fields = append(fields, field)
	}
	for _, c := range columns {
		column := writtenColumn{PredictionColumn: c}
		field := parquetio.Field{Name: c.Name}
		if c.By != ByRow {
			var err error
			if field.Dictionary, column.places, err = distinctValues(c.Values); err != nil {
				return nil, fmt.Errorf("column %q: %w", c.Name, err)
			}
		}
		p.written = append(p.written, column)
		fields = append(fields, field)
	}
	var err error
	options := parquetio.WriterOptions{IfAbsent: true, OrSame: t.Repeated, Metadata: metadata}
	p.writer, err = parquetio.NewWriter(ctx, f.Store, t.Output, fields, options)
	if err != nil {
		p.close()
		return nil, usage.OfOutput(err)
	}
	return p, nil
}

func (p *predictionsFile) open(ctx context.Context, f *Files, t *Task) error {
	file, err := f.Parquet.Open(ctx, objectstore.Object{URL: t.File, Size: t.Size, Generation: t.Generation})
	if err != nil {
		return err
	}
	p.original, err = file.Original(ctx)
	return err
}

// constant returns the column of a value in the path.
func constant(c *PathColumn) (copiedColumn, parquetio.Field) {
	column := copiedColumn{path: true}
	field := parquetio.Field{Name: c.Name, Optional: true}
	if c.Null {
		column.index = parquetio.Null
	}
	if field.Dictionary = []string{c.Text}; c.Type == dataset.Number {
		field.Dictionary = []float64{c.Number}
	}
	return column, field
}

// distinctValues returns the distinct values of a list, ordered by first occurrence, and for each
// value of the list its index among them.
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
			seen[v] = at
			distinct = append(distinct, v)
		}
		places = append(places, at)
	}
	return distinct, places
}

// RowGroup writes a row group.
func (p *predictionsFile) RowGroup(group int, rows ...*PredictedRows) error {
	p.index = Resized(p.index, len(rows[0].Leaves))
	index := p.index
	for _, c := range p.copied {
		if !c.path {
			if err := p.writer.CopyChunks(group); err != nil {
				return usage.OfOutput(err)
			}
			continue
		}
		for r := range index {
			index[r] = c.index
		}
		if err := p.writer.WriteIndexes(index); err != nil {
			return usage.OfOutput(err)
		}
	}
	for i := range p.written {
		if err := p.write(&p.written[i], rows[p.written[i].Tree]); err != nil {
			return usage.OfOutput(err)
		}
	}
	return nil
}

// write writes a column of predictions for a row group.
func (p *predictionsFile) write(c *writtenColumn, rows *PredictedRows) error {
	switch c.By {
	case ByRow:
		p.numbers = Resized(p.numbers, len(rows.Leaves))
		for r := range p.numbers {
			p.numbers[r] = rows.Scores.Of(r)[c.Class]
		}
		return p.writer.WriteNumbers(p.numbers)
	case ByClass:
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
	if p.ctx.Err() != nil { // the run may already have removed its files
		return errors.Join(p.ctx.Err(), p.writer.Abort())
	}
	err := p.writer.Commit()
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s was not there when the run began, and is now: "+
			"nothing is overwritten; choose another folder", p.url)
	}
	if err != nil {
		return usage.OfOutput(err)
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

package parquetio

import (
	"context"
	"fmt"

	"github.com/parquet-go/parquet-go"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// TableType is the type of a column of a Table.
type TableType uint8

// The types. Times and timestamps count microseconds.
const (
	TextColumn TableType = iota
	BooleanColumn
	IntegerColumn
	FloatColumn
	DateColumn      // days since 1970-01-01
	TimeColumn      // since midnight
	TimestampColumn // since 1970-01-01 in UTC
	LocalColumn     // the same, of a place that is not known
)

// TableColumn is a column of a Table.
type TableColumn struct {
	Name     string
	Type     TableType
	Optional bool // values may be missing
	Plain    bool // long values: without a dictionary and without bounds, which the writer holds in memory
}

// Table writes a file row by row, of values that are not known beforehand: each row sets each
// column once, in any order, and ends with EndRow. The same rows give the same bytes.
type Table struct {
	url     string
	file    objectstore.Writer
	counted *countedWriter
	out     *parquet.GenericWriter[any]
	columns []TableColumn
	sources []source
	pending [][]parquet.Value // by column, up to batchRows rows
	waiting int               // bytes of pending values
	bytes   int               // bytes of the row group's values
	rows    int               // rows of the row group
	group   int               // rows of a full row group
}

// Values fill memory until their row group ends.
const (
	maxWaiting = 4 << 20  // bytes of values that have not been handed to the writer
	maxGroup   = 64 << 20 // bytes of values in a row group, which then ends before it has all rows
	maxPages   = 64 << 20 // bytes of the pages of all columns together
	wordBytes  = 8        // bytes of a value that is not a text
)

// MaxColumns is the greatest number of columns of a Table.
const MaxColumns = 1<<16 - 1

// NewTable begins a file. Nothing is visible until Commit returned nil.
func NewTable(ctx context.Context, store *objectstore.Store, url string, columns []TableColumn, o WriteOptions) (
	*Table, error,
) {
	if err := o.setDefaults(); err != nil {
		return nil, fmt.Errorf("write %s: %w", url, err)
	}
	codec, err := o.Codec.codec()
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", url, err)
	}
	t := &Table{url: url, columns: columns, group: o.RowsPerGroup, pending: make([][]parquet.Value, len(columns))}
	for i := range columns {
		node := nodeOf(columns[i].Type)
		e := Dictionary
		if columns[i].Type == FloatColumn || columns[i].Plain {
			e = Plain
		}
		if node, err = encode(node, e); err != nil {
			return nil, fmt.Errorf("write %s: column %q: %w", url, columns[i].Name, err)
		}
		if columns[i].Optional {
			node = parquet.Optional(node)
		}
		t.sources = append(t.sources, source{name: columns[i].Name, node: node})
	}
	if t.file, err = store.Create(ctx, url, objectstore.WriteOptions{IfAbsent: o.IfAbsent}); err != nil {
		return nil, err
	}
	t.counted = &countedWriter{to: t.file}
	options := []parquet.WriterOption{
		parquet.NewSchema("table", newTable(t.sources)),
		parquet.Compression(codec),
		parquet.DataPageVersion(o.PageVersion),
		parquet.PageBufferSize(min(o.PageBytes, max(1, maxPages/len(columns)))),
		parquet.DictionaryMaxBytes(o.DictionaryBytes),
		parquet.CreatedBy("espalier", "", ""),
	}
	for i := range columns {
		if columns[i].Plain { // the writer holds the bounds of all pages until the file ends
			options = append(options, parquet.SkipPageBounds(columns[i].Name))
		}
	}
	t.out = parquet.NewGenericWriter[any](t.counted, options...)
	return t, nil
}

// countedWriter counts the bytes of a file.
type countedWriter struct {
	to objectstore.Writer
	n  int64
}

func (w *countedWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.n += int64(n)
	return n, err
}

func nodeOf(t TableType) parquet.Node {
	return [...]parquet.Node{
		TextColumn: parquet.String(), BooleanColumn: parquet.Leaf(parquet.BooleanType), IntegerColumn: parquet.Int(64),
		FloatColumn: parquet.Leaf(parquet.DoubleType), DateColumn: parquet.Date(), TimeColumn: parquet.Time(parquet.Microsecond),
		TimestampColumn: parquet.Timestamp(parquet.Microsecond), LocalColumn: parquet.TimestampAdjusted(parquet.Microsecond, false),
	}[t]
}

// SetMissing leaves a column of the row without a value.
func (t *Table) SetMissing(column int) {
	t.waiting += wordBytes
	t.pending[column] = append(t.pending[column], parquet.NullValue().Level(0, 0, column))
}

// SetText sets the value of a column of texts.
func (t *Table) SetText(column int, text string) {
	t.waiting += len(text)
	t.set(column, stringValue(text))
}

// SetFloat sets the value of a column of floats.
func (t *Table) SetFloat(column int, x float64) { t.set(column, parquet.DoubleValue(x)) }

// SetWhole sets the value of any other column. For a boolean, 0 is false.
func (t *Table) SetWhole(column int, x int64) {
	switch t.columns[column].Type {
	case BooleanColumn:
		t.set(column, parquet.BooleanValue(x != 0))
	case DateColumn:
		t.set(column, parquet.Int32Value(int32(x)))
	default:
		t.set(column, parquet.Int64Value(x))
	}
}

func (t *Table) set(column int, v parquet.Value) {
	level := 0
	if t.columns[column].Optional {
		level = 1
	}
	t.waiting += wordBytes
	t.pending[column] = append(t.pending[column], v.Level(0, level, column))
}

// EndRow ends the row, and the row group when it is full.
func (t *Table) EndRow() error {
	t.rows++
	full := t.rows == t.group || t.bytes+t.waiting > maxGroup
	if full || t.rows%batchRows == 0 || t.waiting > maxWaiting {
		if err := t.write(); err != nil {
			return err
		}
	}
	if !full {
		return nil
	}
	t.rows = 0
	t.bytes = 0
	if err := t.out.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", t.url, err)
	}
	return nil
}

// write hands the pending rows to the Parquet writer.
func (t *Table) write() error {
	for i, column := range t.out.ColumnWriters() {
		if _, err := column.WriteRowValues(t.pending[i]); err != nil {
			return fmt.Errorf("write %s: column %q: %w", t.url, t.columns[i].Name, err)
		}
		clear(t.pending[i]) // texts are not held longer
		t.pending[i] = t.pending[i][:0]
	}
	t.bytes += t.waiting
	t.waiting = 0
	return nil
}

// Size returns the number of bytes written so far; after Commit it is the size of the file.
func (t *Table) Size() int64 { return t.counted.n }

// Commit ends the file, and makes it visible.
func (t *Table) Commit() error {
	if err := t.write(); err != nil {
		return err
	}
	if err := t.out.Close(); err != nil {
		return fmt.Errorf("write %s: %w", t.url, err)
	}
	return t.file.Commit()
}

// Abort drops the file. After Commit it does nothing.
func (t *Table) Abort() error { return t.file.Abort() }

package parquetio

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// Encoding is the encoding of a written column's values.
type Encoding uint8

// The encodings. Dictionary, the zero value, is Plain for columns of bool.
const (
	Dictionary      Encoding = iota
	Plain                    // any type
	Delta                    // int32, int64, string
	DeltaPrefix              // string, with shared prefixes
	ByteStreamSplit          // int32, int64, float32, float64
)

// Codec is the compression of a written file's pages.
type Codec uint8

// The codecs.
const (
	Snappy Codec = iota
	Uncompressed
	Gzip
	Brotli
	Zstd
	LZ4
)

// Codecs lists the names of the codecs, the default first.
func Codecs() []string { return []string{"snappy", "uncompressed", "gzip", "brotli", "zstd", "lz4"} }

// ParseCodec reads a codec's name.
func ParseCodec(name string) (Codec, error) {
	i := slices.Index(Codecs(), name)
	if i < 0 {
		return 0, fmt.Errorf("codec %q: want one of %s", name, strings.Join(Codecs(), ", "))
	}
	return Codec(i), nil
}

// WriteColumn is one column to write.
type WriteColumn struct {
	Name string
	// Values is []float64, []float32, []int64, []int32, []string or []bool, or a slice of
	// pointers to values of these types. A nil pointer is a missing value.
	Values   any
	Encoding Encoding
}

// WriteOptions are the layout of a file. The zero value is snappy compression, pages of
// version 1, and row groups of a million rows.
type WriteOptions struct {
	Codec Codec
	// RowsPerGroup is the number of rows in all row groups except the last. Default 1,000,000.
	RowsPerGroup int
	// PageVersion is the version of data pages, 1 or 2. Default 1.
	PageVersion int
	// PageBytes is the size at which a page ends. Default 1 MiB.
	PageBytes int
	// DictionaryBytes is the size of a dictionary at which a column chunk continues in plain
	// pages. Default: no bound.
	DictionaryBytes int64
	// IfAbsent fails if the file exists already.
	IfAbsent bool
	OrSame   bool // with IfAbsent: do not fail if the file has the same bytes
}

func (o *WriteOptions) setDefaults() error {
	if o.RowsPerGroup < 0 || o.PageBytes < 0 || o.DictionaryBytes < 0 {
		return errors.New("sizes of row groups, pages and dictionaries must not be negative")
	}
	if o.RowsPerGroup == 0 {
		o.RowsPerGroup = 1_000_000
	}
	if o.PageVersion == 0 {
		o.PageVersion = 1
	}
	if o.PageBytes == 0 {
		o.PageBytes = 1 << 20
	}
	if o.PageVersion != 1 && o.PageVersion != 2 {
		return fmt.Errorf("page version %d, expected 1 or 2", o.PageVersion)
	}
	return nil
}

// Write writes a file of flat columns of equal length. The same columns and options give
// the same bytes. The file is visible only if Write returns nil.
func Write(ctx context.Context, store *objectstore.Store, url string, columns []WriteColumn, o WriteOptions) error {
	if err := o.setDefaults(); err != nil {
		return fmt.Errorf("write %s: %w", url, err)
	}
	sources, rows, err := newSources(columns)
	if err != nil {
		return fmt.Errorf("write %s: %w", url, err)
	}
	codec, err := o.Codec.codec()
	if err != nil {
		return fmt.Errorf("write %s: %w", url, err)
	}
	file, err := store.Create(ctx, url, objectstore.WriteOptions{IfAbsent: o.IfAbsent, OrSame: o.OrSame})
	if err != nil {
		return err
	}
	defer func() { _ = file.Abort() }() // does nothing after Commit; else the first error is the cause
	w := parquet.NewGenericWriter[any](file,
		parquet.NewSchema("table", newTable(sources)),
		parquet.Compression(codec),
		parquet.DataPageVersion(o.PageVersion),
		parquet.PageBufferSize(o.PageBytes),
		parquet.DictionaryMaxBytes(o.DictionaryBytes),
		parquet.CreatedBy("espalier", "", ""),
	)
	if err := writeRows(ctx, w, sources, rows, o.RowsPerGroup); err != nil {
		return fmt.Errorf("write %s: %w", url, err)
	}
	return file.Commit()
}

// batchRows is the number of values in one call of the Parquet writer. The writer checks
// the bounds of pages and dictionaries between calls only.
const batchRows = 256

func writeRows(ctx context.Context, w *parquet.GenericWriter[any], sources []source, rows, perGroup int) error {
	for from := 0; from < rows; from += perGroup {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(rows, from+perGroup)
		for i, column := range w.ColumnWriters() {
			if err := writeValues(column, &sources[i], from, to); err != nil {
				return fmt.Errorf("column %q: %w", sources[i].name, err)
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeValues(w *parquet.ColumnWriter, s *source, from, to int) error {
	values := make([]parquet.Value, 0, batchRows)
	for ; from < to; from += batchRows {
		values = s.append(values[:0], from, min(to, from+batchRows))
		if _, err := w.WriteRowValues(values); err != nil {
			return err
		}
	}
	return nil
}

func (c Codec) codec() (compress.Codec, error) {
	codecs := []compress.Codec{
		&parquet.Snappy, &parquet.Uncompressed, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw,
	}
	if int(c) >= len(codecs) {
		return nil, fmt.Errorf("unknown codec %d", c)
	}
	return codecs[c], nil
}

// table is a group whose columns keep their order: parquet.Group sorts them.
type table struct {
	parquet.Group
	fields []parquet.Field
}

// Fields implements parquet.Node.
func (t table) Fields() []parquet.Field { return t.fields }

func newTable(sources []source) table {
	group := make(parquet.Group, len(sources))
	for i := range sources {
		group[sources[i].name] = sources[i].node
	}
	byName := make(map[string]parquet.Field, len(sources))
	for _, f := range group.Fields() {
		byName[f.Name()] = f
	}
	t := table{Group: group}
	for i := range sources {
		t.fields = append(t.fields, byName[sources[i].name])
	}
	return t
}

// source is a column to write, for any type of values.
type source struct {
	name   string
	node   parquet.Node
	rows   int
	append func(dst []parquet.Value, from, to int) []parquet.Value
}

func newSources(columns []WriteColumn) (sources []source, rows int, err error) {
	if len(columns) == 0 {
		return nil, 0, errors.New("no columns")
	}
	names := make(map[string]bool, len(columns))
	for i := range columns {
		c := &columns[i]
		if names[c.Name] {
			return nil, 0, fmt.Errorf("there are two columns %q", c.Name)
		}
		names[c.Name] = true
		s, ok := newSource(c.Values, i)
		if !ok {
			return nil, 0, fmt.Errorf("column %q: cannot write values of type %T", c.Name, c.Values)
		}
		if s.node, err = encode(s.node, c.Encoding); err != nil {
			return nil, 0, fmt.Errorf("column %q: %w", c.Name, err)
		}
		if i > 0 && s.rows != rows {
			return nil, 0, fmt.Errorf("column %q has %d rows, column %q %d", c.Name, s.rows, columns[0].Name, rows)
		}
		s.name = c.Name
		rows = s.rows
		sources = append(sources, s)
	}
	return sources, rows, nil
}

func newSource(values any, column int) (source, bool) {
	double := parquet.Leaf(parquet.DoubleType)
	single := parquet.Leaf(parquet.FloatType)
	switch v := values.(type) {
	case []float64:
		return required(v, column, double, parquet.DoubleValue), true
	case []*float64:
		return optional(v, column, double, parquet.DoubleValue), true
	case []float32:
		return required(v, column, single, parquet.FloatValue), true
	case []*float32:
		return optional(v, column, single, parquet.FloatValue), true
	case []int64:
		return required(v, column, parquet.Int(64), parquet.Int64Value), true
	case []*int64:
		return optional(v, column, parquet.Int(64), parquet.Int64Value), true
	case []int32:
		return required(v, column, parquet.Int(32), parquet.Int32Value), true
	case []*int32:
		return optional(v, column, parquet.Int(32), parquet.Int32Value), true
	case []string:
		return required(v, column, parquet.String(), stringValue), true
	case []*string:
		return optional(v, column, parquet.String(), stringValue), true
	case []bool:
		return required(v, column, parquet.Leaf(parquet.BooleanType), parquet.BooleanValue), true
	case []*bool:
		return optional(v, column, parquet.Leaf(parquet.BooleanType), parquet.BooleanValue), true
	default:
		return source{}, false
	}
}

func stringValue(s string) parquet.Value { return parquet.ByteArrayValue([]byte(s)) }

func required[T any](values []T, column int, node parquet.Node, value func(T) parquet.Value) source {
	return source{
		node: node,
		rows: len(values),
		append: func(dst []parquet.Value, from, to int) []parquet.Value {
			for _, v := range values[from:to] {
				dst = append(dst, value(v).Level(0, 0, column))
			}
			return dst
		},
	}
}

func optional[T any](values []*T, column int, node parquet.Node, value func(T) parquet.Value) source {
	return source{
		node: parquet.Optional(node),
		rows: len(values),
		append: func(dst []parquet.Value, from, to int) []parquet.Value {
			for _, v := range values[from:to] {
				if v == nil {
					dst = append(dst, parquet.NullValue().Level(0, 0, column))
				} else {
					dst = append(dst, value(*v).Level(0, 1, column))
				}
			}
			return dst
		},
	}
}

// encode gives a column its encoding, which its type must support.
func encode(node parquet.Node, e Encoding) (parquet.Node, error) {
	kind := node.Type().Kind()
	if e == Dictionary && kind == parquet.Boolean {
		e = Plain
	}
	enc := textEncoding(e)
	if kind != parquet.ByteArray {
		enc = numberEncoding(e, kind)
	}
	if enc == nil {
		return nil, fmt.Errorf("encoding %d does not fit its type %s", e, kind)
	}
	return parquet.Encoded(node, enc), nil
}

func textEncoding(e Encoding) encoding.Encoding {
	switch e {
	case Dictionary:
		return &parquet.RLEDictionary
	case Plain:
		return &parquet.Plain
	case Delta:
		return &parquet.DeltaLengthByteArray
	case DeltaPrefix:
		return &parquet.DeltaByteArray
	default:
		return nil
	}
}

func numberEncoding(e Encoding, kind parquet.Kind) encoding.Encoding {
	switch {
	case e == Plain:
		return &parquet.Plain
	case kind == parquet.Boolean:
		return nil
	case e == Dictionary:
		return &parquet.RLEDictionary
	case e == ByteStreamSplit:
		return &parquet.ByteStreamSplit
	case e == Delta && (kind == parquet.Int32 || kind == parquet.Int64):
		return &parquet.DeltaBinaryPacked
	default:
		return nil
	}
}

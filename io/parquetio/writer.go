package parquetio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// Null is the index of a missing value.
const Null = math.MaxUint16

// Field describes a column of a Writer.
type Field struct {
	Name string
	// Dictionary is []float64, []int64, []int32 or []string: at most 65,535 distinct values,
	// to which the indexes refer. Nil is a column of float64 without a dictionary.
	Dictionary any
	Optional   bool      // values may be missing
	Original   *Original // file from which the column is copied, of any type; nil: not copied
}

// Writer writes a file of flat columns by row groups and column chunks, and keeps at most a
// page in memory. Values are indexes into dictionaries known beforehand, so it looks up no
// value; Write takes plain values. The same chunks give the same bytes. After an error the
// only valid call is Abort.
type Writer struct {
	url   string
	file  objectstore.Writer
	out   *bufio.Writer
	codec compress.Codec
	none  bool // pages are not compressed

	fields []field
	meta   format.FileMetaData
	offset int64
	start  int64 // offset of the chunk
	next   int   // field of the next chunk
	rows   int   // number of rows of the row group
	chunks int   // number of chunks of a row group

	page, packed []byte // a page, before and after compression
	dense        []uint16
	header       bytes.Buffer
	thrift       *thrift.Encoder
}

// field is a column and its dictionary page.
type field struct {
	name     string
	optional bool
	indexed  bool
	original *Original // file from which the column is copied
	source   originalColumn
	at       int // position of its first chunk in a row group
	chunks   int
	physical format.Type
	size     int // number of values in the dictionary
	width    uint
	page     []byte // dictionary page, with its header
	expanded int64  // bytes of the dictionary page before compression
}

const (
	pageRows    = 1 << 16 // rows of a data page
	writeBuffer = 256 << 10
)

// WriterOptions are the options of a Writer. The zero value is snappy compression.
type WriterOptions struct {
	Codec    Codec
	IfAbsent bool // fail if the file exists already
	OrSame   bool // with IfAbsent: do not fail if the file has the same bytes

	Metadata map[string]string // by key, for the footer
}

// NewWriter begins a file. Nothing is visible until Commit returned nil.
func NewWriter(ctx context.Context, store *objectstore.Store, url string, fields []Field, o WriterOptions) (*Writer,
	error,
) {
	c, err := o.Codec.codec()
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", url, err)
	}
	w := &Writer{url: url, codec: c, none: o.Codec == Uncompressed}
	w.thrift = thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(&w.header))
	if err := w.addFields(fields); err != nil {
		return nil, fmt.Errorf("write %s: %w", url, err)
	}
	for _, key := range slices.Sorted(maps.Keys(o.Metadata)) {
		w.meta.KeyValueMetadata = append(w.meta.KeyValueMetadata, format.KeyValue{Key: key, Value: o.Metadata[key]})
	}
	if w.file, err = store.Create(ctx, url,
		objectstore.WriteOptions{IfAbsent: o.IfAbsent, OrSame: o.OrSame}); err != nil {
		return nil, err
	}
	w.out = bufio.NewWriterSize(w.file, writeBuffer)
	if err := w.write([]byte(magic)); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

func (w *Writer) addFields(fields []Field) error {
	if len(fields) == 0 {
		return errors.New("no columns")
	}
	w.meta.Version = 1
	w.meta.CreatedBy = "espalier version (build )"
	w.meta.Schema = append(w.meta.Schema,
		format.SchemaElement{Name: "table", NumChildren: thrift.New(int32(len(fields)))})
	names := make(map[string]bool, len(fields))
	for i := range fields {
		f := &fields[i]
		if names[f.Name] {
			return fmt.Errorf("there are two columns %q", f.Name)
		}
		names[f.Name] = true
		if err := w.addField(f); err != nil {
			return fmt.Errorf("column %q: %w", f.Name, err)
		}
	}
	return nil
}

func (w *Writer) addField(f *Field) error {
	c := field{
		name: f.Name, optional: f.Optional, indexed: f.Dictionary != nil, original: f.Original, at: w.chunks,
		chunks: 1,
	}
	if c.original != nil {
		return w.addCopied(c)
	}
	element := format.SchemaElement{Name: f.Name, RepetitionType: thrift.New(format.Required)}
	if f.Optional {
		element.RepetitionType.V = format.Optional
	}
	plain, err := c.plain(f.Dictionary)
	if err != nil {
		return err
	}
	if c.physical == format.ByteArray {
		element.ConvertedType = thrift.New(deprecated.UTF8)
		element.LogicalType.Value = &format.StringType{}
	}
	if c.indexed && (c.size == 0 || c.size > Null) {
		return fmt.Errorf("a dictionary of %d values, expected 1 to %d", c.size, Null)
	}
	c.width = uint(max(1, bits.Len(uint(c.size-1))))
	element.Type = thrift.New(c.physical)
	w.meta.Schema = append(w.meta.Schema, element)
	if c.indexed {
		header := format.PageHeader{
			Type: format.DictionaryPage,
			DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{
				NumValues: int32(c.size),
				Encoding:  format.Plain,
			}),
		}
		body, err := w.pack(&header, plain)
		if err != nil {
			return err
		}
		c.page = append(slices.Clone(w.header.Bytes()), body...)
		c.expanded = int64(w.header.Len() + len(plain))
	}
	w.fields = append(w.fields, c)
	w.chunks += c.chunks
	return nil
}

// plain sets type and size by a dictionary, and returns its values as its page has
// them.
func (c *field) plain(dictionary any) (plain []byte, err error) {
	switch d := dictionary.(type) {
	case nil:
		c.physical = format.Double
	case []float64:
		c.physical = format.Double
		c.size = len(d)
		return binary.Append(nil, binary.LittleEndian, d)
	case []int32:
		c.physical = format.Int32
		c.size = len(d)
		return binary.Append(nil, binary.LittleEndian, d)
	case []int64:
		c.physical = format.Int64
		c.size = len(d)
		return binary.Append(nil, binary.LittleEndian, d)
	case []string:
		c.physical = format.ByteArray
		c.size = len(d)
		for _, v := range d {
			plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(v))), v...)
		}
	default:
		return nil, fmt.Errorf("cannot write values of type %T", d)
	}
	return plain, nil
}

// addCopied adds a column with all that its schema has below it.
func (w *Writer) addCopied(c field) error {
	var err error
	if c.source, err = c.original.column(c.name); err != nil {
		return err
	}
	c.chunks = c.source.chunks
	w.meta.Schema = append(w.meta.Schema, c.source.elements...)
	w.fields = append(w.fields, c)
	w.chunks += c.chunks
	return nil
}

// pack compresses a page and encodes its header. The result is valid until the
// next call.
func (w *Writer) pack(header *format.PageHeader, page []byte) ([]byte, error) {
	body := page
	if !w.none {
		var err error
		if w.packed, err = w.codec.Encode(w.packed[:0], page); err != nil {
			return nil, err
		}
		body = w.packed
	}
	header.UncompressedPageSize = int32(len(page))
	header.CompressedPageSize = int32(len(body))
	header.CRC = int32(crc32.ChecksumIEEE(body))
	w.header.Reset()
	return body, w.thrift.Encode(header)
}

func (w *Writer) write(b []byte) error {
	w.offset += int64(len(b))
	_, err := w.out.Write(b)
	return err
}

// WriteIndexes writes the chunk of the next column: by row the position of the value in the
// dictionary, or Null. The first column written begins a row group.
func (w *Writer) WriteIndexes(index []uint16) error {
	f, chunk, err := w.beginOwn(len(index), true)
	if err != nil {
		return err
	}
	chunk.DictionaryPageOffset = w.offset
	if err := w.write(f.page); err != nil {
		return err
	}
	chunk.TotalUncompressedSize = f.expanded
	chunk.DataPageOffset = w.offset
	for rows := range slices.Chunk(index, pageRows) {
		n := len(rows)
		w.page = w.page[:0]
		if f.optional {
			w.dense = slices.Grow(w.dense[:0], pageRows)[:pageRows]
			present := 0
			w.page, present = appendLevels(w.page, rows, Null-1, w.dense)
			chunk.Statistics.NullCount += int64(n - present)
			rows = w.dense[:present]
		}
		if len(rows) > 0 && int(slices.Max(rows)) >= f.size {
			return w.fault(f, fmt.Errorf("index %d into a dictionary of %d values", slices.Max(rows), f.size))
		}
		w.page = appendPacked(append(w.page, byte(f.width)), rows, f.width)
		if err := w.writePage(chunk, n, format.RLEDictionary); err != nil {
			return err
		}
	}
	w.end(chunk)
	return nil
}

// WriteNumbers writes the chunk of the next column, which has no dictionary. In an optional
// column NaN is a missing value.
func (w *Writer) WriteNumbers(values []float64) error {
	f, chunk, err := w.beginOwn(len(values), false)
	if err != nil {
		return err
	}
	chunk.DataPageOffset = w.offset
	for rows := range slices.Chunk(values, pageRows) {
		n := len(rows)
		w.page = w.page[:0]
		if f.optional {
			dense := make([]float64, n)
			present := 0
			w.page, present = appendLevels(w.page, rows, math.Inf(1), dense)
			chunk.Statistics.NullCount += int64(n - present)
			rows = dense[:present]
		}
		if w.page, err = binary.Append(w.page, binary.LittleEndian, rows); err != nil {
			return err
		}
		if err := w.writePage(chunk, n, format.Plain); err != nil {
			return err
		}
	}
	w.end(chunk)
	return nil
}

func (w *Writer) fault(f *field, err error) error {
	return fmt.Errorf("write %s: column %q: %w", w.url, f.name, err)
}

// begin begins the next column's chunks, which it returns.
func (w *Writer) begin(f *field, rows int) ([]format.ColumnChunk, error) {
	switch {
	case rows == 0 || rows > maxRowGroupRows:
		return nil, w.fault(f, fmt.Errorf("a row group of %d rows, expected 1 to %d", rows, maxRowGroupRows))
	case w.next > 0 && rows != w.rows:
		return nil, w.fault(f, fmt.Errorf("a chunk of %d rows in a row group of %d", rows, w.rows))
	}
	if w.next == 0 {
		w.rows = rows
		w.meta.NumRows += int64(rows)
		w.meta.RowGroups = append(w.meta.RowGroups, format.RowGroup{
			Columns: make([]format.ColumnChunk, w.chunks), NumRows: int64(rows), FileOffset: w.offset,
			Ordinal: int16(min(len(w.meta.RowGroups), math.MaxInt16)),
		})
	}
	return w.meta.RowGroups[len(w.meta.RowGroups)-1].Columns[f.at : f.at+f.chunks], nil
}

// beginOwn begins the next column's chunk, of values by a dictionary or as they
// are.
func (w *Writer) beginOwn(rows int, indexed bool) (*field, *format.ColumnMetaData, error) {
	f := &w.fields[w.next]
	if f.indexed != indexed || f.original != nil {
		return nil, nil, w.fault(f, errors.New("want indexes for a column with a dictionary, chunks for a "+
			"copied column, numbers for any other"))
	}
	chunks, err := w.begin(f, rows)
	if err != nil {
		return nil, nil, err
	}
	chunk := &chunks[0].MetaData
	*chunk = format.ColumnMetaData{
		Type: f.physical, PathInSchema: []string{f.name}, Codec: w.codec.CompressionCodec(), NumValues: int64(rows),
		Encoding: []format.Encoding{format.Plain, format.RLE},
	}
	w.start = w.offset
	if indexed {
		chunk.Encoding = append(chunk.Encoding, format.RLEDictionary)
	}
	return f, chunk, nil
}

func (w *Writer) writePage(chunk *format.ColumnMetaData, rows int, e format.Encoding) error {
	header := format.PageHeader{
		Type: format.DataPage,
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(rows), Encoding: e, DefinitionLevelEncoding: format.RLE,
			RepetitionLevelEncoding: format.RLE,
		}),
	}
	body, err := w.pack(&header, w.page)
	if err != nil {
		return err
	}
	chunk.TotalUncompressedSize += int64(w.header.Len() + len(w.page))
	if err := w.write(w.header.Bytes()); err != nil {
		return err
	}
	return w.write(body)
}

func (w *Writer) end(chunk *format.ColumnMetaData) {
	chunk.TotalCompressedSize = w.offset - w.start
	w.endChunks(chunk)
}

// endChunks ends the column.
func (w *Writer) endChunks(chunks ...*format.ColumnMetaData) {
	group := &w.meta.RowGroups[len(w.meta.RowGroups)-1]
	for _, chunk := range chunks {
		group.TotalByteSize += chunk.TotalUncompressedSize
		group.TotalCompressedSize += chunk.TotalCompressedSize
	}
	w.next = (w.next + 1) % len(w.fields)
}

// Commit ends the file, and makes it visible. The last row group must be complete.
func (w *Writer) Commit() error {
	if w.next != 0 {
		return w.fault(&w.fields[w.next], errors.New("its chunk of the last row group is not written"))
	}
	w.header.Reset()
	if err := w.thrift.Encode(&w.meta); err != nil {
		return err
	}
	footer := w.header.Bytes()
	footer = append(binary.LittleEndian.AppendUint32(footer, uint32(len(footer))), magic...)
	if err := w.write(footer); err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	return w.file.Commit()
}

// Abort drops the file. After Commit it does nothing.
func (w *Writer) Abort() error { return w.file.Abort() }

// appendLevels appends the definition levels of values: their length, then one bit each. It
// copies the values that are not missing into dense, which has room for all. A value is
// missing unless it is at most most, as Null and NaN are.
func appendLevels[T uint16 | float64](dst []byte, values []T, most T, dense []T) (levels []byte, present int) {
	groups := (len(values) + 7) / 8
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1) // one bit-packed run
	for group := range slices.Chunk(values, 8) {
		level := uint(0)
		for i, v := range group {
			dense[present] = v
			if v <= most {
				level |= 1 << i
				present++
			}
		}
		dst = append(dst, byte(level))
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst, present
}

// appendPacked appends indexes as one bit-packed run. It packs eight indexes at a time: the
// first four and the last four fit a word each, and all eight fill whole bytes.
func appendPacked(dst []byte, index []uint16, width uint) []byte {
	groups := (len(index) + 7) / 8
	if groups == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	at := len(dst)
	const slack = 16 // bytes of two words; the next group overwrites the bytes after a group
	dst = slices.Grow(dst, groups*int(width)+slack)
	dst = dst[:at+groups*int(width)+slack]
	for ; len(index) >= 8; index = index[8:] {
		putGroup(dst[at:at+slack], (*[8]uint16)(index), width)
		at += int(width)
	}
	if len(index) > 0 {
		var last [8]uint16
		copy(last[:], index)
		putGroup(dst[at:at+slack], &last, width)
		at += int(width)
	}
	return dst[:at]
}

func putGroup(dst []byte, v *[8]uint16, width uint) {
	low := uint64(v[0]) | uint64(v[1])<<width | uint64(v[2])<<(2*width) | uint64(v[3])<<(3*width)
	high := uint64(v[4]) | uint64(v[5])<<width | uint64(v[6])<<(2*width) | uint64(v[7])<<(3*width)
	binary.LittleEndian.PutUint64(dst, low|high<<(4*width))
	binary.LittleEndian.PutUint64(dst[8:], high>>(64-4*width))
}

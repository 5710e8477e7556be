package parquetio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
)

const (
	maxPage   = 512 << 20
	pageSlack = 1 << 20 // bytes by which writers may understate a chunk's size
)

// rowGroup implements dataset.RowGroup.
type rowGroup struct {
	file    *File
	number  int
	columns []int
	digits  []string // columns of numbers that are read as texts
	reader  objectstore.Reader
	ctx     context.Context // bounds all reads
	cancel  context.CancelFunc
	fetches []*fetch // requests pending or done; nil for a local file
	indexes indexes
	held    int64 // bytes taken from the source's read-ahead
}

// Rows implements dataset.RowGroup.
func (g *rowGroup) Rows() int { return int(g.file.rowGroups[g.number].NumRows) }

// Close implements dataset.RowGroup.
func (g *rowGroup) Close() error {
	g.cancel()
	for _, f := range g.fetches {
		<-f.done // wait for the end of its read
	}
	g.file.source.ahead.Release(g.held)
	g.held = 0
	g.fetches = nil
	return g.reader.Close()
}

// ReadColumn implements dataset.RowGroup. The texts of a vector may share a string, so a caller
// that keeps a text must clone it.
func (g *rowGroup) ReadColumn(i int, dst *dataset.Vector) error {
	return g.ReadRows(i, 0, g.Rows(), dst)
}

// ReadRows implements dataset.RowGroup. It decodes the dictionary, and the pages that contain some
// of the rows. From a local file it reads nothing else, except the headers of all pages once.
func (g *rowGroup) ReadRows(i, from, to int, dst *dataset.Vector) (err error) {
	column := g.columns[i]
	defer func() {
		if p := recover(); p != nil {
			err = g.place(column, damage("%v", p))
		}
	}()
	if err := g.ctx.Err(); err != nil {
		return err
	}
	meta, err := g.file.chunkRange(g.number, column)
	if err != nil {
		return g.place(column, err)
	}
	s, ok := scratches.Get().(*scratch)
	if !ok {
		s = new(scratch)
	}
	defer scratches.Put(s)
	r := reading{g, s, meta, i, from, to, dst}
	if objectstore.IsLocal(g.reader) {
		return r.local()
	}
	return r.remote()
}

// reading is a single call of ReadRows.
type reading struct {
	*rowGroup
	*scratch

	meta     *columnMeta
	i        int // index of the column in rowGroup.columns
	from, to int // rows
	dst      *dataset.Vector
}

func (r *reading) column() int { return r.columns[r.i] }

// whole reports whether all rows are requested.
func (r *reading) whole() bool { return r.from == 0 && r.to == r.Rows() }

// decoder returns a decoder of the rows. It expects all pages of the chunk.
func (r *reading) decoder() decoder {
	l := &r.file.leaves[r.column()]
	if len(r.digits) > 0 && r.file.columns[r.column()].Type == dataset.Number && slices.Contains(r.digits, r.file.columns[r.column()].Name) {
		own := *l
		own.digits = true
		l = &own
	}
	return decoder{
		scratch: r.scratch, leaf: l, meta: r.meta, dst: r.dst,
		rows: r.to - r.from, left: r.Rows(), skip: r.from, writer: r.file.writer,
	}
}

// decode decodes the rows from the bytes of the whole chunk. pages may be nil.
func (r *reading) decode(chunk []byte, pages *pageIndex) error {
	d := r.decoder()
	if pages == nil {
		return d.run(nil, chunk)
	}
	dictionary, span := pages.part(&d)
	return d.run(chunk[dictionary.start:dictionary.end], chunk[span.start:span.end])
}

// local reads rows of a local file, or of an object in memory.
func (r *reading) local() error {
	at := r.meta.span()
	d := r.decoder()
	dictionary := span{}
	pages := span{0, at.end - at.start}
	if !r.whole() {
		index, err := r.index(func() (*pageIndex, error) { return r.scan(at) })
		if err != nil {
			return r.placeFetch(r.column(), err)
		}
		dictionary, pages = index.part(&d)
	}
	first, err := r.bytes(&r.first, at.start, dictionary)
	if err != nil {
		return r.placeFetch(r.column(), err)
	}
	rest, err := r.bytes(&r.chunk, at.start, pages)
	if err != nil {
		return r.placeFetch(r.column(), err)
	}
	return r.place(r.column(), d.run(first, rest))
}

// bytes returns the bytes of a span after an offset of a local file. It reads them into a buffer,
// unless the file is in memory.
func (r *reading) bytes(buffer *[]byte, offset int64, s span) ([]byte, error) {
	if memory, ok := r.reader.(objectstore.Byteser); ok {
		return memory.Bytes()[offset+s.start : offset+s.end : offset+s.end], nil
	}
	*buffer = grow(*buffer, int(s.end-s.start))
	if err := readFull(r.reader, *buffer, offset+s.start); err != nil {
		return nil, r.file.readFault(err)
	}
	return *buffer, nil
}

// remote reads rows of a fetched chunk. The source may keep the chunk.
func (r *reading) remote() error {
	at := r.meta.span()
	chunk, err := r.fetched(at)
	if err != nil {
		return r.placeFetch(r.column(), err)
	}
	var pages *pageIndex
	if !r.whole() {
		pages, err = r.index(func() (*pageIndex, error) { return r.scanBytes(chunk) })
	}
	if err == nil {
		err = r.decode(chunk, pages)
	}
	if err != nil { // the network may have changed bytes
		if chunk, err = r.again(at, chunk, err); err != nil {
			return r.place(r.column(), err)
		}
	}
	r.file.source.keep(r.key(at), chunk)
	return nil
}

// again reads a chunk again whose bytes could not be decoded, and decodes it. It returns the first
// error if the bytes are the same.
func (r *reading) again(at span, chunk []byte, first error) ([]byte, error) {
	again, err := r.read(at)
	if err != nil || bytes.Equal(again, chunk) {
		return nil, first
	}
	var pages *pageIndex
	if !r.whole() {
		r.forgetIndex() // it may have been made from the changed bytes
		if pages, err = r.index(func() (*pageIndex, error) { return r.scanBytes(again) }); err != nil {
			return nil, err
		}
	}
	return again, r.decode(again, pages)
}

// scratch holds the buffers for decoding a column.
type scratch struct {
	chunk, first, page, plain, levels []byte
	ints, moreInts                    []int64
	index                             []int32
	numbers                           []float64
	gzip                              *gzip.Reader
	header                            pageHeader
}

// scratches keeps buffers between columns, because allocating them for each column would take
// longer than decoding.
var scratches sync.Pool //nolint:gochecknoglobals // a pool

// padding is how many readable bytes follow a page, because the unpacking of bits may read them.
const padding = 64

// grow returns a buffer of n bytes, followed by padding.
func grow(b []byte, n int) []byte {
	if cap(b) < n+padding {
		b = make([]byte, n+padding)
	}
	return b[:n]
}

// pageHeader has those fields of a page's header that are needed for reading.
type pageHeader struct {
	Type             format.PageType                   `thrift:"1,required"`
	UncompressedSize int32                             `thrift:"2,required"`
	CompressedSize   int32                             `thrift:"3,required"`
	CRC              thrift.Null[int32]                `thrift:"4,optional"`
	Data             thrift.Null[dataPageHeader]       `thrift:"5,optional"`
	Dictionary       thrift.Null[dictionaryPageHeader] `thrift:"7,optional"`
	DataV2           thrift.Null[dataPageHeaderV2]     `thrift:"8,optional"`
}

type dataPageHeader struct {
	NumValues      int32           `thrift:"1,required"`
	Encoding       format.Encoding `thrift:"2,required"`
	LevelEncoding  format.Encoding `thrift:"3,required"`
	RepeatEncoding format.Encoding `thrift:"4,optional"`
}

type dictionaryPageHeader struct {
	NumValues int32           `thrift:"1,required"`
	Encoding  format.Encoding `thrift:"2,required"`
}

type dataPageHeaderV2 struct {
	NumValues    int32             `thrift:"1,required"`
	NumNulls     int32             `thrift:"2,required"`
	Encoding     format.Encoding   `thrift:"4,required"`
	LevelBytes   int32             `thrift:"5,required"`
	RepeatBytes  int32             `thrift:"6,required"`
	IsCompressed thrift.Null[bool] `thrift:"7,optional"`
}

// run decodes the page of the dictionary, if there is such a page, and pages of a chunk, until all
// rows are decoded. A dictionary may also be among the pages.
func (d *decoder) run(dictionary, pages []byte) error {
	d.begin()
	if len(dictionary) > 0 {
		if _, err := d.nextPage(dictionary); err != nil {
			return err
		}
	}
	for d.done < d.rows {
		if len(pages) == 0 {
			return damage("its pages end after %d of %d rows", d.skipped+d.done, d.skipped+d.rows)
		}
		var err error
		if pages, err = d.nextPage(pages); err != nil {
			return err
		}
	}
	d.finish()
	return nil
}

// nextPage decodes the first page of b, and returns the remaining bytes of b.
func (d *decoder) nextPage(b []byte) (rest []byte, err error) {
	d.header = pageHeader{}
	h := &d.header
	n, err := unmarshal(b, h)
	if err != nil {
		return nil, fmt.Errorf("page header: %w", err)
	}
	b = b[n:]
	if err := h.checkSizes(d.meta, int64(len(b))); err != nil {
		return nil, err
	}
	if err := d.checkMemory(); err != nil {
		return nil, err
	}
	return b[h.CompressedSize:], h.read(b[:h.CompressedSize], d)
}

// checkSizes checks the sizes of a page against the number of bytes that follow its header.
func (h *pageHeader) checkSizes(m *columnMeta, rest int64) error {
	limit := min(maxPage, m.TotalUncompressedSize+pageSlack)
	switch {
	case h.CompressedSize < 0 || int64(h.CompressedSize) > rest:
		return damage("a page of %d bytes where %d are left", h.CompressedSize, rest)
	case h.UncompressedSize < 0 || int64(h.UncompressedSize) > limit:
		return damage("a page of %d bytes once decompressed, expected at most %d", h.UncompressedSize, limit)
	default:
		return nil
	}
}

// checkMemory returns an error for a page in which some text must be too long, or which takes much
// of the memory, before it is decompressed.
func (d *decoder) checkMemory() error {
	h := &d.header
	values := int64(h.Dictionary.V.NumValues) + int64(h.Data.V.NumValues) + int64(h.DataV2.V.NumValues)
	if size := int64(h.UncompressedSize); d.leaf.physical == format.ByteArray && values > 0 && size > values*MaxText+pageSlack {
		return tooLong(int(size / values))
	}
	if limit, fits := h.fits(); !fits {
		return fault(fmt.Sprintf("a page of %d bytes once decompressed, more than an eighth of the memory of this process (%d bytes)",
			h.UncompressedSize, limit), "raise --memory, write smaller pages, or leave the column out of training with --ignore")
	}
	return nil
}

// fits reports whether a page takes a small part of the memory of this process, which is limit bytes.
func (h *pageHeader) fits() (limit int64, ok bool) {
	const share = 8                  // pages of several columns are decompressed at the same time, and then decoded
	limit = debug.SetMemoryLimit(-1) // a negative limit changes nothing
	return limit, int64(h.UncompressedSize) <= max(pageSlack, limit/share)
}

// pageReader reads the pages of a chunk, by their type.
type pageReader interface {
	readDictionary(body []byte) error
	readData(body []byte) error
	readDataV2(body []byte) error
}

// read lets r read the page, after its checksum.
func (h *pageHeader) read(body []byte, r pageReader) error {
	if h.CRC.Valid && crc32.ChecksumIEEE(body) != uint32(h.CRC.V) {
		return errors.New("the checksum of a page is wrong")
	}
	switch {
	case h.Type == format.DictionaryPage && h.Dictionary.Valid:
		return r.readDictionary(body)
	case h.Type == format.DataPage && h.Data.Valid:
		return r.readData(body)
	case h.Type == format.DataPageV2 && h.DataV2.Valid:
		return r.readDataV2(body)
	case h.Type == format.IndexPage:
		return nil
	default:
		return damage("a page of unknown type %d", h.Type)
	}
}

func (d *decoder) readDictionary(body []byte) error {
	h := &d.header.Dictionary.V
	if d.hasDictionary || d.done+d.skipped > 0 {
		return damage("a dictionary that is not its first page")
	}
	if h.Encoding != format.Plain && h.Encoding != plainDictionary {
		return damage("a dictionary encoded with %s", h.Encoding)
	}
	if h.NumValues < 0 {
		return damage("a dictionary of %d values", h.NumValues)
	}
	data, err := d.decompress(d.meta.Codec, body, int(d.header.UncompressedSize))
	if err != nil {
		return err
	}
	return d.setDictionary(data, int(h.NumValues))
}

// readData reads a data page of version 1: levels and values are compressed
// together.
func (d *decoder) readData(body []byte) error {
	h := &d.header.Data.V
	n, err := d.pageRows(h.NumValues)
	if err != nil || n == 0 {
		return err
	}
	data, err := d.decompress(d.meta.Codec, body, int(d.header.UncompressedSize))
	if err != nil {
		return err
	}
	p := page{rows: n, encoding: h.Encoding, data: data}
	if d.leaf.optional {
		if err := d.levelsV1(&p, h.LevelEncoding); err != nil {
			return err
		}
	}
	return d.append(p)
}

func (d *decoder) pageRows(n int32) (int, error) {
	if n < 0 || int(n) > d.left {
		return 0, damage("a page of %d values where %d are left", n, d.left)
	}
	return int(n), nil
}

// prefixed splits bytes whose number is before them from the bytes behind them. It returns short if there are fewer.
func prefixed(data []byte, short error) (b, rest []byte, err error) {
	const width = 4 // bytes of the number
	if len(data) < width || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-width) {
		return nil, nil, short
	}
	end := width + int(binary.LittleEndian.Uint32(data))
	return data[width:end], data[end:], nil
}

func (d *decoder) levelsV1(p *page, encoding format.Encoding) (err error) {
	switch encoding {
	case format.RLE:
		var levels []byte
		if levels, p.data, err = prefixed(p.data, errRuns); err != nil {
			return err
		}
		p.levels, p.missing, err = d.runLevels(levels, p.rows)
		return err
	case format.BitPacked:
		length := (p.rows + 7) / 8
		if length > len(p.data) {
			return errRuns
		}
		if d.writer != parquetMR && d.writer != impala {
			return fault("its levels have the encoding BIT_PACKED, which Parquet has given up and writers understood in two ways",
				"write the file again")
		}
		p.levels, p.missing = d.bitLevels(p.data[:length], p.rows, d.writer == impala)
		p.data = p.data[length:]
		return nil
	default:
		return damage("levels encoded with %s", encoding)
	}
}

// readDataV2 reads a data page of version 2: uncompressed levels, then the values.
func (d *decoder) readDataV2(body []byte) (err error) {
	h := &d.header.DataV2.V
	n, err := d.pageRows(h.NumValues)
	if err != nil || n == 0 {
		return err
	}
	_, levels, data, err := d.splitV2(body)
	if err != nil {
		return err
	}
	p := page{rows: n, encoding: h.Encoding}
	if d.leaf.optional && h.hasLevels() {
		p.levels, p.missing, err = d.runLevels(levels, n)
		if err != nil {
			return err
		}
	}
	if p.data, err = d.valuesV2(data); err != nil {
		return err
	}
	return d.append(p)
}

// splitV2 splits a data page of version 2 into the levels of repetition, the levels of definition and the values.
func (d *decoder) splitV2(body []byte) (repeated, defined, values []byte, err error) {
	h := &d.header.DataV2.V
	levels := int(h.RepeatBytes) + int(h.LevelBytes)
	if h.LevelBytes < 0 || h.RepeatBytes < 0 || levels > len(body) || levels > int(d.header.UncompressedSize) {
		return nil, nil, nil, errRuns
	}
	return body[:h.RepeatBytes], body[h.RepeatBytes:levels], body[levels:], nil
}

// hasLevels reports whether a page has levels of definition: some writers leave out levels that are all the greatest.
func (h *dataPageHeaderV2) hasLevels() bool { return h.LevelBytes > 0 || h.NumNulls != 0 }

// packed reports whether the values of a data page of version 2 are compressed.
func (d *decoder) packed() bool {
	h := &d.header.DataV2.V
	return !h.IsCompressed.Valid || h.IsCompressed.V || d.writer == oldParquetCPP
}

// valuesV2 decompresses the values of a data page of version 2, if they are compressed.
func (d *decoder) valuesV2(values []byte) ([]byte, error) {
	if !d.packed() {
		return values, nil
	}
	h := &d.header.DataV2.V
	return d.decompress(d.meta.Codec, values, int(d.header.UncompressedSize)-int(h.RepeatBytes)-int(h.LevelBytes))
}

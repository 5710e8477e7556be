package parquetio

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// Original is a file whose columns a Writer copies. It copies their bytes, so columns may
// have any type and may be nested.
type Original struct {
	file    *File
	meta    format.FileMetaData
	columns map[string]originalColumn
	reader  objectstore.Reader
}

// originalColumn is the position of a top-level column in the schema and in each row
// group.
type originalColumn struct {
	elements []format.SchemaElement
	first    int // position of its first chunk in a row group
	chunks   int
}

// Original opens the file for copies of its columns. It reads the footer once more, as File
// keeps only the parts for decoding.
func (f *File) Original(ctx context.Context) (_ *Original, err error) {
	o := &Original{file: f}
	o.reader, err = f.source.store.OpenObject(ctx,
		objectstore.Object{URL: f.URL, Size: f.Size, Generation: f.Generation})
	if err != nil {
		return nil, f.openFault(err)
	}
	if err := o.load(); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func (o *Original) load() error {
	footer, err := o.file.readFooter(o.reader)
	if err != nil {
		return err
	}
	if _, err := unmarshal(footer, &o.meta); err != nil {
		return o.file.damaged(err)
	}
	o.columns = make(map[string]originalColumn)
	chunk := 0
	for at := 1; at < len(o.meta.Schema); {
		end, leaves, err := subtree(o.meta.Schema, at)
		if err != nil {
			return o.file.damaged(err)
		}
		o.columns[o.meta.Schema[at].Name] = originalColumn{o.meta.Schema[at:end], chunk, leaves}
		at = end
		chunk += leaves
	}
	for i := range o.meta.RowGroups {
		if len(o.meta.RowGroups[i].Columns) != chunk {
			return o.file.damaged(fmt.Errorf("row group %d has %d columns, the schema %d", i,
				len(o.meta.RowGroups[i].Columns), chunk))
		}
	}
	return nil
}

// Close closes the file.
func (o *Original) Close() error { return o.reader.Close() }

// column finds a column by name.
func (o *Original) column(name string) (originalColumn, error) {
	c, ok := o.columns[name]
	if !ok {
		return c, fmt.Errorf("%s has no such column", o.file.URL)
	}
	return c, nil
}

// chunk returns a column chunk's description and the span of its bytes. It checks both
// against the size of the file.
func (o *Original) chunk(group, at int) (*format.ColumnMetaData, span, error) {
	c := &o.meta.RowGroups[group].Columns[at]
	m := &c.MetaData
	s := span{start: m.DataPageOffset}
	if d := m.DictionaryPageOffset; d > 0 && d < s.start {
		s.start = d
	}
	s.end = s.start + m.TotalCompressedSize
	var err error
	switch read := &o.file.rowGroups[group].Columns[at]; {
	case read.Crypto.Valid:
		err = encrypted()
	case c.FilePath != "":
		err = fault("the column is in another file, "+c.FilePath, "write the file in one piece")
	case !read.Meta.Valid:
		err = damage("the footer says nothing of the column's pages")
	case s.start < int64(len(magic)) || m.TotalCompressedSize < 0 || s.start > o.file.Size ||
		m.TotalCompressedSize > o.file.Size-s.start:
		err = damage("the pages would lie at %d, %d bytes long, in a file of %d", s.start, m.TotalCompressedSize,
			o.file.Size)
	}
	return m, s, err
}

// pagesEnd returns the end of a chunk's pages. It looks at their headers if the footer's size of
// the chunk may leave some bytes out: see mendSizes.
func (o *Original) pagesEnd(group, at int, m *format.ColumnMetaData, s span) (int64, error) {
	mended := o.file.rowGroups[group].Columns[at].Meta.V.TotalCompressedSize
	if mended <= m.TotalCompressedSize {
		return s.end, nil
	}
	b := make([]byte, mended)
	if err := readFull(o.reader, b, s.start); err != nil {
		return 0, o.file.readFault(err)
	}
	end := int64(0)
	values := m.NumValues
	for values > 0 && end < mended {
		var h pageHeader
		n, fault := unmarshal(b[end:], &h)
		if fault != nil || h.CompressedSize < 0 {
			end = 0 // readers of the copy will report what is wrong
			break
		}
		end += int64(n) + int64(h.CompressedSize)
		values -= int64(h.Data.V.NumValues) + int64(h.DataV2.V.NumValues)
	}
	if end > m.TotalCompressedSize && end <= mended {
		return s.start + end, nil
	}
	return s.end, nil
}

// CopyChunks writes the chunks of the next column. It copies them from the given row group
// of the column's Original. The first column written begins a row group.
func (w *Writer) CopyChunks(group int) error {
	f := &w.fields[w.next]
	if f.original == nil {
		return w.fault(f, errors.New("want chunks for a copied column only"))
	}
	to, err := w.begin(f, int(f.original.meta.RowGroups[group].NumRows))
	if err != nil {
		return err
	}
	metas := make([]*format.ColumnMetaData, len(to))
	for k := range to {
		metas[k] = &to[k].MetaData
		if err := w.copyChunk(f, group, f.source.first+k, metas[k]); err != nil {
			return err
		}
	}
	w.endChunks(metas...)
	return nil
}

// copyChunk copies the bytes of a chunk and its description, with the new offsets. It does
// not copy indexes and Bloom filter.
func (w *Writer) copyChunk(f *field, group, at int, to *format.ColumnMetaData) error {
	m, s, err := f.original.chunk(group, at)
	if err == nil {
		s.end, err = f.original.pagesEnd(group, at, m, s)
	}
	if err != nil {
		return w.fault(f, err)
	}
	*to = *m
	to.TotalCompressedSize = s.end - s.start
	shift := w.offset - s.start
	to.DataPageOffset += shift
	if to.DictionaryPageOffset = 0; s.start < m.DataPageOffset {
		to.DictionaryPageOffset = w.offset
	}
	to.IndexPageOffset = 0
	to.BloomFilterOffset = 0
	to.BloomFilterLength = 0
	n, err := io.Copy(w.out, io.NewSectionReader(f.original.reader, s.start, to.TotalCompressedSize))
	w.offset += n
	if err != nil {
		if failed := w.out.Flush(); failed != nil { // the write has failed, not the read
			return failed
		}
	}
	if err == nil && n < to.TotalCompressedSize {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return f.original.file.readFault(err)
	}
	return nil
}

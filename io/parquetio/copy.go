package parquetio

import (
	"context"
	"errors"
	"fmt"

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
	leaves   []copiedLeaf // by chunk
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
		o.columns[o.meta.Schema[at].Name] = originalColumn{o.meta.Schema[at:end], chunk, leaves, copiedLeaves(o.meta.Schema[at:end])}
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
// not copy indexes and Bloom filter. It checks each page before it writes the page.
func (w *Writer) copyChunk(f *field, group, at int, to *format.ColumnMetaData) error {
	m, s, err := f.original.chunk(group, at)
	if err != nil {
		return w.fault(f, err)
	}
	*to = *m
	shift := w.offset - s.start
	to.DataPageOffset += shift
	if to.DictionaryPageOffset = 0; s.start < m.DataPageOffset {
		to.DictionaryPageOffset = w.offset
	}
	to.IndexPageOffset = 0
	to.BloomFilterOffset = 0
	to.BloomFilterLength = 0
	failed := false // the write, not the read
	put := func(b []byte) error {
		n, err := w.out.Write(b)
		w.offset += int64(n)
		failed = err != nil
		return err
	}
	to.TotalCompressedSize, err = f.original.copyPages(group, at, f.source.leaves[at-f.source.first], s, put)
	if err == nil || failed {
		return err
	}
	return f.original.placed(f.name, group, err)
}

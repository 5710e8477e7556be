package parquetio

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
)

const (
	magic          = "PAR1"
	encryptedMagic = "PARE"
	endBytes       = 8 // bytes after the footer: its length and the magic
	maxFooter      = 256 << 20
	signatureBytes = 28 // bytes of a signature after the footer of encrypted files

	// maxRowGroupRows bounds the rows of a row group, because a few bytes of run-length encoding
	// can represent any number of values.
	maxRowGroupRows = 1 << 26
	maxChunk        = 1 << 30

	hintDamaged = "write the file again or leave it out"
)

// File is the footer of a Parquet file. It holds no open descriptor.
type File struct {
	URL          string
	Size         int64
	Generation   string
	FooterBytes  int64  // bytes of the footer, its length and the magic
	FooterDigest string // sha256 of the footer, in hex
	Rows         int64

	source    *Source
	columns   []Column
	leaves    []leaf
	byName    map[string]int
	metadata  []keyValue
	writer    writer
	rowGroups []rowGroupMeta
}

// fileMeta and the types below have those fields of a footer that are needed for reading. Thrift
// skips all other fields.
type fileMeta struct {
	Schema     []format.SchemaElement `thrift:"2,required"`
	NumRows    int64                  `thrift:"3,required"`
	RowGroups  []rowGroupMeta         `thrift:"4,required"`
	Metadata   []keyValue             `thrift:"5,optional"`
	CreatedBy  string                 `thrift:"6,optional"`
	Encryption thrift.Null[present]   `thrift:"8,optional"`
}

type rowGroupMeta struct {
	Columns []chunkMeta `thrift:"1,required"`
	NumRows int64       `thrift:"3,required"`
}

type chunkMeta struct {
	FilePath string                  `thrift:"1,optional"`
	Meta     thrift.Null[columnMeta] `thrift:"3,optional"`
	Crypto   thrift.Null[present]    `thrift:"8,optional"`
}

type columnMeta struct {
	Type                  format.Type             `thrift:"1,required"`
	Codec                 format.CompressionCodec `thrift:"4,required"`
	NumValues             int64                   `thrift:"5,required"`
	TotalUncompressedSize int64                   `thrift:"6,required"`
	TotalCompressedSize   int64                   `thrift:"7,required"`
	DataPageOffset        int64                   `thrift:"9,required"`
	DictionaryPageOffset  int64                   `thrift:"11,optional"`
	Statistics            columnStats             `thrift:"12,optional"`
}

// span returns the span of a chunk's bytes.
func (m *columnMeta) span() span { return span{m.start(), m.start() + m.TotalCompressedSize} }

// present is a struct of which only the presence matters.
type present struct{}

// start returns the offset of a chunk's first byte. Some writers give 0, or an offset after the
// data, as the offset of the dictionary.
func (m *columnMeta) start() int64 {
	if d := m.DictionaryPageOffset; d > 0 && d < m.DataPageOffset {
		return d
	}
	return m.DataPageOffset
}

// Open reads the footer of a file, with a new source.
func Open(ctx context.Context, store *objectstore.Store, url string) (*File, error) {
	return NewSource(store, SourceOptions{}).open(ctx, objectstore.Object{URL: url})
}

func (s *Source) open(ctx context.Context, o objectstore.Object) (*File, error) {
	f := &File{URL: o.URL, source: s}
	r, err := s.store.OpenObject(ctx, o)
	if err != nil {
		return nil, f.openFault(err)
	}
	defer func() { _ = r.Close() }() // read only: nothing can be lost
	f.Size, f.Generation = r.Size(), r.Generation()
	err = f.load(r)
	if err != nil && !objectstore.IsLocal(r) && errors.As(err, new(*dataset.DataError)) {
		err = f.load(r) // the network may have changed bytes
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// load reads and parses the footer.
func (f *File) load(r objectstore.Reader) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = f.damaged(fmt.Errorf("%v", p))
		}
	}()
	footer, err := f.readFooter(r)
	if err != nil {
		return err
	}
	f.FooterBytes = int64(len(footer)) + endBytes
	digest := sha256.Sum256(footer)
	f.FooterDigest = hex.EncodeToString(digest[:])
	return f.parseFooter(footer)
}

func (f *File) damaged(err error) error {
	return &dataset.DataError{
		File:    f.URL,
		Problem: "the footer is damaged: " + err.Error(),
		Hint:    hintDamaged,
	}
}

func (f *File) readFooter(r objectstore.Reader) ([]byte, error) {
	if f.Size < 12 {
		return nil, f.notParquet(fmt.Sprintf("not a Parquet file (%d bytes are too few)", f.Size))
	}
	end := make([]byte, endBytes)
	if err := readFull(r, end, f.Size-endBytes); err != nil {
		return nil, f.readFault(err)
	}
	switch string(end[4:]) {
	case magic:
	case encryptedMagic:
		return nil, &dataset.DataError{
			File: f.URL, Problem: "the footer is encrypted (PARE)",
			Hint: "write the file without encryption",
		}
	default:
		return nil, f.notParquet("not a Parquet file (no PAR1 at its end)")
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if length > f.Size-12 {
		return nil, f.damaged(fmt.Errorf("it claims %d bytes of a file of %d", length, f.Size))
	}
	if length > maxFooter {
		return nil, f.damaged(fmt.Errorf("it claims %d bytes, expected at most %d", length, maxFooter))
	}
	footer := make([]byte, length)
	if err := readFull(r, footer, f.Size-endBytes-length); err != nil {
		return nil, f.readFault(err)
	}
	return footer, nil
}

func (f *File) notParquet(problem string) error {
	hint := "it may be truncated or of another format: write it again or leave it out"
	if strings.HasSuffix(f.URL, ".csv") || strings.HasSuffix(f.URL, ".tsv") {
		hint = fmt.Sprintf("make Parquet of it: espalier import %s --output FOLDER", f.URL)
	}
	return &dataset.DataError{File: f.URL, Problem: problem, Hint: hint}
}

const hintWritten = "run again once nothing writes to it"

// openFault distinguishes a replaced file from a fault of the storage.
func (f *File) openFault(err error) error {
	if errors.Is(err, objectstore.ErrChanged) {
		return &dataset.DataError{
			File: f.URL, Problem: "the file was replaced, removed or written since it was listed",
			Hint: hintWritten,
		}
	}
	return err
}

// readFault distinguishes a replaced or shortened file from a fault of the storage.
func (f *File) readFault(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &dataset.DataError{File: f.URL, Problem: "the file became shorter while it was read", Hint: hintWritten}
	}
	if err := f.openFault(err); errors.As(err, new(*dataset.DataError)) {
		return err
	}
	return fmt.Errorf("read %s: %w", f.URL, err)
}

func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (f *File) parseFooter(footer []byte) error {
	var meta fileMeta
	n, err := unmarshal(footer, &meta)
	if err != nil {
		return f.damaged(err)
	}
	if rest := len(footer) - n; rest != 0 && (rest != signatureBytes || !meta.Encryption.Valid) {
		return f.damaged(fmt.Errorf("%d bytes follow its end", rest))
	}
	var chunks int
	f.columns, f.leaves, chunks, err = readSchema(meta.Schema)
	if err != nil {
		return f.damaged(err)
	}
	markIndex(f.columns, meta.Metadata)
	markDurations(f.columns, meta.Metadata)
	f.byName = make(map[string]int, len(f.columns))
	for i := range f.columns {
		f.byName[f.columns[i].Name] = i
	}
	f.Rows = meta.NumRows
	f.rowGroups = meta.RowGroups
	f.metadata = slices.DeleteFunc(meta.Metadata, func(e keyValue) bool { return !strings.HasPrefix(e.Key, ownKeys) })
	f.useStatistics()
	f.writer = writerOf(meta.CreatedBy)
	if err := f.checkRowGroups(chunks); err != nil {
		return err
	}
	f.mendSizes()
	return nil
}

// checkRowGroups checks that the counts in the footer agree.
func (f *File) checkRowGroups(chunks int) error {
	var rows int64
	for i := range f.rowGroups {
		g := &f.rowGroups[i]
		switch {
		case len(g.Columns) != chunks:
			return f.damaged(fmt.Errorf("row group %d has %d columns, the schema %d", i, len(g.Columns), chunks))
		case g.NumRows < 0:
			return f.damaged(fmt.Errorf("row group %d has %d rows", i, g.NumRows))
		case g.NumRows > maxRowGroupRows:
			return &dataset.DataError{
				File: f.URL, RowGroup: &i,
				Problem: fmt.Sprintf("a row group of %d rows, expected at most %d", g.NumRows, maxRowGroupRows),
				Hint:    "write the file with smaller row groups",
			}
		}
		rows += g.NumRows
	}
	if rows != f.Rows {
		return f.damaged(fmt.Errorf("the row groups have %d rows, the file %d", rows, f.Rows))
	}
	return nil
}

// ownKeys begins the keys of metadata that are kept: the schemas of other writers may be large.
const ownKeys = "espalier."

// Metadata returns the value of a key in the metadata of the footer; empty if absent, or if the key does not begin with
// "espalier.".
func (f *File) Metadata(key string) string {
	for _, entry := range f.metadata {
		if entry.Key == key {
			return entry.Value
		}
	}
	return ""
}

// Columns returns the top-level columns in the order of the file. The slice
// must not be changed.
func (f *File) Columns() []Column { return f.columns }

// RowGroups returns the number of row groups.
func (f *File) RowGroups() int { return len(f.rowGroups) }

// RowGroupRows returns the number of rows in row group i.
func (f *File) RowGroupRows(i int) int64 { return f.rowGroups[i].NumRows }

// ColumnBytes returns the size of the named columns in the file, in bytes.
func (f *File) ColumnBytes(names []string) int64 {
	bytes := int64(0)
	for i := range f.rowGroups {
		for _, name := range names {
			at, ok := f.byName[name]
			if !ok || f.readable(at) != nil {
				continue
			}
			if m, err := f.chunkRange(i, at); err == nil {
				bytes += m.TotalCompressedSize
			}
		}
	}
	return bytes
}

// RowGroup opens row group i to read the named columns. Unless the file is local, it starts to
// fetch their chunks. It first waits until the source's read-ahead has room; closing other row
// groups makes room. An error of the file's content is a *dataset.DataError. Integer columns that
// are named in digits are read as texts with all of their digits.
func (f *File) RowGroup(ctx context.Context, i int, columns []string, digits ...string) (dataset.RowGroup, error) {
	if i < 0 || i >= len(f.rowGroups) {
		return nil, fmt.Errorf("%s: no row group %d: the file has %d", f.URL, i, len(f.rowGroups))
	}
	picked, err := f.pick(columns)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	g := &rowGroup{file: f, number: i, columns: picked, digits: digits, ctx: ctx, cancel: cancel}
	g.reader, err = f.source.store.OpenObject(ctx,
		objectstore.Object{URL: f.URL, Size: f.Size, Generation: f.Generation})
	if err != nil {
		cancel()
		return nil, f.openFault(err)
	}
	if !objectstore.IsLocal(g.reader) {
		if err := g.fetchAhead(ctx); err != nil {
			_ = g.Close() // reading only
			return nil, err
		}
	}
	return g, nil
}

// pick finds columns by name, and returns an error for unreadable ones.
func (f *File) pick(names []string) ([]int, error) {
	picked := make([]int, len(names))
	var missing []string
	for i, name := range names {
		at, ok := f.byName[name]
		if !ok {
			missing = append(missing, name)
			continue
		}
		if err := f.readable(at); err != nil {
			return nil, err
		}
		picked[i] = at
	}
	if len(missing) == 0 {
		return picked, nil
	}
	problem := "there is no such column"
	if len(missing) > 1 {
		problem = fmt.Sprintf("there are no columns %q", missing)
	}
	return nil, &dataset.DataError{
		File: f.URL, Column: missing[0], Problem: problem,
		Hint: "all files of an input need the same columns",
	}
}

func (f *File) readable(at int) error {
	c := &f.columns[at]
	e := &dataset.DataError{File: f.URL, Column: c.Name, Hint: "leave the column out or write it as a number or text"}
	switch {
	case c.Nested:
		e.Problem = "the column is nested (a list, map or struct), expected a flat column"
	case c.Unsupported != "":
		e.Problem = "the column cannot be read: " + c.Unsupported
	default:
		return nil
	}
	return e
}

// chunkRange returns the description of a column chunk. It checks the span of the chunk
// against the size of the file.
func (f *File) chunkRange(group, column int) (*columnMeta, error) {
	g := &f.rowGroups[group]
	l := &f.leaves[column]
	c := &g.Columns[l.chunk]
	m := &c.Meta.V
	start := m.start()
	switch {
	case c.Crypto.Valid:
		return nil, encrypted()
	case c.FilePath != "":
		return nil, fault("the column is in another file, "+c.FilePath, "write the file in one piece")
	case !c.Meta.Valid:
		return nil, damage("the footer says nothing of the column's pages")
	case m.Type != l.physical:
		return nil, damage("the pages hold %s, the schema says %s", m.Type, l.physical)
	case m.NumValues != g.NumRows:
		return nil, damage("the column has %d values, the row group %d rows", m.NumValues, g.NumRows)
	case start < 4 || m.TotalCompressedSize < 0 || start > f.Size || m.TotalCompressedSize > f.Size-start:
		return nil, damage("the pages would lie at %d, %d bytes long, in a file of %d",
			start, m.TotalCompressedSize, f.Size)
	case m.TotalCompressedSize > min(maxChunk, math.MaxInt):
		return nil, fault(fmt.Sprintf("a column chunk of %d bytes, expected at most %d", m.TotalCompressedSize,
			maxChunk),
			"write the file with smaller row groups")
	}
	return m, nil
}

// encrypted returns the error for an encrypted column chunk.
func encrypted() error {
	return fault("the column is encrypted", "write the file without encryption")
}

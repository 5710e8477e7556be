package jobs

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// keepChunks bounds the column chunks from object stores, in bytes, that are kept in memory between
// the two passes of a training.
const keepChunks = 256 << 20

// openFooters is how many footers are kept in memory.
const openFooters = 256

// maxScratch is the greatest size of a scratch file, in bytes.
const maxScratch = 1 << 31

// FilesConfig describes how files are read.
type FilesConfig struct {
	ReadAhead int64   // bytes
	Timeout   float64 // seconds without a byte after which a request is retried; 0: the default of the store
	Patience  float64 // seconds for which a request that fails is retried; 0: the default of the store
}

// DefaultFilesConfig reads 64 MiB ahead and waits 30 seconds, and retries for 3 minutes.
func DefaultFilesConfig() FilesConfig {
	return FilesConfig{ReadAhead: 64 << 20, Timeout: 30, Patience: 180}
}

// Files is the storage of a run, both in the driver and in its workers: Parquet files and scratch
// files, in the stores whose drivers the program imports.
type Files struct {
	Store   *objectstore.Store
	Parquet *parquetio.Source

	Predicted  sync.Map     // URLs of the files of predictions from this process
	Committing sync.RWMutex // held for reading while predictions are committed
}

// NewFiles returns storage of the given settings.
func NewFiles(c FilesConfig) *Files {
	f := &Files{Store: objectstore.Open(objectstore.Patience{
		Idle: time.Duration(c.Timeout * float64(time.Second)), Retry: time.Duration(c.Patience * float64(time.Second)),
	})}
	options := parquetio.SourceOptions{Footers: openFooters, ReadAhead: c.ReadAhead, Keep: keepChunks}
	f.Parquet = parquetio.NewSource(f.Store, options)
	return f
}

// RowGroup opens a row group of a Parquet file.
func (f *Files) RowGroup(ctx context.Context, t Task, names []string) (dataset.RowGroup, error) {
	p, err := f.Parquet.Open(ctx, objectstore.Object{URL: t.File, Size: t.Size, Generation: t.Generation})
	if err != nil {
		return nil, err
	}
	inFile, columns := splitColumns(&t, names)
	g, err := p.RowGroup(ctx, t.RowGroup, inFile, t.Digits...)
	if err != nil {
		return nil, err
	}
	if len(t.Path) > 0 {
		g = &withPath{g, columns}
	}
	return readTexts(g, &t, names), nil
}

// Read returns the content of a scratch file. The caller must not change it.
func (f *Files) Read(ctx context.Context, url string) ([]byte, error) {
	b, err := f.Store.ReadAll(ctx, url, maxScratch)
	if err == nil {
		err = CheckChecksum(url, b)
	}
	return b, err
}

// Write writes a scratch file, whole or not at all.
func (f *Files) Write(ctx context.Context, url string, b []byte) error {
	return f.Store.Put(ctx, url, b, objectstore.WriteOptions{Volatile: true})
}

// withPath is a row group that also has the columns of its file's path.
type withPath struct {
	dataset.RowGroup // row group with the wanted columns in the file

	columns []pathOrFile // all wanted columns
}

// pathOrFile is a column of the path or of the row group.
type pathOrFile struct {
	path   *PathColumn
	column int
}

// splitColumns divides wanted columns into columns of the file and columns of its path.
func splitColumns(t *Task, names []string) (inFile []string, columns []pathOrFile) {
	for _, name := range names {
		i := slices.IndexFunc(t.Path, func(c PathColumn) bool { return c.Name == name })
		if i >= 0 {
			columns = append(columns, pathOrFile{path: &t.Path[i]})
			continue
		}
		columns = append(columns, pathOrFile{column: len(inFile)})
		inFile = append(inFile, name)
	}
	return inFile, columns
}

// ReadColumn implements dataset.RowGroup.
func (g *withPath) ReadColumn(i int, dst *dataset.Vector) error {
	return g.ReadRows(i, 0, g.Rows(), dst)
}

// ReadRows implements dataset.RowGroup.
func (g *withPath) ReadRows(i, from, to int, dst *dataset.Vector) error {
	c := &g.columns[i]
	if c.path == nil {
		return g.RowGroup.ReadRows(c.column, from, to, dst)
	}
	dst.Type = c.path.Type
	dst.Numbers = nil
	dst.Texts = nil
	dst.Index = slices.Grow(dst.Index[:0], to-from)[:to-from]
	value := int32(0)
	switch {
	case c.path.Null:
		value = -1
	case c.path.Type == dataset.Text:
		dst.Texts = []string{c.path.Text}
	default:
		dst.Numbers = []float64{c.path.Number}
	}
	for r := range dst.Index {
		dst.Index[r] = value
	}
	return nil
}

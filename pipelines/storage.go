package pipelines

import (
	"context"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/transforms"
)

// DefaultReadAhead is the number of bytes that are fetched of object stores
// before they are needed, unless a configuration says otherwise.
const DefaultReadAhead = 64 << 20

// keepChunks is the number of bytes of column chunks from object stores that
// are kept between the two passes of a training.
const keepChunks = 256 << 20

// openFooters is the number of files whose footers are kept.
const openFooters = 256

// maxScratch bounds a scratch file, which is written in pieces of some MiB.
const maxScratch = 1 << 31

// files is the storage of driver and workers alike.
type files struct {
	store   *objectstore.Store
	parquet *parquetio.Source
}

var process = newFiles() //nolint:gochecknoglobals // one per process: the DoFns of a worker share its cache of footers

func newFiles() *files {
	f := &files{store: objectstore.New()}
	f.setReadAhead(DefaultReadAhead)
	return f
}

// setReadAhead sets the number of bytes that are fetched ahead. No job may be
// running.
func (f *files) setReadAhead(bytes int64) {
	f.parquet = parquetio.NewSource(f.store, parquetio.SourceOptions{Footers: openFooters, ReadAhead: bytes, Keep: keepChunks})
}

func init() { transforms.SetStorage(process) }

// RowGroup opens a row group of a Parquet file.
func (f *files) RowGroup(ctx context.Context, t transforms.Task, names []string) (dataset.RowGroup, error) {
	p, err := f.parquet.Open(ctx, objectstore.Object{URL: t.File, Size: t.Size, Generation: t.Generation})
	if err != nil {
		return nil, err
	}
	if len(t.Path) == 0 {
		return p.RowGroup(ctx, t.RowGroup, names)
	}
	inFile, columns := splitColumns(&t, names)
	g, err := p.RowGroup(ctx, t.RowGroup, inFile)
	if err != nil {
		return nil, err
	}
	return &withPath{g, columns}, nil
}

// Read returns the whole of a scratch file.
func (f *files) Read(ctx context.Context, url string) ([]byte, error) {
	return f.store.ReadAll(ctx, url, maxScratch)
}

// Write writes a scratch file.
func (f *files) Write(ctx context.Context, url string, b []byte) error {
	w, err := f.store.Create(ctx, url, objectstore.WriteOptions{})
	if err != nil {
		return err
	}
	defer w.Abort() //nolint:errcheck // after Commit nothing is left to undo
	if _, err := w.Write(b); err != nil {
		return err
	}
	return w.Commit()
}

// maxConfig bounds a config file.
const maxConfig = 1 << 20

// ReadConfig returns a config file from any store.
func ReadConfig(ctx context.Context, url string) ([]byte, error) {
	b, err := process.store.ReadAll(ctx, url, maxConfig)
	if err != nil {
		return nil, usagef("--config: %v", err)
	}
	return b, nil
}

// WriteFile writes a file to any store, whole or not at all.
func WriteFile(ctx context.Context, url string, b []byte) error {
	if err := process.Write(ctx, url, b); err != nil {
		return usagef("--output: %v", err)
	}
	return nil
}

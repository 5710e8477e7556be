package pipelines

import (
	"context"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/transforms"
)

// openFooters is the number of files whose footers are kept.
const openFooters = 256

// maxScratch bounds a scratch file, which is written in pieces of some MiB.
const maxScratch = 1 << 31

// files is the storage of driver and workers alike.
type files struct {
	store   *objectstore.Store
	parquet *parquetio.Cache
}

var process = newFiles() //nolint:gochecknoglobals // one per process: the DoFns of a worker share its cache of footers

func newFiles() *files {
	s := objectstore.New()
	return &files{store: s, parquet: parquetio.NewCache(s, openFooters)}
}

func init() { transforms.SetStorage(process) }

// RowGroup opens a row group of a Parquet file.
func (f *files) RowGroup(ctx context.Context, file string, rowGroup int, columns []string) (dataset.RowGroup, error) {
	p, err := f.parquet.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	return p.RowGroup(ctx, rowGroup, columns)
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

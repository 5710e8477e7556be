package pipelines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/gcsstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/s3store"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// keepChunks is the number of bytes of column chunks from object stores that
// are kept between the two passes of a training.
const keepChunks = 256 << 20

// openFooters is the number of files whose footers are kept.
const openFooters = 256

// maxScratch bounds a scratch file, which is written in pieces of some MiB.
const maxScratch = 1 << 31

// files is the storage of one run, in the driver and in its workers alike.
type files struct {
	store   *objectstore.Store
	parquet *parquetio.Source
	run     *jobs.Run // nil in workers, which belong to one

	predicted  sync.Map     // URLs of the predictions that were written in this process
	committing sync.RWMutex // held for reading while predictions are committed
}

// process is the storage of what belongs to no run, by the default settings.
var process = beginFiles(DefaultStorageConfig()) //nolint:gochecknoglobals // it keeps connections, and nothing of what was read

// newFiles returns storage of the given settings.
func newFiles(c StorageConfig) *files {
	f := &files{store: objectstore.New()}
	o := httpstore.Options{IdleTimeout: time.Duration(c.StorageTimeout * float64(time.Second))}
	f.store.Register("gs", gcsstore.New(o))
	f.store.Register("s3", s3store.New(o))
	f.parquet = parquetio.NewSource(f.store, parquetio.SourceOptions{Footers: openFooters, ReadAhead: c.ReadAhead, Keep: keepChunks})
	return f
}

// beginFiles returns storage for a run that begins. Its end is told by end.
func beginFiles(c StorageConfig) *files {
	settings, err := json.Marshal(c)
	if err != nil { // numbers, of which Validate has looked at each
		panic(err)
	}
	f := newFiles(c)
	f.run = jobs.NewRun(f, settings)
	return f
}

// end lets go of what the run has read. DoFns that are still at work for it fail.
func (f *files) end() {
	f.run.Close()
	f.parquet.Forget()
}

// openFiles opens the storage of a run of another process by its settings, nil for
// what belongs to no run.
func openFiles(settings []byte) (jobs.Storage, error) {
	if settings == nil {
		return process, nil
	}
	var c StorageConfig
	if err := json.Unmarshal(settings, &c); err != nil {
		return nil, fmt.Errorf("the storage settings of the run: %w", err)
	}
	return newFiles(c), nil
}

// StorageConfig says how object stores are read. The JSON names are those of the
// flags and of config files.
type StorageConfig struct {
	ReadAhead      int64   `json:"read_ahead"`      // bytes that are fetched before they are needed
	StorageTimeout float64 `json:"storage_timeout"` // seconds without a byte after which a request is tried again; 0: the drivers' own
}

// DefaultStorageConfig reads 64 MiB ahead and waits 30 seconds.
func DefaultStorageConfig() StorageConfig {
	return StorageConfig{ReadAhead: 64 << 20, StorageTimeout: 30}
}

// Validate returns all faults at once, each with the name of its flag.
func (c *StorageConfig) Validate() error {
	var faults []error
	if c.ReadAhead < 0 {
		faults = append(faults, fmt.Errorf("--read_ahead %d: want a number of bytes", c.ReadAhead))
	}
	if !(c.StorageTimeout >= 0 && c.StorageTimeout <= 1e6) { // NaN too
		faults = append(faults, fmt.Errorf("--storage_timeout %v: want a number of seconds from 0 to 1e6", c.StorageTimeout))
	}
	return errors.Join(faults...)
}

func init() { jobs.SetStorage(openFiles) }

// RowGroup opens a row group of a Parquet file.
func (f *files) RowGroup(ctx context.Context, t jobs.Task, names []string) (dataset.RowGroup, error) {
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
	return f.put(ctx, url, b, objectstore.WriteOptions{Volatile: true})
}

// put writes a file, whole or not at all.
func (f *files) put(ctx context.Context, url string, b []byte, o objectstore.WriteOptions) error {
	w, err := f.store.Create(ctx, url, o)
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
		return nil, usage.Errorf("--config: %v", err)
	}
	return b, nil
}

package source

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/gcsstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
	"github.com/espalier-ml/espalier/io/objectstore/s3store"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// keepChunks is the number of bytes of column chunks, from object stores, in memory between
// the two passes of a training.
const keepChunks = 256 << 20

// openFooters is the number of footers in memory.
const openFooters = 256

// maxScratch is the greatest size of a scratch file, in bytes.
const maxScratch = 1 << 31

// Files is the storage of one run, in the driver and in its workers alike.
type Files struct {
	Store   *objectstore.Store
	Parquet *parquetio.Source
	Run     *jobs.Run // nil in a worker process, and in Process

	Predicted  sync.Map     // URLs of the files of predictions from this process
	Committing sync.RWMutex // held for reading while predictions are committed

	cache     *ColumnCache // shared with other runs; nil: there are none
	liveFiles bool         // see Config
}

// Process is the storage of this process outside of its runs, with the default settings.
var Process = Begin(DefaultConfig()) //nolint:gochecknoglobals // it keeps connections and no content

// New returns storage of the given settings.
func New(c Config) *Files {
	f := &Files{Store: objectstore.New(), liveFiles: c.LiveFiles}
	o := httpstore.Options{IdleTimeout: time.Duration(c.StorageTimeout * float64(time.Second))}
	f.Store.Register("gs", gcsstore.New(o))
	f.Store.Register("s3", s3store.New(o))
	options := parquetio.SourceOptions{Footers: openFooters, ReadAhead: c.ReadAhead, Keep: keepChunks}
	f.Parquet = parquetio.NewSource(f.Store, options)
	return f
}

// Begin returns storage for a run that begins. End ends it.
func Begin(c Config) *Files {
	settings, err := setting.Encode(&c, c.Settings())
	if err != nil { // the settings are numbers, and Validate has checked them
		panic(err)
	}
	f := New(c)
	f.Run = jobs.NewRun(f, settings)
	return f
}

// End releases the memory of the run. DoFns at work for the run fail from now on.
func (f *Files) End() {
	f.Run.Close()
	f.Parquet.Forget()
}

// openFiles opens the storage of a run that began in another process. settings are nil for
// DoFns without a run.
func openFiles(settings []byte) (jobs.Storage, error) {
	if settings == nil {
		return Process, nil
	}
	var c Config
	if err := setting.Decode(settings, c.Settings()); err != nil {
		return nil, fmt.Errorf("the storage settings of the run: %w", err)
	}
	return New(c), nil
}

// Config says how files are read.
type Config struct {
	ReadAhead      int64   // bytes
	StorageTimeout float64 // seconds
	LiveFiles      bool    // files of tables that are named one by one are live ones, and are read
}

// DefaultConfig reads 64 MiB ahead and waits 30 seconds.
func DefaultConfig() Config {
	return Config{ReadAhead: 64 << 20, StorageTimeout: 30}
}

// Settings declares the settings of reading, which set the fields of c.
func (c *Config) Settings() []setting.Setting {
	return []setting.Setting{
		{
			Name: "read_ahead", Group: setting.Storage, Value: setting.Size(&c.ReadAhead), Changeable: true,
			Help: "what is fetched from object stores before it is needed",
		},
		TimeoutSetting(&c.StorageTimeout),
		{
			Name: "live_files", Group: setting.Storage, Value: setting.Switch(&c.LiveFiles), Changeable: true,
			Help: "the files that --input names one by one are live files of a Delta, Hudi or Iceberg table; else " +
				"files of tables are refused",
		},
	}
}

// TimeoutSetting declares how long a request to an object store waits.
func TimeoutSetting(seconds *float64) setting.Setting {
	return setting.Setting{
		Name: "storage_timeout", Group: setting.Storage, Value: setting.Duration(seconds, setting.Between(0, 1e6)),
		Changeable: true,
		Help:       "time without a byte from an object store after which a request is tried again; 0: the store's own",
	}
}

func init() { jobs.SetStorage(openFiles) }

// RowGroup opens a row group of a Parquet file.
func (f *Files) RowGroup(ctx context.Context, t jobs.Task, names []string) (dataset.RowGroup, error) {
	p, err := f.Parquet.Open(ctx, objectstore.Object{URL: t.File, Size: t.Size, Generation: t.Generation})
	if err != nil {
		return nil, err
	}
	key := groupKey{t.File, t.Generation, t.RowGroup, strings.Join(t.Digits, "\x00")}
	open := func(names []string) (dataset.RowGroup, error) { return p.RowGroup(ctx, t.RowGroup, names, t.Digits...) }
	if len(t.Path) == 0 {
		return f.cache.open(key, names, open)
	}
	inFile, columns := splitColumns(&t, names)
	g, err := f.cache.open(key, inFile, open)
	if err != nil {
		return nil, err
	}
	return &withPath{g, columns}, nil
}

// Read returns the whole of a scratch file. The caller must not change it.
func (f *Files) Read(ctx context.Context, url string) ([]byte, error) {
	b, err := f.Store.ReadAll(ctx, url, maxScratch)
	if err == nil {
		err = jobs.CheckChecksum(url, b)
	}
	return b, err
}

// Write writes a scratch file, whole or not at all.
func (f *Files) Write(ctx context.Context, url string, b []byte) error {
	return f.Store.Put(ctx, url, b, objectstore.WriteOptions{Volatile: true})
}

// maxConfig is the greatest size of a config file, in bytes.
const maxConfig = 1 << 20

// ReadConfig returns the content of a config file in any store.
func ReadConfig(ctx context.Context, url string) ([]byte, error) {
	b, err := Process.Store.ReadAll(ctx, url, maxConfig)
	if err != nil {
		return nil, usage.Errorf("--config: %v", err)
	}
	return b, nil
}

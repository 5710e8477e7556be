package source

import (
	"context"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Files is the storage of one run in the driver.
type Files struct {
	*jobs.Files

	Run *jobs.Run

	liveFiles bool // see Config
}

// Process is the storage of this process outside of its runs, with the default settings.
var Process = Begin(DefaultConfig()) //nolint:gochecknoglobals // it keeps connections and no content

// New returns storage without a run.
func New(c Config) *jobs.Files { return jobs.NewFiles(c.files()) }

// files returns the settings of DoFns.
func (c *Config) files() jobs.FilesConfig {
	return jobs.FilesConfig{ReadAhead: c.ReadAhead, Timeout: c.StorageTimeout, Patience: c.StoragePatience}
}

// Begin returns storage for a run that begins. End ends it.
func Begin(c Config) *Files {
	f := &Files{Files: New(c), liveFiles: c.LiveFiles}
	f.Run = jobs.NewRun(f.Files, c.files())
	return f
}

// End releases the memory of the run. DoFns that still work for the run fail from then on.
func (f *Files) End() {
	f.Run.Close()
	f.Parquet.Forget()
}

// Config describes how files are read.
type Config struct {
	ReadAhead       int64   // bytes
	StorageTimeout  float64 // seconds
	StoragePatience float64 // seconds
	LiveFiles       bool    // files of tables that are named one by one are live ones, and are read
}

// DefaultConfig returns the default settings of reading.
func DefaultConfig() Config {
	files := jobs.DefaultFilesConfig()
	return Config{ReadAhead: files.ReadAhead, StorageTimeout: files.Timeout, StoragePatience: files.Patience}
}

// Settings declares the settings of reading, which set the fields of c.
func (c *Config) Settings() []setting.Setting {
	return []setting.Setting{
		{
			Name: "read_ahead", Group: setting.Storage, Value: setting.Size(&c.ReadAhead), Changeable: true,
			Help: "what is fetched from object stores before it is needed",
		},
		TimeoutSetting(&c.StorageTimeout),
		PatienceSetting(&c.StoragePatience),
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

// PatienceSetting declares how long a request that fails is tried again.
func PatienceSetting(seconds *float64) setting.Setting {
	return setting.Setting{
		Name: "storage_patience", Group: setting.Storage, Value: setting.Duration(seconds, setting.Between(0, 1e6)),
		Changeable: true,
		Help:       "time for which an object store that asks for fewer requests is asked again; 0: the store's own",
	}
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

package config

import (
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/synth"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Synth is the configuration of a synthetic data set. Settings declares what each
// field means; docs/settings.md lists that. In JSON the fields have the names of the flags.
type Synth struct {
	synth.Config

	Output       string
	RowsPerFile  int64 // in all files except the last
	RowsPerGroup int64 // in all row groups of a file except the last
	Codec        string
	Overwrite    bool

	StorageTimeout float64 // seconds

	AlsoRead []string `json:"-"` // files that this configuration was read from: they are not replaced
}

// DefaultSynth returns synth.Default in files of a million rows.
func DefaultSynth() Synth {
	return Synth{
		Config: synth.Default(), RowsPerFile: 1_000_000, RowsPerGroup: 250_000, Codec: "snappy",
		StorageTimeout: DefaultStorageConfig().StorageTimeout,
	}
}

const (
	maxSynthFiles = 100_000 // five digits
	maxGroupRows  = 1 << 24 // a worker needs some ten bytes of memory per row
)

// Settings declares the settings of a synthetic data set, which set the fields of c.
func (c *Synth) Settings() []setting.Setting {
	run := setting.In(setting.Run, []setting.Setting{
		{
			Name: "output", Value: setting.Text(&c.Output), Required: true,
			Help: "folder of the data set: a path or a URL",
		},
		{
			Name: "overwrite", Value: setting.Switch(&c.Overwrite),
			Help: "replace another synthetic data set in the output folder: the files that its _manifest.json lists",
		},
	})
	return slices.Concat(run, c.Config.Settings(), fileSettings(&c.RowsPerFile, &c.RowsPerGroup, &c.Codec, &c.StorageTimeout))
}

// fileSettings declares the settings of the Parquet files that synth and import write.
func fileSettings(perFile, perGroup *int64, codec *string, timeout *float64) []setting.Setting {
	return setting.In(setting.Storage, []setting.Setting{
		{Name: "rows_per_file", Value: setting.Whole(perFile, setting.From(1)), Help: "rows of a file"},
		{
			Name: "rows_per_group", Value: setting.Whole(perGroup, setting.Between(1, maxGroupRows)),
			Help: "rows of a row group",
		},
		{
			Name: "codec", Value: setting.OneOf(codec, parquetio.Codecs()...),
			Help: "compression of pages: " + setting.Alternatives(parquetio.Codecs()),
		},
		source.TimeoutSetting(timeout),
	})
}

// MarshalJSON writes the settings by the names of their flags, in the order of the fields.
func (c Synth) MarshalJSON() ([]byte, error) { return setting.Encode(&c, c.Settings()) }

// UnmarshalJSON reads settings by the names of their flags. Others stay as they are;
// unknown names are refused.
func (c *Synth) UnmarshalJSON(b []byte) error { return setting.Decode(b, c.Settings(), nil) }

// Validate returns all faults at once, each with the name of its flag.
func (c *Synth) Validate() error {
	faults := setting.Faults(c.Settings())
	if len(faults) > 0 {
		return usage.All(faults)
	}
	if err := c.Config.Validate(); err != nil {
		faults = append(faults, err)
	}
	if files := c.Files(); files > maxSynthFiles {
		faults = append(faults, fmt.Errorf("--rows_per_file %d: that makes %d files; want at most %d",
			c.RowsPerFile, files, maxSynthFiles))
	}
	return usage.All(faults)
}

// Storage returns the settings by which the files are written.
func (c *Synth) Storage() StorageConfig {
	s := DefaultStorageConfig()
	s.StorageTimeout = c.StorageTimeout
	return s
}

// Files returns the number of Parquet files.
func (c *Synth) Files() int64 { return (c.Rows-1)/c.RowsPerFile + 1 }

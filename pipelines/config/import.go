package config

import (
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// StandardInput is the name of standard input among the files of an import.
const StandardInput = "-"

// Import is the configuration of an import of CSV files. Settings declares what each field
// means; docs/settings.md lists that. The files are arguments, not settings. In JSON the
// fields have the names of the flags.
type Import struct {
	Files []string  `json:"-"` // URLs, globs, StandardInput
	Stdin io.Reader `json:"-"` // what StandardInput reads

	Output       string
	Delimiter    string
	Missing      []string
	Text         []string // columns
	RowsPerFile  int64    // in all files but the last
	RowsPerGroup int64    // in all row groups of a file but the last
	Codec        string
	Overwrite    bool

	StorageTimeout float64 // seconds
}

// The delimiters with a name.
const (
	DelimiterAuto = "auto"
	DelimiterTab  = "tab"
)

// DefaultImport finds out the delimiter, and writes files of a million rows.
func DefaultImport() Import {
	return Import{
		Delimiter: DelimiterAuto, Missing: []string{"NA", "N/A", "NULL", "null", "NaN", "nan"},
		RowsPerFile: 1_000_000, RowsPerGroup: 250_000, Codec: "snappy",
		StorageTimeout: DefaultStorageConfig().StorageTimeout,
	}
}

// Settings declares the settings of an import, which set the fields of c.
func (c *Import) Settings() []setting.Setting {
	run := setting.In(setting.Run, []setting.Setting{
		{
			Name: "output", Value: setting.Text(&c.Output), Required: true,
			Help: "folder of the Parquet files: a path or a URL",
		},
		{
			Name: "overwrite", Value: setting.Switch(&c.Overwrite),
			Help: "replace another import in the output folder: the files that its manifest.json lists",
		},
	})
	rows := setting.In(setting.Rows, []setting.Setting{
		{
			Name: "delimiter", Value: setting.Text(&c.Delimiter, delimiterFault),
			Help: "character between fields, tab, or auto: found in the first line",
		},
		{
			Name: "missing", Value: setting.List(&c.Missing),
			Help: "texts that stand for a missing value, as an empty field does",
		},
		{Name: "text", Value: setting.List(&c.Text), Help: "columns that stay texts, whatever their values are"},
	})
	return slices.Concat(run, rows, fileSettings(&c.RowsPerFile, &c.RowsPerGroup, &c.Codec, &c.StorageTimeout))
}

func delimiterFault(text string) error {
	if text == DelimiterAuto || text == DelimiterTab {
		return nil
	}
	if r, size := utf8.DecodeRuneInString(text); size == 0 || size < len(text) || r == utf8.RuneError ||
		r == '"' || r == '\n' || r == '\r' {
		return errors.New("want one character other than a quote or a line end, tab, or auto")
	}
	return nil
}

// DelimiterRune returns the delimiter; 0: it is to be found out.
func (c *Import) DelimiterRune() rune {
	switch c.Delimiter {
	case DelimiterAuto:
		return 0
	case DelimiterTab:
		return '\t'
	default:
		r, _ := utf8.DecodeRuneInString(c.Delimiter)
		return r
	}
}

// MarshalJSON writes the settings by the names of their flags, in the order of the fields.
func (c Import) MarshalJSON() ([]byte, error) { return setting.Encode(&c, c.Settings()) }

// Validate returns all faults at once, each with the name of its flag.
func (c *Import) Validate() error {
	faults := setting.Faults(c.Settings())
	if len(c.Files) == 0 {
		faults = append(faults, errors.New("which CSV files? name them, or - for standard input"))
	}
	first := slices.Index(c.Files, StandardInput)
	if first >= 0 && slices.Contains(c.Files[first+1:], StandardInput) {
		faults = append(faults, errors.New("- stands twice among the files: standard input can be read once"))
	}
	if len(faults) > 0 {
		return usage.All(faults)
	}
	return nil
}

// Storage returns the settings by which files are read and written.
func (c *Import) Storage() StorageConfig {
	s := DefaultStorageConfig()
	s.StorageTimeout = c.StorageTimeout
	return s
}

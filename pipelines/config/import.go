package config

import (
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/io/csvio"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// StandardInput is the name of standard input among the files of an import.
const StandardInput = "-"

// Import is the configuration of an import of CSV files. Settings declares the meaning of each
// field, which docs/settings.md lists. The files are arguments, not settings. In JSON the fields
// have the names of the flags.
type Import struct {
	Files []string  `json:"-"` // URLs, globs, StandardInput
	Stdin io.Reader `json:"-"` // the content of StandardInput

	Output       string
	Delimiter    string
	Names        []string // names of the columns; empty: the first line of a file names them
	Decimal      string   // decimal separator
	Thousands    string   // separator of groups of three digits; optional
	DateFormat   []string // formats of strftime
	Trim         bool
	Missing      []string // texts of missing values, in addition to the usual ones: see MissingTexts
	Text         []string // columns to read as text
	RowsPerFile  int64    // in all files except the last
	RowsPerGroup int64    // in all row groups of a file except the last
	Codec        string
	Overwrite    bool

	StorageTimeout  float64 // seconds
	StoragePatience float64 // seconds
}

// The delimiters with a name.
const (
	DelimiterAuto = "auto"
	DelimiterTab  = "tab"
)

// decimalComma is the value of --decimal other than the point.
const decimalComma = ","

// maxGroupRows is the greatest number of rows of a row group, which is in memory while it is written.
const maxGroupRows = 1 << 24

// DefaultImport detects the delimiter, and writes files of a million rows.
func DefaultImport() Import {
	return Import{
		Delimiter: DelimiterAuto, Decimal: ".",
		RowsPerFile: 1_000_000, RowsPerGroup: 250_000, Codec: "snappy",
		StorageTimeout:  DefaultStorageConfig().StorageTimeout,
		StoragePatience: DefaultStorageConfig().StoragePatience,
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
			Help: "replace another import in the output folder: the files that its _manifest.json lists",
		},
	})
	rows := setting.In(setting.Rows, []setting.Setting{
		{
			Name: "delimiter", Value: setting.Text(&c.Delimiter, delimiterFault),
			Help: "character between fields, tab, or auto: the one by which the first lines have equally many fields",
		},
		{
			Name: "names", Value: setting.List(&c.Names),
			Help: "names of the columns of files without a line of names (default: the first line names them)",
		},
		{
			Name: "decimal", Value: setting.OneOf(&c.Decimal, ".", decimalComma),
			Help: "character before the tenths of a number: a point or a comma",
		},
		{
			Name: "thousands", Value: setting.Text(&c.Thousands, thousandsFault),
			Help: "character between groups of three digits in numbers (default: none)",
		},
		{
			Name: "date_format", Value: setting.List(&c.DateFormat, setting.By(csvio.ParseFormat)),
			Help: "formats of dates and times in addition to ISO 8601, with the codes of strftime, such as %d/%m/%Y; " +
				"a column has the first one that all of its values have",
		},
		{Name: "trim", Value: setting.Switch(&c.Trim), Help: "leave out spaces around names and values"},
		{
			Name: "missing", Value: setting.List(&c.Missing),
			Help: "texts that stand for a missing value, as do an empty field and " + strings.Join(usualMissing(), ", ") +
				"; none in front: instead of these",
		},
		{Name: "text", Value: setting.List(&c.Text), Help: "columns that stay texts, whatever their values are"},
	})
	files := setting.In(setting.Storage, []setting.Setting{
		{Name: "rows_per_file", Value: setting.Whole(&c.RowsPerFile, setting.From(1)), Help: "rows of a file"},
		{
			Name: "rows_per_group", Value: setting.Whole(&c.RowsPerGroup, setting.Between(1, maxGroupRows)),
			Help: "rows of a row group",
		},
		{
			Name: "codec", Value: setting.OneOf(&c.Codec, parquetio.Codecs()...),
			Help: "compression of pages: " + setting.Alternatives(parquetio.Codecs()),
		},
		source.TimeoutSetting(&c.StorageTimeout),
		source.PatienceSetting(&c.StoragePatience),
	})
	return slices.Concat(run, rows, files)
}

// usualMissing lists the texts that stand for a missing value unless --missing begins with none.
func usualMissing() []string {
	return []string{"NA", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null", "NaN", "nan"}
}

// MissingTexts lists the texts that stand for a missing value.
func (c *Import) MissingTexts() []string {
	if len(c.Missing) > 0 && c.Missing[0] == "none" {
		return c.Missing[1:]
	}
	return slices.Concat(usualMissing(), c.Missing)
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

func thousandsFault(text string) error {
	if r, size := utf8.DecodeRuneInString(text); size < len(text) || r == '-' || '0' <= r && r <= '9' {
		return errors.New("want one character other than a digit or a minus")
	}
	return nil
}

// Spelling returns how numbers and points in time are written. The settings are valid.
func (c *Import) Spelling() *csvio.Spelling {
	s := &csvio.Spelling{}
	s.Decimal, _ = utf8.DecodeRuneInString(c.Decimal)
	if c.Thousands != "" {
		s.Thousands, _ = utf8.DecodeRuneInString(c.Thousands)
	}
	for _, text := range c.DateFormat {
		if f, err := csvio.ParseFormat(text); err == nil {
			s.Formats = append(s.Formats, f)
		}
	}
	return s
}

// DelimiterRune returns the delimiter; 0: to be detected.
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
	if c.Thousands == c.Decimal {
		faults = append(faults, errors.New("--thousands: want a character other than the one of --decimal"))
	}
	if slices.Contains(c.Names, "") || len(slices.Compact(slices.Sorted(slices.Values(c.Names)))) < len(c.Names) {
		faults = append(faults, errors.New("--names: want a name for each column, none twice"))
	}
	first := slices.Index(c.Files, StandardInput)
	if first >= 0 && slices.Contains(c.Files[first+1:], StandardInput) {
		faults = append(faults, errors.New("- stands twice among the files: standard input can be read once"))
	}
	return usage.All(faults)
}

// Storage returns the settings by which files are read and written.
func (c *Import) Storage() StorageConfig {
	s := DefaultStorageConfig()
	s.StorageTimeout = c.StorageTimeout
	s.StoragePatience = c.StoragePatience
	return s
}

package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Export is the configuration of a tree as source code. Settings declares what each field means.
type Export struct {
	Model     string // run folder or tree.json
	Format    string // one of export.Formats
	Name      string // name of the package, module or class
	Dialect   string // of format sql: one of export.Dialects
	Table     string // of format sql
	With      []string
	Verify    []string
	Golden    string
	Output    string
	Overwrite bool
}

// Settings declares the settings of an export, which set the fields of c.
func (c *Export) Settings() []setting.Setting {
	formats := export.Formats()
	return []setting.Setting{
		ModelSetting(&c.Model),
		{
			Name: "format", Group: setting.Printed, Value: setting.OneOf(&c.Format, formats...),
			Help: strings.Join(formats[:len(formats)-1], ", ") + " or " + formats[len(formats)-1],
		},
		{
			Name: "name", Group: setting.Printed, Value: setting.Text(&c.Name),
			Help: "name of the package, class or functions (default: model; for a class, the name of its file; com.example.Model is in a " +
				"package)",
		},
		{
			Name: "dialect", Group: setting.Printed, Value: setting.Text(&c.Dialect, dialectChecked),
			Help: "database of --format sql: " + setting.Alternatives(export.Dialects()),
		},
		{
			Name: "table", Group: setting.Printed, Value: setting.Text(&c.Table),
			Help: "table whose rows the view of --format sql predicts, such as schema.table (default: input_rows)",
		},
		{
			Name: "with", Group: setting.Printed, Value: setting.List(&c.With, withChecked),
			Help: "what else a prediction has: cost (with the number of tests), path (as text), leaf",
		},
		{
			Name: "verify", Group: setting.Printed, Value: setting.List(&c.Verify),
			Help: "Parquet files or patterns, separated by commas: run the file on their rows and on golden rows, and " +
				"compare each prediction; golden: on golden rows alone",
		},
		{
			Name: "golden", Group: setting.Printed, Value: setting.Text(&c.Golden),
			Help: "file or URL for golden rows and their predictions: JSON; or, by its ending, a test in the language of the " +
				"format, as in test_model.c, ModelTest.java, test_model.py, model.test.mjs",
		},
		{
			Name: "output", Group: setting.Printed, Value: setting.Text(&c.Output),
			Help: "file or URL to write instead of standard output",
		},
		{
			Name: "overwrite", Group: setting.Printed, Value: setting.Switch(&c.Overwrite),
			Help: "replace the files of --output and --golden, if export wrote them",
		},
	}
}

func dialectChecked(name string) error {
	if name != "" && !slices.Contains(export.Dialects(), name) {
		return errors.New("want " + setting.Alternatives(export.Dialects()))
	}
	return nil
}

func withChecked(name string) error {
	if !slices.Contains(export.Extras(), name) {
		return errors.New("want " + setting.Alternatives(export.Extras()))
	}
	return nil
}

// GoldenRows is the value of --verify for golden rows alone.
const GoldenRows = "golden"

// Validate returns all faults at once.
func (c *Export) Validate() error {
	faults := setting.Faults(c.Settings())
	if sql := c.Format == "sql"; sql && c.Dialect == "" {
		faults = append(faults, fmt.Errorf("--format sql: which database? --dialect %s",
			setting.Alternatives(export.Dialects())))
	} else if !sql && c.Dialect+c.Table != "" {
		faults = append(faults, errors.New("--dialect and --table are for --format sql"))
	}
	if c.Overwrite && c.Output == "" && c.Golden == "" {
		faults = append(faults, errors.New("--overwrite replaces the file of --output: name it"))
	}
	return usage.All(faults)
}

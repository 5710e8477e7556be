package config

import (
	"slices"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// InferContract is the configuration of the inference of a contract. Settings declares what each field
// means; docs/settings.md lists that. The files are arguments, not settings.
type InferContract struct {
	Input  []string // URLs, globs
	Label  string   // column; empty: one with a usual name
	Ignore []string // columns
	Output string   // file; optional

	StorageConfig
}

// DefaultInferContract writes no file.
func DefaultInferContract() InferContract {
	return InferContract{StorageConfig: DefaultStorageConfig()}
}

// Settings declares the settings of an inference, which set the fields of c.
func (c *InferContract) Settings() []setting.Setting {
	run := setting.In(setting.Run, []setting.Setting{
		{
			Name: "output", Value: setting.Text(&c.Output),
			Help: "new file for the contract (default: it is printed)",
		},
	})
	rows := setting.In(setting.Rows, []setting.Setting{
		{
			Name: "label", Value: setting.Text(&c.Label),
			Help: "column of the classes (default: the only one named class, label, target, y or outcome)",
		},
		{Name: "ignore", Value: setting.List(&c.Ignore), Help: "columns that are not read: they get the role ignored"},
	})
	return slices.Concat(run, rows, c.StorageConfig.Settings())
}

// Validate returns all faults at once, each with the name of its flag.
func (c *InferContract) Validate() error {
	faults := setting.Faults(c.Settings())
	if len(faults) > 0 {
		return usage.All(faults)
	}
	if len(c.Input) == 0 {
		return usage.Errorf("which files? name Parquet files, globs or folders: espalier contract 'data/*.parquet'")
	}
	return nil
}

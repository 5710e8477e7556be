package config

import (
	"errors"
	"slices"

	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Contract names what a run checks rows against. Settings declares what each field means.
type Contract struct {
	ContractFile string // URL; optional
	MaxRejects   int64  // rows that may break the contract
	Rejects      string // URL; empty: the rows are not listed

	Obeyed *contract.Contract `json:"-"` // content of ContractFile; nil if it has not been read
}

// Settings declares the settings of a contract, which set the fields of c.
func (c *Contract) Settings() []setting.Setting {
	return setting.In(setting.Rows, []setting.Setting{
		{
			Name: "contract", Value: setting.Text(&c.ContractFile),
			Help: "YAML file of the verb contract: the run checks columns and rows against it",
		},
		{
			Name: "max_rejects", Value: setting.Whole(&c.MaxRejects, setting.Between(0, 1_000_000)),
			Help: "rows that may break --contract; they are left out",
		},
		{
			Name: "rejects", Value: setting.Text(&c.Rejects), Changeable: true,
			Help: "new Parquet file of the rows that break --contract: file, row group, row, column, value and reason",
		},
	})
}

// conflicts returns the faults of settings that do not go together.
func (c *Contract) conflicts() []error {
	if c.ContractFile == "" && (c.MaxRejects > 0 || c.Rejects != "") {
		return []error{errors.New("--max_rejects and --rejects are about the rows that break --contract: name it")}
	}
	return nil
}

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

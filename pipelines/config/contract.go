package config

import (
	"errors"

	"github.com/espalier-ml/espalier/io/contract"
	"github.com/espalier-ml/espalier/io/setting"
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

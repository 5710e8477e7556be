package config

import (
	"slices"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// Evaluate is the configuration of an evaluation. Settings declares the meaning of each field,
// which docs/settings.md lists. In JSON the fields have the names of the flags.
type Evaluate struct {
	Model          string // run folder or tree.json
	Input          []string
	Label          string // column; empty: as in training
	Weight         string // column; empty: each row weighs 1
	DropNullLabels bool
	Slice          []string // columns by whose values the tree is also measured
	Output         string   // file; optional
	Overwrite      bool
	Runner         string

	Contract
	StorageConfig
}

// DefaultEvaluate writes no file.
func DefaultEvaluate() Evaluate {
	return Evaluate{Runner: engine.DefaultRunner(), StorageConfig: DefaultStorageConfig()}
}

// Settings declares the settings of an evaluation, which set the fields of c.
func (c *Evaluate) Settings() []setting.Setting {
	run := setting.In(setting.Run, []setting.Setting{
		modelSetting(&c.Model),
		scoredSetting(&c.Input),
		{
			Name: "output", Value: setting.Text(&c.Output),
			Help: "file for the metrics as JSON; nothing that lies there is replaced",
		},
		{
			Name: "overwrite", Value: setting.Switch(&c.Overwrite),
			Help: "replace the metrics of another evaluation in the file of --output",
		},
	})
	rows := setting.In(setting.Rows, []setting.Setting{
		{Name: "label", Value: setting.Text(&c.Label), Help: "column of the classes (default: as in training)"},
		{Name: "weight", Value: setting.Text(&c.Weight), Help: "column of row weights"},
		{
			Name: "drop_null_labels", Value: setting.Switch(&c.DropNullLabels),
			Help: "leave out rows without a label instead of failing",
		},
		sliceSetting(&c.Slice),
	})
	return slices.Concat(run, rows, c.Contract.Settings(), c.StorageConfig.Settings(),
		[]setting.Setting{engine.RunnerSetting(&c.Runner, engine.LocalRunners())})
}

// MarshalJSON writes the settings by the names of their flags, in the order of the fields.
func (c Evaluate) MarshalJSON() ([]byte, error) { return setting.Encode(&c, c.Settings()) }

// UnmarshalJSON reads settings by the names of their flags. Absent settings stay unchanged; unknown
// names are refused.
func (c *Evaluate) UnmarshalJSON(b []byte) error { return setting.Decode(b, c.Settings()) }

// Validate returns all faults at once, each with the name of its flag.
func (c *Evaluate) Validate() error {
	if faults := append(setting.Faults(c.Settings()), c.conflicts()...); len(faults) > 0 {
		return usage.All(faults)
	}
	return nil
}

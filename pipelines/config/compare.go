package config

import (
	"errors"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Compare is the configuration of a comparison of two trees. Settings declares the meaning of each
// field, which docs/settings.md lists. The trees are arguments, not settings.
type Compare struct {
	A, B           string // run folders or tree.json: the tree in use, and the new tree
	Input          []string
	Label          string // column; empty: as in training, if present
	Weight         string // column; empty: each row weighs 1
	Key            string // column of the keys of groups; empty: as in training, if present; KeyNone: rows are independent
	DropNullLabels bool
	Output         string // file; optional
	Overwrite      bool

	Contract
	StorageConfig

	Held *HeldOut `json:"-"` // compare only the test rows of a training; nil: all rows

	Titles [2]string `json:"-"` // names of the trees A and B in warnings
}

// KeyNone is the key of rows that are independent.
const KeyNone = "none"

// HeldOut describes which rows a training holds out as test rows.
type HeldOut struct {
	Shares      dataset.Shares
	Seed        uint64
	Key         string // column whose hash decides; empty: the position of the row
	SplitColumn string // column that names the part; empty: Shares decide
}

// HeldOut returns which rows the training holds out.
func (c *Train) HeldOut() (*HeldOut, error) {
	training := *c
	training.Output = "any" // rows are held out wherever the run is
	if err := training.Validate(); err != nil {
		return nil, err
	}
	if c.SplitTime != "" {
		return nil, usage.Errorf("the training splits by --split_time %s, whose cuts depend on all of its rows: give other rows "+
			"to compare on", c.SplitTime)
	}
	return &HeldOut{Shares: c.Split, Seed: c.Seed, Key: c.Key, SplitColumn: c.SplitColumn}, nil
}

// DefaultCompare writes no file.
func DefaultCompare() Compare {
	return Compare{
		StorageConfig: DefaultStorageConfig(), Titles: [2]string{"A", "B"},
	}
}

// Settings declares the settings of a comparison, which set the fields of c.
func (c *Compare) Settings() []setting.Setting {
	run := setting.In(setting.Run, []setting.Setting{
		scoredSetting(&c.Input),
		{
			Name: "output", Value: setting.Text(&c.Output),
			Help: "new file for the comparison as JSON",
		},
		{
			Name: "overwrite", Value: setting.Switch(&c.Overwrite), Help: "replace another comparison in the file of --output",
		},
	})
	rows := setting.In(setting.Rows, []setting.Setting{
		metricsLabel(&c.Label),
		{Name: "weight", Value: setting.Text(&c.Weight), Help: "column of row weights"},
		{
			Name: "key", Value: setting.Text(&c.Key),
			Help: "column of the keys of groups, such as customers with several rows: intervals count groups, not rows " +
				"(default: as in training, if the input has the column; none: rows are independent)",
		},
		dropSetting(&c.DropNullLabels),
	})
	return slices.Concat(run, rows, c.Contract.Settings(), c.StorageConfig.Settings())
}

// Validate returns all faults at once, each with the name of its flag.
func (c *Compare) Validate() error {
	faults := append(setting.Faults(c.Settings()), c.conflicts()...)
	if c.A == "" || c.B == "" {
		faults = append(faults, errors.New("which trees? name two run folders or tree.json"))
	}
	if c.Overwrite && c.Output == "" {
		faults = append(faults, errors.New("--overwrite replaces the file of --output: name it"))
	}
	return usage.All(faults)
}

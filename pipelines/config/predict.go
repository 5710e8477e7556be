package config

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// Predict is the configuration of scoring files. Settings declares the meaning of each field, which
// docs/settings.md lists. In JSON the fields have the names of the flags.
type Predict struct {
	Model   string   // run folder or tree.json
	Also    []string // further trees, as Model
	Input   []string // may have templates of dates, as Output may
	Output  string
	MinRows int64

	Scheduled

	Copied

	Measured

	Decided

	MaxUnseen float64
	Explain   bool
	Overwrite bool
	Runner    string

	Contract
	StorageConfig
	EngineConfig
}

// Copied selects the columns of the input that are copied next to the predictions.
type Copied struct {
	Key  []string
	Keep string // key: the columns of Key; all: all columns
}

// Measured describes how the tree is measured on labelled rows.
type Measured struct {
	Label  string   // column; empty: as in training; none: no metrics
	Weight string   // column; empty: each row weighs 1
	Slice  []string // columns by whose values the tree is also measured
}

// DefaultPredict only writes predictions, whatever the values.
func DefaultPredict() Predict {
	return Predict{
		Copied: Copied{Keep: keepKey}, MaxUnseen: 1, Runner: engine.DefaultRunner(),
		StorageConfig: DefaultStorageConfig(), EngineConfig: DefaultEngineConfig(),
	}
}

// Values of the settings of a scoring.
const (
	keepKey   = "key"  // --keep: the columns of --key
	KeepAll   = "all"  // --keep: all columns
	LabelNone = "none" // --label: no metrics, even if the input has a column of that name
)

// Settings declares the settings of a scoring, which set the fields of c.
func (c *Predict) Settings() []setting.Setting {
	run := setting.In(setting.Run, []setting.Setting{
		ModelSetting(&c.Model),
		{
			Name: "also", Value: setting.List(&c.Also),
			Help: "further trees that score the same rows in shadow, each with columns of its own, such as also_prediction",
		},
		scoredSetting(&c.Input),
		{
			Name: "output", Value: setting.Text(&c.Output), Required: true,
			Help: "folder of the predictions: a path or a URL, which may have {date} as --input may",
		},
		{
			Name: "overwrite", Value: setting.Switch(&c.Overwrite),
			Help: "replace earlier predictions in the output folder: the files that its _manifest.json lists",
		},
		{
			Name: "key", Value: setting.List(&c.Key),
			Help: "columns of the rows that are written next to the predictions",
		},
		{
			Name: "keep", Value: setting.OneOf(&c.Keep, keepKey, KeepAll),
			Help: "what is written next to the predictions: key (the columns of --key) or all",
		},
		{Name: "explain", Value: setting.Switch(&c.Explain), Help: "write each row's path, too, as text"},
	})
	rows := setting.In(setting.Rows, []setting.Setting{
		{
			Name: "min_rows", Value: setting.Whole(&c.MinRows, setting.From(0)), Changeable: true,
			Help: "least number of rows; fewer are refused",
		},
		{
			Name: "max_unseen", Value: setting.Share(&c.MaxUnseen),
			Help: "share of the rows that may have a value that training did not have, in the worst column; more are " +
				"refused",
		},
		metricsLabel(&c.Label),
		{Name: "weight", Value: setting.Text(&c.Weight), Help: "column of row weights, for metrics"},
		sliceSetting(&c.Slice),
	})
	return slices.Concat(run, c.Scheduled.Settings(), rows, c.Decided.Settings(), c.Contract.Settings(), c.StorageConfig.Settings(),
		[]setting.Setting{engine.RunnerSetting(&c.Runner)}, c.EngineConfig.Settings())
}

// ModelSetting declares the tree that scores rows.
func ModelSetting(model *string) setting.Setting {
	return setting.Setting{
		Name: "model", Group: setting.Run, Value: setting.Text(model), Required: true,
		Help: "run folder, tree.json or LATEST.json, in place of the argument MODEL",
	}
}

// metricsLabel declares the column of the classes of rows that are measured only if they have classes.
func metricsLabel(label *string) setting.Setting {
	return setting.Setting{
		Name: "label", Group: setting.Rows, Value: setting.Text(label),
		Help: "column of the classes, for metrics (default: as in training, if there is one; none: no metrics)",
	}
}

// countDefault describes the default of the column of counts where a tree is measured.
const countDefault = " (default: as in training, if the input has the column; none: each line is a row)"

// countSetting declares the column of counts. byDefault describes its default.
func countSetting(column *string, byDefault string) setting.Setting {
	return setting.Setting{
		Name: "count", Value: setting.Text(column),
		Help: "column of counts, whole numbers: a line with the count n is n equal rows, as in a grouped table" + byDefault,
	}
}

// dropSetting declares whether rows without a label are left out.
func dropSetting(drop *bool) setting.Setting {
	return setting.Setting{
		Name: "drop_null_labels", Group: setting.Rows, Value: setting.Switch(drop),
		Help: "leave out rows without a label instead of failing",
	}
}

// sliceSetting declares the columns by whose values the tree is also measured.
func sliceSetting(columns *[]string) setting.Setting {
	return setting.Setting{
		Name: "slice", Group: setting.Rows, Value: setting.List(columns), Changeable: true,
		Help: "columns whose values have figures of their own in metrics.json: features or others, but not the label",
	}
}

// scoredSetting declares the files of rows that are scored.
func scoredSetting(input *[]string) setting.Setting {
	return setting.Setting{
		Name: "input", Group: setting.Run, Value: setting.List(input), Required: true,
		Help: "Parquet files: URLs or globs, separated by commas (a name that has one stands in double quotes)",
	}
}

// Daily reports whether the scoring is for a day: whether it has a date, or names of files with a template.
func (c *Predict) Daily() bool {
	return c.Date != "" || strings.Contains(strings.Join(c.Input, " ")+c.Output, "{date")
}

// MarshalJSON writes the settings by the names of their flags, in the order of the fields.
func (c Predict) MarshalJSON() ([]byte, error) { return setting.Encode(&c, c.Settings()) }

// UnmarshalJSON reads settings by the names of their flags. Others stay as they are;
// unknown names are refused.
func (c *Predict) UnmarshalJSON(b []byte) error { return setting.Decode(b, c.Settings(), nil) }

// Validate returns all faults at once, each with the name of its flag.
func (c *Predict) Validate() error {
	faults := slices.Concat(setting.Faults(c.Settings()), c.faults(), c.Contract.conflicts(), c.Decided.conflicts())
	if ext := path.Ext(c.Output); ext == ".csv" || ext == ".parquet" {
		faults = append(faults, fmt.Errorf("--output %s: predict writes a folder of Parquet files: name a folder", c.Output))
	}
	return usage.All(faults)
}

package config

import (
	"errors"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Evaluate is the configuration of an evaluation. Settings declares the meaning of each field,
// which docs/settings.md lists. In JSON the fields have the names of the flags.
type Evaluate struct {
	Model          string // run folder or tree.json
	Input          []string
	Label          string // column; empty: as in training
	Weight         string // column; empty: each row weighs 1
	Count          string // column of counts, see FileColumns.Count; empty: as in training, if present; ColumnNone: each line is a row
	Group          string // column of groups; empty: as in training, if present; ColumnNone: rows are independent
	DropNullLabels bool
	Slice          []string // columns by whose values the tree is also measured
	ErrorCostsFile string   // CSV of error costs in place of the tree's, which decide unless a threshold does; empty: as in the tree
	Against        string   // run folder or tree.json to compare Model with: the new tree, Model is the tree in use; optional
	Output         string   // file; optional
	Overwrite      bool

	Delayed
	Decided
	Contract
	StorageConfig

	Held *dataset.Parting `json:"-"` // with Against: how a training parts rows, whose test rows are compared; nil: all rows

	Titles [2]string `json:"-"` // names of Model and Against in warnings; empty: A and B
}

// ColumnNone is the key of rows that are independent, and the column of counts of lines that are rows.
const ColumnNone = "none"

// Delayed names predictions, and labels that came after them.
type Delayed struct {
	Predictions []string // may have templates of dates; empty: Evaluate.Model scores Evaluate.Input
	Labels      []string
	Key         []string // columns that both have
	Date        string   // day that a template stands for, 2006-01-02; empty: today in UTC
}

// DefaultEvaluate writes no file.
func DefaultEvaluate() Evaluate {
	return Evaluate{StorageConfig: DefaultStorageConfig()}
}

// Settings declares the settings of an evaluation, which set the fields of c.
func (c *Evaluate) Settings() []setting.Setting {
	model := ModelSetting(&c.Model)
	input := scoredSetting(&c.Input)
	model.Required = len(c.Predictions) == 0
	input.Required = len(c.Predictions) == 0
	run := setting.In(setting.Run, []setting.Setting{
		model,
		input,
		{
			Name: "against", Value: setting.Text(&c.Against),
			Help: "run folder, tree.json or LATEST.json of a second tree: compare both trees on the same rows",
		},
		{
			Name: "output", Value: setting.Text(&c.Output),
			Help: "new file for the metrics, or for the comparison, as JSON",
		},
		{
			Name: "overwrite", Value: setting.Switch(&c.Overwrite),
			Help: "replace the metrics of another evaluation, or another comparison, in the file of --output",
		},
	})
	rows := setting.In(setting.Rows, []setting.Setting{
		{
			Name: "label", Value: setting.Text(&c.Label),
			Help: "column of the classes (default: as in training); with --against also none: no metrics are compared",
		},
		{Name: "weight", Value: setting.Text(&c.Weight), Help: "column of row weights; with --predictions, of the labels"},
		countSetting(&c.Count, countDefault),
		{
			Name: "group", Value: setting.Text(&c.Group),
			Help: "column of groups, such as customers with several rows: intervals count groups, not rows " +
				"(default: as in training, if the input has the column; none: rows are independent)",
		},
		dropSetting(&c.DropNullLabels),
		sliceSetting(&c.Slice),
		{
			Name: "error_costs", Value: setting.Text(&c.ErrorCostsFile),
			Help: "CSV of what predictions cost: actual,predicted,cost; others 0 if right, 1 if wrong: the predictions follow them, " +
				"unless a threshold decides, of the tree or of --threshold (default: as in the tree)",
		},
	})
	return slices.Concat(run, c.Delayed.Settings(), rows, c.Decided.Settings(), c.Contract.Settings(), c.StorageConfig.Settings())
}

// MarshalJSON writes the settings by the names of their flags, in the order of the fields.
func (c Evaluate) MarshalJSON() ([]byte, error) { return setting.Encode(&c, c.Settings()) }

// UnmarshalJSON reads settings by the names of their flags. Absent settings stay unchanged; unknown
// names are refused.
func (c *Evaluate) UnmarshalJSON(b []byte) error { return setting.Decode(b, c.Settings(), nil) }

// Validate returns all faults at once, each with the name of its flag.
func (c *Evaluate) Validate() error {
	faults := slices.Concat(setting.Faults(c.Settings()), c.Contract.conflicts(), c.Decided.conflicts())
	faults = append(faults, c.conflictsOfPredictions()...)
	if c.Threshold != nil && (c.Against != "" || len(c.Predictions) > 0) {
		faults = append(faults, errors.New("--threshold decides for one tree, on rows that it scores: leave out --against and "+
			"--predictions"))
	}
	if c.ErrorCostsFile != "" && (c.Against != "" || len(c.Predictions) > 0) {
		faults = append(faults, errors.New("--error_costs decides for one tree, on rows that it scores: leave out --against and "+
			"--predictions"))
	}
	if c.Against != "" && len(c.Slice) > 0 {
		faults = append(faults, errors.New("--slice measures one tree: leave out --against"))
	}
	return usage.All(faults)
}

// conflictsOfPredictions returns the faults of settings that belong to rows to score, next to predictions,
// and vice versa.
func (c *Evaluate) conflictsOfPredictions() []error {
	var faults []error
	if len(c.Predictions) == 0 {
		if len(c.Labels)+len(c.Key) > 0 || c.Date != "" {
			faults = append(faults, errors.New("--labels, --key and --date are about --predictions: name them; groups of rows are --group"))
		}
		return faults
	}
	if c.Model != "" || c.Against != "" || len(c.Input)+len(c.Slice) > 0 || c.Count+c.Group+c.ContractFile != "" || c.DropNullLabels {
		faults = append(faults, errors.New("--predictions are measured as they are: leave out --model, --against, --input, "+
			"--slice, --count, --group, --contract and --drop_null_labels"))
	}
	return append(faults, faultsOfDate(c.Date)...)
}

// Settings declares the settings of predictions that are measured later.
func (c *Delayed) Settings() []setting.Setting {
	required := len(c.Predictions) > 0
	return setting.In(setting.Run, []setting.Setting{
		{
			Name: "predictions", Value: setting.List(&c.Predictions),
			Help: "folders or files that predict has written, in place of --model and --input; {date} and {date-29..date} " +
				"stand for days",
		},
		{
			Name: "labels", Value: setting.List(&c.Labels), Required: required,
			Help: "Parquet files of the labels that came after --predictions",
		},
		{
			Name: "key", Value: setting.List(&c.Key), Required: required,
			Help: "columns by which --predictions and --labels are joined",
		},
		{
			Name: "date", Value: setting.Text(&c.Date),
			Help: "day that {date} in --predictions stands for, such as 2026-11-23 (default: today in UTC)",
		},
	})
}

// Day returns the day that a template of dates stands for.
func (c *Delayed) Day(now time.Time) time.Time { return dayOf(c.Date, now) }

// HeldOut returns how the training parts the rows, if it does not depend on the rows.
func (c *Train) HeldOut() (*dataset.Parting, error) {
	training := *c
	training.Output = "any" // rows are held out wherever the run is
	if err := training.Validate(); err != nil {
		return nil, err
	}
	if c.SplitTime != "" {
		return nil, usage.Errorf("the training splits by --split_time %s, whose cuts depend on all of its rows: give other rows "+
			"to compare on", c.SplitTime)
	}
	return &dataset.Parting{Shares: c.Split, Seed: c.Seed, Key: c.Group, SplitColumn: c.SplitColumn}, nil
}

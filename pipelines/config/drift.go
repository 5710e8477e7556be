package config

import (
	"errors"
	"slices"

	"github.com/espalier-ml/espalier/induce/drift"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Drift is the configuration of a measurement of drift. Settings declares what each field means;
// docs/settings.md lists that.
type Drift struct {
	Model   string // run folder or LATEST.json
	Input   []string
	Against string // run folder or LATEST.json: its training rows replace Input; optional
	Group   string // column of groups; empty: the key of the run, if it has one

	Contract
	DriftLimits
	StorageConfig
}

// DriftLimits define when a column has drifted.
type DriftLimits struct {
	FalseAlarms float64 // probability of any alarm without drift
	LeastPSI    float64 // least PSI of an alarm
}

// Limits returns the same limits as package drift has them.
func (c *DriftLimits) Limits() drift.Limits {
	return drift.Limits{FalseAlarms: c.FalseAlarms, PSI: c.LeastPSI}
}

// DefaultDrift gives a false alarm once in a hundred days.
func DefaultDrift() Drift {
	return Drift{
		DriftLimits:   DriftLimits{FalseAlarms: 0.01, LeastPSI: 0.05},
		StorageConfig: DefaultStorageConfig(),
	}
}

// Settings declares the settings of a measurement, which set the fields of c.
func (c *Drift) Settings() []setting.Setting {
	input := scoredSetting(&c.Input)
	input.Required = c.Against == ""
	run := setting.In(setting.Run, []setting.Setting{
		{
			Name: "model", Value: setting.Text(&c.Model), Required: true,
			Help: "run folder with the training rows to compare with, or LATEST.json, in place of the argument MODEL",
		},
		input,
		{
			Name: "against", Value: setting.Text(&c.Against),
			Help: "run folder or LATEST.json, whose training rows are compared in place of --input; no rows are read",
		},
		{
			Name: "group", Value: setting.Text(&c.Group),
			Help: "column of groups, such as customers with several rows each: rows of one value count as one unit of chance " +
				"(default: the key of the run)",
		},
	})
	return slices.Concat(run, c.DriftLimits.Settings(), c.Contract.Settings(), c.StorageConfig.Settings())
}

// Settings declares the limits of drift.
func (c *DriftLimits) Settings() []setting.Setting {
	return setting.In(setting.Rows, []setting.Setting{
		{
			Name: "false_alarms", Value: setting.Share(&c.FalseAlarms),
			Help: "greatest probability that any column gives an alarm though none has drifted",
		},
		{
			Name: "least_psi", Value: setting.Number(&c.LeastPSI, setting.From(0)),
			Help: "population stability index that a column needs for an alarm: with many rows a smaller shift is significant, but does not matter",
		},
	})
}

// Validate returns all faults at once, each with the name of its flag.
func (c *Drift) Validate() error {
	faults := append(setting.Faults(c.Settings()), c.conflicts()...)
	if c.Against != "" && (len(c.Input) > 0 || c.ContractFile != "" || c.Group != "") {
		faults = append(faults, errors.New("--against compares the training rows of two runs: leave out --input, --contract and --group"))
	}
	return usage.All(faults)
}

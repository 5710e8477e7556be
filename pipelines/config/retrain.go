package config

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/gate"
	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Retrain is the configuration of a retraining. Settings declares what each field means;
// docs/settings.md lists that.
type Retrain struct {
	Train Train // Input may have templates of dates; Output follows from Destination

	Scheduled
	Published

	Mode string // ModeTrain or ModeRefit
}

// Published says where a tree is put in use, and on which conditions: by a retraining, or by a Beam pipeline.
type Published struct {
	Destination string      // folder of the runs and of LATEST.json
	Gate        Gate        // conditions of the new tree
	Drift       DriftLimits // when a column has drifted
	Replace     bool        // take the place of a tree in use of another label, or of a later day
	KeepRuns    int         // promoted runs that stay; 0: all
}

// Gate is the conditions under which a new tree replaces the tree in use.
type Gate struct {
	gate.Limits

	MaxPSI float64 // greatest PSI of a drifted column; 0: any
}

// Values of --mode.
const (
	ModeTrain = "train"
	ModeRefit = "refit"
	ModeUse   = "use" // a person has put a run in use: a mode of the history, not of --mode
)

// DefaultRetrain trains by the preset "default", and refuses a tree that is worse.
func DefaultRetrain() Retrain {
	return Retrain{
		Train: DefaultTrain(), Mode: ModeTrain,
		Published: DefaultPublished(),
	}
}

// DefaultPublished refuses a tree that is worse.
func DefaultPublished() Published {
	return Published{Gate: Gate{Limits: gate.Default()}, Drift: DefaultDrift().DriftLimits}
}

// Settings declares the settings of a retraining, which set the fields of c.
func (c *Retrain) Settings() []setting.Setting {
	run := setting.In(setting.Run, []setting.Setting{
		{
			Name: "mode", Value: setting.OneOf(&c.Mode, ModeTrain, ModeRefit),
			Help: "train grows a tree; refit keeps the tests of the tree in use, and gives it new probabilities and " +
				"models in its leaves",
		},
	})
	training := slices.DeleteFunc(c.Train.Settings(), func(s setting.Setting) bool {
		return slices.Contains([]string{"output", "overwrite", "resume", "dry_run", "refit"}, s.Name)
	})
	return slices.Concat(c.Published.Settings(), run, c.Scheduled.Settings(), training)
}

// Settings declares where and on which conditions a tree is put in use.
func (c *Published) Settings() []setting.Setting {
	run := setting.In(setting.Run, []setting.Setting{
		{
			Name: "destination", Value: setting.Text(&c.Destination), Required: true,
			Help: "folder of the runs, their history and LATEST.json: a path or a URL",
		},
		{
			Name: "replace", Value: setting.Switch(&c.Replace),
			Help: "let the run take the place of a tree in use that predicts another label or other classes, is of a later day, " +
				"or cannot be read; also where the drift or the fall of the AUC cannot be measured",
		},
		{
			Name: "keep_runs", Value: setting.Whole(&c.KeepRuns, setting.Between(0, 1_000_000)),
			Help: "promoted runs that stay, next to the runs in use now and before, and a refused run; 0: all",
		},
	})
	return slices.Concat(run, c.Gate.Settings(), c.Drift.Settings())
}

// Settings declares the limits of the gate.
func (g *Gate) Settings() []setting.Setting {
	return setting.In(setting.Gate, []setting.Setting{
		{
			Name: "gate_metrics", Value: setting.List(&g.Metrics),
			Help: "metrics that may not be worse than with the tree in use, by the paired 95 % interval on test rows: " +
				setting.Alternatives(gate.Metrics()),
		},
		{
			Name: "gate_tolerance", Value: setting.Share(&g.Tolerance),
			Help: "difference that counts as none: a metric is worse if all of its interval is beyond it",
		},
		{Name: "min_auc", Value: setting.Share(&g.MinAUC), Help: "least AUC on test rows; also of the first run"},
		{
			Name: "max_auc_fall", Value: setting.Share(&g.MaxAUCFall),
			Help: "greatest fall of the AUC against the run in use, each on its own test rows: a run is refused if the " +
				"fall is beyond it and its whole 95 % interval above 0; 1: any. It finds bad labels, which are bad for both trees",
		},
		{
			Name: "max_cost_ratio", Value: setting.Number(&g.MaxCostRatio, setting.From(0)),
			Help: "greatest ratio of the expected cost on test rows to the cost of the tree in use; 0: any",
		},
		{
			Name: "max_flips", Value: setting.Share(&g.MaxFlips),
			Help: "greatest share of test rows whose predicted class differs from the class by the tree in use",
		},
		{
			Name: "max_psi", Value: setting.Number(&g.MaxPSI, setting.From(0)),
			Help: "greatest PSI of a column that has drifted from the training rows of the run in use; 0: any",
		},
	})
}

// Validate returns all faults at once, each with the name of its flag.
func (c *Published) Validate() error {
	return usage.All(append(setting.Faults(c.Settings()), c.Gate.faults()...))
}

func (g *Gate) faults() (faults []error) {
	for _, name := range g.Metrics {
		if !slices.Contains(gate.Metrics(), name) {
			faults = append(faults, fmt.Errorf("--gate_metrics %s: want %s", setting.Word(name),
				setting.Alternatives(gate.Metrics())))
		}
	}
	return faults
}

// Validate returns all faults at once, each with the name of its flag.
func (c *Retrain) Validate() error {
	faults := slices.Concat(setting.Faults(c.Settings()), c.faults(), c.Gate.faults())
	if c.Train.Rejects != "" {
		faults = append(faults, errors.New("--rejects: a retraining lists them in the folder rejects of --destination: "+
			"leave it out"))
	}
	if c.Mode == ModeRefit && c.Train.CutsFrom != "" {
		faults = append(faults, errors.New("--mode refit takes the cuts of the run in use: leave out --cuts_from"))
	}
	training := c.Train
	training.Output = c.Destination
	err := training.Validate()
	switch {
	case len(faults) > 0:
	case err != nil:
		faults = append(faults, err)
	case c.Train.SplitColumn == "" && c.Train.Split[dataset.Test] == 0:
		faults = append(faults, errors.New("--split: the gate measures on test rows: give them a share, such as 70/10/20"))
	}
	return usage.All(faults)
}

// Use is the configuration of a change of the run in use by a person.
type Use struct {
	Destination string // folder of the runs and of LATEST.json
	Run         string // folder, its name, or day of a run, or Previous; empty: the run in use
	Reason      string // for the history
	Hold        string // day until which no other run is promoted, latest.Forever, or HoldNone; empty: HoldNone
	DryRun      bool   // check the run without writing anything

	StorageConfig
}

const (
	// Previous names the run that was in use before the run in use.
	Previous = "previous"
	// HoldNone ends a hold.
	HoldNone = "none"
)

// DefaultUse changes nothing.
func DefaultUse() Use { return Use{StorageConfig: DefaultStorageConfig()} }

// Settings declares the settings of a change of the run in use, which set the fields of c.
func (c *Use) Settings() []setting.Setting {
	own := setting.In(setting.Run, []setting.Setting{
		{Name: "reason", Value: setting.Text(&c.Reason), Help: "why the run is put in use, for LATEST.json and the history"},
		{
			Name: "hold", Value: setting.Text(&c.Hold),
			Help: "day until which retrain promotes no other run, such as 2026-12-01, or forever; none: retrain promotes as usual",
		},
		{Name: "dry_run", Value: setting.Switch(&c.DryRun), Help: "check the run, and change nothing"},
	})
	return slices.Concat(own, c.StorageConfig.Settings())
}

// Validate returns all faults at once.
func (c *Use) Validate() error {
	var faults []error
	if c.Destination == "" {
		faults = append(faults, errors.New("the destination is required: espalier retrain use DESTINATION RUN"))
	}
	today := time.Now().UTC().Format(time.DateOnly)
	switch _, err := time.Parse(time.DateOnly, c.Hold); {
	case slices.Contains([]string{"", HoldNone, latest.Forever}, c.Hold):
	case err != nil:
		faults = append(faults, fmt.Errorf("--hold %q: want a day such as 2026-12-01, %s or %s", c.Hold, latest.Forever, HoldNone))
	case c.Hold <= today:
		faults = append(faults, fmt.Errorf("--hold %s would hold nothing: want a day after today (%s in UTC), %s or %s", c.Hold, today,
			latest.Forever, HoldNone))
	}
	return usage.All(faults)
}

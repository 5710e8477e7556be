package config

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/espalier-ml/espalier/io/latest"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

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
	today := time.Now().UTC().Format(DateFormat)
	switch _, err := time.Parse(DateFormat, c.Hold); {
	case slices.Contains([]string{"", HoldNone, latest.Forever}, c.Hold):
	case err != nil:
		faults = append(faults, fmt.Errorf("--hold %q: want a day such as 2026-12-01, %s or %s", c.Hold, latest.Forever, HoldNone))
	case c.Hold <= today:
		faults = append(faults, fmt.Errorf("--hold %s would hold nothing: want a day after today (%s in UTC), %s or %s", c.Hold, today,
			latest.Forever, HoldNone))
	}
	return usage.All(faults)
}

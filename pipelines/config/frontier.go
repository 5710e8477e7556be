package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Promote is the configuration of another choice among the trees of a run's frontier.
type Promote struct {
	Run    string // run folder or LATEST.json
	Number int    // number of the tree's file below frontier/; negative: Choice decides
	Output string // folder of the new run
	// Overwrite says that the new run may replace an earlier run in its folder.
	Overwrite bool
	// Choice holds settings of train by flag, see ChoiceFlags, that replace the settings of the
	// run.
	Choice map[string]string

	ByLeaves    bool     // list the tree of the choice for each maximum number of leaves; needs DryRun
	Input       []string // current location of the training rows; empty: unchanged since training
	WithoutRows bool     // skip outputs that require the training rows
	DryRun      bool     // choose without writing anything; Output may be empty

	StorageConfig
}

// DefaultPromote chooses nothing.
func DefaultPromote() Promote { return Promote{Number: -1, StorageConfig: DefaultStorageConfig()} }

// ChoiceFlags are the flags of train that choose another tree of a run's frontier.
func ChoiceFlags() []string {
	return []string{
		"max_expected_cost", "max_cost", "max_tests", "max_leaves", "select", "merit", "tolerance", errorCosts, "min_sensitivity", "min_specificity",
		"min_precision", "confidence",
	}
}

// errorCosts is a flag of the choice that also applies to a tree that is named by its number, as do demanded shares.
const errorCosts = "error_costs"

// demands reports whether a flag demands a share, or its confidence.
func demands(name string) bool { return strings.HasPrefix(name, "min_") || name == "confidence" }

// Demands reports whether the choice demands shares of its own.
func (c *Promote) Demands() bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(c.Choice)), demands)
}

// Prices reports whether the choice has error costs of its own.
func (c *Promote) Prices() bool { _, ok := c.Choice[errorCosts]; return ok }

// ChoiceSettings declares the settings of ChoiceFlags, which set the fields of c.
func (c *Train) ChoiceSettings() []setting.Setting {
	return slices.DeleteFunc(slices.Concat(c.choiceSettings(), c.classSettings()), func(s setting.Setting) bool {
		return !slices.Contains(ChoiceFlags(), s.Name)
	})
}

// Validate returns all faults at once.
func (c *Promote) Validate() error {
	var faults []error
	for _, name := range ChoiceFlags() {
		if text, ok := c.Choice[name]; ok && name == "select" && text == frontier.First.String() {
			faults = append(faults, errors.New("--select first chooses nothing: name a rule that does, such as best"))
		}
	}
	if given := c.given(); len(given) > 0 && c.Number >= 0 {
		faults = append(faults, fmt.Errorf("--promote names a tree, and --%s chooses one: give one of them",
			strings.Join(given, ", --")))
	}
	if c.ByLeaves && (c.Number >= 0 || !c.DryRun) {
		faults = append(faults, errors.New("--by leaves lists trees: leave out --promote and --output, and take a tree by --max_leaves"))
	}
	if c.Output == "" && !c.DryRun {
		faults = append(faults, errors.New("--output is missing: it names the folder of the new run; --dry_run writes none"))
	}
	return usage.All(faults)
}

// given lists the flags that choose a tree, in order.
func (c *Promote) given() []string {
	return slices.DeleteFunc(ChoiceFlags(), func(name string) bool {
		_, ok := c.Choice[name]
		return !ok || name == errorCosts || demands(name)
	})
}

// Of returns the configuration with which a run was trained, as in manifest.json, with the settings
// of the choice. priced is whether the trees of the run have error costs.
func (c *Promote) Of(trained json.RawMessage, priced bool) (*Train, error) {
	t := DefaultTrain()
	if err := json.Unmarshal(trained, &t); err != nil {
		return nil, usage.Errorf("the settings in the run's manifest.json cannot be read: %v", err)
	}
	if t.Teacher.Check() != nil { // an earlier version's teacher; a promotion grows no tree
		t.Teacher = distill.Boosted
	}
	known := t.ChoiceSettings()
	switch {
	case c.Prices():
		t.ErrorCosts = nil // the file replaces them
	case priced && t.ErrorCostsFile == "" && t.ErrorCosts == nil: // an earlier choice has set them
		t.ErrorCosts = []settings.ErrorCost{}
	}
	for name, text := range c.Choice {
		at := slices.IndexFunc(known, func(s setting.Setting) bool { return s.Name == name })
		if at < 0 {
			return nil, usage.Errorf("--%s chooses no tree of a frontier: want one of --%s", name,
				strings.Join(ChoiceFlags(), ", --"))
		}
		if text == "" && known[at].Value.String() == "" {
			return nil, usage.Errorf("--%s: the value is empty (an unset variable of the shell?), and the run has none to drop", name)
		}
		if err := known[at].Value.Set(text); err != nil {
			return nil, usage.Errorf("--%s %s: %v", name, text, err)
		}
		if err := setting.Refused(known[at].Value); err != nil {
			return nil, usage.Errorf("--%s %v", name, err)
		}
	}
	if t.Select == frontier.Total && t.ErrorCostsFile == "" && t.ErrorCosts == nil {
		return nil, usage.Errorf("--select total adds the cost of errors to the cost of tests, and the run was trained " +
			"without --error_costs: give them here, or choose by another rule")
	}
	if len(c.Input) > 0 {
		t.Input = c.Input
	}
	t.StorageConfig = c.StorageConfig
	t.DryRun = false
	t.Resume = false
	t.Overwrite = false
	return &t, nil
}

package synth

import (
	"errors"
	"fmt"
	"math"
)

// Config says what a data set is like. The JSON names are those of the flags
// and of config files.
type Config struct {
	Rows        int64   `json:"rows"`        // at least 1
	Numeric     int     `json:"numeric"`     // columns
	Categorical int     `json:"categorical"` // columns
	Classes     int     `json:"classes"`     // at least 2, at most 2^Depth
	Depth       int     `json:"depth"`       // tests on the longest path of the hidden tree
	Duplicates  float64 `json:"duplicates"`  // share of rows that copy the features of a prototype
	Distinct    int64   `json:"distinct"`    // prototypes
	Nulls       float64 `json:"nulls"`       // share of feature values that are missing
	Noise       float64 `json:"noise"`       // share of rows of another class than their leaf's
	Seed        uint64  `json:"seed"`
}

// Default returns a million rows of ten numeric and ten categorical features in
// two classes.
func Default() Config {
	return Config{Rows: 1_000_000, Numeric: 10, Categorical: 10, Classes: 2, Depth: 4, Distinct: 10_000, Noise: 0.05,
		Seed: 1}
}

// The bounds of a configuration.
const (
	maxRows     = 1e15
	maxColumns  = 10_000
	maxClasses  = 1000
	maxDepth    = 12
	maxDistinct = math.MaxUint32
)

// Validate returns all faults at once, each with the name of its flag.
func (c *Config) Validate() error {
	var faults []error
	within := func(flag string, x, low, high int64) {
		if x < low || x > high {
			faults = append(faults, fmt.Errorf("--%s %d: want a whole number from %d to %d", flag, x, low, high))
		}
	}
	share := func(flag string, x float64) {
		if !(x >= 0 && x <= 1) { // NaN too
			faults = append(faults, fmt.Errorf("--%s %v: want a share from 0 to 1", flag, x))
		}
	}
	within("rows", c.Rows, 1, maxRows)
	within("numeric", int64(c.Numeric), 0, maxColumns)
	within("categorical", int64(c.Categorical), 0, maxColumns)
	within("classes", int64(c.Classes), 2, maxClasses)
	within("depth", int64(c.Depth), 1, maxDepth)
	within("distinct", c.Distinct, 1, maxDistinct)
	share("duplicates", c.Duplicates)
	share("nulls", c.Nulls)
	share("noise", c.Noise)
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	switch columns := c.Numeric + c.Categorical; {
	case columns == 0:
		return errors.New("--numeric 0 and --categorical 0: want at least one column of either kind")
	case columns > maxColumns:
		return fmt.Errorf("--numeric %d and --categorical %d: want at most %d columns in all", c.Numeric, c.Categorical,
			maxColumns)
	case c.Classes > 1<<c.Depth:
		return fmt.Errorf("--classes %d: a hidden tree of --depth %d has at most %d leaves, so want at most as many "+
			"classes", c.Classes, c.Depth, 1<<c.Depth)
	}
	return nil
}

package synth

import (
	"errors"
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/io/setting"
)

// Config describes a data set. Settings declares the meaning of each field.
type Config struct {
	Rows        int64
	Numeric     int // columns
	Categorical int // columns
	Classes     int // at most 2^Depth
	Depth       int
	Duplicates  float64 // share of the rows
	Distinct    int64   // prototypes
	Nulls       float64 // share of the values
	Noise       float64 // share of the rows
	Seed        uint64
}

// Default returns a million rows of ten numeric and ten categorical features in
// two classes.
func Default() Config {
	return Config{
		Rows: 1_000_000, Numeric: 10, Categorical: 10, Classes: 2, Depth: 4, Distinct: 10_000, Noise: 0.05, Seed: 1,
	}
}

// The bounds of a configuration.
const (
	maxRows     = 1e15
	maxColumns  = 10_000
	maxClasses  = 1000
	maxDepth    = 12
	maxDistinct = math.MaxUint32
)

// Settings declares the settings of a data set, which set the fields of c.
func (c *Config) Settings() []setting.Setting {
	return setting.In(setting.MadeUp, []setting.Setting{
		{
			Name: "rows", Value: setting.Whole(&c.Rows, setting.Between(1, maxRows)),
			Help: "rows, such as 250000 or 1e8",
		},
		{
			Name: "numeric", Value: setting.Whole(&c.Numeric, setting.Between(0, maxColumns)),
			Help: "numeric columns",
		},
		{
			Name: "categorical", Value: setting.Whole(&c.Categorical, setting.Between(0, maxColumns)),
			Help: "categorical columns",
		},
		{
			Name: "classes", Value: setting.Whole(&c.Classes, setting.Between(2, maxClasses)),
			Help: "classes of the label",
		},
		{
			Name: "depth", Value: setting.Whole(&c.Depth, setting.Between(1, maxDepth)),
			Help: "tests on the longest path of the hidden tree",
		},
		{
			Name: "duplicates", Value: setting.Share(&c.Duplicates),
			Help: "share of the rows that are copies of prototypes",
		},
		{
			Name: "distinct", Value: setting.Whole(&c.Distinct, setting.Between(1, maxDistinct)),
			Help: "prototypes, from which copies are drawn",
		},
		{
			Name: "nulls", Value: setting.Share(&c.Nulls),
			Help: "share of the values of features that are missing",
		},
		{
			Name: "noise", Value: setting.Share(&c.Noise),
			Help: "share of rows with another class than the hidden tree gives",
		},
		{
			Name: "seed", Value: setting.Whole(&c.Seed, setting.From(0)),
			Help: "seed of columns, hidden tree and rows",
		},
	})
}

// Validate returns all faults at once, each with the name of its flag.
func (c *Config) Validate() error {
	if faults := setting.Faults(c.Settings()); len(faults) > 0 {
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

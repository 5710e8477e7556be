package benchmark

import (
	"errors"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// Config is the configuration of the paper's experiments on a folder of data sets. Settings
// declares what each field means. The folder is an argument, not a setting.
type Config struct {
	Folder    string // of data sets, each a Parquet file or a folder of them
	Output    string
	Sets      []string // names; empty: all
	Splits    int64
	AtOnce    int64
	Label     string
	Algorithm []string
	Level     float64 // of significance
	Control   string  // method that other methods are compared with
	Published string  // URL of published figures; may be empty
	Budgets   string  // preset of the budget queries, or BudgetsNone
	Scaling   bool

	config.StorageConfig
}

// BudgetsNone leaves out the budget queries.
const BudgetsNone = "none"

// DefaultConfig makes five splits of each data set, as the paper does.
func DefaultConfig() Config {
	return Config{
		Splits: 5, AtOnce: 2, Label: "class", Algorithm: Algorithms(),
		Level: 0.05, Control: "p-ec45", Budgets: "default", Scaling: true,
		StorageConfig: config.DefaultStorageConfig(),
	}
}

// Algorithms are the algorithms that the paper compares.
func Algorithms() []string {
	return []string{"c45", "ec45", "cart", "ecart", "asr", "ip", "bal"}
}

const maxSplits = 1000

// Settings declares the settings of a benchmark, which set the fields of c.
func (c *Config) Settings() []setting.Setting {
	known := func(name string) error {
		if !slices.Contains(Algorithms(), name) {
			return fmt.Errorf("%s: want %s", name, setting.Alternatives(Algorithms()))
		}
		return nil
	}
	run := setting.In(setting.Run, []setting.Setting{
		{
			Name: "output", Value: setting.Text(&c.Output), Required: true,
			Help: "folder of the results; splits that it has already are not trained again",
		},
		{
			Name: "sets", Value: setting.List(&c.Sets),
			Help: "names of data sets of the folder (default: all of them)",
		},
		{
			Name: "splits", Value: setting.Whole(&c.Splits, setting.Between(1, maxSplits)),
			Help: "splits of each data set, by the seeds 1, 2, ..",
		},
		{
			Name: "at_once", Value: setting.Whole(&c.AtOnce, setting.Between(1, maxSplits)),
			Help: "splits in work at the same time; 1 for times that others do not disturb",
		},
	})
	rows := setting.In(setting.Rows, []setting.Setting{{
		Name: "label", Value: setting.Text(&c.Label),
		Help: "column of the classes of data sets that MANIFEST.tsv does not list",
	}})
	growth := setting.In(setting.Growth, []setting.Setting{{
		Name: "algorithm", Value: setting.List(&c.Algorithm, known),
		Help: "algorithms to compare: " + setting.Alternatives(Algorithms()),
	}})
	return slices.Concat(run, c.evaluation(), rows, growth, c.StorageConfig.Settings())
}

func (c *Config) evaluation() []setting.Setting {
	return setting.In(setting.Run, []setting.Setting{
		{
			Name: "published", Value: setting.Text(&c.Published),
			Help: "CSV file of published figures of the algorithms, for tables side by side",
		},
		{
			Name: "budgets", Value: setting.OneOf(&c.Budgets, "default", "accurate", BudgetsNone),
			Help: "preset whose trees answer budget queries: default, accurate or none",
		},
		{
			Name: "scaling", Value: setting.Switch(&c.Scaling),
			Help: "measure time against rows and against features, on the largest data sets",
		},
		{
			Name: "significance", Value: setting.Number(&c.Level, setting.Between(1e-6, 0.5)),
			Help: "level of significance of critical differences",
		},
		{
			Name: "control", Value: setting.Text(&c.Control),
			Help: "method that Bonferroni and Dunn's test compares with the others; p-ec45 is ec45, pruned",
		},
	})
}

// Validate returns all faults at once, each with the name of its flag.
func (c *Config) Validate() error {
	faults := setting.Faults(c.Settings())
	if len(faults) == 0 && len(c.Algorithm) == 0 {
		faults = append(faults, errors.New("--algorithm: want at least one"))
	}
	if len(faults) > 0 {
		return usage.All(faults)
	}
	return nil
}

package pipelines

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// TrainConfig is the configuration of a training run. The JSON names are those
// of the flags and of config files.
type TrainConfig struct {
	Input  []string `json:"input"`  // URLs or globs of Parquet files; required
	Label  string   `json:"label"`  // class column; required
	Output string   `json:"output"` // run folder; required

	Algorithm    Choices `json:"algorithm"`     // see split.ParseAlgorithm
	Lambda       Choices `json:"lambda"`        // weight of the discrimination, >= 0; auto: the paper's grid
	Theta        Choices `json:"theta"`         // share of the weight at which a node is a leaf, 0..1
	Tests        Choices `json:"tests"`         // see split.ParseFamily
	Bins         Choices `json:"bins"`          // bins of a numeric feature, 2..65000; auto: see settleBins
	Binning      string  `json:"binning"`       // kmeans, quantile or uniform
	LeafEstimate string  `json:"leaf_estimate"` // majority, raw or smoothed
	MaxDepth     int     `json:"max_depth"`     // tests on the longest path; 0: any
	MinRows      int64   `json:"min_rows"`      // nodes with fewer rows are leaves
	MaxLeaves    int     `json:"max_leaves"`    // of the chosen tree, with the rule first by growing best first; 0: any

	Prune           Choices `json:"prune"`             // leaves and cost, the currencies of pruning, or none
	Alpha           string  `json:"alpha"`             // of the pruning; auto: chosen by Select
	Select          string  `json:"select"`            // first, or a rule: see frontier.ParseRule
	Tolerance       float64 `json:"tolerance"`         // merit that a cheaper tree may lack to be chosen by the rule best, 0..1
	Folds           string  `json:"folds"`             // of the training rows that trees are compared on beside the validation rows; 0: none, auto: see foldsAuto
	FrontierStep    float64 `json:"frontier_step"`     // by which a tree of frontier.json is better than the one before; 0: all that are better
	MaxExpectedCost float64 `json:"max_expected_cost"` // of the chosen tree; 0: any
	MaxCost         float64 `json:"max_cost"`          // of its dearest path; 0: any

	Certificate string `json:"certificate"` // bound from below what every tree over the same bins and tests costs that separates the rows as far: none, quick or full

	Costs       string   `json:"costs"`       // URL of a CSV of costs; empty: each test costs 1
	RepeatCost  string   `json:"repeat_cost"` // full, or free: a feature that was asked on the path costs nothing more
	CostUnit    string   `json:"cost_unit"`   // what costs are counted in
	First       []string `json:"first"`       // features that the nodes of depth 0, 1, .. test where they can
	Forbid      []string `json:"forbid"`      // columns that are read but never tested
	Monotone    []string `json:"monotone"`    // FEATURE=+1 or -1: the second class must not become less, or more, probable as it grows
	Weight      string   `json:"weight"`      // column of row weights; empty: 1 each
	Ignore      []string `json:"ignore"`      // columns that are left out
	Categorical []string `json:"categorical"` // number columns whose values are categories
	Numeric     []string `json:"numeric"`     // text and boolean columns that are read as numbers

	ClassWeights string `json:"class_weights"` // none, balanced or URL of a CSV: what the weights of training rows are multiplied by
	Priors       string `json:"priors"`        // CLASS=P,.. or URL of a CSV: frequencies of the classes where the tree is used; empty: as in training
	ErrorCosts   string `json:"error_costs"`   // URL of a CSV of what predictions cost; empty: 0 right, 1 wrong

	Split          string `json:"split"` // shares such as 70/10/20, or a column that names each row's part
	Key            string `json:"key"`   // column whose hash splits; empty: the row's position
	Seed           uint64 `json:"seed"`
	DropNullLabels bool   `json:"drop_null_labels"` // leave out rows without a label instead of failing

	MaxClasses    int `json:"max_classes"`    // more classes are an error
	MaxCategories int `json:"max_categories"` // values of a categorical feature beyond which the tail becomes "other"
	MaxValues     int `json:"max_values"`     // distinct numbers of a column that are kept exactly

	StorageConfig
	EngineConfig

	HistogramMemory int64   `json:"histogram_memory"` // bytes of the histograms of one job; more open nodes are split in groups
	MemoryObjects   int64   `json:"memory_objects"`   // objects up to which a node is grown in one worker; -1: any
	LevelsPerJob    int     `json:"levels_per_job"`   // levels that one job unrolls, at least 1
	Deadline        float64 `json:"deadline"`         // seconds after which the tree is cut short at the end of a level; 0: none
	Runner          string  `json:"runner"`           // see Runners
	Overwrite       bool    `json:"overwrite"`        // replace a finished run
	Resume          bool    `json:"resume"`           // go on with an unfinished run
	DryRun          bool    `json:"dry_run"`          // say what the run would take, and leave it at that

	AlsoRead []string `json:"-"` // files that this configuration was read from: the run does not replace them
}

// defaultTolerance is the merit that the rule best gives up for a cheaper tree. On the
// public data sets of the paper it costs no area on test rows in the mean.
const defaultTolerance = 0.001

// DefaultConfig returns the preset "default": of ec45 with four lambdas and of c45
// (and cc45, where tests have prices), with threshold tests on quantile bins alone and
// with tests for single bins beside them, smoothed leaves and both prunings, the tree that is best on the validation rows. This grid was the best
// for its time on the public data sets of the paper.
func DefaultConfig() TrainConfig {
	return TrainConfig{
		Algorithm: Choices{"ec45", "c45", "cc45"}, Lambda: Choices{"10", "3", "30", "1000"}, Theta: Choices{"0.005", "0.0005"}, Prune: Choices{"leaves", "cost"}, Alpha: alphaAuto, Select: "best", Tolerance: defaultTolerance, Folds: foldsAuto, FrontierStep: 0.001, Certificate: certificateQuick,
		Tests: Choices{"threshold", "both"}, Bins: Choices{binsAuto}, Binning: "quantile", LeafEstimate: "smoothed", ClassWeights: tables.NoClassWeights, RepeatCost: tables.RepeatFull,
		Split: "70/10/20", Seed: 1, MaxClasses: 1000, MaxCategories: 1000, MaxValues: 1 << 16, StorageConfig: DefaultStorageConfig(), EngineConfig: DefaultEngineConfig(), HistogramMemory: 256 << 20, MemoryObjects: -1, LevelsPerJob: 1, Runner: "direct",
	}
}

// Preset returns the configuration of a preset: "default" or "paper".
func Preset(name string) (TrainConfig, error) {
	c := DefaultConfig()
	switch name {
	case "default":
	case "paper":
		c.Algorithm, c.Lambda, c.Theta, c.Prune, c.Select, c.Folds, c.Certificate = Choices{"ec45"}, Choices{"10"}, Choices{"0.005"}, Choices{pruneNone}, selectFirst, "0", certificateNone
		c.Tests, c.Bins, c.Binning, c.LeafEstimate = Choices{"onehot"}, Choices{"5"}, "kmeans", "majority"
	default:
		return c, usage.Errorf("--preset %s: want default or paper", name)
	}
	return c, nil
}

// maxBins leaves a code for missing within two bytes.
const maxBins = math.MaxUint16 - 1

// parsed is a validated configuration in the types of package induce.
type parsed struct {
	grid      []member
	bins      []int // that trees of the grid have, see member
	selection selection
	method    binning.Method
	estimate  tree.Estimate
	shares    dataset.Shares
	column    string // of the split; empty: by shares
	monotone  map[string]int8
}

// Validate returns all faults at once, each with the name of its flag.
func (c *TrainConfig) Validate() error {
	_, err := c.parse()
	return err
}

func (c *TrainConfig) parse() (*parsed, error) {
	p := new(parsed)
	var faults []error
	fault := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	var err error
	p.bins, err = c.bins()
	fault(err)
	p.grid, err = c.grid()
	fault(err)
	p.selection, err = c.selection()
	fault(err)
	p.method, err = ofFlag("binning", binning.ParseMethod)(c.Binning)
	fault(err)
	p.estimate, err = ofFlag("leaf_estimate", tree.ParseEstimate)(c.LeafEstimate)
	fault(err)
	if p.shares, err = ofFlag("split", dataset.ParseShares)(c.Split); err != nil {
		p.column = c.Split // checked against the columns later
		if looksLikeShares(c.Split) {
			fault(err)
		}
	}
	p.monotone, err = parseMonotone(c.Monotone)
	fault(err)
	fault(c.checkWishes(p))
	fault(c.checkNumbers())
	fault(c.checkNames())
	if len(faults) > 0 {
		return nil, usage.All(faults)
	}
	return p, nil
}

// looksLikeShares tells a mistyped "70/10" from a column's name.
func looksLikeShares(s string) bool {
	return s == "" || s[0] >= '0' && s[0] <= '9' || slices.Contains([]byte(s), '/')
}

func (c *TrainConfig) checkNames() error {
	var faults []error
	for _, required := range []struct{ flag, value string }{{"label", c.Label}, {"output", c.Output}} {
		if required.value == "" {
			faults = append(faults, fmt.Errorf("--%s is required", required.flag))
		}
	}
	if c.Resume && c.Overwrite {
		faults = append(faults, errors.New("--resume goes on with a run, --overwrite replaces it: choose one"))
	}
	if len(c.Input) == 0 {
		faults = append(faults, errors.New("--input is required: Parquet files or globs, separated by commas"))
	}
	if c.RepeatCost != tables.RepeatFull && c.RepeatCost != tree.RepeatFree {
		faults = append(faults, fmt.Errorf("--repeat_cost %s: want %s or %s", c.RepeatCost, tables.RepeatFull, tree.RepeatFree))
	}
	for _, name := range c.Categorical {
		if slices.Contains(c.Numeric, name) {
			faults = append(faults, fmt.Errorf("column %q is named in both --categorical and --numeric", name))
		}
	}
	if !slices.Contains([]string{certificateNone, certificateQuick, certificateFull}, c.Certificate) {
		faults = append(faults, fmt.Errorf("--certificate %s: want none, quick or full", c.Certificate))
	}
	if !slices.Contains(engine.Runners(), c.Runner) {
		faults = append(faults, fmt.Errorf("--runner %s: want one of %v", c.Runner, engine.Runners()))
	}
	return errors.Join(faults...)
}

// spelled spells a number that people write with digits alone where it has few.
func spelled(x float64) string {
	if math.Abs(x) < 1e9 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// between spells a range, whose end may be as far as can be counted.
func between(low, high float64) string {
	if high >= math.MaxInt64 {
		return "from " + spelled(low)
	}
	return "from " + spelled(low) + " to " + spelled(high)
}

func (c *TrainConfig) checkNumbers() error {
	var faults []error
	within := func(flag string, x, low, high float64) {
		if !(x >= low && x <= high) { // NaN too
			faults = append(faults, fmt.Errorf("--%s %s: want a number %s", flag, spelled(x), between(low, high)))
		}
	}
	within("max_expected_cost", c.MaxExpectedCost, 0, 1e12)
	within("tolerance", c.Tolerance, 0, 1)
	within("frontier_step", c.FrontierStep, 0, 1)
	within("max_cost", c.MaxCost, 0, 1e12)
	within("max_depth", float64(c.MaxDepth), 0, 1e6)
	within("min_rows", float64(c.MinRows), 0, math.MaxInt64)
	within("max_leaves", float64(c.MaxLeaves), 0, 1e9)
	within("max_classes", float64(c.MaxClasses), 1, math.MaxUint16)
	within("max_categories", float64(c.MaxCategories), 1, math.MaxUint16-2)
	within("max_values", float64(c.MaxValues), 1, 1<<26)
	faults = append(faults, c.StorageConfig.Validate())
	faults = append(faults, c.EngineConfig.Validate())
	within("histogram_memory", float64(c.HistogramMemory), 0, math.MaxInt64)
	within("levels_per_job", float64(c.LevelsPerJob), 1, 64)
	within("deadline", c.Deadline, 0, 1e9)
	within("memory_objects", float64(c.MemoryObjects), -1, math.MaxInt64)
	return errors.Join(faults...)
}

package transforms

import "cmp"

// TrainConfig says how a tree is grown from the rows of a PCollection. The zero value of each
// field is its default; only the Label is required. The fields have the names of flags of
// `espalier train`: `espalier train --help` says more on each.
type TrainConfig struct {
	Label  string // class column; required
	Weight string // column of row weights; empty: 1 each

	// Features lists the columns that the tree may test. Where two tests are equally
	// good, the feature that comes first wins. Empty: all fields of the struct except
	// Label, Weight and Ignore, in their order. It is required where rows are maps.
	Features    []string
	Ignore      []string // columns that are no features; a struct must have them
	Categorical []string // features whose numbers are categories
	Numeric     []string // features whose texts or booleans are read as numbers
	// First names features to test at depth 0, 1 and so on, where they have a test; an empty
	// name leaves a depth free.
	First []string
	// Monotone says how the probability of the second of two classes may change with a
	// numeric feature: +1, it must not fall; -1, it must not rise.
	Monotone map[string]int

	// AllowEmpty lets Train go on without rows or values to learn from. By default the
	// pipeline fails if no row has both a label and a weight above 0. Where rows are
	// maps, it also fails if no row has a value of some feature, as the feature's name
	// is probably misspelled. With AllowEmpty the first case gives no tree, and the
	// second a tree without the feature. Both are logged, and counted as trees_missing
	// and features_missing. Windows may always be empty: see WindowedTree.
	AllowEmpty bool

	Algorithm string  // see split.ParseAlgorithm; default ec45
	Lambda    float64 // weight of the discrimination, to 1e12; default 10, None: 0
	Theta     float64 // a node with this share of the weight or less is a leaf, to 1; default 0.005, None: 0
	Tests     string  // see split.ParseFamily; default threshold
	// Bins is the number of bins of a numeric feature, 2 to 65,534. 0: 512 where 30,000
	// rows or more have a weight above 0, else 128.
	Bins         int
	Binning      string // kmeans, quantile or uniform; default quantile
	LeafEstimate string // majority, raw or smoothed; default smoothed
	MaxDepth     int    // most tests on a path; 0: no limit
	MinRows      int64  // nodes with fewer rows are leaves
	MaxLeaves    int    // most leaves, grown best first; 0: no limit

	Costs       map[string]float64 // cost of a test by feature, 0 is free; default 1
	Groups      []CostGroup        // features that share a price
	FreeRepeats bool               // repeated tests of a feature on a path are free: --repeat_cost free
	CostUnit    string             // unit of the costs, for reports

	// Priors has the frequency of each class where the tree is used. nil: that of the rows.
	Priors map[string]float64
	// ErrorCosts are the costs of predictions. Those that are not listed cost 1, right ones 0.
	ErrorCosts []ErrorCost

	DropNullLabels bool // leave out rows without a label instead of failing
	MaxClasses     int  // more classes are an error; default 1000
	MaxCategories  int  // of a categorical feature; rarer ones become "other"; default 1000
	MaxValues      int  // distinct numbers of a column that are counted exactly; default 65,536

	// Shards is the number of shards that Train splits the rows into, by their hash. A
	// worker holds the distinct rows of one shard at a time: have one shard for every
	// 10 MiB of distinct rows. Default 64.
	Shards  int
	Workers int // goroutines that grow a tree; default 1
}

// None stands for 0 in fields of TrainConfig whose default is another number.
const None = -1

// CostGroup is features that share a price. It is paid once on a path, with the first test of
// one of them.
type CostGroup struct {
	Name     string
	Features []string
	Cost     float64
}

// ErrorCost is the cost of predicting a class for rows of another one.
type ErrorCost struct {
	Actual, Predicted string
	Cost              float64
}

// DefaultTrainConfig returns the configuration of `espalier train --split 100/0/0
// --select first --certificate none`, with all defaults filled in: ec45 with lambda 10 and
// theta 0.005, threshold tests on quantile bins (512 from 30,000 rows on, else 128), smoothed
// leaves, no pruning.
func DefaultTrainConfig(label string) TrainConfig {
	c := TrainConfig{Label: label}
	c.fill()
	return c
}

// fill replaces zero values by the defaults.
func (c *TrainConfig) fill() {
	c.Algorithm, c.Tests = cmp.Or(c.Algorithm, "ec45"), cmp.Or(c.Tests, "threshold")
	c.Binning, c.LeafEstimate = cmp.Or(c.Binning, "quantile"), cmp.Or(c.LeafEstimate, "smoothed")
	c.Lambda, c.Theta = cmp.Or(c.Lambda, 10), cmp.Or(c.Theta, 0.005)
	c.MaxClasses, c.MaxCategories = cmp.Or(c.MaxClasses, 1000), cmp.Or(c.MaxCategories, 1000)
	c.MaxValues, c.Shards, c.Workers = cmp.Or(c.MaxValues, 1<<16), cmp.Or(c.Shards, 64), cmp.Or(c.Workers, 1)
}

// orNone returns a number of TrainConfig, 0 for None.
func orNone(x float64) float64 {
	if x == None {
		return 0
	}
	return x
}

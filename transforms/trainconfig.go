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

	// Strict refuses rows that are maps without the key of a feature. By default they are missing
	// values.
	Strict bool

	Algorithm string  // see split.ParseAlgorithm; default ec45
	Lambda    float64 // weight of the discrimination, to 1e12; default 10, None: 0
	Theta     float64 // a node with this share of the weight or less is a leaf, to 1; default 0.005, None: 0
	Tests     string  // see split.ParseFamily; default threshold
	// Bins is the number of bins of a numeric feature, 2 to 65,534. 0: 512 where 30,000
	// rows or more have a weight above 0, else 128.
	Bins         int
	Binning      string // kmeans, quantile or uniform; default quantile
	LeafEstimate string // majority, raw or smoothed; default smoothed
	Classes      string // rows or objects: whose classes impurity and the end of growth count; default rows
	MaxDepth     int    // most tests on a path; 0: no limit
	MinRows      int64  // nodes with fewer rows are leaves
	MaxLeaves    int    // most leaves, grown best first; 0: no limit

	Grid   Grid   // more trees to choose from
	Choice Choice // how one of them is chosen

	Costs map[string]float64 // cost of a test by feature, 0 is free; default 1
	// ValueCosts has the costs of tests for single values, by categorical feature and value.
	ValueCosts  map[string]map[string]float64
	Groups      []CostGroup // features that share a price
	FreeRepeats bool        // repeated tests of a feature on a path are free: --repeat_cost free
	CostUnit    string      // unit of the costs, for reports

	// ClassWeights multiplies the weights of training rows by class; default 1.
	ClassWeights   map[string]float64
	BalanceClasses bool // all classes weigh the same: --class_weights balanced

	// Priors has the frequency of each class where the tree is used. nil: that of the rows.
	Priors map[string]float64
	// ErrorCosts are the costs of predictions. Those that are not listed cost 1, right ones 0.
	ErrorCosts []ErrorCost

	DropNullLabels bool  // leave out rows without a label instead of failing
	MaxClasses     int   // more classes are an error; default 1000
	MaxCategories  int   // of a categorical feature; rarer ones become "other"; default 1000
	MinValueRows   int64 // rows that a categorical feature's value needs; rarer ones become "other"; default 1
	MaxValues      int   // distinct numbers of a column that are counted exactly; default 65,536

	// Shards is the number of shards that Train splits the rows into, by their hash. A
	// worker holds the distinct rows of one shard at a time: have one shard for every
	// 10 MiB of distinct rows. Default 64.
	Shards  int
	Workers int // goroutines that grow a tree; default 1
}

// None and Auto stand for 0, where the default is another number, and for a number that the data
// decide.
const (
	None = -1
	Auto = -2
)

// Grid has lists of values. A tree is grown for each combination, and one is chosen. A list that
// is not empty stands in the place of the field of TrainConfig with its name in the singular.
type Grid struct {
	Algorithms []string
	Lambdas    []float64
	Thetas     []float64
	Tests      []string // families of tests
	Bins       []int
}

// Choice says which rows trees are judged by, and how one is chosen.
type Choice struct {
	// Split says which rows train, and which are set aside to choose by (validation) or left out
	// (test): a column that names each row's part, or shares such as 70/10/20. Empty: all rows train.
	Split string
	// Key is the column whose value decides a row's part, with shares. It is no feature.
	Key  string
	Seed uint64 // of the split, the folds and the teacher; default 1

	Select    string   // see frontier.ParseRule; default first: the first tree, as it was grown
	Tolerance float64  // merit that the rule best gives up for a cheaper tree; default 0.001, None: 0
	Prune     []string // currencies of pruning: leaves, cost, max_cost; default none
	Alpha     float64  // strength of the pruning; default: chosen, too, None: 0
	// Folds is the number of folds of the training rows to choose by, from 2 on. 0: none. Auto: 5
	// where validation rows are few.
	Folds        int
	FrontierStep float64 // least rise in merit between trees that get leaf models; default 0.001, None: 0

	MaxExpectedCost float64 // budget of the expected cost; 0: any
	MaxCost         float64 // budget of the dearest path; 0: any

	LeafModel     string  // none, linear, boosted or auto; default none
	Teacher       string  // none, forest, boosted, both or auto; default none
	TeacherWeight float64 // of the teacher against the label, to 1; default 0.5, None: 0
	MadeUpRows    int64   // rows that the teacher labels; default: by the training rows, None: 0
	Certificate   string  // none or auto; default none. quick and full, of earlier versions, mean auto
}

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
// theta 0.005, threshold tests on quantile bins (128, 512 from 30,000 rows on, and at least 16 for
// each class), smoothed leaves, no pruning.
func DefaultTrainConfig(label string) TrainConfig {
	c := TrainConfig{Label: label}
	c.fill()
	return c
}

// ChosenTrainConfig returns the configuration of `espalier train --key KEY` with all defaults
// filled in: a grid of trees from 70 % of the rows, pruned, of which the best on 10 % is chosen.
// The hash of the key decides on a row's part.
func ChosenTrainConfig(label, key string) TrainConfig {
	c := TrainConfig{
		Label: label,
		Grid: Grid{
			Algorithms: []string{"ec45", "c45"}, Lambdas: []float64{10, 3, 30, 1000},
			Thetas: []float64{0.005, 0.0005}, Tests: []string{"threshold", "both"},
		},
		Choice: Choice{
			Split: "70/10/20", Key: key, Select: "best", Prune: []string{"leaves", "cost"}, Folds: Auto,
			Certificate: "auto",
		},
	}
	c.fill()
	return c
}

// WithDefaults returns the configuration with the defaults in the place of zero values.
func (c TrainConfig) WithDefaults() TrainConfig {
	c.fill()
	return c
}

// fill replaces zero values by the defaults.
func (c *TrainConfig) fill() {
	d := &c.Choice
	d.Seed, d.Select, d.Split = cmp.Or(d.Seed, 1), cmp.Or(d.Select, "first"), cmp.Or(d.Split, allTrain)
	d.Tolerance, d.FrontierStep = cmp.Or(d.Tolerance, 0.001), cmp.Or(d.FrontierStep, 0.001)
	d.LeafModel, d.Teacher = cmp.Or(d.LeafModel, "none"), cmp.Or(d.Teacher, "none")
	d.TeacherWeight, d.MadeUpRows = cmp.Or(d.TeacherWeight, 0.5), cmp.Or(d.MadeUpRows, Auto)
	d.Certificate = cmp.Or(d.Certificate, "none")
	c.Algorithm, c.Tests = cmp.Or(c.Algorithm, "ec45"), cmp.Or(c.Tests, "threshold")
	c.Binning, c.LeafEstimate = cmp.Or(c.Binning, "quantile"), cmp.Or(c.LeafEstimate, "smoothed")
	c.Classes = cmp.Or(c.Classes, "rows")
	c.Lambda, c.Theta = cmp.Or(c.Lambda, 10), cmp.Or(c.Theta, 0.005)
	c.MaxClasses, c.MaxCategories = cmp.Or(c.MaxClasses, 1000), cmp.Or(c.MaxCategories, 1000)
	c.MinValueRows = cmp.Or(c.MinValueRows, 1)
	c.MaxValues, c.Shards, c.Workers = cmp.Or(c.MaxValues, 1<<16), cmp.Or(c.Shards, 64), cmp.Or(c.Workers, 1)
}

// allTrain are the shares of rows that all train.
const allTrain = "100/0/0"

// orNone returns a number of TrainConfig, 0 for None.
func orNone(x float64) float64 {
	if x == None {
		return 0
	}
	return x
}

package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/engine"
)

// Training holds the settings of a training that do not concern files.
type Training = settings.Settings

// Train is the configuration of a training run. Settings declares the meaning of each field, which
// docs/settings.md lists. In JSON the fields have the names of the flags.
type Train struct {
	Files
	Training
	Tables
	FileColumns
	Earlier

	StorageConfig
	EngineConfig
	Resources

	AlsoRead []string `json:"-"` // files from which this configuration was read, which the run does not replace
	// NewColumns are columns that only the newest files have. They are ignored, unless a setting names them.
	NewColumns []string `json:"-"`

	columnInSplit bool // whether --split has named a column, as in earlier versions
}

// Files are the inputs and outputs of a run.
type Files struct {
	Input  []string
	Output string
	Report string // ReportHTML or ReportNone

	Contract
}

// Tables are files with settings of the Training. A setting must not come from both.
type Tables struct {
	CostsFile        string // with Costs, ValueCosts and Groups
	CutsFile         string // with Cuts
	ClassWeightsFile string
	PriorsFile       string // or CLASS=P,..
	ErrorCostsFile   string
}

// FileColumns describes further uses of columns in files.
type FileColumns struct {
	LabelProbabilities []string  // patterns, or CLASS=COLUMN; empty: only the label counts
	Count              string    // column of counts: a line with the count n is n equal rows; empty: each line is a row
	LabelCuts          []float64 // cuts of a label of numbers into classes; empty: each value is a class
	Forbid             []string  // features that are never tested
	SplitTime          string    // column; empty: the part of a row does not depend on time
	Slice              []string  // columns by whose values the tree is also measured
}

// Earlier selects what a run takes over from earlier runs.
type Earlier struct {
	CutsFrom string // run folder; empty: cuts depend on the rows
	Refit    string // run folder whose tree keeps its tests; empty: trees grow
}

// Resources describe where and how a run works.
type Resources struct {
	Memory          int64   // bytes of each process; 0: see memlimit.Allowance
	HistogramMemory int64   // bytes
	MemoryObjects   int64   // -1: unlimited
	LevelsPerJob    int     // 0: see engine.Traits
	Deadline        float64 // seconds; 0: unlimited
	Runner          string
	Overwrite       bool
	Resume          bool
	DryRun          bool
}

// Settings declares the settings of a training run, which set the fields of c.
func (c *Train) Settings() []setting.Setting {
	return slices.Concat(c.runSettings(), c.rowSettings(), c.Contract.Settings(), c.testSettings(), c.costSettings(), c.classSettings(),
		c.growthSettings(), c.choiceSettings(), c.resourceSettings(), c.StorageConfig.Settings(),
		[]setting.Setting{engine.RunnerSetting(&c.Runner)}, c.EngineConfig.Settings())
}

// runSettings declares the inputs and outputs of a run.
func (c *Train) runSettings() []setting.Setting {
	return setting.In(setting.Run, []setting.Setting{
		{
			Name: "input", Value: setting.List(&c.Input), Required: true,
			Help: "Parquet files: URLs or globs (* ? [..] **), comma-separated",
		},
		{
			Name: "label", Value: setting.Text(&c.Label), Required: len(c.LabelProbabilities) == 0,
			Help: "column of the classes; only with --label_probabilities it may be left out",
		},
		{Name: "output", Value: setting.Text(&c.Output), Required: true, Changeable: true, Help: "run folder"},
		{
			Name: "report", Value: setting.OneOf(&c.Report, ReportHTML, ReportNone), Changeable: true,
			Help: "html writes report.html into the run folder, one page to read the tree by; none does not",
		},
		{
			Name: "cuts_from", Value: setting.Text(&c.CutsFrom),
			Help: "run folder whose cuts, categories and classes are also used here; no pass over the rows looks for others",
		},
		{
			Name: "refit", Value: setting.Text(&c.Refit),
			Help: "run folder whose tree keeps its tests: the rows give it new probabilities and models in its leaves, " +
				"and no tree grows",
		},
		{
			Name: "overwrite", Value: setting.Switch(&c.Overwrite), Changeable: true,
			Help: "replace an earlier run in the output folder: the files that its manifest.json lists",
		},
		{
			Name: "resume", Value: setting.Switch(&c.Resume), Changeable: true,
			Help: "go on with an unfinished run, which stays in the output folder if the run writes checkpoints: " +
				"on an engine, with --memory_objects, or beyond --memory; with --overwrite, a run that cannot go on starts again",
		},
		{
			Name: "dry_run", Value: setting.Switch(&c.DryRun), Changeable: true,
			Help: "check the settings against the columns of the input, let the engine translate the jobs, print the sizes " +
				"of the run, and write nothing",
		},
	})
}

// rowSettings declares weights, labels and parts of the rows.
func (c *Train) rowSettings() []setting.Setting {
	return setting.In(setting.Rows, []setting.Setting{
		{
			Name: "label_probabilities", Value: setting.List(&c.LabelProbabilities, setting.By(ParseProbability)),
			Help: "columns of class probabilities, as p_* (the * is the class) or CLASS=COLUMN,..: trees learn from them too",
		},
		{
			Name: "teacher", Value: setting.Unchecked(setting.OneOf(&c.Teacher, distill.Teachers()...)),
			Help: "boosted: also grow trees from the class probabilities of boosted trees, and choose among all trees; " +
				"auto: the same with --leaf_model, up to 50,000 training objects, but not with --monotone or " +
				"--label_probabilities",
		},
		{
			Name: "made_up_rows", Value: setting.Typed(&c.MadeUpRows, "", parseMadeUp, spellMadeUp),
			Help: "synthetic rows around the training rows that --teacher labels; auto: 5 for each training object, at most 50,000",
		},
		{
			Name: "teacher_weight", Value: number(&c.TeacherWeight, "teacher_weight"),
			Help: "share of --label_probabilities or --teacher against the label in what trees learn from, 0 to 1; " +
				"1 without --label",
		},
		{Name: "weight", Value: setting.Text(&c.Weight), Help: "column of row weights; their unit does not matter"},
		countSetting(&c.Count, ""),
		{
			Name: "split", Value: setting.Typed(&c.Split, "", c.parseSplit, dataset.Shares.String),
			Help: "shares of train/validation/test",
		},
		{
			Name: "split_column", Value: setting.Text(&c.SplitColumn),
			Help: "column that names each row's part, in place of the shares of --split",
		},
		{
			Name: "group", Value: setting.Text(&c.Group),
			Help: "column of groups: rows of one value stay together in a part, a fold and what a teacher holds out",
		},
		{
			Name: "split_time", Value: setting.Text(&c.SplitTime),
			Help: "column of numbers, dates or times: the oldest rows train, newer ones validate, the newest test, " +
				"by the shares of --split; the rows of a fold are newer than the rows that its trees learn from",
		},
		{Name: "seed", Value: whole(&c.Seed, "seed"), Help: "seed of the split"},
		dropSetting(&c.DropNullLabels),
		sliceSetting(&c.Slice),
	})
}

// testSettings declares what a node may test.
func (c *Train) testSettings() []setting.Setting {
	return setting.In(setting.Tests, []setting.Setting{
		{Name: "ignore", Value: setting.List(&c.Ignore), Help: "columns to leave out"},
		{Name: "forbid", Value: setting.List(&c.Forbid), Help: "columns that are read but never tested"},
		{
			Name: "first", Value: setting.List(&c.First),
			Help: "features that the root, the nodes below it, and so on are to test, where they can",
		},
		{
			Name: "monotone", Value: setting.ListOf(&c.Monotone, parseMonotone, spellMonotone),
			Help: "numeric features with which the probability of the second of two classes must not fall (age=+1) " +
				"or rise (age=-1)",
		},
		{
			Name: "categorical", Value: setting.List(&c.Categorical),
			Help: "columns of numbers, or of texts that are numbers, whose values are categories",
		},
		{
			Name: "ordered", Value: setting.RepeatedOf(&c.Ordered, parseOrdered, spellOrdered),
			Help: "column of texts with an order, and its values from the least to the greatest (size=low,medium,high): tests cut " +
				"them as numbers; once for each column",
		},
		{
			Name: "cuts", Value: setting.RepeatedOf(&c.Cuts, c.parseCuts, c.spellCuts, &c.CutsFile),
			Help: "column of numbers with cuts of your own, ascending (age=18,65): tests are for values below one of them; once for " +
				"each column, or a CSV feature,cut",
		},
		{Name: "numeric", Value: setting.List(&c.Numeric), Help: "text or boolean columns to read as numbers"},
		{
			Name: "tests", Value: listOf(&c.Tests, "", split.ParseFamily),
			Help: "tests that compete: onehot, threshold, both or multiway; set and all, which add tests of sets of categories " +
				"to threshold, and to both for columns of 1,000 and more categories",
		},
		{
			Name: "bins", Value: setting.Choices(&c.Bins, parseBins, spellBins),
			Help: "bins of a numeric feature; auto: 128, 512 from 30,000 rows on, and at least 16 for each class",
		},
		{
			Name: "binning", Value: setting.Named(&c.Binning, binning.ParseMethod),
			Help: "how bins are cut: " + setting.Alternatives(binning.Methods()),
		},
		{
			Name: "max_categories", Value: whole(&c.MaxCategories, "max_categories"),
			Help: "values of a categorical feature; the rarest beyond it are put together as other",
		},
		{
			Name: "min_value_rows", Value: whole(&c.MinValueRows, "min_value_rows"),
			Help: "training rows that a value of a categorical feature needs, with --weight their weight; rarer values are put " +
				"together as other and are in no file of the run; the ends of the range of a numeric feature, and the values beyond " +
				"its outermost cuts, need as many",
		},
		{
			Name: "max_values", Value: whole(&c.MaxValues, "max_values"),
			Help: "distinct numbers of a column that are kept exactly when bins are cut; a categorical column may have " +
				"as many values, and 65536 in any case",
		},
	})
}

// costSettings declares the costs of tests.
func (c *Train) costSettings() []setting.Setting {
	return setting.In(setting.Costs, []setting.Setting{
		{
			Name: "costs", Value: setting.Table(setting.Text(&c.CostsFile), c.Prices.Tables()),
			Help: "CSV of test costs: " + strings.Join(settings.CostHeaders(), " or ") + "; a group is paid once on a path, " +
				"other features cost 1; more columns are further currencies",
		},
		{
			Name: "repeat_cost", Value: oneOfTwo(&c.FreeRepeats, repeatFull, tree.RepeatFree),
			Help: "further tests on a feature that was asked on the path: free unless its values have costs, or full, as in the " +
				"paper",
		},
		{
			Name: "absent", Value: setting.ListOf(&c.Absent, parseAbsent, spellAbsent),
			Help: "absent values of a feature, or of all features without a name here: value, unordered (nobody ordered it: no test separates rows without " +
				"the value, and they are billed for the test), as in ct=unordered; auto: unordered if --costs gives a price above 0 and " +
				"5 % of the training rows, by weight, lack the value",
		},
		{
			Name: "cost_unit", Value: setting.Text(&c.CostUnit),
			Help: "what costs are counted in, such as seconds or euros",
		},
	})
}

// classSettings declares settings of classes.
func (c *Train) classSettings() []setting.Setting {
	return setting.In(setting.Classes, []setting.Setting{
		{
			Name: "class_weights", Value: setting.Table(setting.Typed(&c.ClassWeightsFile, "", c.parseClassWeights,
				c.spellClassWeights), map[string]any{"weights": &c.ClassWeights}, &c.BalanceClasses),
			Help: "factors of the weights of training rows: none, balanced (all classes weigh the same) or a CSV " +
				"class,weight; others 1",
		},
		{
			Name: "priors", Value: setting.Table(setting.Text(&c.PriorsFile), map[string]any{"priors": &c.Priors}),
			Help: "frequencies of the classes where the tree is used: CLASS=P,.. or a CSV class,prior " +
				"(default: as in training)",
		},
		{
			Name: "error_costs", Value: setting.Table(setting.Text(&c.ErrorCostsFile), map[string]any{"costs": &c.ErrorCosts}),
			Help: "CSV of what predictions cost: actual,predicted,cost; others 0 if right, 1 if wrong",
		},
		{
			Name: "positive", Value: setting.Text(&c.Positive),
			Help: "class of interest, such as yes: screens, pictures and exports name its probability and rows at each node",
		},
		{
			Name: "label_cuts", Value: setting.Choices(&c.LabelCuts, setting.EachBy("", parseCut), setting.SpellEach("", spell)),
			Help: "cuts that make classes of a label of numbers, or of texts that are numbers (12, 1.5, not 05): 10,20 makes " +
				"\"< 10\", \"10 to < 20\" and \">= 20\"",
		},
		{
			Name: "max_classes", Value: whole(&c.MaxClasses, "max_classes"),
			Help: "more classes are an error",
		},
	})
}

// growthSettings declares how trees are grown.
func (c *Train) growthSettings() []setting.Setting {
	return setting.In(setting.Growth, []setting.Setting{
		{
			Name: "algorithm", Value: listOf(&c.Algorithm, "", split.ParseAlgorithm),
			Help: "score of a test: " + setting.Alternatives(split.Algorithms()),
		},
		{
			Name: "lambda", Value: numbers(&c.Lambda, auto, "lambda"),
			Help: "weight of the impurity reduction in ec45 and ecart; auto: the paper's grid, 1000 to 0.1",
		},
		{
			Name: "theta", Value: numbers(&c.Theta, "", "theta"),
			Help: "share of the rows at which a node is a leaf, 0 to 1",
		},
		{
			Name: "classes", Value: setting.Typed(&c.Classes, "objects or rows", split.ParseClasses, split.Classes.String),
			Help: "whose classes impurity and the end of growth count: rows, each row its own; or objects, the rows of " +
				"equal codes their majority class, as the paper does",
		},
		{
			Name: "leaf_estimate", Value: setting.Named(&c.LeafEstimate, tree.ParseEstimate),
			Help: "class probabilities: " + setting.Alternatives(tree.Estimates()),
		},
		{
			Name: "leaf_model", Value: setting.Unchecked(setting.OneOf(&c.LeafModel, selection.Kinds()...)),
			Help: "fit models in the leaves, from values already paid for: none; linear; boosted, linear ones with small " +
				"regression trees on top; or auto, for the trees that are better with them on validation rows and folds",
		},
		{
			Name: "max_depth", Value: whole(&c.MaxDepth, "max_depth"),
			Help: "tests on the longest path; 0: any number",
		},
		{
			Name: "min_rows", Value: whole(&c.MinRows, "min_rows"),
			Help: "nodes with fewer rows are leaves",
		},
		{
			Name: "certificate", Value: setting.Typed(&c.Certificate, "none, auto, quick or full", parseCertificate, spellCertificate),
			Help: "lower bound on the cost of any tree over the same bins and tests that separates the rows equally well: " +
				"none, or auto, which takes more steps for larger runs (quick and full, of earlier versions, mean auto)",
		},
	})
}

// choiceSettings declares how a tree is chosen.
func (c *Train) choiceSettings() []setting.Setting {
	return setting.In(setting.Choice, []setting.Setting{
		{
			Name: "select", Value: setting.Named(&c.Select, frontier.ParseRule),
			Help: "which tree of the frontier: auto, total with --error_costs, otherwise best; best, the cheapest that is as good as " +
				"the best one but for chance and --tolerance, a single " +
				"leaf if neither the trees nor a feature are better than chance; highest, the highest merit; " +
				"one_se, paper; total, the least cost of tests and errors (see --error_costs); or " +
				"first, the first of the grid as it was grown",
		},
		{
			Name: "merit", Value: setting.Named(&c.Merit, frontier.ParseCriterion),
			Help: "figure by which trees are compared on validation rows and folds: auc, log_loss or accuracy; auto is accuracy " +
				"for six classes or more, auc for fewer",
		},
		{
			Name: "tolerance", Value: setting.Choices(&c.Tolerance, parseTolerance, spellTolerance),
			Help: "score, mostly merit, that --select best gives up for a cheaper tree, 0 to 1; auto: 0.001, 0.0035 with leaf models, " +
				"0 under --max_cost or --max_tests without --max_expected_cost",
		},
		{
			Name: "min_sensitivity", Value: setting.Typed(&c.MinSensitivity, "", parseLeast, spellLeast),
			Help: "CLASS=SHARE: choose a threshold on the probability of the class from which it is predicted, so that on new rows at " +
				"least this share of its rows is found; the highest such threshold by the validation rows. --select chooses the tree, " +
				"unless specificity or precision are also demanded: then the cheapest tree that keeps all; empty: without the demand of a file or a run",
		},
		{
			Name: "min_specificity", Value: setting.Typed(&c.MinSpecificity, "", parseLeast, spellLeast),
			Help: "CLASS=SHARE: as --min_sensitivity, for the share of the rows of other classes that are not predicted as the class",
		},
		{
			Name: "min_precision", Value: setting.Typed(&c.MinPrecision, "", parseLeast, spellLeast),
			Help: "CLASS=SHARE: as --min_sensitivity, for the share of the class among the rows that are predicted as it",
		},
		{
			Name: "confidence", Value: number(&c.Confidence, "confidence"),
			Help: "probability with which each share of --min_sensitivity and the like is kept, 0.5 to 1",
		},
		{
			Name: "max_expected_cost", Value: limits(&c.MaxExpectedCost, &c.MaxExpectedFurther, "max_expected_cost"),
			Help: "budget: the best tree of at most this expected cost, or minutes=9; 0: any",
		},
		{
			Name: "max_cost", Value: limits(&c.MaxCost, &c.MaxFurther, "max_cost"),
			Help: "budget of any path, or minutes=30; 0: any",
		},
		{
			Name: "max_tests", Value: whole(&c.MaxTests, "max_tests"),
			Help: "budget of tests that a row pays for: tests of free features, and repeated ones that cost nothing, do not count; 0: any",
		},
		{
			Name: "max_leaves", Value: whole(&c.MaxLeaves, "max_leaves"),
			Help: "leaves of the tree; it is grown best first if no prunings compete, as with --select first; 0: any number",
		},
		{
			Name: "prune", Value: listOf(&c.Prune, none, prune.ParseCurrency),
			Help: "currencies of pruning: leaves, cost, max_cost (of the most expensive path), total (cost of tests and errors; only " +
				"with --error_costs), several of them; or none",
		},
		{
			Name: "alpha", Value: setting.Typed(&c.Alpha, "", parseAlpha, spellAlpha),
			Help: "strength of the pruning: risk (or, with --prune total, cost of errors) per leaf or per unit of cost; auto: chosen " +
				"by --select",
		},
		{
			Name: "folds", Value: setting.Typed(&c.Folds, "", crossvalidate.ParseSetting, crossvalidate.Setting.String),
			Help: "folds of the cross-validation, in addition to the validation rows; 0: none; auto: 5 without validation rows " +
				"or where the rarest class has fewer than 200 of them, none from 50,000 objects on if there are validation " +
				"rows; none beyond 8 GiB of codes",
		},
		{
			Name: "frontier_step", Value: number(&c.FrontierStep, "frontier_step"),
			Help: "AUC by which a tree of frontier.json is better than the one before (0.001 of AUC: 0.4 % of the range of " +
				"another merit); 0: all trees that are better",
		},
	})
}

// resourceSettings declares the resources that a run may use.
func (c *Train) resourceSettings() []setting.Setting {
	return setting.In(setting.Resources, []setting.Setting{
		{
			Name: "deadline", Value: setting.Duration(&c.Deadline, setting.Between(0, 1e9)), Changeable: true,
			Help: "time in which the run should be over: the tree is cut short at the end of a level; 0: any time",
		},
		{
			Name: "memory", Value: setting.Size(&c.Memory), Changeable: true,
			Help: "memory that each process of the run may take; 0: three quarters of what the machine or the " +
				"container has, or GOMEMLIMIT",
		},
		{
			Name: "memory_objects", Value: setting.Whole(&c.MemoryObjects, setting.From(-1)), Changeable: true,
			Help: "objects up to which a node is grown in memory, else level by level; -1: as many as --memory allows",
		},
		{
			Name: "histogram_memory", Value: setting.Size(&c.HistogramMemory), Changeable: true,
			Help: "memory of the histograms of a level; more open nodes are split in groups",
		},
		{
			Name: "levels_per_job", Value: setting.Whole(&c.LevelsPerJob, setting.Between(0, 64)), Changeable: true,
			Help: "levels grown by one job; more than 1 suits engines with slow starts of jobs; 0: " + engine.DefaultLevels() +
				", and 1 with a deadline",
		},
	})
}

// MarshalJSON writes the settings by the names of their flags, in the order of the fields.
func (c Train) MarshalJSON() ([]byte, error) { return setting.Encode(&c, c.Settings()) }

// UnmarshalJSON reads settings by the names of their flags. Absent settings stay unchanged; unknown
// names are refused, except the names in the manifests of earlier versions.
func (c *Train) UnmarshalJSON(b []byte) error {
	return setting.Decode(b, c.Settings(), earlierSettings())
}

// earlierSettings returns the names of settings by their names in manifests of earlier versions; empty: a run does not
// depend on the setting.
func earlierSettings() map[string]string {
	return map[string]string{"rows": "", "object_cache": "", "schema": "contract", "key": "group"}
}

// DefaultTrain returns the preset "default" of settings.Default, on files.
func DefaultTrain() Train {
	return Train{
		Files:         Files{Report: ReportHTML},
		Training:      settings.Default(),
		StorageConfig: DefaultStorageConfig(),
		EngineConfig:  DefaultEngineConfig(),
		Resources: Resources{
			HistogramMemory: 256 << 20, MemoryObjects: -1, Runner: engine.DefaultRunner(),
		},
	}
}

// Preset returns the configuration of a preset: "default", "accurate" or "paper".
func Preset(name string) (Train, error) {
	c := DefaultTrain()
	switch name {
	case "default":
	case "accurate":
		c.Training = settings.Accurate()
	case "paper":
		c.Training = settings.Paper()
	default:
		return c, usage.Errorf("--preset %s: want default, accurate or paper", name)
	}
	return c, nil
}

// Parsed is the form of a validated configuration that a run uses, and refines as it learns more.
type Parsed struct {
	Grid      []grid.Member
	Bins      int // see BinsFor; 0: auto
	Selection selection.Settings

	choice *settings.Choice
	rows   int64 // number of input rows: see SettleBins
}

// Validate returns all faults at once, each with the name of its flag.
func (c *Train) Validate() error {
	_, err := c.Parse()
	return err
}

// Parse checks the configuration.
func (c *Train) Parse() (*Parsed, error) {
	faults := append(setting.Faults(c.Settings()), c.conflicts()...)
	if len(faults) > 0 {
		return nil, usage.All(faults)
	}
	p := &Parsed{Bins: c.Bins, Selection: c.training().Selection(), Grid: c.Members(c.CostsFile != ""), choice: &c.Choice}
	if err := settings.CheckMembers(p.Grid, "", settings.FlagName); err != nil {
		return nil, usage.Errorf("%v", err)
	}
	return p, nil
}

// conflictsOfCuts returns the faults of --label_cuts.
func (c *Train) conflictsOfCuts() []error {
	var faults []error
	for i, cut := range c.LabelCuts {
		if i > 0 && !(c.LabelCuts[i-1] < cut) {
			faults = append(faults, fmt.Errorf("--label_cuts %s,%s: want cuts that increase", spell(c.LabelCuts[i-1]), spell(cut)))
		}
	}
	if len(c.LabelCuts) > 0 && c.Label == "" {
		faults = append(faults, errors.New("--label_cuts cuts a label of numbers: name its column by --label"))
	}
	return faults
}

// conflictsOfEarlier returns the faults of --cuts_from and --refit.
func (c *Train) conflictsOfEarlier() []error {
	var faults []error
	if len(c.Cuts)+len(c.CutsFile) > 0 && (c.Refit != "" || c.CutsFrom != "") {
		faults = append(faults, errors.New("--cuts_from and --refit take the cuts of an earlier run: leave out --cuts"))
	}
	if len(c.Absent) > 0 && c.Refit != "" {
		faults = append(faults, errors.New("--refit reads absent values as the run does: leave out --absent"))
	}
	if c.Refit != "" && c.CutsFrom != "" {
		faults = append(faults, errors.New("--refit takes the cuts of the same run: leave out --cuts_from"))
	}
	return faults
}

// Dependent reports whether some rows depend on each other: see dataset.Parting.Dependent.
func (c *Train) Dependent() bool { return c.Group != "" || c.SplitTime != "" }

// conflictsOfTime returns the faults of --split_time.
func (c *Train) conflictsOfTime() []error {
	var faults []error
	if c.SplitTime == "" {
		return nil
	}
	if c.SplitColumn != "" {
		faults = append(faults, fmt.Errorf("--split_time cuts the rows by shares, and --split_column %s names a column: give "+
			"shares such as --split 70/10/20", c.SplitColumn))
	}
	return faults
}

// conflicts returns the faults of settings that exclude each other.
func (c *Train) conflicts() []error {
	var faults []error
	faults = append(faults, c.conflictsOfTime()...)
	faults = append(faults, c.conflictsOfTeacher()...)
	faults = append(faults, c.conflictsOfEarlier()...)
	faults = append(faults, c.conflictsOfCuts()...)
	faults = append(faults, c.Contract.conflicts()...)
	return append(faults, c.conflictsOfTraining()...)
}

// conflictsOfTraining returns the faults of the Training in combination with files.
func (c *Train) conflictsOfTraining() []error {
	var faults []error
	for _, table := range []struct {
		flag  string
		given bool
		file  string
	}{
		{"costs", c.Named(), c.CostsFile},
		{"cuts", len(c.Cuts) > 0, c.CutsFile},
		{"class_weights", c.Weighs(), c.ClassWeightsFile},
		{"priors", len(c.Priors) > 0, c.PriorsFile},
		{"error_costs", len(c.ErrorCosts) > 0, c.ErrorCostsFile},
	} {
		if table.given && table.file != "" {
			faults = append(faults, fmt.Errorf("--%s: there are values and the file %s: leave out one of the two", table.flag,
				table.file))
		}
	}
	faults = append(faults, c.training().Faults(settings.FlagName)...)
	for _, name := range c.Forbid {
		if slices.Contains(c.First, name) {
			faults = append(faults, fmt.Errorf("column %q is named in both --first and --forbid", name))
		}
		if c.Monotone[name] != 0 {
			faults = append(faults, fmt.Errorf("column %q is named in both --monotone and --forbid", name))
		}
	}
	return faults
}

// training returns the Training, whose error costs, priors and class weights are not nil if a file contains them.
func (c *Train) training() *Training {
	given := c.Training
	if c.ErrorCostsFile != "" && given.ErrorCosts == nil {
		given.ErrorCosts = []settings.ErrorCost{}
	}
	if c.PriorsFile != "" && given.Priors == nil {
		given.Priors = map[string]float64{}
	}
	if c.ClassWeightsFile != "" && given.ClassWeights == nil {
		given.ClassWeights = map[string]float64{}
	}
	return &given
}

// conflictsOfTeacher returns the faults of --label_probabilities and settings of a teacher.
func (c *Train) conflictsOfTeacher() []error {
	var faults []error
	if c.Teacher == distill.Boosted && len(c.LabelProbabilities) > 0 {
		faults = append(faults, fmt.Errorf("--teacher %s and --label_probabilities are two teachers: choose one", c.Teacher))
	}
	if !c.Teaches() && len(c.LabelProbabilities) == 0 && c.TeacherWeight != settings.DefaultTeacherWeight {
		faults = append(faults, errors.New("--teacher_weight is the share of a teacher: "+
			"name the columns of --label_probabilities, or add --teacher boosted"))
	}
	return faults
}

// Fixed returns the settings that the tree depends on.
func (c *Train) Fixed() (map[string]any, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	fixed := make(map[string]any)
	if err := json.Unmarshal(b, &fixed); err != nil {
		return nil, err
	}
	for _, s := range c.Settings() {
		if s.Changeable {
			delete(fixed, s.Name)
		}
	}
	return fixed, nil
}

// Names reports whether a setting names a column as a feature or for slices.
func (c *Train) Names(column string) bool {
	return slices.Contains(slices.Concat(c.Categorical, c.Numeric, c.First, c.Forbid, c.Slice), column) || c.Monotone[column] != 0 ||
		c.Ordered[column] != nil || c.Cuts[column] != nil
}

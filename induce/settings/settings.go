package settings

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Settings are the settings of a training.
type Settings struct {
	Roles
	Columns
	Prices
	PerClass
	Growth
	Choice
}

// Roles describe which columns are not features, and which rows are set aside.
type Roles struct {
	Label          string // column of the class
	Weight         string // column of row weights; empty: each row has weight 1
	DropNullLabels bool   // leave out rows without a label instead of failing; an empty string is a label
	MaxClasses     int    // having more classes is an error

	// Split holds the shares of rows for training, for choosing among trees (validation) and for
	// measuring (test).
	Split       dataset.Shares
	SplitColumn string // column that names the part of each row; empty: Split decides
	Group       string // column of groups: rows with the same value are in the same part
	Seed        uint64 // seed of the split, the folds and the teacher
}

// Columns describe how columns are read as features, and which tests nodes may have.
type Columns struct {
	Ignore      []string // columns that are not features
	Categorical []string // features whose numbers are categories
	Numeric     []string // features whose texts or booleans are read as numbers
	// Ordered holds features whose texts are ordered, with their texts from the least to the greatest.
	Ordered map[string][]string
	// Cuts holds numeric features with cuts of one's own, ascending: a test is for values below a cut. Other numeric
	// features have the cuts of the bin method.
	Cuts map[string][]float64
	// First names features to test at depth 0, 1 and so on, if they have a test. An empty name
	// leaves a depth free.
	First []string
	// Monotone holds how the probability of the second of two classes may change as a numeric
	// feature grows: +1, it must not fall; -1, it must not rise.
	Monotone map[string]int8

	Binning       binning.Method // how the cuts of numeric features are chosen
	MaxCategories int            // values of a categorical feature; the rarest values beyond this many are merged into other
	MinValueRows  int64          // training rows that a value of a categorical feature needs, and the ends of a numeric one; rarer values are merged into other
	MaxValues     int            // distinct numbers of a column that are counted exactly
}

// Growth describes how trees grow: a tree for each combination of Algorithm, Lambda, Theta and
// Tests.
type Growth struct {
	Algorithm []split.Algorithm // scores of tests, such as split.EC45
	Lambda    []float64         // weights of the impurity reduction; empty: the paper's grid, see grid.AutoLambdas
	Theta     []float64         // shares of the rows at or below which a node is a leaf
	Tests     []split.Family    // tests that nodes may have, such as split.Thresholds
	Bins      int               // how many bins a numeric feature has; 0: see grid.AutoBins

	Classes      split.Classes // whose classes count for impurity and the stopping rule
	LeafEstimate tree.Estimate // how the class probabilities of leaves are estimated
	MaxDepth     int           // tests on the longest path; 0: unlimited
	MinRows      int64         // nodes with fewer rows are leaves
	MaxLeaves    int           // leaves of the tree; with the rule First the tree grows best first; 0: unlimited
}

// Choice describes how a tree is chosen among the grown trees and their prunings.
type Choice struct {
	Select       frontier.Rule         // rule of the choice; frontier.ByCosts: the least total if errors have costs
	Merit        frontier.Criterion    // figure by which trees are compared, such as frontier.Auto
	Tolerance    *float64              // score that the rule Best gives up for a cheaper tree; nil: see tolerance
	Prune        []prune.Currency      // empty: trees are not pruned
	Alpha        *float64              // pruning strength; nil: chosen by Select
	Folds        crossvalidate.Setting // cross-validation folds of the training rows, used for the choice
	FrontierStep float64               // least rise in score between trees of the frontier; 0: all better trees

	// Budgets of billed costs: see tree.Complexity.Billed. A rule other than frontier.First chooses
	// the tree.
	MaxExpectedCost float64 // greatest mean cost of a row; 0: unlimited
	MaxCost         float64 // greatest cost of the most expensive path; 0: unlimited
	MaxTests        int     // greatest number of tests that a row pays for; 0: unlimited
	// MaxExpectedFurther and MaxFurther are the limits of MaxExpectedCost and MaxCost in further currencies, by currency: see
	// Prices.Further.
	MaxExpectedFurther map[string]float64
	MaxFurther         map[string]float64

	// A threshold on the probability of a class is chosen with the tree, at which these shares are kept on new rows with
	// this confidence: see frontier.Demand. They name the same class.
	MinSensitivity LeastShare
	MinSpecificity LeastShare
	MinPrecision   LeastShare
	Confidence     float64

	LeafModel     selection.Kind  // models in the leaves, such as selection.None
	Teacher       distill.Teacher // model whose predictions the tree also learns, such as distill.None
	TeacherWeight float64         // weight of the teacher relative to the label, 0 to 1
	MadeUpRows    *int64          // synthetic rows that the teacher labels; nil: by the number of training objects
	Certificate   bool            // whether to compute a lower bound on the cost of such trees
}

// LeastShare is a share of 0 to 1 that is demanded for a class; 0: none.
type LeastShare struct {
	Class string
	Share float64
}

// Default returns the preset "default". It grows trees from 70 % of the rows, by ec45 with four
// lambdas and by c45, each with tests of thresholds and of sets of categories alone and with tests for
// single bins as well, prunes them in both currencies, and chooses the tree that is best on the validation rows, 10 %;
// the other 20 % are test rows. A feature is paid once on a path. Among the grids tried on the public data sets of the paper, this
// grid gave the best trees for its time.
func Default() Settings {
	return Settings{
		Roles: Roles{MaxClasses: 1000, Split: dataset.Shares{70, 10, 20}, Seed: 1},
		Columns: Columns{
			Binning: binning.Quantile, MaxCategories: MostCategories, MinValueRows: 1, MaxValues: 1 << 16,
		},
		Prices: Prices{FreeRepeats: true},
		Growth: Growth{
			Algorithm: []split.Algorithm{split.EC45, split.C45}, Lambda: []float64{10, 3, 30, 1000},
			Theta: []float64{0.005, 0.0005}, Tests: []split.Family{split.Sets, split.All},
			Classes: split.OfRows, LeafEstimate: tree.Smoothed,
		},
		Choice: Choice{
			Select: frontier.ByCosts, Merit: frontier.Auto,
			Prune: []prune.Currency{prune.Leaves, prune.Cost, prune.Total},
			Folds: crossvalidate.Setting{Auto: true}, FrontierStep: 0.001, Certificate: true,
			Confidence: defaultConfidence, LeafModel: selection.None, Teacher: distill.Auto, TeacherWeight: DefaultTeacherWeight,
		},
	}
}

// MostCategories is the greatest number of values of a categorical feature. Two of the codes of 16 bits are
// reserved for other and missing.
const MostCategories = math.MaxUint16 - 2

// tolerance returns the score that the rule Best gives up for a cheaper tree. With a limit on each row's path alone, it is
// none: whoever allows each row a cost does not ask what rows cost on average.
func (s *Settings) tolerance() float64 {
	switch {
	case s.Tolerance != nil:
		return *s.Tolerance
	case s.limits().PathsAlone():
		return 0
	case s.LeafModel != selection.None:
		return toleranceOfModels
	default:
		return defaultTolerance
	}
}

func (s *Settings) limits() frontier.Limits {
	l := frontier.Limits{ExpectedCost: s.MaxExpectedCost, MaxCost: s.MaxCost, Tests: s.MaxTests, Leaves: s.MaxLeaves}
	if units := s.limitedUnits(); len(units) <= dataset.MostFurther {
		l.Further = dataset.NewFurtherCosts(units, dataset.AmountsOf(s.MaxExpectedFurther, units), dataset.AmountsOf(s.MaxFurther, units))
	}
	return l
}

// limitedUnits returns the further currencies with limits above 0.
func (s *Settings) limitedUnits() []string {
	var units []string
	for _, of := range s.furtherLimits() {
		for unit, limit := range of.limits {
			if limit > 0 && !slices.Contains(units, unit) {
				units = append(units, unit)
			}
		}
	}
	slices.Sort(units)
	return units
}

// CheckUnits returns an error if there is a limit, or a limit of 0, in a further currency other than units. first is the
// name of the first currency; empty: it has none.
func (s *Choice) CheckUnits(units []string, first string, name Namer) error {
	for _, of := range s.furtherLimits() {
		for _, unit := range slices.Sorted(maps.Keys(of.limits)) {
			given := fmt.Sprintf("%s %s=%s", name(of.setting), naming.Printable(unit), Spelled(of.limits[unit]))
			switch {
			case slices.Contains(units, unit):
			case unit == first:
				return fmt.Errorf("%s: a limit in the first currency has no name: write %s", given, Spelled(of.limits[unit]))
			default:
				return fmt.Errorf("%s: no price list has the column %s; further currencies: %s", given, naming.Printable(unit),
					cmp.Or(naming.Printable(strings.Join(units, ", ")), "none"))
			}
		}
	}
	return nil
}

// furtherLimits are the limits in further currencies by currency, of a setting.
type furtherLimits struct {
	setting string
	limits  map[string]float64
}

// furtherLimits lists the limits in further currencies.
func (s *Choice) furtherLimits() []furtherLimits {
	return []furtherLimits{{"max_expected_cost", s.MaxExpectedFurther}, {"max_cost", s.MaxFurther}}
}

// defaultTolerance is the tolerance of plain leaves. On the public data
// sets of the paper it costs no AUC on test rows on average.
const defaultTolerance = 0.001

// leafRows returns how many training rows a leaf has at least, on average, in a tree that pruning may choose. Where
// repeated tests are free, leaves cost nothing, and trees of one or two rows a leaf would fill the list. Where each test
// is paid, leaves have their price, and many classes may need small ones.
func (s *Settings) leafRows() int64 {
	if s.FreeRepeats {
		return 10
	}
	return 0
}

// defaultConfidence is the confidence of intervals.
const defaultConfidence = 0.95

// toleranceOfModels takes its place with leaf models, which raise the scores of large and of
// small trees, so that the last thousandths cost many tests: see "A larger tree is believed beyond chance
// alone" in docs/dev/decisions.md.
const toleranceOfModels = 0.0035

// DefaultTeacherWeight is the default of TeacherWeight if the rows have labels.
const DefaultTeacherWeight = 0.5

// Accurate returns the preset "accurate", which adds leaf models and a teacher if they are better.
func Accurate() Settings {
	s := Default()
	s.LeafModel = selection.Auto
	s.Prune = []prune.Currency{prune.Leaves, prune.Cost, prune.MaxCost, prune.Total}
	return s
}

// Paper returns the preset "paper": a single tree of one-hot tests on 5 k-means bins with majority
// leaves, each of whose tests is paid.
func Paper() Settings {
	s := Default()
	s.grow(split.OneHot)
	s.FreeRepeats = false
	s.Absent = map[string]Absence{"": AbsentValue}
	s.Bins = 5
	s.Binning = binning.KMeans
	s.MaxCategories = 1000
	s.LeafEstimate = tree.Majority
	s.Classes = split.OfObjects
	return s
}

// Single returns the settings of a single tree, grown from all rows and not pruned: ec45 with
// lambda 10 and theta 0.005, and tests of thresholds and of sets of categories.
func Single() Settings {
	s := Default()
	s.grow(split.Sets)
	s.Split = dataset.Shares{100, 0, 0}
	return s
}

// grow sets the growth of a single tree, without a choice.
func (s *Settings) grow(family split.Family) {
	s.Algorithm = []split.Algorithm{split.EC45}
	s.Lambda = []float64{10}
	s.Theta = []float64{0.005}
	s.Tests = []split.Family{family}
	s.Select = frontier.First
	s.Prune = nil
	s.Folds = crossvalidate.Setting{}
	s.Certificate = false
	s.Teacher = distill.None
}

// Namer returns the name of a setting, such as max_depth, in the form that messages use.
type Namer func(setting string) string

// FieldName returns the name of the field of a setting, such as MaxDepth.
func FieldName(setting string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(setting, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// FlagName returns the name of the flag of a setting, such as --max_depth.
func FlagName(setting string) string { return "--" + setting }

// Selection returns the settings of the choice among trees.
func (s *Settings) Selection() selection.Settings {
	return selection.Settings{
		Settings: frontier.Settings{
			Query: frontier.Query{
				Rule: s.Select.Settled(s.ErrorCosts != nil), Tolerance: s.tolerance(),
				Limits: s.limits(),
			},
			Demand: s.demand(), Merit: s.Merit, Currencies: s.Prune, Alpha: s.Alpha, LeafRows: s.leafRows(), Step: s.FrontierStep,
		},
		Folds: s.Folds, Seed: s.Seed, Certificate: s.Certificate, LeafModel: s.LeafModel,
		Teacher:     selection.Teacher{Kind: s.Teacher, Weight: s.TeacherWeight, MadeUp: s.MadeUpRows},
		Constrained: len(s.Monotone) > 0,
	}
}

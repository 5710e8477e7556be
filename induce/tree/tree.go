// Package tree is the model: nodes with tests and leaf estimates, the scoring of rows, and the
// canonical JSON form "espalier/tree", whose JSON Schema is io/runfolder/schemas/tree.schema.json.
// Leaves may have models (LeafModel): such a tree has version 2, 3 if some model has a booster, or 4
// if a threshold decides. Every other tree has version 1.
//
// Decode and Read return the Tree of a tree.json. Tree.Walk iterates over its nodes. A Scorer
// predicts classes: Predict for the values of a single row, PredictMatrix for rows of numbers,
// Leaves and Score for columns. Questions ask for values one at a time, and explain predictions:
// Follow returns the decision path of a row. Package gorows scores structs and maps, which is what
// most programs need; package train grows a Tree.
//
//	t, err := tree.Read(file)
//	scorer, err := gorows.NewScorer[Patient](t) // type Patient struct{ Age *float64 `json:"age"` }
//	prediction, err := scorer.Predict(&patient)
package tree

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Tree is a trained tree, with its origin, its complexity and its certificate.
type Tree struct {
	Label       Label
	Features    []dataset.Feature
	Algorithm   Algorithm
	Training    Training
	Complexity  Complexity
	Certificate *Certificate // how close the tree is to the optimum; nil if unknown
	Nodes       []Node       // breadth-first in the order of branches; the root is 0

	// Dated means that the document is of a version before 0.4: if trees grow from the classes of rows, its
	// class_weights are the weights by majority class of the objects. Encode keeps this form, so that the
	// digest stays the same.
	Dated bool

	Texts *Texts // what Encode keeps for trees with the same nodes, which may not change any more; nil: nothing
}

// Label is the class column.
type Label struct {
	Column string `json:"column"`
	// Classes are in numeric order if they are numbers, otherwise in byte order.
	Classes []string `json:"classes" jsonschema:"minItems=1,uniqueItems=true"`

	// Priors are the frequencies of the classes where the tree will be used, of sum 1, to which the probabilities are
	// scaled; absent: the weighted frequencies among the training rows.
	Priors []float64 `json:"priors,omitempty" jsonschema:"minItems=1,exclusiveMinimum=0"`
	// ErrorCosts are the costs of predictions by actual class, then by predicted class: the class of a node has the
	// least expected cost, unless a threshold decides; absent: 0 for a correct prediction, otherwise 1.
	ErrorCosts [][]float64 `json:"error_costs,omitempty" jsonschema:"minItems=1"`
	// Decision is the class of interest, and the probability from which it is predicted; absent: no class is named.
	Decision *Decision `json:"decision,omitempty"`
}

// Decision is a decision rule that looks at one class: Positive is predicted if its probability is at least Threshold,
// otherwise the most probable of the other classes.
type Decision struct {
	Positive string `json:"positive"` // the class of interest
	// Threshold is the least probability of Positive at which it is predicted; absent: the most probable class or,
	// with error costs, the class with the least expected cost is predicted.
	Threshold float64 `json:"threshold,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1"`
}

// Algorithm holds the parameters of training.
type Algorithm struct {
	Name         string   `json:"name"`
	Lambda       float64  `json:"lambda"`
	Theta        float64  `json:"theta" jsonschema:"minimum=0,maximum=1"`
	Tests        string   `json:"tests"`
	Bins         int      `json:"bins" jsonschema:"minimum=2"`
	Binning      string   `json:"binning"`
	LeafEstimate Estimate `json:"leaf_estimate"`
	// Smoothing is the weight of the parent's estimate in a smoothed estimate, in rows; absent: 10.
	Smoothing float64 `json:"smoothing,omitempty" jsonschema:"exclusiveMinimum=0"`
	// SmoothingBy is what the weight of the parent's estimate depends on. classes: it is half of smoothing (of 10 if that
	// is absent) for each class with the weight of half a row or more in the node; absent: it is the same in all nodes.
	SmoothingBy string `json:"smoothing_by,omitempty" jsonschema:"enum=classes"`
	Prune       string `json:"prune"`
	// Alpha is the strength of the pruning: risk (bits or Gini index) per leaf, or per unit of expected or greatest
	// cost; for the currency total, the cost of errors per unit of expected cost.
	Alpha     float64 `json:"alpha,omitempty" jsonschema:"exclusiveMinimum=0"`
	MaxDepth  int     `json:"max_depth,omitempty" jsonschema:"minimum=0"`
	MinRows   int64   `json:"min_rows,omitempty" jsonschema:"minimum=0"`
	MaxLeaves int     `json:"max_leaves,omitempty" jsonschema:"minimum=0"`
	// PathFeatures is the greatest number of different features on a path; absent: unlimited.
	PathFeatures int `json:"path_features,omitempty" jsonschema:"minimum=0"`
	// Selected are the only features that may be tested, as they were selected together; absent: all.
	Selected []string `json:"selected,omitempty"`
	// MaxCost is the greatest billed cost of a path for which features were tested; absent: unlimited.
	MaxCost float64 `json:"max_cost,omitempty" jsonschema:"minimum=0"`
	// MaxFurther are the greatest billed costs of a path in further currencies, for which features were tested; absent:
	// unlimited.
	MaxFurther map[string]float64 `json:"max_further_costs,omitempty"`
	// MaxTests is the greatest number of tests on a path that cost something, for which features were tested; absent:
	// unlimited.
	MaxTests int `json:"max_tests,omitempty" jsonschema:"minimum=0"`
	// RootByCodes is whether the root tests the feature whose values together tell the most, instead of the feature with
	// the best test.
	RootByCodes bool   `json:"root_by_codes,omitempty"`
	Once        bool   `json:"once,omitempty"` // whether a path tests a feature once
	Seed        uint64 `json:"seed" jsonschema:"minimum=0"`
	// RepeatCost is what repeated tests cost. free: further tests on a feature on a path cost nothing, unless its values
	// have prices; absent: each test is paid.
	RepeatCost string `json:"repeat_cost,omitempty" jsonschema:"enum=free"`
	// SetUps is how scores counted the price of a group at its first test on a path; absent: in full.
	SetUps string `json:"set_ups,omitempty"`
	// Prices is how scores counted the prices of tests; absent: in full.
	Prices   string `json:"prices,omitempty"`
	CostUnit string `json:"cost_unit,omitempty" jsonschema:"minLength=1"` // unit of the costs; empty if unknown
	// Classes is whose classes count. rows: impurity and the stopping rule count each row for its own class; absent:
	// for the majority class of its object.
	Classes string `json:"classes,omitempty" jsonschema:"enum=rows"`
	// Objective is what the tests minimise. total: the cost of tests and errors, found by a search of limited steps;
	// empirical_total: the same, with the errors of the training rows as they are, where total draws the class shares of
	// few rows to the class shares of all rows; absent: each test has the best score.
	Objective string `json:"objective,omitempty" jsonschema:"enum=total,enum=empirical_total"`
	// Teacher is the model that taught the tree in addition to the labels: the class weights of its leaves have the
	// teacher's shares; forest and both are of earlier versions; absent: nothing.
	Teacher string `json:"teacher,omitempty" jsonschema:"enum=forest,enum=boosted,enum=both"`
	// Ridge is the regularisation strength of the leaf models, in rows; absent: no models.
	Ridge float64 `json:"ridge,omitempty" jsonschema:"exclusiveMinimum=0"`
	// BoosterTrees is the greatest number of trees in a booster; absent: no boosters.
	BoosterTrees int `json:"booster_trees,omitempty" jsonschema:"minimum=1"`

	// First are the features that the nodes of depth 0, 1, .. were to test if they could.
	First  []string `json:"first,omitempty" jsonschema:"minItems=1"`
	Forbid []string `json:"forbid,omitempty" jsonschema:"minItems=1"` // columns that no test may use
	// Monotone is how the probability of the second class may change as each of these features grows and all else stays:
	// 1, it does not fall; -1, it does not rise.
	Monotone map[string]int8 `json:"monotone,omitempty"`
}

// RepeatFree makes repeated tests of a feature on a path free. It does not apply to a feature whose
// values have prices of their own.
const RepeatFree = "free"

// Values of Algorithm.Objective if tests minimise the total cost: see package policy.
const (
	TotalCost      = "total"
	EmpiricalTotal = "empirical_total" // with the errors of the training rows as they are
)

// ByTotal reports whether the tests minimise the total cost of tests and errors.
func (a *Algorithm) ByTotal() bool { return a.Objective == TotalCost || a.Objective == EmpiricalTotal }

// ClassesOfRows is the value of Algorithm.Classes if trees grow from the classes of rows: see
// split.OfRows.
const ClassesOfRows = "rows"

// WeightsByClass is the value of Training.Weights if the weights of rows are multiplied by class
// weights.
const WeightsByClass = "class_weights"

// Training counts the training rows.
type Training struct {
	Rows    int64 `json:"rows" jsonschema:"minimum=0"`
	Objects int64 `json:"objects" jsonschema:"minimum=0"`
	Weight  int64 `json:"weight" jsonschema:"minimum=0"` // fixed point, in units of 1/WeightScale
	// WeightScale is the number of units in the average weight of a training row; absent: 1.
	WeightScale float64 `json:"weight_scale,omitempty" jsonschema:"exclusiveMinimum=0"`
	// MeanWeight is the average weight of a training row in its column, before class weights; absent: rows have no
	// weights.
	MeanWeight float64 `json:"mean_weight,omitempty" jsonschema:"exclusiveMinimum=0"`
	// RelabelledRows is the number of rows of another class than most rows of their object; if rows have weights, the
	// weight of these rows divided by the average weight of a training row, rounded, because objects do not keep how
	// many rows of a class they have. Class weights do not count.
	RelabelledRows   int64 `json:"relabelled_rows" jsonschema:"minimum=0"`
	DroppedNullLabel int64 `json:"dropped_null_labels,omitempty" jsonschema:"minimum=0"`
	// CutLeaves is the number of leaves that were not split for lack of time: a later deadline would have given them
	// tests.
	CutLeaves int `json:"cut_leaves,omitempty" jsonschema:"minimum=1"`

	// Weights is what all weights of the tree are. class_weights: the weights of rows multiplied by the weight of their
	// class; absent: the rows' own weights.
	Weights      string    `json:"weights,omitempty" jsonschema:"enum=class_weights"`
	ClassWeights []float64 `json:"class_weights,omitempty" jsonschema:"minimum=0"` // in the order of label.classes
	// LeftOutRows is the number of rows left out because their class weight is 0.
	LeftOutRows int64 `json:"left_out_rows,omitempty" jsonschema:"minimum=1"`
}

// Scale returns how many units make the average weight of a training row. It may be below 1.
func (t *Training) Scale() float64 { return cmp.Or(t.WeightScale, 1) }

// SetScale sets how many units make the average weight of a training row.
func (t *Training) SetScale(scale float64) {
	if t.WeightScale = scale; scale == 1 {
		t.WeightScale = 0
	}
}

// Complexity holds the size of the tree, and the cost of using it on the training rows. Expected
// values are weighted means over rows. Costs are billed costs: see Test.Billed.
type Complexity struct {
	// ExpectedCost is the mean billed cost of a training row: groups once, repeats as they are charged. In version 0.3
	// and before, the cost of the tests at their own prices.
	ExpectedCost  float64 `json:"expected_cost"`
	ExpectedTests float64 `json:"expected_tests"`
	MaxCost       float64 `json:"max_cost"` // billed cost of the most expensive path; of versions as ExpectedCost
	// Further are the costs in further currencies, such as minutes in addition to euros; absent: no further currencies.
	Further dataset.FurtherCosts `json:"further_costs,omitzero"`
	Nodes   int                  `json:"nodes" jsonschema:"minimum=1"`
	Leaves  int                  `json:"leaves" jsonschema:"minimum=1"`
	Depth   int                  `json:"depth" jsonschema:"minimum=0"` // tests on the longest path
}

// Renamed returns JSON of any version with the names of this version. In version 0.3, expected_cost and max_cost were
// the costs of the tests at their own prices, and the billed costs were next to them under names of their own.
func Renamed(b []byte) []byte { return renamed(b, 8) }

// renamed renames the members of JSON down to a depth, which bounds the time that foreign documents take.
func renamed(b []byte, depth int) []byte {
	if depth == 0 || !bytes.Contains(b, []byte("_billed_cost")) {
		return b
	}
	var members map[string]json.RawMessage
	var list []json.RawMessage
	var made []byte
	var err error
	if json.Unmarshal(b, &members) == nil {
		for name, value := range members {
			members[name] = renamed(value, depth-1)
		}
		rename(members, "expected_billed_cost", "expected_cost")
		rename(members, "max_billed_cost", "max_cost")
		made, err = json.Marshal(members)
	} else if json.Unmarshal(b, &list) == nil {
		for i, value := range list {
			list[i] = renamed(value, depth-1)
		}
		made, err = json.Marshal(list)
	}
	if made == nil || err != nil {
		return b // the decoder says what is wrong
	}
	return made
}

// rename gives a member the value of an earlier name if there are both: other objects have names that users choose.
func rename(members map[string]json.RawMessage, earlier, name string) {
	if value, found := members[earlier]; found && members[name] != nil {
		members[name] = value
		delete(members, earlier)
	}
}

// Node is a node of the tree. Leaves have no Test.
type Node struct {
	Rows            int64
	Objects         int64
	Weight          int64
	ClassWeights    []int64 // weight by majority class of the objects: majority_class_weights, see Tree.Dated
	RawClassWeights []int64 // weight by class of the rows: class_weights
	Class           int     // predicted class, see Label.Decide
	Probabilities   []float64

	Test     *Test
	Branches []Branch // two-outcome tests: yes, no

	Stopped bool // whether it is a leaf only because time ran out while the tree grew

	// Model gives each row of a leaf its own probabilities; nil: Probabilities holds for all of
	// them. The model of an inner node has no effect.
	Model *LeafModel
}

// Test is the question that an inner node asks.
type Test struct {
	split.Test

	Cost float64 // the test's own price
	// Billed is the price paid at this node; nil: Cost. It includes the price of the feature's
	// group if no test above belongs to the group, and is 0 for a free repeat.
	Billed *float64
	Score  split.Parts

	// RunnerUp is the best test of another feature, to explain why the node does not test that
	// feature; nil if unknown. It has no effect on predictions.
	RunnerUp *RunnerUp
}

// RunnerUp is the second best feature at a node. The tree need not test it anywhere.
type RunnerUp struct {
	Feature string
	Kind    split.Kind
	GE, LT  *float64 // values in [GE, LT) take the yes branch of a threshold or bin; nil: unbounded
	Value   string   // the value that takes the yes branch of an equality test
	Values  []string // the listed values that take the yes branch of a test for a set
	Cost    float64  // what the test would cost at the node
	Total   float64  // score of the test, like Score.Total

	Test split.Test `json:",omitzero"` // the test before New sets its names
}

// NewRunnerUp describes a test of a feature, with its cost and score.
func NewRunnerUp(f *dataset.Feature, t *split.Test, cost, total float64) *RunnerUp {
	r := &RunnerUp{Feature: f.Name, Kind: t.Kind, Cost: cost, Total: total}
	switch t.Kind {
	case split.Threshold:
		r.GE = &f.Cuts[t.Code-1]
	case split.Bin:
		if t.Code > 0 {
			r.GE = &f.Cuts[t.Code-1]
		}
		if to := t.Code + t.Span; to < len(f.Cuts) {
			r.LT = &f.Cuts[to]
		}
	case split.Equals:
		r.Value = f.Values[t.Code]
	case split.In:
		r.Values = listed(f, t, 1)
	default: // the kind is enough
	}
	return r
}

// Deciding returns the listed values by which a test with two outcomes divides the values of a categorical feature: the
// values of the yes branch or, if unlisted values take the yes branch, the values of the no branch. Then inverse is true.
func Deciding(f *dataset.Feature, t *split.Test) (values []string, inverse bool) {
	inverse = t.Outcome(f.OtherCode(), f.MissingCode()) == 1
	return listed(f, t, count(!inverse)), inverse
}

// listed returns the listed values with an outcome of a test.
func listed(f *dataset.Feature, t *split.Test, outcome int) []string {
	var values []string
	for code, v := range f.Values {
		if t.Outcome(code, f.MissingCode()) == outcome {
			values = append(values, v)
		}
	}
	return values
}

// Branch leads from an inner node to a child.
type Branch struct {
	Outcome int  // 1 or 0; for multiway tests the code of the feature
	Child   int  // id of the child
	Missing bool // whether missing values take it
	Other   bool // whether unlisted values of a categorical feature take it
}

// Leaf reports whether the node has no test.
func (n *Node) Leaf() bool { return n.Test == nil }

// CountLeaves returns the number of leaves.
func (t *Tree) CountLeaves() int {
	leaves := 0
	for i := range t.Nodes {
		if t.Nodes[i].Leaf() {
			leaves++
		}
	}
	return leaves
}

// Tested returns the tree with only the features that some test or leaf model uses, in their order,
// as tree.json lists them. The two trees share the slices of their nodes, and the nodes if no feature is left out. Leaves that share a
// booster do so in both trees.
func (t *Tree) Tested() *Tree {
	number := make([]int, len(t.Features)) // by feature: its new index plus 1; 0 if left out
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !n.Leaf() {
			number[n.Test.Feature] = 1
		} else if n.Model != nil {
			for k := range n.Model.Terms {
				number[n.Model.Terms[k].Feature] = 1
			}
		}
	}
	for _, list := range t.boosterFeatures() {
		for _, f := range list {
			number[f] = 1
		}
	}
	tested := *t
	tested.Features = []dataset.Feature{}
	for i, used := range number {
		if used > 0 {
			tested.Features = append(tested.Features, t.Features[i])
			number[i] = len(tested.Features)
		}
	}
	if len(tested.Features) == len(t.Features) {
		return &tested
	}
	renumber := func(feature int) int { return number[feature] - 1 }
	boosters := make(map[*boost.Booster]*boost.Booster)
	for _, b := range t.boosters() {
		boosters[b] = b.Renumbered(renumber)
	}
	tested.Nodes = slices.Clone(t.Nodes)
	for i := range tested.Nodes {
		n := &tested.Nodes[i]
		if !n.Leaf() {
			test := *n.Test
			test.Feature = renumber(test.Feature)
			n.Test = &test
			n.Model = nil
		} else if n.Model != nil {
			n.Model = n.Model.renumbered(renumber, boosters[n.Model.Booster])
		}
	}
	return &tested
}

// Certificate compares the expected cost of a tree with a lower bound: no tree over the same bins
// and the same family of tests that separates the objects to theta costs less than LowerBound.
// Package certify computes and proves the bound. Costs are expected costs per object, by weight.
type Certificate struct {
	// Theta is the greatest share of the weight at which a leaf may mix classes.
	Theta        float64 `json:"theta" jsonschema:"minimum=0,maximum=1"`
	ExpectedCost float64 `json:"expected_cost" jsonschema:"minimum=0"` // expected cost of the tree before pruning
	Pruned       bool    `json:"pruned,omitempty"`                     // whether the tree was pruned after it was compared
	// LowerBound is a cost: no tree over these bins and this family of tests that separates the objects to theta costs
	// less.
	LowerBound float64 `json:"lower_bound" jsonschema:"minimum=0"`
	// Method is the method of the bound: cover or kraft; optimum for a single leaf; information, and optimum for trees
	// of several leaves, are of earlier versions.
	Method string `json:"method" jsonschema:"enum=optimum,enum=cover,enum=information,enum=kraft"`
	// Ratio is the expected cost divided by the bound; absent if only the bound is 0.
	Ratio float64 `json:"ratio,omitempty" jsonschema:"minimum=0"`

	Sampled bool `json:"sampled"`                       // whether the bound is a one-sided lower confidence limit
	Sample  int  `json:"sample" jsonschema:"minimum=0"` // objects looked at

	// CutShort is the number of objects, including pilots, whose search stopped at its limit of work.
	CutShort int `json:"cut_short,omitempty" jsonschema:"minimum=1"`
	// Steps is the number of steps of the search, approximately; each takes a few nanoseconds.
	Steps int64 `json:"steps,omitempty" jsonschema:"minimum=1"`
	// Budget is the number of steps that the search may take; absent: unlimited.
	Budget     int64   `json:"budget,omitempty" jsonschema:"minimum=1"`
	Confidence float64 `json:"confidence" jsonschema:"minimum=0,maximum=1"` // confidence of the bound; 1 unless sampled

	// LogFactor is the guarantee of the paper, proven before any tree is grown; absent for a criterion without a
	// guarantee.
	LogFactor float64 `json:"log_factor,omitempty" jsonschema:"minimum=0"`

	// Guarantee is the greatest multiple of the optimum that the tree may cost: ratio, or LogFactor if it is less and
	// all needed assumptions hold; absent for a tree that is not complete.
	Guarantee   float64      `json:"guarantee,omitempty" jsonschema:"minimum=0"`
	Assumptions []Assumption `json:"assumptions" jsonschema:"maxItems=100"`
}

// Assumption is a condition of the paper's theorem on the data, the costs or the tree.
type Assumption struct {
	Name   string `json:"name"`
	Holds  bool   `json:"holds"`
	Detail string `json:"detail"`

	// Needed means that LogFactor is not proven without the assumption. Without an assumption that
	// is not needed, LogFactor is only larger, or refers to relabelled objects.
	Needed bool `json:"needed"`
}

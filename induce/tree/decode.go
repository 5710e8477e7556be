package tree

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
)

// Decode reads a tree.json and checks it: the nodes form a single tree, tests and branches name
// existing features and values, and the classes follow from the priors and error costs, if there
// are any. A leaf model may only use numeric features that are tested on the path of its leaf, and
// its booster may only use features that are tested there.
func Decode(b []byte) (*Tree, error) {
	d := decoder{Tree: new(Tree), file: newFile(b)}
	if err := d.read(); err != nil {
		return nil, err
	}
	t := d.Tree
	if len(t.Nodes) == 0 {
		return nil, errors.New("a tree needs at least one class and one node")
	}
	for _, check := range []func() error{
		t.check, t.checkPresence, t.checkDepth, t.checkDecisions, t.checkBilled, t.checkWishes, t.checkModels, d.checkBoosters,
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Read decodes everything that r returns. It holds the whole file in memory, so limit r, for
// example by io.LimitReader, if you do not trust its origin. Package io/models opens files and
// URLs.
func Read(r io.Reader) (*Tree, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return Decode(b)
}

// maxCodes is the number of codes that a two-byte code can tell apart.
const maxCodes = math.MaxUint16 + 1

// maxCost bounds prices, so that no sum of prices is infinite. The same bound applies to costs
// files.
const maxCost = math.MaxFloat32

// decoder fills a tree.
type decoder struct {
	*Tree

	file        file
	fileVersion int
	named       bool // some node has majority_class_weights

	names map[string]int   // features by name
	codes []map[string]int // by feature: codes of the values

	boosters []*boost.Booster
	used     []bool // by booster: whether a leaf uses it
}

func (d *decoder) feature(f *fileFeature) error {
	feature := dataset.Feature{
		Name: f.Name, Cuts: f.Cuts, Range: f.Range, Values: f.Values, Ordered: f.Ordered, Missing: f.Missing,
		Other: f.Other, Cost: f.Cost, Group: f.Group, FurtherCosts: f.FurtherCosts, GroupFurther: f.GroupFurther,
	}
	if f.GroupCost != nil {
		feature.GroupCost = *f.GroupCost
	}
	if feature.Unordered = f.Absent == AbsentUnordered; f.Absent != "" && !feature.Unordered {
		return fmt.Errorf("feature %q: absent %q: want %q or none", f.Name, f.Absent, AbsentUnordered)
	}
	switch f.Type {
	case dataset.Numeric.String():
		feature.Kind = dataset.Numeric
	case dataset.Categorical.String():
		feature.Kind = dataset.Categorical
	default:
		return fmt.Errorf("feature %q: type %q: want numeric or categorical", f.Name, f.Type)
	}
	var err error
	if feature.Unit, err = dataset.ParseUnit(f.Unit); err != nil {
		return fmt.Errorf("feature %q: %w", f.Name, err)
	}
	if feature.Zone, err = dataset.ParseZone(f.Zone, feature.Unit); err != nil {
		return fmt.Errorf("feature %q: %w", f.Name, err)
	}
	if f.Ordered && feature.Kind != dataset.Categorical {
		return fmt.Errorf("feature %q: ordered and %s: want a categorical feature", f.Name, f.Type)
	}
	if err := f.checkNumbers(feature.Kind); err != nil {
		return err
	}
	if _, twice := d.names[f.Name]; twice || feature.Codes() > maxCodes {
		return fmt.Errorf("feature %q: listed twice, or with more than %d codes", f.Name, maxCodes)
	}
	if f.Missing < 0 || f.Other < 0 {
		return fmt.Errorf("feature %q: %d missing, %d other: want counts from 0", f.Name, f.Missing, f.Other)
	}
	if f.Cost < 0 || f.Cost > maxCost || feature.GroupCost > maxCost {
		return fmt.Errorf("feature %q: cost %v, group_cost %v: want numbers from 0 to %v", f.Name, f.Cost, feature.GroupCost,
			maxCost)
	}
	codes := codesOf(f.Values)
	if len(codes) < len(f.Values) {
		return fmt.Errorf("feature %q: a value is listed twice", f.Name)
	}
	d.names[f.Name] = len(d.Features)
	d.Features = append(d.Features, feature)
	d.codes = append(d.codes, codes)
	return nil
}

// checkNumbers checks the cuts and the range of a feature of the given kind.
func (f *fileFeature) checkNumbers(kind dataset.Kind) error {
	if n := len(f.Range); n != 0 && (n != 2 || f.Range[0] > f.Range[1] || kind != dataset.Numeric) {
		return fmt.Errorf("feature %q: range %v: want the least and the greatest number of a numeric feature", f.Name,
			f.Range)
	}
	for j := 1; j < len(f.Cuts); j++ {
		if f.Cuts[j] <= f.Cuts[j-1] {
			return fmt.Errorf("feature %q: cuts must increase", f.Name)
		}
	}
	return nil
}

func codesOf(values []string) map[string]int {
	codes := make(map[string]int, len(values))
	for code, value := range values {
		codes[value] = code
	}
	return codes
}

func (d *decoder) node(f *fileNode) error {
	if f.ID != len(d.Nodes) {
		return fmt.Errorf("id %d: nodes must be in order", f.ID)
	}
	classes := len(d.Label.Classes)
	if len(f.Probabilities) != classes || len(f.ClassWeights) != classes || len(f.RawClassWeights) != classes {
		return fmt.Errorf("want probabilities, class_weights and raw_class_weights of %d classes", classes)
	}
	if err := f.checkNumbers(); err != nil {
		return err
	}
	class := slices.Index(d.Label.Classes, f.Class)
	if class < 0 {
		return fmt.Errorf("class %q is not among label.classes", f.Class)
	}
	d.Nodes = append(d.Nodes, Node{
		Rows: f.Rows, Objects: f.Objects, Weight: f.Weight, ClassWeights: f.ClassWeights,
		RawClassWeights: f.RawClassWeights, Probabilities: f.Probabilities, Class: class,
	})
	if f.Model != nil {
		if f.Test != nil {
			return errors.New("a node has a model and a test: want models of leaves only")
		}
		var err error
		if d.Nodes[f.ID].Model, err = d.model(f.Model); err != nil {
			return fmt.Errorf("model: %w", err)
		}
	}
	if f.Test == nil {
		if branches, err := branchesOf(f.Branches.RawMessage); err != nil || len(branches) > 0 {
			return cmp.Or(err, errors.New("branches without a test"))
		}
		return nil
	}
	return d.test(&d.Nodes[f.ID], f)
}

// checkNumbers checks that no count is negative, and that the probabilities add up to
// 1, or to 0 in a node without rows.
func (f *fileNode) checkNumbers() error {
	least := min(f.Rows, f.Objects, f.Weight, slices.Min(f.ClassWeights), slices.Min(f.RawClassWeights))
	if least < 0 {
		return fmt.Errorf("rows, objects, weight and class weights: %d: want counts from 0", least)
	}
	sum := 0.0
	for _, p := range f.Probabilities {
		if p < 0 || p > 1 {
			return fmt.Errorf("probabilities: %v: want numbers from 0 to 1", p)
		}
		sum += p
	}
	if sum != 0 && math.Abs(sum-1) > probabilityTolerance {
		return fmt.Errorf("probabilities add up to %v: want 1", sum)
	}
	return nil
}

// probabilityTolerance is the greatest error of the sum of a node's probabilities.
const probabilityTolerance = 1e-6

func (d *decoder) test(n *Node, f *fileNode) error {
	feature, ok := d.names[f.Test.Feature]
	if !ok {
		return fmt.Errorf("feature %q is not among features", f.Test.Feature)
	}
	kind, err := split.ParseKind(f.Test.Kind)
	if err != nil {
		return err
	}
	if f.Test.Cost < 0 || f.Test.Cost > maxCost {
		return fmt.Errorf("cost %v: want a number from 0 to %v", f.Test.Cost, maxCost)
	}
	branches, err := branchesOf(f.Branches.RawMessage)
	if err != nil {
		return err
	}
	if t := f.Test.Trust; t < 0 || t > 1 || t > 0 && kind != split.In {
		return fmt.Errorf("trust %v: want a number from 0 to 1, and only of a test of kind in", t)
	}
	n.Test = &Test{
		Test: split.Test{Feature: feature, Kind: kind, Trust: f.Test.Trust}, Cost: f.Test.Cost, Billed: f.Test.Billed,
		Score: f.Test.Score,
	}
	if n.Test.RunnerUp, err = f.Test.RunnerUp.runnerUp(); err != nil {
		return fmt.Errorf("runner_up: %w", err)
	}
	n.Branches = make([]Branch, len(branches))
	var missing, other int
	for i := range branches {
		b := &branches[i]
		outcome, err := d.outcome(n.Test, b, i)
		if err != nil {
			return err
		}
		n.Branches[i] = Branch{Outcome: outcome, Child: b.Child, Missing: b.Missing, Other: b.Other}
		missing += count(b.Missing)
		other += count(b.Other)
	}
	if missing != 1 || d.Features[feature].Kind == dataset.Categorical && other != 1 {
		return errors.New("exactly one branch must take missing values, and one unlisted values of a categorical " +
			"feature")
	}
	if kind != split.Multiway {
		return d.checkTwo(n)
	}
	return d.checkMany(n)
}

// runnerUp reads the second best feature of a node; nil if f is nil.
func (f *fileRunnerUp) runnerUp() (*RunnerUp, error) {
	if f == nil {
		return nil, nil //nolint:nilnil // a node need not name its runner-up
	}
	kind, err := split.ParseKind(f.Kind)
	if err != nil {
		return nil, err
	}
	r := &RunnerUp{Feature: f.Feature, Kind: kind, Cost: f.Cost, Total: f.Total}
	whole := f.When.GE == nil && f.When.LT == nil
	switch kind {
	case split.Threshold:
		r.GE = f.When.GE
		if whole || r.GE == nil {
			return nil, errors.New(`a threshold without "ge": want the least number of the yes branch`)
		}
	case split.Bin:
		r.GE = f.When.GE
		r.LT = f.When.LT
		if whole != f.When.NotMissing {
			return nil, errors.New(`a bin: want "ge", "lt" or both, or "not_missing"`)
		}
	case split.Equals:
		if len(f.When.In) != 1 {
			return nil, fmt.Errorf("an equality with %d values: want 1", len(f.When.In))
		}
		r.Value = f.When.In[0]
	case split.In:
		if r.Values = f.When.In; len(r.Values) == 0 {
			return nil, errors.New("a set without values: want at least 1")
		}
	default: // the kind is enough
	}
	if f.Cost < 0 || f.Cost > maxCost {
		return nil, fmt.Errorf("cost %v: want a number from 0 to %v", f.Cost, maxCost)
	}
	return r, nil
}

// checkMany checks that each branch of a multiway test has a distinct code, and that missing or
// unlisted values take the branch named missing or other, if there is such a branch.
func (t *Tree) checkMany(n *Node) error {
	f := &t.Features[n.Test.Feature]
	seen := make(map[int]bool, len(n.Branches))
	for _, b := range n.Branches {
		if seen[b.Outcome] {
			return errors.New("two branches take the same values")
		}
		seen[b.Outcome] = true
		if b.Outcome == f.MissingCode() && !b.Missing || b.Outcome == f.OtherCode() && !b.Other {
			return errors.New("missing or unlisted values take another branch than the one of that name")
		}
	}
	return nil
}

// checkTwo checks that a two-outcome test has two branches, and that missing and
// unlisted values take the branch of their code's outcome.
func (t *Tree) checkTwo(n *Node) error {
	if len(n.Branches) != 2 {
		return fmt.Errorf("%d branches: want 2", len(n.Branches))
	}
	f := &t.Features[n.Test.Feature]
	missing := n.Test.Outcome(f.MissingCode(), f.MissingCode())
	other := n.Test.Outcome(f.OtherCode(), f.MissingCode())
	for _, b := range n.Branches {
		if b.Missing != (b.Outcome == missing) {
			return errors.New("missing values take the branch that the test does not send them to")
		}
		if f.Kind == dataset.Categorical && b.Other != (b.Outcome == other) {
			return errors.New("unlisted values take the branch that the test does not send them to")
		}
	}
	return nil
}

// count returns 1 if is holds, otherwise 0.
func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// outcome reads the condition of a branch and returns its outcome. For the first branch it also
// sets the code of the test.
func (d *decoder) outcome(test *Test, b *fileBranch, branch int) (int, error) {
	when := &b.When
	other := b.Other == (branch == 0) // whether unlisted values take the yes branch
	f := &d.Features[test.Feature]
	if test.Kind == split.Multiway {
		return d.multiwayOutcome(test.Feature, when)
	}
	if test.Kind == split.In {
		set, ok := d.set(test.Feature, when, branch > 0, other)
		if !ok || branch > 0 && set != test.Set {
			return 0, fmt.Errorf("branch %d: its values do not fit a test for a set of values of %q", branch, f.Name)
		}
		test.Set = set
		return 1 - branch, nil
	}
	code, span, ok := d.code(test, when, branch > 0)
	if !ok || branch > 0 && (code != test.Code || span != test.Span) {
		return 0, fmt.Errorf("branch %d: its condition does not fit a test of kind %s on %q", branch, test.Kind, f.Name)
	}
	test.Code = code
	test.Span = span
	return 1 - branch, nil
}

// code reads the code of a two-outcome test, and the span of a bin, from the condition of a branch.
// not means that the branch is the no branch.
func (d *decoder) code(test *Test, when *fileWhen, not bool) (code, span int, ok bool) {
	f := &d.Features[test.Feature]
	switch test.Kind {
	case split.Threshold:
		cut := when.GE
		if not {
			cut = when.LT
		}
		code, ok = cutIndex(f, cut)
		return code + 1, 0, ok && f.Kind == dataset.Numeric
	case split.Bin:
		code, span, ok = binOf(f, when, not)
		return code, span, ok && f.Kind == dataset.Numeric
	case split.Equals:
		code, ok = d.value(test.Feature, when, not)
		return code, 0, ok
	case split.Other:
		return f.OtherCode(), 0, f.Kind == dataset.Categorical && either(when.Other, when.NotOther, not)
	default:
		return f.MissingCode(), 0, either(when.Missing, when.NotMissing, not)
	}
}

// either returns no for a no branch, else yes.
func either(yes, no, not bool) bool {
	if not {
		return no
	}
	return yes
}

// value returns the code of the single value in a condition.
func (d *decoder) value(feature int, when *fileWhen, not bool) (int, bool) {
	list := when.In
	if not {
		list = when.NotIn
	}
	if len(list) != 1 || d.Features[feature].Kind != dataset.Categorical {
		return 0, false
	}
	code, ok := d.codes[feature][list[0]]
	return code, ok
}

// set returns the codes of the yes branch of a test for a set.
func (d *decoder) set(feature int, when *fileWhen, not, other bool) (split.CodeSet, bool) {
	list := when.In
	if not {
		list = when.NotIn
	}
	f := &d.Features[feature]
	if len(list) == 0 || f.Kind != dataset.Categorical {
		return "", false
	}
	in := make([]bool, f.MissingCode())
	in[f.OtherCode()] = other
	for _, v := range list {
		code, ok := d.codes[feature][v]
		if !ok || in[code] {
			return "", false
		}
		in[code] = true
	}
	return split.NewCodeSet(len(in), func(code int) bool { return in[code] }), true
}

func cutIndex(f *dataset.Feature, cut *float64) (int, bool) {
	if cut == nil {
		return 0, false
	}
	return slices.BinarySearch(f.Cuts, *cut)
}

// binOf returns the first code of a bin, and how many codes follow it in the bin.
func binOf(f *dataset.Feature, when *fileWhen, not bool) (code, span int, ok bool) {
	ge := when.GE
	lt := when.LT
	if not {
		ge = when.NotGE
		lt = when.NotLT
	}
	if ge == nil && lt == nil { // the bin covers all numbers
		return 0, len(f.Cuts), either(when.NotMissing, when.Missing, not)
	}
	if ge != nil {
		i, ok := cutIndex(f, ge)
		if !ok {
			return 0, 0, false
		}
		code = i + 1
	}
	if lt == nil {
		return code, len(f.Cuts) - code, true
	}
	i, ok := cutIndex(f, lt)
	return code, i - code, ok && i >= code
}

func (d *decoder) multiwayOutcome(feature int, when *fileWhen) (int, error) {
	f := &d.Features[feature]
	if f.Kind != dataset.Categorical {
		return 0, fmt.Errorf("multiway test on %q, which is numeric", f.Name)
	}
	switch {
	case when.Missing:
		return f.MissingCode(), nil
	case when.Other:
		return f.OtherCode(), nil
	}
	if code, ok := d.value(feature, when, false); ok {
		return code, nil
	}
	return 0, fmt.Errorf("a multiway branch on %q must name one of its values, other or missing", f.Name)
}

// checkWishes checks that no feature of the tree is forbidden, and that Monotone is valid.
func (t *Tree) checkWishes() error {
	a := &t.Algorithm
	for i := range t.Features {
		if name := t.Features[i].Name; slices.Contains(a.Forbid, name) {
			return fmt.Errorf("algorithm: the feature %q is forbidden", name)
		}
	}
	if len(a.Monotone) > 0 && len(t.Label.Classes) > 2 {
		return fmt.Errorf("algorithm: monotone of %d classes: want two", len(t.Label.Classes))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Monotone)) {
		if m := a.Monotone[name]; m != 1 && m != -1 {
			return fmt.Errorf("algorithm: monotone of %q is %d: want 1 or -1", name, m)
		}
	}
	return nil
}

// maxMeanDepth bounds the mean length of paths, in tests, so that work done path by path, such as
// drawing, takes memory proportional to the size of the tree.
const maxMeanDepth = 2000

// checkDepth checks the mean length of the paths.
func (t *Tree) checkDepth() error {
	tests, _ := t.PathCosts()
	sum := portable.Sum(tests)
	if sum/len(tests) > maxMeanDepth {
		return fmt.Errorf("nodes are %d tests deep on average: want at most %d", sum/len(tests), maxMeanDepth)
	}
	return nil
}

// check checks that the nodes form a single tree, so that every walk ends.
func (t *Tree) check() error {
	parents := make([]int, len(t.Nodes))
	for i := range t.Nodes {
		for _, b := range t.Nodes[i].Branches {
			if b.Child <= i || b.Child >= len(t.Nodes) {
				return fmt.Errorf("node %d: child %d: want a later node of the %d there are", i, b.Child, len(t.Nodes))
			}
			parents[b.Child]++
		}
	}
	for i, n := range parents {
		if i > 0 && n != 1 {
			return fmt.Errorf("node %d has %d parents: want 1", i, n)
		}
	}
	return nil
}

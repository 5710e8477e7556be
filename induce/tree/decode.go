package tree

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// The JSON form, as it is read. Encode writes it by hand for the sake of key
// order, spacing and speed.
type fileTree struct {
	Format     string        `json:"format"`
	Version    int           `json:"version"`
	Label      Label         `json:"label"`
	Features   []fileFeature `json:"features"`
	Algorithm  Algorithm     `json:"algorithm"`
	Training   Training      `json:"training"`
	Complexity Complexity    `json:"complexity"`

	Certificate *certify.Certificate `json:"certificate"`

	Nodes []fileNode `json:"nodes"`
}

type fileFeature struct {
	Name    string    `json:"name"`
	Type    string    `json:"type"`
	Cuts    []float64 `json:"cuts"`
	Range   []float64 `json:"range"`
	Values  []string  `json:"values"`
	Other   int64     `json:"other"`
	Missing int64     `json:"missing"`
	Cost    float64   `json:"cost"`

	Group     string  `json:"group"`
	GroupCost float64 `json:"group_cost"`
}

type fileNode struct {
	ID              int          `json:"id"`
	Rows            int64        `json:"rows"`
	Objects         int64        `json:"objects"`
	Weight          int64        `json:"weight"`
	ClassWeights    []int64      `json:"class_weights"`
	RawClassWeights []int64      `json:"raw_class_weights"`
	Class           string       `json:"class"`
	Probabilities   []float64    `json:"probabilities"`
	Test            *fileTest    `json:"test"`
	Branches        []fileBranch `json:"branches"`
}

type fileTest struct {
	Feature string      `json:"feature"`
	Kind    string      `json:"kind"`
	Cost    float64     `json:"cost"`
	Billed  *float64    `json:"billed"`
	Score   split.Parts `json:"score"`
}

type fileBranch struct {
	When    fileWhen `json:"when"`
	Child   int      `json:"child"`
	Missing bool     `json:"missing"`
	Other   bool     `json:"other"`
}

type fileWhen struct {
	In         []string `json:"in"`
	NotIn      []string `json:"not_in"`
	GE         *float64 `json:"ge"`
	LT         *float64 `json:"lt"`
	NotGE      *float64 `json:"not_ge"`
	NotLT      *float64 `json:"not_lt"`
	Other      bool     `json:"other"`
	NotOther   bool     `json:"not_other"`
	Missing    bool     `json:"missing"`
	NotMissing bool     `json:"not_missing"`
}

// Decode reads a tree.json and checks that it can be used: its nodes form one
// tree, its tests name features and its branches values that there are, and its
// classes follow from the priors and error costs, if there are any.
func Decode(b []byte) (*Tree, error) {
	var file fileTree
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("not a tree.json: %w", err)
	}
	if file.Format != Format || file.Version != Version {
		return nil, fmt.Errorf("format %q version %d: want %q version %d", file.Format, file.Version, Format, Version)
	}
	t := &Tree{Label: file.Label, Algorithm: file.Algorithm, Training: file.Training, Complexity: file.Complexity, Certificate: file.Certificate}
	d := decoder{Tree: t}
	if err := d.features(file.Features); err != nil {
		return nil, err
	}
	if len(file.Label.Classes) == 0 || len(file.Nodes) == 0 {
		return nil, errors.New("a tree needs at least one class and one node")
	}
	if err := t.Label.check(); err != nil {
		return nil, err
	}
	t.Nodes = make([]Node, len(file.Nodes))
	for i := range file.Nodes {
		if err := d.node(i, &file.Nodes[i]); err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
	}
	if err := cmp.Or(t.check(), t.checkDecisions()); err != nil {
		return nil, err
	}
	if err := t.checkBilled(); err != nil {
		return nil, err
	}
	if err := t.checkWishes(); err != nil {
		return nil, err
	}
	return t, nil
}

// maxCodes is what two bytes can number.
const maxCodes = math.MaxUint16 + 1

// decoder fills a tree.
type decoder struct {
	*Tree

	names map[string]int   // features by name
	codes []map[string]int // by feature: codes of the values
}

func (d *decoder) features(files []fileFeature) error {
	d.names = make(map[string]int, len(files))
	d.codes = make([]map[string]int, len(files))
	d.Features = make([]dataset.Feature, len(files))
	for i, f := range files {
		feature := dataset.Feature{Name: f.Name, Cuts: f.Cuts, Range: f.Range, Values: f.Values, Missing: f.Missing, Other: f.Other, Cost: f.Cost, Group: f.Group, GroupCost: f.GroupCost}
		switch f.Type {
		case dataset.Numeric.String():
			feature.Kind = dataset.Numeric
		case dataset.Categorical.String():
			feature.Kind = dataset.Categorical
		default:
			return fmt.Errorf("feature %q: type %q: want numeric or categorical", f.Name, f.Type)
		}
		if n := len(f.Range); n != 0 && (n != 2 || f.Range[0] > f.Range[1] || f.Type != dataset.Numeric.String()) {
			return fmt.Errorf("feature %q: range %v: want the least and the greatest number of a numeric feature", f.Name, f.Range)
		}
		for j := 1; j < len(f.Cuts); j++ {
			if f.Cuts[j] <= f.Cuts[j-1] {
				return fmt.Errorf("feature %q: cuts must increase", f.Name)
			}
		}
		if _, twice := d.names[f.Name]; twice || feature.Codes() > maxCodes {
			return fmt.Errorf("feature %q: listed twice, or with more than %d codes", f.Name, maxCodes)
		}
		d.names[f.Name] = i
		d.Features[i] = feature
		if d.codes[i] = codesOf(f.Values); len(d.codes[i]) < len(f.Values) {
			return fmt.Errorf("feature %q: a value is listed twice", f.Name)
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

func (d *decoder) node(id int, f *fileNode) error {
	if f.ID != id {
		return fmt.Errorf("id %d: nodes must be in order", f.ID)
	}
	classes := len(d.Label.Classes)
	if len(f.Probabilities) != classes || len(f.ClassWeights) != classes || len(f.RawClassWeights) != classes {
		return fmt.Errorf("want probabilities, class_weights and raw_class_weights of %d classes", classes)
	}
	n := &d.Nodes[id]
	*n = Node{
		Rows: f.Rows, Objects: f.Objects, Weight: f.Weight, ClassWeights: f.ClassWeights,
		RawClassWeights: f.RawClassWeights, Probabilities: f.Probabilities, Class: slices.Index(d.Label.Classes, f.Class),
	}
	if n.Class < 0 {
		return fmt.Errorf("class %q is not among label.classes", f.Class)
	}
	if f.Test == nil {
		if len(f.Branches) > 0 {
			return errors.New("branches without a test")
		}
		return nil
	}
	return d.test(n, f)
}

func (d *decoder) test(n *Node, f *fileNode) error {
	feature, ok := d.names[f.Test.Feature]
	if !ok {
		return fmt.Errorf("feature %q is not among features", f.Test.Feature)
	}
	kind, err := split.ParseKind(f.Test.Kind)
	if err != nil {
		return err
	}
	n.Test = &Test{Test: split.Test{Feature: feature, Kind: kind}, Cost: f.Test.Cost, Billed: f.Test.Billed, Score: f.Test.Score}
	missing, other := 0, 0
	for i := range f.Branches {
		b := &f.Branches[i]
		outcome, err := d.outcome(n.Test, &b.When, i)
		if err != nil {
			return err
		}
		n.Branches = append(n.Branches, Branch{Outcome: outcome, Child: b.Child, Missing: b.Missing, Other: b.Other})
		missing += count(b.Missing)
		other += count(b.Other)
	}
	if missing != 1 || d.Features[feature].Kind == dataset.Categorical && other != 1 {
		return errors.New("exactly one branch must take missing values, and one unlisted values of a categorical feature")
	}
	if kind != split.Multiway {
		return d.checkTwo(n)
	}
	return nil
}

// checkTwo makes sure that a two-outcome test has two branches, and that missing
// and unlisted values take those that the test sends them to: their codes have
// no say of their own.
func (t *Tree) checkTwo(n *Node) error {
	if len(n.Branches) != 2 {
		return fmt.Errorf("%d branches: want 2", len(n.Branches))
	}
	f := &t.Features[n.Test.Feature]
	missing, other := n.Test.Outcome(f.MissingCode(), f.MissingCode()), n.Test.Outcome(f.OtherCode(), f.MissingCode())
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

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// outcome reads a branch's condition: the outcome that it stands for and, of
// the first branch, the test's code.
func (d *decoder) outcome(test *Test, when *fileWhen, branch int) (int, error) {
	f := &d.Features[test.Feature]
	if test.Kind == split.Multiway {
		return d.multiwayOutcome(test.Feature, when)
	}
	code, ok := d.code(test, when, branch > 0)
	if !ok || branch > 0 && code != test.Code {
		return 0, fmt.Errorf("branch %d: its condition does not fit a test of kind %s on %q", branch, test.Kind, f.Name)
	}
	test.Code = code
	return 1 - branch, nil
}

// code reads the code of a two-outcome test off the condition of its yes branch
// or, not set, of its no branch.
func (d *decoder) code(test *Test, when *fileWhen, not bool) (int, bool) {
	f := &d.Features[test.Feature]
	switch test.Kind {
	case split.Threshold:
		cut := when.GE
		if not {
			cut = when.LT
		}
		code, ok := cutIndex(f, cut)
		return code + 1, ok && f.Kind == dataset.Numeric
	case split.Bin:
		code, ok := binOf(f, when, not)
		return code, ok && f.Kind == dataset.Numeric
	case split.Equals:
		return d.value(test.Feature, when, not)
	case split.Other:
		return f.OtherCode(), f.Kind == dataset.Categorical && either(when.Other, when.NotOther, not)
	default:
		return f.MissingCode(), either(when.Missing, when.NotMissing, not)
	}
}

// either returns yes or, of the no branch, no.
func either(yes, no, not bool) bool {
	if not {
		return no
	}
	return yes
}

// value returns the code of the one value that a condition names.
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

func cutIndex(f *dataset.Feature, cut *float64) (int, bool) {
	if cut == nil {
		return 0, false
	}
	return slices.BinarySearch(f.Cuts, *cut)
}

func binOf(f *dataset.Feature, when *fileWhen, not bool) (int, bool) {
	ge, lt := when.GE, when.LT
	if not {
		ge, lt = when.NotGE, when.NotLT
	}
	if len(f.Cuts) == 0 { // the bin is the whole line
		return 0, ge == nil && lt == nil && either(when.NotMissing, when.Missing, not)
	}
	code := 0
	if ge != nil {
		i, ok := cutIndex(f, ge)
		if !ok {
			return 0, false
		}
		code = i + 1
	}
	if lt == nil {
		return code, ge != nil && code == len(f.Cuts)
	}
	i, ok := cutIndex(f, lt)
	return code, ok && i == code
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

// checkWishes makes sure that the wishes are ones that a tree can fulfil.
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

// check makes sure that the nodes form one tree, so that every walk ends.
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

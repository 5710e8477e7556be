package tree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Digest returns the SHA-256 of a tree.json in hexadecimal.
func Digest(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// ID returns the name of a tree.json: the first 16 digits of its Digest.
func ID(encoded []byte) string { return Digest(encoded)[:16] }

// The JSON form, as Decode reads it and Encode writes it: the members in their order. Lists in which a few
// bytes can expand into large structs are kept as bytes.

// fileFeature is a feature with its bins.
type fileFeature struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Unit is what the numbers count: days or microseconds since 1970-01-01, or microseconds since midnight; absent:
	// plain numbers.
	Unit string `json:"unit,omitempty"`
	// Zone is the zone of timestamps: utc if they are instants, local if they are times on the clock of an unknown
	// place; absent: unknown.
	Zone string    `json:"zone,omitempty"`
	Cuts []float64 `json:"cuts,omitzero" jsonschema:"uniqueItems=true"`
	// Range are the least and the greatest value of training rows, or bounds of them.
	Range  []float64 `json:"range,omitempty" jsonschema:"minItems=2,maxItems=2"`
	Values []string  `json:"values,omitzero" jsonschema:"uniqueItems=true"`
	// Ordered is true if the values are in a declared order.
	Ordered bool  `json:"ordered,omitempty"`
	Other   int64 `json:"other,omitempty" jsonschema:"minimum=0"`
	Missing int64 `json:"missing" jsonschema:"minimum=0"`
	// Absent is unordered if rows lack the value because nobody ordered it: see docs/unordered.md. A row without the value
	// ends at the leaf of the test for missing values, which costs nothing and is no test; absent: a missing value is a value.
	Absent string  `json:"absent,omitempty" jsonschema:"enum=unordered"`
	Cost   float64 `json:"cost" jsonschema:"minimum=0"`

	Group string `json:"group,omitempty" jsonschema:"minLength=1"`
	// GroupCost is the price that is paid once on a path, with the first test on any feature of the group.
	GroupCost *float64 `json:"group_cost,omitempty" jsonschema:"minimum=0"`

	// FurtherCosts are the prices of a test in further currencies, by currency, and GroupFurther the prices of the
	// group. All features have the same currencies; absent: no further currencies.
	FurtherCosts map[string]float64 `json:"further_costs,omitempty"`
	GroupFurther map[string]float64 `json:"group_further_costs,omitempty"`
}

type fileNode struct {
	ID      int   `json:"id" jsonschema:"minimum=0"`
	Rows    int64 `json:"rows" jsonschema:"minimum=0"`
	Objects int64 `json:"objects" jsonschema:"minimum=0"`
	Weight  int64 `json:"weight" jsonschema:"minimum=0"`
	// ClassWeights is the weight of the training rows by class, if algorithm.classes is rows; otherwise, and in
	// documents of versions before 0.4, by majority class of the objects.
	ClassWeights []int64 `json:"class_weights" jsonschema:"minimum=0"`
	// MajorityWeights is the weight by majority class of the objects, if algorithm.classes is rows; absent:
	// ClassWeights.
	MajorityWeights []int64 `json:"majority_class_weights,omitempty" jsonschema:"minimum=0"`
	// RawClassWeights is the weight of the training rows by class, as versions before 0.4 name it.
	RawClassWeights []int64   `json:"raw_class_weights" jsonschema:"minimum=0"`
	Class           string    `json:"class"`
	Probabilities   []float64 `json:"probabilities" jsonschema:"minItems=1,minimum=0,maximum=1"`
	// Model is the model that gives each row of the leaf its own probabilities, in place of probabilities.
	Model    *fileModel   `json:"model,omitempty"`
	Test     *fileTest    `json:"test"`
	Branches fileBranches `json:"branches" jsonschema:"minItems=2"`
}

// The lists that are kept as bytes.
type (
	fileBranches struct{ json.RawMessage }
	fileTerms    struct{ json.RawMessage }
)

type fileTest struct {
	Feature string      `json:"feature"`
	Kind    string      `json:"kind"`
	Cost    float64     `json:"cost" jsonschema:"minimum=0"`
	Billed  *float64    `json:"billed,omitempty" jsonschema:"minimum=0"` // what is paid at this node; absent: cost
	Score   split.Parts `json:"score"`
	// Trust is the part of the difference between the outcomes of a test for a set that is expected in new rows; absent: all
	// of it.
	Trust float64 `json:"trust,omitempty" jsonschema:"minimum=0,maximum=1"`

	// RunnerUp is the best test of another feature, if at least 1 % of the weight reaches the node; it has no effect on
	// predictions.
	RunnerUp *fileRunnerUp `json:"runner_up,omitempty"`
}

// fileRunnerUp is the second best feature of a node.
type fileRunnerUp struct {
	Feature string   `json:"feature"` // name of the feature; the tree need not test it
	Kind    string   `json:"kind"`
	When    fileWhen `json:"when,omitzero"`               // the condition of its yes branch; absent: a multiway test
	Cost    float64  `json:"cost" jsonschema:"minimum=0"` // what would be paid at this node
	Total   float64  `json:"total"`                       // score of the test; score.total less this is the margin
}

type fileBranch struct {
	When    fileWhen `json:"when"`
	Child   int      `json:"child" jsonschema:"minimum=1"`
	Missing bool     `json:"missing,omitempty"`
	Other   bool     `json:"other,omitempty"`
}

// fileWhen is the condition of a branch, in terms of the values of the feature.
type fileWhen struct {
	In         []string `json:"in,omitempty" jsonschema:"minItems=1"` // several values of a test for a set
	NotIn      []string `json:"not_in,omitempty" jsonschema:"minItems=1"`
	GE         *float64 `json:"ge,omitempty"`
	LT         *float64 `json:"lt,omitempty"`
	NotGE      *float64 `json:"not_ge,omitempty"`
	NotLT      *float64 `json:"not_lt,omitempty"`
	Other      bool     `json:"other,omitempty"`
	NotOther   bool     `json:"not_other,omitempty"`
	Missing    bool     `json:"missing,omitempty"`
	NotMissing bool     `json:"not_missing,omitempty"`
}

// each parses a list element by element, and stops at the first element that visit refuses.
func each[T any](raw json.RawMessage, visit func(*T) error) error {
	f := newFile(raw)
	return f.list(func() error {
		var element T
		if err := f.value(&element); err != nil {
			return err
		}
		return visit(&element)
	})
}

// branchesOf parses the branches of a node, branch by branch if they are many.
func branchesOf(raw json.RawMessage) ([]fileBranch, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var branches []fileBranch
	if len(raw) <= readAtOnce {
		if err := json.Unmarshal(raw, &branches); err != nil {
			return nil, notTree(err)
		}
		return branches, nil
	}
	err := each(raw, func(branch *fileBranch) error {
		if branch.When.empty() {
			return fmt.Errorf("branch %d: want a condition", len(branches))
		}
		branches = append(branches, *branch)
		return nil
	})
	return branches, err
}

// empty reports whether there is no condition.
func (w *fileWhen) empty() bool {
	return w.In == nil && w.NotIn == nil && w.GE == nil && w.LT == nil && w.NotGE == nil && w.NotLT == nil &&
		!w.Other && !w.NotOther && !w.Missing && !w.NotMissing
}

// readAtOnce bounds how many bytes of JSON are parsed in a single step.
const readAtOnce = 1 << 16

// file parses a tree.json piece by piece. Each piece is checked before the next piece takes memory,
// because the file may be hostile.
type file struct{ *json.Decoder }

func newFile(b []byte) file { return file{json.NewDecoder(bytes.NewReader(b))} }

// notTree wraps a fault of the JSON.
func notTree(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("not a tree.json: %w", err)
}

// value parses the next value.
func (f *file) value(v any) error {
	if err := f.Decode(v); err != nil {
		return notTree(err)
	}
	return nil
}

// opens reads a bracket.
func (f *file) opens(bracket json.Delim, what string) error {
	token, err := f.Token()
	if err != nil {
		return notTree(err)
	}
	if token != bracket {
		return fmt.Errorf("not a tree.json: want %s", what)
	}
	return nil
}

// closes reads the bracket at the end of an object or a list.
func (f *file) closes() error {
	if _, err := f.Token(); err != nil {
		return notTree(err)
	}
	return nil
}

// list reads an array, calling element for each of its elements.
func (f *file) list(element func() error) error {
	if err := f.opens('[', "an array"); err != nil {
		return err
	}
	for f.More() {
		if err := element(); err != nil {
			return err
		}
	}
	return f.closes()
}

// read reads the whole file.
func (d *decoder) read() error {
	if err := d.file.opens('{', fmt.Sprintf("an object of format %q", Format)); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for d.file.More() {
		key, err := d.file.Token()
		if err != nil {
			return notTree(err)
		}
		name, _ := key.(string)
		if seen[name] {
			return fmt.Errorf("%q is there twice", name)
		}
		if err := d.section(name, seen); err != nil {
			return err
		}
		seen[name] = true
	}
	if err := d.file.closes(); err != nil {
		return err
	}
	d.Dated = d.Algorithm.Classes == ClassesOfRows && !d.named && slices.ContainsFunc(d.Nodes, func(n Node) bool {
		return !slices.Equal(n.ClassWeights, n.RawClassWeights)
	})
	if _, err := d.file.Token(); !errors.Is(err, io.EOF) {
		return errors.New("not a tree.json: there is more after its end")
	}
	if !seen["format"] || !seen["version"] {
		return wrongFormat("", 0)
	}
	// The version may come after the nodes.
	if err := d.checkBoosterVersion(); err != nil && seen["boosters"] {
		return err
	}
	for i := range d.Nodes {
		if d.Nodes[i].Model == nil {
			continue
		}
		if d.fileVersion < ModelVersion {
			return fmt.Errorf("node %d: a model in a file of version %d: want version %d", i, d.fileVersion, ModelVersion)
		}
		if d.Label.Thresholded() && d.fileVersion < ThresholdVersion {
			return fmt.Errorf("node %d: a model, and a threshold, in a file of version %d: want version %d", i, d.fileVersion,
				ThresholdVersion)
		}
	}
	return nil
}

func wrongFormat(format string, version int) error {
	return fmt.Errorf("format %q version %d: want %q version %d to %d", format, version, Format, Version,
		ThresholdVersion)
}

// section reads a member of the file.
func (d *decoder) section(name string, seen map[string]bool) error {
	switch name {
	case "format":
		return d.format()
	case "version":
		return d.version()
	case "label":
		return d.label()
	case "features":
		return d.readFeatures()
	case "algorithm":
		return d.file.value(&d.Algorithm)
	case "training":
		return d.file.value(&d.Training)
	case "complexity":
		return d.complexity()
	case "certificate":
		return d.certificate()
	case "boosters":
		return d.after(seen, "boosters", d.readBoosters)
	case "nodes":
		return d.after(seen, "nodes", func() error { return d.file.list(d.nextNode) })
	default:
		var unknown json.RawMessage
		return d.file.value(&unknown)
	}
}

func (d *decoder) complexity() error {
	var raw json.RawMessage
	if err := d.file.value(&raw); err != nil {
		return err
	}
	if err := json.Unmarshal(Renamed(raw), &d.Complexity); err != nil {
		return notTree(err)
	}
	return nil
}

// after reads a member that must come after the label and the features, and before the nodes.
func (d *decoder) after(seen map[string]bool, name string, read func() error) error {
	switch {
	case !seen["label"] || !seen["features"]:
		return fmt.Errorf("%s come before label or features: want them after", name)
	case seen["nodes"]:
		return fmt.Errorf("%s come after nodes: want them before", name)
	}
	return read()
}

func (d *decoder) readFeatures() error {
	d.names = make(map[string]int)
	d.Features = []dataset.Feature{}
	return d.file.list(func() error {
		var f fileFeature
		if err := d.file.value(&f); err != nil {
			return err
		}
		return d.feature(&f)
	})
}

func (d *decoder) format() error {
	var format string
	if err := d.file.value(&format); err != nil {
		return err
	}
	if format != Format {
		return wrongFormat(format, 0)
	}
	return nil
}

func (d *decoder) version() error {
	if err := d.file.value(&d.fileVersion); err != nil {
		return err
	}
	if d.fileVersion < Version || d.fileVersion > ThresholdVersion {
		return wrongFormat(Format, d.fileVersion)
	}
	return nil
}

func (d *decoder) label() error {
	if err := d.file.value(&d.Label); err != nil {
		return err
	}
	return d.Label.Check()
}

func (d *decoder) nextNode() error {
	var f fileNode
	id := len(d.Nodes)
	err := d.file.value(&f)
	if f.MajorityWeights != nil {
		f.ClassWeights = f.MajorityWeights
		d.named = true
	}
	if err == nil {
		err = d.node(&f)
	}
	if err != nil {
		return fmt.Errorf("node %d: %w", id, err)
	}
	return nil
}

// mostAssumptions bounds the assumptions of a certificate; proofs have fewer than ten.
const mostAssumptions = 100

// fileCertificate is a certificate whose assumptions are not parsed yet.
type fileCertificate struct {
	Certificate

	Assumptions json.RawMessage `json:"assumptions"`
}

// certificate reads the certificate, and bounds its assumptions.
func (d *decoder) certificate() error {
	var f *fileCertificate
	if err := d.file.value(&f); err != nil || f == nil {
		return err
	}
	c := &f.Certificate
	d.Certificate = c
	c.Assumptions = []Assumption{}
	if len(f.Assumptions) == 0 || string(f.Assumptions) == "null" {
		return nil
	}
	return each(f.Assumptions, func(a *Assumption) error {
		if len(c.Assumptions) == mostAssumptions {
			return fmt.Errorf("certificate.assumptions: want at most %d", mostAssumptions)
		}
		c.Assumptions = append(c.Assumptions, *a)
		return nil
	})
}

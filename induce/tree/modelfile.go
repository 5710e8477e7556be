package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/wire"
)

// The JSON form of leaf models and of their boosters.

// fileModel is a leaf model. The score is the intercept plus the values of all terms plus the values of the booster's
// trees, added in their order: the logit of the second of two classes, otherwise a score per class (softmax).
type fileModel struct {
	Intercept []float64 `json:"intercept" jsonschema:"minItems=1"` // one number for two classes, else one per class
	Terms     fileTerms `json:"terms"`
	Booster   *int      `json:"booster,omitempty" jsonschema:"minimum=0"` // number of the booster; absent: the model has none
}

// fileTerm is the part of a numeric feature that is tested on the leaf's path: interpolated linearly between knots, and
// constant before the first knot and beyond the last.
type fileTerm struct {
	Feature string      `json:"feature"`
	At      []float64   `json:"at" jsonschema:"minItems=1,uniqueItems=true"` // knots, ascending
	Values  [][]float64 `json:"values" jsonschema:"minItems=1"`              // by knot
	Missing []float64   `json:"missing" jsonschema:"minItems=1"`             // one number for two classes, else one per class
}

// fileSplit is a split of a booster by a feature that is tested on the paths of all leaves with the booster. Rows with a
// number of at least GE, which is one of the cuts, or with a value of In, go to Yes, other rows to No. A single value is
// written as Is; either is read.
type fileSplit struct {
	Feature string          `json:"feature"`
	GE      *float64        `json:"ge,omitempty"`
	Is      *string         `json:"is,omitempty"`
	In      []string        `json:"in,omitempty" jsonschema:"minItems=1,uniqueItems=true"`
	Missing bool            `json:"missing,omitempty"` // whether rows without a value go to yes; absent: to no
	Yes     json.RawMessage `json:"yes"`
	No      json.RawMessage `json:"no"`
}

// Limits of the numbers in a leaf model. They keep scores and differences of knots finite.
const (
	maxScore = math.MaxFloat32
	maxKnot  = math.MaxFloat64 / 2
)

// model checks a leaf model of a file and returns it.
func (d *decoder) model(f *fileModel) (*LeafModel, error) {
	width := portable.Scores(len(d.Label.Classes))
	m := &LeafModel{Intercept: f.Intercept}
	if err := checkScores("intercept", f.Intercept, width); err != nil {
		return nil, err
	}
	if f.Terms.RawMessage == nil {
		return nil, errors.New("no terms: want a list")
	}
	if f.Booster != nil {
		var err error
		if m.Booster, err = d.boosterOf(*f.Booster); err != nil {
			return nil, err
		}
	}
	named := make(map[int]bool)
	err := each(f.Terms.RawMessage, func(term *fileTerm) error {
		feature, ok := d.names[term.Feature]
		if !ok {
			return fmt.Errorf("feature %q is not among features", term.Feature)
		}
		if named[feature] {
			return fmt.Errorf("feature %q: two terms: want one", term.Feature)
		}
		named[feature] = true
		if d.Features[feature].Kind != dataset.Numeric {
			return fmt.Errorf("feature %q is categorical: want a numeric one", term.Feature)
		}
		if err := term.check(width); err != nil {
			return fmt.Errorf("feature %q: %w", term.Feature, err)
		}
		m.Terms = append(m.Terms, Term{Feature: feature, At: term.At, Values: term.Values, Missing: term.Missing})
		return nil
	})
	return m, err
}

// check checks the knots and values of a term.
func (f *fileTerm) check(width int) error {
	if len(f.At) == 0 || len(f.Values) != len(f.At) {
		return fmt.Errorf("%d knots in at, %d entries in values: want as many, and at least one", len(f.At),
			len(f.Values))
	}
	for i, x := range f.At {
		if !(math.Abs(x) <= maxKnot) || i > 0 && x <= f.At[i-1] {
			return fmt.Errorf("at: the knot %v: want finite numbers, each above the one before", x)
		}
	}
	for _, values := range f.Values {
		if err := checkScores("values", values, width); err != nil {
			return err
		}
	}
	return checkScores("missing", f.Missing, width)
}

// checkScores checks a list of numbers that are added to the scores.
func checkScores(what string, list []float64, width int) error {
	if len(list) != width {
		return fmt.Errorf("%s: %d numbers: want %d (one for two classes, else one per class)", what, len(list), width)
	}
	for _, x := range list {
		if !(math.Abs(x) <= maxScore) {
			return fmt.Errorf("%s: %v: want numbers from %v to %v", what, x, -maxScore, maxScore)
		}
	}
	return nil
}

// boosterOf returns the booster of the file that a leaf refers to by its number.
func (d *decoder) boosterOf(number int) (*boost.Booster, error) {
	if err := d.checkBoosterVersion(); err != nil {
		return nil, err
	}
	if number < 0 || number >= len(d.boosters) {
		return nil, fmt.Errorf("booster %d: want one of the %d of the file, counted from 0", number, len(d.boosters))
	}
	d.used[number] = true
	return d.boosters[number], nil
}

// checkBoosterVersion checks that the version, if it has been read yet, allows boosters.
func (d *decoder) checkBoosterVersion() error {
	if d.fileVersion >= Version && d.fileVersion < BoosterVersion {
		return fmt.Errorf("boosters in a file of version %d: want version %d", d.fileVersion, BoosterVersion)
	}
	return nil
}

// readBoosters reads the boosters of the file.
func (d *decoder) readBoosters() error {
	if err := d.checkBoosterVersion(); err != nil {
		return err
	}
	return d.file.list(func() error {
		b := new(boost.Booster)
		err := d.file.list(func() error {
			t, err := d.boosterTree()
			if err != nil {
				return fmt.Errorf("tree %d: %w", len(b.Trees), err)
			}
			b.Trees = append(b.Trees, t)
			return nil
		})
		if err == nil && len(b.Trees) == 0 {
			err = errors.New("no trees: want at least one")
		}
		if err != nil {
			return fmt.Errorf("booster %d: %w", len(d.boosters), err)
		}
		d.boosters = append(d.boosters, b)
		d.used = append(d.used, false)
		return nil
	})
}

// boosterTree reads a tree of a booster.
func (d *decoder) boosterTree() (boost.Tree, error) {
	var t boost.Tree
	err := d.file.list(func() error {
		number := len(t)
		if number+1 == boost.MaxLeaves {
			return fmt.Errorf("split %d: want at most %d splits, of a tree of %d leaves", number, number, boost.MaxLeaves)
		}
		var f fileSplit
		err := d.file.value(&f)
		if err == nil {
			t = append(t, boost.Split{Missing: f.Missing})
			err = d.boosterSplit(&f, &t[number])
		}
		if err != nil {
			return fmt.Errorf("split %d: %w", number, err)
		}
		return nil
	})
	if err == nil && len(t) == 0 {
		err = errors.New("no splits: want at least one")
	}
	if err != nil {
		return nil, err
	}
	return t, checkSides(t)
}

// boosterSplit reads a split of a booster.
func (d *decoder) boosterSplit(f *fileSplit, s *boost.Split) (err error) {
	feature, ok := d.names[f.Feature]
	if !ok {
		return fmt.Errorf("feature %q is not among features", f.Feature)
	}
	s.Feature = feature
	if of := &d.Features[feature]; of.Kind == dataset.Numeric {
		code, ok := cutIndex(of, f.GE)
		if !ok || f.Is != nil || f.In != nil {
			return fmt.Errorf("feature %q: want ge, one of the feature's cuts", f.Feature)
		}
		s.Code = code + 1
	} else if s.Codes, err = d.splitCodes(feature, f); err != nil {
		return err
	}
	if s.Yes, err = d.side("yes", f.Yes); err != nil {
		return err
	}
	s.No, err = d.side("no", f.No)
	return err
}

// splitCodes returns the codes of the values of a split of a booster by a categorical feature.
func (d *decoder) splitCodes(feature int, f *fileSplit) ([]uint16, error) {
	in := f.In
	if f.Is != nil {
		in = []string{*f.Is}
	}
	if len(in) == 0 || f.Is != nil && f.In != nil || f.GE != nil {
		return nil, fmt.Errorf("feature %q: want is or in: one of the feature's values, or a list of some", f.Feature)
	}
	codes := make([]uint16, len(in))
	for i, value := range in {
		code, ok := d.codes[feature][value]
		if !ok {
			return nil, fmt.Errorf("feature %q: %q: want one of the feature's values", f.Feature, value)
		}
		codes[i] = uint16(code)
	}
	slices.Sort(codes)
	if len(slices.Compact(slices.Clone(codes))) < len(codes) {
		return nil, fmt.Errorf("feature %q: in: want different values", f.Feature)
	}
	return codes, nil
}

// side reads a side of a split: a list of numbers, or the number of another split.
func (d *decoder) side(what string, raw json.RawMessage) (boost.Side, error) {
	var s boost.Side
	if len(raw) == 0 || raw[0] != '[' {
		if json.Unmarshal(raw, &s.Split) != nil {
			return s, fmt.Errorf("%s: want the number of a later split, or a list of numbers", what)
		}
		return s, nil
	}
	if err := json.Unmarshal(raw, &s.Values); err != nil {
		return s, notTree(err)
	}
	return s, checkScores(what, s.Values, portable.Scores(len(d.Label.Classes)))
}

// checkSides checks that the splits form a single tree, so that every walk ends.
func checkSides(t boost.Tree) error {
	parents := make([]uint8, len(t))
	for i := range t {
		for _, side := range []*boost.Side{&t[i].Yes, &t[i].No} {
			switch {
			case side.Values != nil:
				continue
			case side.Split <= i || side.Split >= len(t):
				return fmt.Errorf("split %d: its side is split %d: want a later split of the %d there are", i, side.Split,
					len(t))
			case parents[side.Split] > 0:
				return fmt.Errorf("split %d has 2 parents: want 1", side.Split)
			}
			parents[side.Split]++
		}
	}
	for i, n := range parents {
		if i > 0 && n == 0 {
			return fmt.Errorf("split %d has 0 parents: want 1", i)
		}
	}
	return nil
}

// checkBoosters checks that each booster is used by some leaf.
func (d *decoder) checkBoosters() error {
	for i, used := range d.used {
		if !used {
			return fmt.Errorf("booster %d: no leaf uses it: want boosters of leaves only", i)
		}
	}
	return nil
}

// checkModels checks that leaf models and their boosters only use features tested on the path of
// their leaf.
func (t *Tree) checkModels() error {
	if !t.Modelled() {
		return nil
	}
	var fault error
	asked := t.boosterFeatures()
	tests := make([]int, len(t.Features)) // on the path
	count := func(node, by int) {
		if n := &t.Nodes[node]; !n.Leaf() {
			tests[n.Test.Feature] += by
		}
	}
	t.visit(func(node int) {
		count(node, 1)
		n := &t.Nodes[node]
		if n.Model == nil || fault != nil {
			return
		}
		for i := range n.Model.Terms {
			if f := n.Model.Terms[i].Feature; tests[f] == 0 {
				fault = fmt.Errorf("node %d: model: feature %q is not tested on the leaf's path: want one that is", node,
					t.Features[f].Name)
				return
			}
		}
		for _, f := range asked[n.Model.Booster] {
			if tests[f] == 0 {
				fault = fmt.Errorf("node %d: model: feature %q of the booster is not tested on the leaf's path: want one "+
					"that is", node, t.Features[f].Name)
				return
			}
		}
	}, func(node int) { count(node, -1) })
	return fault
}

// writtenSplit is a fileSplit whose sides are not yet JSON.
type writtenSplit struct {
	fileSplit

	Yes any `json:"yes"`
	No  any `json:"no"`
}

// fileBooster returns a booster in the form of the file: the splits of its trees.
func (t *Tree) fileBooster(b *boost.Booster) [][]writtenSplit {
	trees := make([][]writtenSplit, len(b.Trees))
	for k, tree := range b.Trees {
		for i := range tree {
			s := &tree[i]
			f := &t.Features[tree[i].Feature]
			written := writtenSplit{fileSplit{Feature: f.Name, Missing: s.Missing}, fileSide(&s.Yes), fileSide(&s.No)}
			if f.Kind == dataset.Numeric {
				written.GE = &f.Cuts[s.Code-1]
			} else {
				in := s.Values(f)
				if written.In = in; len(in) == 1 {
					written.Is = &in[0]
					written.In = nil
				}
			}
			trees[k] = append(trees[k], written)
		}
	}
	return trees
}

func fileSide(s *boost.Side) any {
	if s.Values == nil {
		return s.Split
	}
	return s.Values
}

// fileModel returns a leaf model in the form of the file.
func (t *Tree) fileModel(m *LeafModel, numbers map[*boost.Booster]int) *fileModel {
	terms := make([]fileTerm, len(m.Terms))
	for i, term := range m.Terms {
		terms[i] = fileTerm{t.Features[term.Feature].Name, term.At, term.Values, term.Missing}
	}
	f := &fileModel{Intercept: m.Intercept, Terms: fileTerms{wire.JSON(terms)}}
	if m.Booster != nil {
		number := numbers[m.Booster]
		f.Booster = &number
	}
	return f
}

package tree

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
)

// Value is the value of a feature in a row: a number, a text or missing. The zero Value is missing.
type Value struct {
	text string
	// bits are the bits of the number, XORed with nanBits. Read as a number, the zero Value and
	// texts are NaN, which is not at or above any cut.
	bits uint64
}

// nanBits are the bits of a missing number. textBits is the bits field of a text.
const (
	nanBits  = 0x7ff8000000000001
	textBits = 1 // also reads as NaN
)

// Number returns a number as a value. NaN is missing; infinities are numbers.
func Number(x float64) Value {
	if x != x {
		return Value{}
	}
	return Value{bits: math.Float64bits(x) ^ nanBits}
}

// Text returns a text as a value. Booleans are the texts "true" and "false". The empty text is not
// missing.
func Text(s string) Value { return Value{text: s, bits: textBits} }

// CellValue returns the cell of a row as a value.
func CellValue(c *rowtype.Cell) Value {
	switch c.Type {
	case dataset.Number:
		return Number(c.Number)
	case dataset.Text:
		return Text(c.Text)
	default:
		return Value{}
	}
}

// Missing reports whether there is no value.
func (v *Value) Missing() bool { return v.bits == 0 }

// number returns the number, or NaN.
func (v *Value) number() float64 { return math.Float64frombits(v.bits ^ nanBits) }

// String returns the value as messages show it.
func (v Value) String() string {
	switch v.bits {
	case 0:
		return "missing"
	case textBits:
		return strconv.Quote(v.text)
	default:
		return dataset.SpellNumber(v.number())
	}
}

// Input is a feature that a tree tests.
type Input struct {
	Name    string
	Kind    dataset.Kind
	Unit    dataset.Unit // unit of a point in time: days or microseconds
	Zone    dataset.Zone // zone of timestamps
	Feature int          // index of the feature in Tree.Features
}

// Value reads a value of a map, or of a JSON object that was decoded with json.Decoder.UseNumber. It
// is how rows are read everywhere: in training, by scorers, inquiries, and pipelines.
//
//   - nil, NaN and a zero time are missing.
//   - A numeric feature takes numbers and texts that spell a number. true is 1 and false is 0; an
//     empty text and the text "NaN" are missing. A whole number beyond 2^53 is refused unless float64
//     holds it exactly.
//   - A date, a time or a timestamp is a time.Time or a text in ISO 8601. An empty text is missing, and
//     numbers are refused.
//   - A categorical feature takes texts by their bytes, and numbers by their value: 1 and 1.0 are the
//     category "1", "1.0" is another one. true and false are "true" and "false". An empty text is a
//     category, and whole numbers beyond 2^53 are their digits.
//   - Arrays and objects are refused.
//
// A time.Time is in UTC, rounded down to days or microseconds; for a local timestamp it is what a
// clock at its location shows. Other values may be of any type with one of these underneath,
// pointers, and structs such as sql.NullFloat64. A float64 is taken as it is: encoding/json without
// UseNumber rounds whole numbers beyond 2^53 before.
//
// The error is a *dataset.DataError with column, value, reason and hint.
func (in *Input) Value(value any) (Value, error) {
	column := rowtype.Column{Name: in.Name, Unit: in.Unit, Zone: in.Zone, Kind: in.Kind}
	cell, err := column.Read(value)
	if err == nil {
		err = cell.Fit(in.Name, in.Kind, in.Unit)
	}
	if err != nil {
		return Value{}, err
	}
	return CellValue(&cell), nil
}

// Prediction is the prediction of a tree for a row. All rows of a leaf without a model share one
// Prediction, so it must not be changed.
type Prediction struct {
	Class         string
	Probabilities []float64 // by class, in the order of Tree.Label.Classes
	Leaf          int       // id of the leaf's node
	Tests         int       // number of tests on the path
	Cost          float64   // billed cost of these tests

	// Billed is Cost.
	//
	// Deprecated: use Cost, which was the cost of the tests at their own prices in version 0.3.
	Billed float64
}

// Scorer finds the leaves of rows by their values, as Router does by their codes. Numbers are
// compared with cuts. A categorical feature matches texts by their bytes, and numbers by their
// value. Unlisted values take the branch marked other, missing values the branch marked missing. A
// scorer is read-only, so goroutines may share it.
type Scorer struct {
	inputs     []Input
	numeric    []bool                // by input
	categories []*dataset.Categories // by input; nil for a numeric feature
	columns    []int                 // by feature of the tree: its input plus 1; 0 if not tested
	steps      []step                // by node; features are numbers of inputs
	root       int32                 // a target of steps
	leaves     []*Prediction         // by node; nil for inner nodes
	links      []Link                // the steps in another form, if all inputs are numeric
	models     *modelling            // nil if no leaf has a model
	classes    int
}

// Scorer compiles the tree into a scorer.
func (t *Tree) Scorer() *Scorer {
	s := &Scorer{
		columns: make([]int, len(t.Features)), classes: len(t.Label.Classes),
		steps: t.compile(), root: t.target(0), leaves: make([]*Prediction, len(t.Nodes)),
	}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; !n.Leaf() {
			s.columns[n.Test.Feature] = 1
		}
	}
	for i, tested := range s.columns {
		if tested == 0 {
			continue
		}
		f := &t.Features[i]
		s.inputs = append(s.inputs, Input{Name: f.Name, Kind: f.Kind, Unit: f.Unit, Zone: f.Zone, Feature: i})
		s.numeric = append(s.numeric, f.Kind == dataset.Numeric)
		s.categories = append(s.categories, f.Categories())
		s.columns[i] = len(s.inputs)
	}
	tests, costs := t.PathCosts()
	list := make([]Prediction, 0, t.CountLeaves())
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !n.Leaf() {
			s.steps[i].feature = int32(s.columns[n.Test.Feature] - 1)
			continue
		}
		list = append(list, Prediction{
			Class: t.Label.Classes[n.Class], Probabilities: slices.Clone(n.Probabilities), Leaf: i,
			Tests: tests[i], Cost: costs[i], Billed: costs[i],
		})
		s.leaves[i] = &list[len(list)-1]
	}
	if !slices.Contains(s.numeric, false) {
		s.link(s.root)
	}
	s.models = s.newModelling(t)
	return s
}

// codeOf returns the code of a value of a categorical feature.
func codeOf(c *dataset.Categories, v *Value) int32 {
	switch v.bits {
	case 0:
		return c.Missing()
	case textBits:
		return c.Text(v.text)
	default:
		return c.Number(v.number())
	}
}

// Features returns the features that the tree tests, in the order of Tree.Features. Predict takes
// the values of a row in this order. The list must not be changed.
func (s *Scorer) Features() []Input { return s.inputs }

// LeafPrediction returns the prediction of a leaf without its model, given the id of its node; nil
// if the node is not a leaf.
func (s *Scorer) LeafPrediction(leaf int) *Prediction {
	if leaf < 0 || leaf >= len(s.leaves) {
		return nil
	}
	return s.leaves[leaf]
}

// Predict returns the prediction for a row, given one value per input. It returns an error if the
// length of values is wrong, or if a numeric feature tested on the path of the row has a text.
// Predict allocates memory only at leaves with models; PredictInto does not even there.
func (s *Scorer) Predict(values []Value) (*Prediction, error) {
	leaf, err := s.leafOf(values)
	if err != nil {
		return nil, err
	}
	if !s.modelled(leaf) {
		return s.leaves[leaf], nil
	}
	return s.modelPrediction(leaf, values), nil
}

// modelPrediction returns the prediction for a row at a leaf with a model.
func (s *Scorer) modelPrediction(leaf uint32, values []Value) *Prediction {
	p := new(Prediction)
	s.fill(p, leaf, s.refine(leaf, values, s.room(p)))
	return p
}

// leafOf returns the id of the leaf that a row reaches.
func (s *Scorer) leafOf(values []Value) (leaf uint32, err error) {
	if len(values) != len(s.inputs) {
		return 0, s.wrongCount(len(values))
	}
	if s.links != nil {
		leaf, ok := walkValues(s.links, values)
		if !ok {
			return 0, wrongKind(&s.inputs[leaf], &values[leaf])
		}
		return leaf, nil
	}
	at := s.root
	for at >= 0 {
		n := &s.steps[at]
		v := &values[n.feature]
		if v.bits == textBits && s.numeric[n.feature] {
			return 0, wrongKind(&s.inputs[n.feature], v)
		}
		at = n.next(s.entry(n.feature, v))
	}
	return uint32(^at), nil
}

// entry returns a value as a number, or as the code of its category.
func (s *Scorer) entry(input int32, v *Value) float64 {
	if c := s.categories[input]; c != nil {
		return float64(codeOf(c, v))
	}
	return v.number()
}

// PredictMatrix sets predictions[i] to the prediction for row i, for each of len(predictions) rows.
// The tree may only test numeric features. Each row has one number per input; NaN is missing. The
// predictions must not be changed. PredictMatrix allocates memory only for rows that reach leaves
// with models.
func (s *Scorer) PredictMatrix(rows [][]float64, predictions []*Prediction) error {
	if s.links == nil {
		return fmt.Errorf("feature %q is categorical: PredictMatrix takes trees of numeric features only",
			s.inputs[slices.Index(s.numeric, false)].Name)
	}
	if len(predictions) != len(rows) {
		return fmt.Errorf("room for %d predictions: want it for %d rows", len(predictions), len(rows))
	}
	var values []Value
	for i, numbers := range rows {
		if len(numbers) != len(s.inputs) {
			return fmt.Errorf("row %d: %w", i, s.wrongCount(len(numbers)))
		}
		leaf := walkNumbers(s.links, numbers)
		if !s.modelled(leaf) {
			predictions[i] = s.leaves[leaf]
			continue
		}
		values = values[:0]
		for _, x := range numbers {
			values = append(values, Number(x))
		}
		predictions[i] = s.modelPrediction(leaf, values)
	}
	return nil
}

func (s *Scorer) wrongCount(values int) error {
	return fmt.Errorf("%d values: want one for each of the %d features that the tree tests", values, len(s.inputs))
}

func wrongKind(in *Input, v *Value) error {
	return dataset.WithHint(rowtype.Refused(in.Name, v.text, in.Unit), rowtype.Wanted(in.Kind, in.Unit))
}

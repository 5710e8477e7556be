package tree

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/split"
)

// Questions starts inquiries of a tree. It is read-only, so goroutines may share it. The tree must
// not be changed while a Questions of it is in use.
type Questions struct {
	tree    *Tree
	scorer  *Scorer
	byName  map[string]int // features of the tree
	above   []int          // by node: its parent; -1 for the root
	weights []float64      // by node: weight of all children
	units   []string       // further currencies
	tests   []int          // by node: number of tests above it

	sureness *sureness
	sure     func() []float64 // by node
}

// Questions returns what inquiries of the tree share.
func (t *Tree) Questions() *Questions {
	q := &Questions{
		tree: t, scorer: t.Scorer(), byName: make(map[string]int, len(t.Features)),
		weights: make([]float64, len(t.Nodes)), above: t.parents(), sureness: t.sureness(),
		units: dataset.FurtherUnits(t.Features),
	}
	q.sure = sync.OnceValue(q.sureness.all)
	q.tests, _ = t.PathCosts()
	for i := range t.Features {
		q.byName[t.Features[i].Name] = i
	}
	for i := range t.Nodes {
		for _, b := range t.Nodes[i].Branches {
			q.weights[i] += float64(t.Nodes[b.Child].Weight)
		}
	}
	return q
}

// Features returns the features that the tree tests, as Scorer.Features does.
func (q *Questions) Features() []Input { return q.scorer.Features() }

// Inquiry sends a single row through a tree, and asks for a value only when a test needs it. Known
// values may be given at any time and in any order. Only one goroutine at a time may use an
// inquiry.
type Inquiry struct {
	questions  *Questions
	confidence float64
	at         int // the node reached
	path       []PathStep
	paid       float64
	further    dataset.Amounts // paid in further currencies
	values     []Value         // by input
	known      []known         // by input
	bills      []Bill          // by input
	worst      []float64
	expected   []float64
	refused    error // error of the latest Answer
	invalid    error // error of Start
}

// known describes how a value became known.
type known uint8

const (
	unknown known = iota
	given         // by Give, without a question
	bought
	lacking // by Cannot: the inquiry ends where a test needs the value
)

// Start begins an inquiry, which ends at a leaf. With a confidence in (0, 1] it may end earlier: at
// the first node where the most probable class has at least this probability on new rows, by
// Standing.AtLeast, and the next test would cost something. A confidence of 0 means that only leaves
// end it. Any other confidence is invalid: then Give and Answer return an error.
func (q *Questions) Start(confidence float64) *Inquiry {
	inputs := len(q.scorer.inputs)
	var invalid error
	if !(confidence >= 0 && confidence <= 1) {
		invalid = fmt.Errorf("a confidence of %v: want a probability from 0 to 1", confidence)
		confidence = 0
	}
	return &Inquiry{
		invalid:   invalid,
		questions: q, confidence: confidence, values: make([]Value, inputs), known: make([]known, inputs),
		bills: make([]Bill, inputs),
	}
}

// Follow sends a row through the tree, given one value per input in the order of Features, and
// returns the ended inquiry. Its Path is the decision path of the row. The errors are the same as
// for Scorer.Predict.
func (q *Questions) Follow(values []Value) (*Inquiry, error) {
	if len(values) != len(q.scorer.inputs) {
		return nil, q.scorer.wrongCount(len(values))
	}
	i := q.Start(0)
	for next := i.Next(); next != nil; next = i.Next() {
		if err := i.Answer(values[i.input(next.Node)]); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// Question is the next value to obtain.
type Question struct {
	Feature string
	Kind    dataset.Kind
	Counts  dataset.Unit         // unit of a point in time: days or microseconds
	Zone    dataset.Zone         // what the clock of a timestamp shows: UTC, local time, or unknown
	Values  []string             // categorical: values in the training rows; must not be changed
	Cost    float64              // price due here, including the price of its group unless that is paid
	Unit    string               // unit of the costs; empty if unknown
	Further dataset.FurtherCosts // the price due here in further currencies, as their MaxCost
	Node    int                  // id of the node that asks
}

// Standing is the state of an inquiry. At a leaf with a model, the class and the probabilities come
// from the model, given the known values.
type Standing struct {
	Class         string
	Probabilities []float64 // by class, in the order of Label.Classes; must not be changed
	// AtLeast is a lower bound on the probability of the most probable class at the node, without its
	// model, for new rows: at most the probability itself, because the tests of the tree were chosen by
	// the training rows that the probability counts. It is 0 if the node has no training rows.
	AtLeast  float64
	Node     int                  // id of the node reached
	Leaf     bool                 // the node is a leaf
	Lacks    string               // feature of the node's test whose value cannot be had, so that the inquiry has ended; empty: see Leaf
	Tests    int                  // number of tests on the path
	Paid     float64              // total paid for these tests
	Further  dataset.FurtherCosts // total paid in further currencies, as their MaxCost
	Worst    float64              // greatest total still to be paid
	Expected float64              // expected total still to be paid, over the training rows of the node
}

// Give adds a known value. The value and all tests on its feature cost nothing. The missing Value
// means that the row has no value. A feature that no test uses is ignored. Give returns a
// *dataset.DataError for an unknown feature, for a second, different value of a feature, and for a text
// if the feature is numeric.
func (i *Inquiry) Give(feature string, v Value) error { return i.give(feature, v, given) }

func (i *Inquiry) give(feature string, v Value, how known) error {
	if i.invalid != nil {
		return i.invalid
	}
	t := i.questions.tree
	f, ok := i.questions.byName[feature]
	if !ok {
		return i.questions.unknown([]string{feature})
	}
	if v.bits == textBits && t.Features[f].Kind == dataset.Numeric {
		return wrongKind(&Input{Name: feature}, &v)
	}
	in := i.questions.scorer.columns[f] - 1
	if in < 0 {
		return nil
	}
	if i.known[in] != unknown {
		return i.conflict(in, v)
	}
	i.values[in] = v
	i.known[in] = how
	i.advance()
	return nil
}

// Cannot says that the value of a feature cannot be had, so nobody is asked and nothing is paid for it. If the feature is
// unordered, or if at least 5 % of the training rows lack the value, the row goes where these rows go, as for Give with the
// missing Value. Otherwise the tree has not learned where such a row belongs: the inquiry ends at the first test of the
// feature that has no branch for missing values alone, with the class and the probabilities of that node. The errors are the
// same as for Give.
func (i *Inquiry) Cannot(feature string) error {
	how := given
	t := i.questions.tree
	if at, ok := i.questions.byName[feature]; ok && !t.Features[at].Unordered && !t.Features[at].OftenMissing(t.Training.Rows) {
		how = lacking
	}
	return i.give(feature, Value{}, how)
}

// GiveMap adds known values, such as the values of a decoded JSON object, by the names of features:
// see Input.Value and Give. After an error no value has been added; the error joins the errors of
// all values.
func (i *Inquiry) GiveMap(row map[string]any) error {
	names := slices.Sorted(maps.Keys(row))
	values := make([]Value, len(names))
	var faults []error
	for k, name := range names {
		f, ok := i.questions.byName[name]
		if !ok || i.questions.scorer.columns[f] == 0 {
			continue
		}
		in := i.questions.scorer.columns[f] - 1
		v, err := i.questions.scorer.inputs[in].Value(row[name])
		if values[k] = v; err == nil && i.known[in] != unknown {
			err = i.conflict(in, v)
		}
		faults = append(faults, err)
	}
	if err := errors.Join(append(faults, i.questions.unknown(names))...); err != nil {
		return err
	}
	for k, name := range names {
		if err := i.Give(name, values[k]); err != nil {
			return err
		}
	}
	return nil
}

// unknown returns an error for the names that are not the name of a feature.
func (q *Questions) unknown(names []string) error {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ok := q.byName[name]; return ok })
	if len(names) == 0 {
		return nil
	}
	return rowtype.Unknown(names, slices.Sorted(maps.Keys(q.byName)))
}

// conflict returns an error if a value differs from the known value of an input.
func (i *Inquiry) conflict(in int, v Value) error {
	if i.values[in] == v {
		return nil
	}
	return &dataset.DataError{
		Column: i.questions.scorer.inputs[in].Name, Value: v.String(), Problem: "it is known as " + i.values[in].String(),
	}
}

// Next returns the open question; nil if the inquiry has ended.
func (i *Inquiry) Next() *Question {
	i.advance()
	t := i.questions.tree
	n := &t.Nodes[i.at]
	if n.Leaf() || i.lacks(i.at) || i.confident(i.at) {
		return nil
	}
	f := &t.Features[n.Test.Feature]
	test := i.at
	if t.Presence(n) { // who has the value pays for the test below
		test = n.ByOutcome(0).Child
	}
	return &Question{
		Feature: f.Name, Kind: f.Kind, Counts: f.Unit, Zone: f.Zone, Values: f.Values, Cost: i.price(test),
		Unit: t.Algorithm.CostUnit, Further: i.questions.furtherCosts(i.furtherPrice(test)), Node: i.at,
	}
}

// All returns an iterator over the open questions, for a loop that answers each of them by
// Answer. The iteration ends with the inquiry. If the loop body leaves a question unanswered, the
// iterator yields an error instead of a further question, and then ends.
func (i *Inquiry) All() iter.Seq2[*Question, error] {
	return func(yield func(*Question, error) bool) {
		for q := i.Next(); q != nil && yield(q, nil); {
			last := q
			if q = i.Next(); q == nil || q.Node != last.Node {
				continue
			}
			err := fmt.Errorf("feature %q: the question has no answer", q.Feature)
			if i.refused != nil {
				err = fmt.Errorf("%w: %w", err, i.refused)
			}
			yield(nil, err)
			return
		}
	}
}

// Answer answers the open question and pays for it. The missing Value is a valid answer. After an
// error the question is still open.
func (i *Inquiry) Answer(v Value) error {
	i.refused = i.answer(v)
	return i.refused
}

// AnswerJSON is Answer with a JSON value, such as 42, "b" or null: see Input.Value.
func (i *Inquiry) AnswerJSON(value []byte) error {
	i.refused = i.answerJSON(value)
	return i.refused
}

func (i *Inquiry) answerJSON(value []byte) error {
	if i.Next() == nil {
		return i.answer(Value{})
	}
	in := &i.questions.scorer.inputs[i.input(i.at)]
	var decoded any
	if err := rowtype.DecodeJSON(value, &decoded); err != nil {
		return &dataset.DataError{
			Column: in.Name, Value: string(value), Problem: "not a JSON value: " + err.Error(), Hint: rowtype.Wanted(in.Kind, in.Unit),
		}
	}
	v, err := in.Value(decoded)
	if err != nil {
		return err
	}
	return i.answer(v)
}

func (i *Inquiry) answer(v Value) error {
	q := i.Next()
	if i.invalid != nil {
		return i.invalid
	}
	if q == nil {
		return fmt.Errorf("the value %s: nothing is asked any more", v)
	}
	in := i.input(i.at)
	if v.bits == textBits && q.Kind == dataset.Numeric {
		return wrongKind(&i.questions.scorer.inputs[in], &v)
	}
	i.values[in] = v
	i.known[in] = bought
	i.advance()
	return nil
}

// Paid returns the total paid so far. Standing also returns it, but takes a pass over the tree to
// compute the costs still to come.
func (i *Inquiry) Paid() float64 {
	i.advance()
	return i.paid
}

// PathStep is a test on the decision path of a row.
type PathStep struct {
	Node  int     // id of the node that asks
	Child int     // id of the node that the value leads to
	Value Value   // value of the tested feature
	Cost  float64 // price paid for the test; 0 if the value was given
	Paid  float64 // total paid so far, including this test
}

// Path returns the tests passed so far, starting at the root, and the presence test where the row ends if it lacks the
// value. The list must not be changed.
func (i *Inquiry) Path() []PathStep {
	i.advance()
	return i.path
}

// Bill is the total paid for the tests on a feature.
type Bill struct {
	Tests int
	Paid  float64 // total paid for them; 0 if the value was given
}

// Bill returns the total paid so far for the tests on a feature. The bills of all features add up
// to Paid.
func (i *Inquiry) Bill(feature string) Bill {
	i.advance()
	f, ok := i.questions.byName[feature]
	if !ok {
		return Bill{}
	}
	in := i.questions.scorer.columns[f] - 1
	if in < 0 {
		return Bill{}
	}
	return i.bills[in]
}

// Standing returns the state of the inquiry.
func (i *Inquiry) Standing() Standing {
	i.advance()
	t := i.questions.tree
	n := &t.Nodes[i.at]
	s := Standing{
		Class: t.Label.Classes[n.Class], Probabilities: n.Probabilities, Node: i.at, Leaf: n.Leaf(),
		Tests: i.questions.tests[i.at], Paid: i.paid, Further: i.questions.furtherCosts(i.further), AtLeast: i.questions.sureness.of(i.at),
	}
	if !n.Leaf() && i.lacks(i.at) {
		s.Lacks = t.Features[n.Test.Feature].Name
	}
	if scorer := i.questions.scorer; scorer.modelled(uint32(i.at)) {
		s.Probabilities = make([]float64, len(n.Probabilities))
		s.Class = t.Label.Classes[scorer.refine(uint32(i.at), i.values, s.Probabilities)]
	}
	s.Worst, s.Expected = i.outlook()
	return s
}

// Model returns the features used by the model of the reached leaf, in the order of the model's
// terms. ok is false unless the inquiry has reached a leaf with a model.
func (i *Inquiry) Model() (features []string, ok bool) {
	i.advance()
	inputs, ok := i.questions.scorer.ModelOf(i.at)
	for _, in := range inputs {
		features = append(features, in.Name)
	}
	return features, ok
}

// input returns the index of the input tested at an inner node.
func (i *Inquiry) input(node int) int {
	return i.questions.scorer.columns[i.questions.tree.Nodes[node].Test.Feature] - 1
}

// lacks reports whether an inquiry ends at an inner node, because the value that its test needs cannot be had. A branch for
// missing values alone still takes the row.
func (i *Inquiry) lacks(node int) bool {
	if i.known[i.input(node)] != lacking {
		return false
	}
	t := i.questions.tree
	n := &t.Nodes[node]
	missing := t.Features[n.Test.Feature].MissingCode()
	to := t.branch(n, missing)
	if n.Test.Kind == split.Multiway {
		return to.Outcome != missing // may be the heaviest branch, which also takes values that no training row of the node has
	}
	for code := range missing {
		if t.branch(n, code) == to {
			return true
		}
	}
	return false
}

// confident reports whether the inquiry may end at a node.
func (i *Inquiry) confident(node int) bool {
	return i.confidence > 0 && i.questions.sure()[node] >= i.confidence
}

// furtherCosts returns amounts with the names of the further currencies.
func (q *Questions) furtherCosts(amounts dataset.Amounts) dataset.FurtherCosts {
	return dataset.NewFurtherCosts(q.units, dataset.Amounts{}, amounts)
}

// price returns the price of an inner node's test in this inquiry, where tests of values that are given or cannot be had pay
// nothing.
func (i *Inquiry) price(node int) float64 {
	test := i.questions.tree.Nodes[node].Test
	if i.costless(test.Feature) {
		return 0
	}
	return i.questions.tree.due(node, i.paidAbove(node), test.Paid() == 0)
}

// furtherPrice is price in further currencies.
func (i *Inquiry) furtherPrice(node int) dataset.Amounts {
	if len(i.questions.units) == 0 || i.costless(i.questions.tree.Nodes[node].Test.Feature) {
		return dataset.Amounts{}
	}
	return i.questions.tree.furtherDue(node, i.paidAbove(node), i.questions.units)
}

// costless reports whether nobody is asked for the value of a feature.
func (i *Inquiry) costless(feature int) bool {
	how := i.known[i.questions.scorer.columns[feature]-1]
	return how == given || how == lacking
}

// paidAbove returns what the tests above an inner node have paid for its feature and its group.
func (i *Inquiry) paidAbove(node int) (paid split.Paid) {
	t := i.questions.tree
	test := t.Nodes[node].Test
	for above := i.questions.above[node]; above >= 0; above = i.questions.above[above] {
		if f := t.Nodes[above].Test.Feature; !i.costless(f) && !t.Presence(&t.Nodes[above]) {
			paid.Asked = paid.Asked || f == test.Feature
			paid.SetUp = paid.SetUp || t.Features[f].Group == t.Features[test.Feature].Group
		}
	}
	return paid
}

// advance moves on while the tested values are known. At a node where the inquiry may end, it moves
// on only while the tests cost nothing.
func (i *Inquiry) advance() {
	for {
		n := &i.questions.tree.Nodes[i.at]
		if n.Leaf() || i.known[i.input(i.at)] == unknown || i.lacks(i.at) {
			return
		}
		price := i.price(i.at)
		if price > 0 && i.confident(i.at) {
			return
		}
		child := i.child(i.at)
		if i.questions.tree.Presence(n) && child == n.ByOutcome(0).Child {
			i.at = child
			continue
		}
		i.paid += price
		i.further = i.further.Plus(i.furtherPrice(i.at))
		bill := &i.bills[i.input(i.at)]
		bill.Tests += i.questions.tests[child] - i.questions.tests[i.at]
		bill.Paid += price
		i.path = append(i.path, PathStep{
			Node: i.at, Child: child, Value: i.values[i.input(i.at)], Cost: price, Paid: i.paid,
		})
		i.at = child
	}
}

// child returns the child for the known value.
func (i *Inquiry) child(node int) int {
	s := i.questions.scorer
	n := &s.steps[node]
	return nodeOf(n.next(s.entry(n.feature, &i.values[n.feature])))
}

// outlook returns the greatest and the mean total still to be paid, over the training rows. Nodes
// come before their children, so a single pass from the last node back to the reached node is
// enough.
func (i *Inquiry) outlook() (most, mean float64) {
	t := i.questions.tree
	if i.worst == nil {
		i.worst = make([]float64, len(t.Nodes))
		i.expected = make([]float64, len(t.Nodes))
	}
	for node := len(t.Nodes) - 1; node >= i.at; node-- {
		i.worst[node], i.expected[node] = i.toCome(node)
	}
	return i.worst[i.at], i.expected[i.at]
}

// toCome returns the outlook of a node, given the outlook of its children.
func (i *Inquiry) toCome(node int) (worst, expected float64) {
	n := &i.questions.tree.Nodes[node]
	if n.Leaf() || i.lacks(node) {
		return 0, 0
	}
	price := i.price(node)
	is := i.known[i.input(node)]
	switch {
	case i.confident(node) && (is == unknown || price > 0):
		return 0, 0
	case is != unknown:
		child := i.child(node)
		return price + i.worst[child], price + i.expected[child]
	}
	weight := i.questions.weights[node]
	for _, b := range n.Branches {
		share := 1 / float64(len(n.Branches)) // for a tree without weights
		if weight > 0 {
			share = float64(i.questions.tree.Nodes[b.Child].Weight) / weight
		}
		worst = max(worst, i.worst[b.Child])
		expected += float64(share * i.expected[b.Child])
	}
	return price + worst, price + expected
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// askOptions are the flags of ask.
type askOptions struct {
	model      string
	confidence float64
	values     []string
	asJSON     bool
}

// Settings declares the flags of ask.
func (o *askOptions) Settings() []setting.Setting {
	return []setting.Setting{
		config.ModelSetting(&o.model),
		{
			Name: "value", Group: setting.Case, Value: setting.Repeated(&o.values),
			Help: "NAME=VALUE of a feature that is known beforehand and costs nothing; empty: it cannot be had; may be repeated",
		},
		{
			Name: "confidence", Group: setting.Case, Value: setting.Share(&o.confidence),
			Help: "end when the most probable class has at least this probability on new rows, by a lower bound; 0: ask all that the tree needs",
		},
		jsonSetting(&o.asJSON, "print the outcome as one JSON object"),
	}
}

func newAsk() *cobra.Command {
	var o askOptions
	c := &cobra.Command{
		Use:     "ask MODEL",
		Short:   "Ask for the values of one case that the tree needs, and predict",
		GroupID: useStage,
		Long: `Ask for the values of one case, one at a time and only if the tree needs them,
and print the prediction and what it cost. A value is asked for once; each
test on it is paid as tree.json bills it (see train --repeat_cost).

An answer is a line: a number, a date, a time or a timestamp (2026-11-21, 09:30,
2026-11-21T09:30:00), or a category as it is spelled, in double quotes if you like
("" is the empty text). The questions go to standard error.

In a terminal, a part of a category is enough: ask lists the categories that contain
the text, and takes the category if it is the only one. A text in double quotes that
is no category counts as another value. A question mark says that the value cannot
be had, < goes back to the question before, and Enter alone shows the question again.
Without a terminal, an empty line says that the value cannot be had.

A value that cannot be had costs nothing. If at least 5 % of the training rows lack
it, the case goes on as they do. Otherwise the tree has not learned where the case
belongs: the questions end, and the outcome is what is known at the node.

With --confidence, ask ends at a node where a lower bound on the probability of the
most probable class reaches it. The bound is below the probability, which counts
the training rows that the tests were chosen by; few training rows are never sure.`,
		Example: `  espalier ask runs/first
  espalier ask runs/first --value age=42 --confidence 0.95
  printf '42\nstudent\n' | espalier ask runs/first --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.run(c.Context(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	takeModel(c)
	addFlags(c.Flags(), o.Settings())
	return c
}

func (o *askOptions) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	if faults := setting.Faults(o.Settings()); len(faults) > 0 {
		return usage.All(faults)
	}
	t, err := pipelines.ReadTree(ctx, o.model)
	if err != nil {
		return err
	}
	q := &questionnaire{tree: t, questions: t.Questions(), confidence: o.confidence, notes: stderr}
	q.inquiry = q.questions.Start(o.confidence)
	for _, pair := range o.values {
		if err := q.give(pair); err != nil {
			return err
		}
	}
	if err := newAsker(stdin, stderr).ask(ctx, q); err != nil {
		return err
	}
	outcome := q.outcome()
	if o.asJSON {
		e := json.NewEncoder(stdout)
		e.SetEscapeHTML(false)
		return e.Encode(outcome)
	}
	_, err = io.WriteString(stdout, outcome.text())
	return err
}

// newAsker returns the asker for a person at a terminal, or for a file of answers.
func newAsker(stdin io.Reader, stderr io.Writer) asker {
	if isTerminal(stdin) && isTerminal(stderr) {
		return &terminalAsker{lines: readLines(stdin), notes: stderr}
	}
	return &lineAsker{lines: readLines(stdin), notes: stderr}
}

// asker gets answers, from a person or from a file of them, until nothing is left
// to ask.
type asker interface {
	ask(ctx context.Context, q *questionnaire) error
}

// prompt is a question with what is known before it.
type prompt struct {
	*tree.Question

	number   int // starting at 1
	standing tree.Standing
	label    *tree.Label
	set      string // condition of a test for a set of values; empty for other tests
}

// categorical reports whether the answer is a category.
func (p *prompt) categorical() bool { return categorical(p.Kind, p.Counts) }

// answer is a value as it was given.
type answer struct {
	value tree.Value
	shown any // for JSON: a number, a text or nil
}

func textAnswer(text string) answer { return answer{tree.Text(text), text} }

// spelled returns the answer for people.
func (a answer) spelled() string {
	if a.shown == nil {
		return "unknown"
	}
	return fmt.Sprint(a.shown)
}

// questionnaire asks one case's values.
type questionnaire struct {
	tree       *tree.Tree
	questions  *tree.Questions
	confidence float64
	inquiry    *tree.Inquiry
	notes      io.Writer // on what was given
	answered   int       // number of questions
	known      []knownValue
}

// knownValue is a line of the outcome.
type knownValue struct {
	Feature string  `json:"feature"`
	Value   any     `json:"value"`                        // a number or a text; null: unknown
	Asked   bool    `json:"asked"`                        // false: known beforehand
	Tests   int     `json:"tests" jsonschema:"minimum=0"` // number of tests of the feature
	Cost    float64 `json:"cost" jsonschema:"minimum=0"`  // billed cost of these tests

	value tree.Value
}

// spelled returns what the tests on the value were billed at.
func (k *knownValue) spelled(unit string) string {
	switch {
	case !k.Asked:
		return "known beforehand"
	case k.Tests > 1:
		return fmt.Sprintf("%s for %s", money(k.Cost, unit), counted(k.Tests, "test"))
	default:
		return money(k.Cost, unit)
	}
}

// give takes a NAME=VALUE; names may have equals signs in them.
func (q *questionnaire) give(pair string) error {
	f, text := q.feature(pair)
	if f == nil {
		return q.noFeature(pair)
	}
	a, problem := parseAnswer(f.Kind, f.Unit, f.Zone, f.Values, text)
	if problem != "" {
		return &usage.Error{Problem: fmt.Sprintf("--value %s: %s", pair, problem)}
	}
	if err := q.know(f.Name, a.value, false); err != nil {
		return &usage.Error{Problem: fmt.Sprintf("--value %s: %v", pair, err)}
	}
	if !slices.ContainsFunc(q.known, func(k knownValue) bool { return k.Feature == f.Name }) {
		q.known = append(q.known, knownValue{Feature: f.Name, Value: a.shown, value: a.value})
	}
	if categorical(f.Kind, f.Unit) && unlisted(f.Values, a) {
		say(q.notes, "%s\n", unlistedNote(f.Name, f.Values, a))
	}
	return nil
}

// noFeature refuses a NAME=VALUE without the name of a feature. It proposes the nearest
// name, or else lists the features of the tree.
func (q *questionnaire) noFeature(pair string) error {
	name, _, hasValue := strings.Cut(pair, "=")
	if !hasValue {
		return &usage.Error{Problem: fmt.Sprintf("--value %s: want NAME=VALUE of a feature of the tree", setting.Word(pair))}
	}
	var names, tested []string
	for i := range q.tree.Features {
		names = append(names, q.tree.Features[i].Name)
	}
	for _, in := range q.questions.Features() {
		tested = append(tested, in.Name)
	}
	problem := fmt.Sprintf("--value %s: the tree asks for no feature %q", setting.Word(pair), name)
	switch near := setting.Near(name, names); {
	case near != "":
		problem += near
	case len(tested) > 0:
		problem += "; it asks for " + listed(tested)
	}
	return &usage.Error{Problem: problem}
}

// listed spells the first of a list of names or values.
func listed(values []string) string {
	var spelled []string
	for _, v := range values[:min(maxListed, len(values))] {
		if strings.TrimSpace(v) != v || v == "" || strings.ContainsAny(v, `",`) {
			v = strconv.Quote(v)
		}
		spelled = append(spelled, printable(v))
	}
	if more := len(values) - len(spelled); more > 0 {
		spelled = append(spelled, fmt.Sprintf("%d more", more))
	}
	return strings.Join(spelled, ", ")
}

// feature returns the feature that a NAME=VALUE names, and the value.
func (q *questionnaire) feature(pair string) (*dataset.Feature, string) {
	for i := range len(pair) {
		if pair[i] != '=' {
			continue
		}
		for k := range q.tree.Features {
			if f := &q.tree.Features[k]; f.Name == pair[:i] {
				return f, pair[i+1:]
			}
		}
	}
	return nil, ""
}

// next returns the question that stands, or nil.
func (q *questionnaire) next() *prompt {
	question := q.inquiry.Next()
	if question == nil {
		return nil
	}
	p := &prompt{
		Question: question, number: 1 + q.answered, standing: q.inquiry.Standing(), label: &q.tree.Label,
	}
	if n := &q.tree.Nodes[question.Node]; n.Test.Kind == split.In {
		p.set = textview.Condition(q.tree, n, &n.Branches[0])
	}
	return p
}

// answer takes the answer to a question. Its notes mention a category that the tree does not have,
// and the cost of further tests that known values then decide.
func (q *questionnaire) answer(p *prompt, a answer) error {
	before := q.inquiry.Standing()
	if err := q.know(p.Feature, a.value, true); err != nil {
		return err
	}
	if p.categorical() && unlisted(p.Values, a) {
		say(q.notes, "  %s\n", unlistedNote(p.Feature, p.Values, a))
	}
	q.answered++
	q.known = append(q.known, knownValue{Feature: p.Feature, Value: a.shown, Asked: true, value: a.value})
	after := q.inquiry.Standing()
	cost := p.Cost
	if a.value == (tree.Value{}) {
		cost = 0 // a value that cannot be had
	}
	if more, paid := after.Tests-before.Tests-1, after.Paid-before.Paid-cost; more > 0 && paid > 0 {
		say(q.notes, "  %s more for %s on what is known\n", money(paid, p.Unit), counted(more, "further test"))
	}
	return nil
}

// know passes on a value that was asked for or known beforehand; the missing Value means that it cannot be had.
func (q *questionnaire) know(feature string, v tree.Value, asked bool) error {
	switch {
	case v.Missing():
		return q.inquiry.Cannot(feature)
	case asked:
		return q.inquiry.Answer(v)
	default:
		return q.inquiry.Give(feature, v)
	}
}

// back takes back the latest answer: its question is asked again.
func (q *questionnaire) back() error {
	q.answered--
	q.known = q.known[:len(q.known)-1]
	q.inquiry = q.questions.Start(q.confidence)
	for i := range q.known {
		k := &q.known[i]
		if err := q.know(k.Feature, k.value, k.Asked); err != nil {
			return err
		}
	}
	return nil
}

// categorical reports whether the values of a feature are texts. The values of other features are numbers or
// points in time.
func categorical(kind dataset.Kind, counts dataset.Unit) bool {
	return kind == dataset.Categorical && counts == dataset.Plain
}

// parseAnswer reads a value as people write it, by the rule of tree.Input.Value; problem describes what
// is wrong with it. Texts are matched as they are spelled or, if the values include numbers, as numbers.
func parseAnswer(kind dataset.Kind, counts dataset.Unit, zone dataset.Zone, values []string, text string) (a answer, problem string) {
	trimmed := strings.TrimSpace(text)
	if !categorical(kind, counts) {
		x, ok := counts.ParseValue(trimmed)
		switch {
		case !ok:
			return answer{}, fmt.Sprintf("the answer %q: want %s, or nothing if it is unknown", text, wantedOf(counts))
		case x != x:
			return answer{}, ""
		}
		if _, told, _ := counts.ParseZoned(trimmed); told == dataset.UTC && zone == dataset.Local {
			return answer{}, fmt.Sprintf("the answer %q: the feature has local timestamps, want one without an offset from UTC", text)
		}
		return answer{tree.Number(x), shownNumber(counts, x)}, ""
	}
	if slices.Contains(values, text) && text != "" {
		return textAnswer(text), ""
	}
	if trimmed == "" {
		return answer{}, ""
	}
	if trimmed[0] == '"' {
		s, err := strconv.Unquote(trimmed)
		if err != nil {
			return answer{},
				fmt.Sprintf("the answer %s: want double quotes at both ends, and a backslash before each within", text)
		}
		return textAnswer(s), ""
	}
	if x, ok := dataset.Plain.Parse(trimmed); ok && !slices.Contains(values, trimmed) {
		return answer{tree.Number(x), trimmed}, ""
	}
	return textAnswer(trimmed), ""
}

// wantedOf describes valid values of a numeric feature.
func wantedOf(counts dataset.Unit) string {
	if counts == dataset.Plain {
		return "a number"
	}
	return fmt.Sprintf("a %s such as %s", counts, counts.Example())
}

// shownNumber returns what JSON can have: infinities are texts, as are points in time.
func shownNumber(counts dataset.Unit, x float64) any {
	if counts != dataset.Plain {
		return counts.Spell(x)
	}
	if math.IsInf(x, 0) {
		return dataset.SpellNumber(x)
	}
	return x
}

// askOutcome is the end of a questionnaire, and the object that --json prints.
type askOutcome struct {
	Class         string             `json:"class"`
	Probabilities map[string]float64 `json:"probabilities"`               // by class
	Node          int                `json:"node" jsonschema:"minimum=0"` // id of the node reached, in tree.json
	Leaf          bool               `json:"leaf"`                        // whether the node is a leaf; false: --confidence was reached before, or see Lacks
	// Lacks is the feature whose value cannot be had where the questions ended before a leaf; absent: none.
	Lacks string `json:"lacks,omitempty"`
	// AtLeast is a lower bound, at 95 % confidence, on the probability of the most probable class at the node for new
	// rows, without the leaf's model; --confidence is compared with it.
	AtLeast float64 `json:"at_least" jsonschema:"minimum=0,maximum=1"`
	// Model are the features whose values the leaf's model takes for the probabilities; absent: the leaf has no model,
	// or one without terms.
	Model    []string `json:"model,omitempty" jsonschema:"minItems=1"`
	Tests    int      `json:"tests" jsonschema:"minimum=0"`
	Paid     float64  `json:"paid" jsonschema:"minimum=0"` // billed cost of all tests
	CostUnit string   `json:"cost_unit,omitempty"`
	// Further are the billed costs of all tests in further currencies, as their max_cost; absent: no further currencies.
	Further dataset.FurtherCosts `json:"further_costs,omitzero"`
	Values  []knownValue         `json:"values" jsonschema:"nullable"`

	leading  []string // classes with their probabilities
	interest string   // describes the training rows of the class of interest; empty if none is named
	without  []string // the same without the leaf's model; nil if there is no model
	bound    string   // describes AtLeast; empty without --confidence
}

func (q *questionnaire) outcome() *askOutcome {
	s := q.inquiry.Standing()
	o := &askOutcome{
		Class: s.Class, Probabilities: make(map[string]float64), Node: s.Node, Leaf: s.Leaf, Tests: s.Tests, Paid: s.Paid,
		Lacks: s.Lacks, AtLeast: s.AtLeast, CostUnit: q.tree.Algorithm.CostUnit, Further: s.Further, Values: q.known,
		leading: leading(&s, &q.tree.Label, len(s.Probabilities)), interest: textview.OfInterest(q.tree, s.Node),
	}
	if o.Values == nil {
		o.Values = []knownValue{}
	}
	for i := range o.Values {
		bill := q.inquiry.Bill(o.Values[i].Feature)
		o.Values[i].Tests = bill.Tests
		o.Values[i].Cost = bill.Paid
	}
	for k, class := range q.tree.Label.Classes {
		o.Probabilities[class] = s.Probabilities[k]
	}
	if features, ok := q.inquiry.Model(); ok {
		o.Model = features
		s.Probabilities = q.tree.Nodes[s.Node].Probabilities
		o.without = leading(&s, &q.tree.Label, len(s.Probabilities))
	}
	if q.confidence > 0 {
		p := q.tree.Nodes[s.Node].Probabilities
		likeliest := slices.Index(p, slices.Max(p))
		o.bound = fmt.Sprintf("at least %s of the rows there are %s", textview.Percent(s.AtLeast),
			printable(q.tree.Label.Classes[likeliest]))
	}
	return o
}

// text returns the outcome for people.
func (o *askOutcome) text() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s (%s)\n", printable(o.Class), strings.Join(o.leading, ", "))
	end := "leaf"
	switch {
	case o.Lacks != "":
		end = "without " + printable(o.Lacks) + " at node"
	case !o.Leaf:
		end = "sure enough at node"
	}
	fmt.Fprintf(b, "%s %d, after %s for %s\n", end, o.Node, counted(o.Tests, "test"), allMoney(o.Paid, o.CostUnit, &o.Further))
	if o.Lacks != "" {
		b.WriteString("by all training rows of the node: less than 5 % of the training rows lacked the value, too few to show where the case belongs\n")
	}
	if o.interest != "" {
		fmt.Fprintf(b, "%s there\n", o.interest)
	}
	if o.bound != "" {
		fmt.Fprintf(b, "%s\n", o.bound)
	}
	if o.without != nil {
		of := ""
		if len(o.Model) > 0 {
			of = " of " + textview.Listed(o.Model, printable)
		}
		fmt.Fprintf(b, "by the leaf's model%s; without it %s\n", of, strings.Join(o.without, ", "))
	}
	for _, v := range o.Values {
		fmt.Fprintf(b, "  %s: %s (%s)\n", printable(v.Feature), printable(answer{shown: v.Value}.spelled()),
			v.spelled(o.CostUnit))
	}
	return b.String()
}

// maxLeading bounds the classes that a prompt shows.
const maxLeading = 3

// leading spells the class of interest, if one is named, and then the most probable classes.
func leading(s *tree.Standing, l *tree.Label, most int) []string {
	classes := l.Classes
	order := make([]int, len(classes))
	for k := range order {
		order[k] = k
	}
	p := slices.Clone(s.Probabilities)
	if k := l.Positive(); k >= 0 {
		p[k] = 2 // before all other classes
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
	var spelled []string
	for _, k := range order[:min(most, len(order))] {
		spelled = append(spelled, printable(classes[k])+" "+textview.Probability(s.Probabilities[k]))
	}
	if len(order) > most {
		spelled = append(spelled, "..")
	}
	return spelled
}

// soFar describes what is known before a question, and which set of values the question is about.
func (p *prompt) soFar() string {
	text := fmt.Sprintf("so far %s; paid %s, %.4g to come on average and %.4g at most",
		strings.Join(leading(&p.standing, p.label, maxLeading), ", "), allMoney(p.standing.Paid, p.Unit, &p.standing.Further), p.standing.Expected,
		p.standing.Worst)
	if p.set != "" {
		text += "\n  the test: " + p.set
	}
	return text
}

func money(amount float64, unit string) string {
	return strings.TrimSpace(fmt.Sprintf("%.6g %s", amount, printable(unit)))
}

// allMoney is money with the amounts in further currencies.
func allMoney(amount float64, unit string, further *dataset.FurtherCosts) string {
	list := []string{money(amount, unit)}
	for _, cost := range further.List() {
		list = append(list, money(cost.MaxCost, cost.Unit))
	}
	return strings.Join(list, ", ")
}

// printable quotes what would not stand on a line as it is: names and values come
// from a file, and must not steer a terminal.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

package main

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/rowtype/rowtypetest"
)

// TestAskValues: ask reads each value as it is read from JSON rows, from a line and from --value.
func TestAskValues(t *testing.T) {
	model := rowtypetest.Tree(t)
	for i := range model.Features {
		model.Features[i].Missing = model.Training.Rows + 1 // a case without the value goes on as rows without it do
	}
	questions := model.Questions()
	for _, c := range rowtypetest.Cases(t) {
		text, ok := c.Plain()
		if !ok {
			continue // no answer is an array or an object
		}
		if categorical := c.Column == "word" || c.Column == "flag"; categorical && c.Value[0] == '"' {
			text = strconv.Quote(text)
		}
		var answers strings.Builder
		for _, in := range questions.Features() {
			if in.Name == c.Column {
				answers.WriteString(text)
			}
			answers.WriteString("\n")
		}
		asked := &questionnaire{tree: model, questions: questions, notes: io.Discard, inquiry: questions.Start(0)}
		given := &questionnaire{tree: model, questions: questions, notes: io.Discard, inquiry: questions.Start(0)}
		unknown := strings.NewReader(strings.Repeat("\n", len(questions.Features())))
		faults := []error{
			newAsker(strings.NewReader(answers.String()), io.Discard).ask(t.Context(), asked), given.give(c.Column + "=" + text),
		}
		if faults[1] == nil {
			faults[1] = newAsker(unknown, io.Discard).ask(t.Context(), given)
		}
		for i, q := range []*questionnaire{asked, given} {
			if refused := c.Class == ""; refused != (faults[i] != nil) {
				t.Errorf("%s: error %v, want class %q", c.Row(), faults[i], c.Class)
			} else if class := q.outcome().Class; !refused && class != c.Class {
				t.Errorf("%s: class %q, want %q", c.Row(), class, c.Class)
			}
		}
		if b, err := json.Marshal(asked.outcome()); err != nil {
			t.Errorf("%s: the outcome %s: %v", c.Row(), b, err)
		}
		if faults[0] != nil && !slices.Contains([]string{"word", "flag"}, c.Column) && !strings.Contains(faults[0].Error(), ": want a ") {
			t.Errorf("%s: error %v, want what is wanted", c.Row(), faults[0])
		}
	}
}

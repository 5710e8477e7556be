package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/io/setting"
)

// errGivenUp is the error if a person has ended the questions before the tree had all answers that
// it needs.
var errGivenUp = errors.New("no more answers")

// terminalAsker asks a person at a terminal. A person may type a part of a category, correct a mistake and go
// back. The terminal itself edits the line.
type terminalAsker struct {
	lines <-chan line
	notes io.Writer
}

func (t *terminalAsker) ask(ctx context.Context, q *questionnaire) error {
	for p := q.next(); p != nil; p = q.next() {
		t.show(p)
		if err := t.one(ctx, q, p); err != nil {
			return err
		}
	}
	return nil
}

// show prints a question: the feature, its cost, what is known so far, and what may be typed.
func (t *terminalAsker) show(p *prompt) {
	say(t.notes, "\nquestion %d: %s, for %s\n  %s\n", p.number, printable(p.Feature), allMoney(p.Cost, p.Unit, &p.Further), p.soFar())
	wanted := wantedOf(p.Counts)
	if p.categorical() {
		say(t.notes, "  %s\n", listed(p.Values))
		wanted = "a value or a part of it, or another value in double quotes"
	}
	say(t.notes, "  type %s; %s if unknown", wanted, p.command(unknownCommand))
	if p.number > 1 {
		say(t.notes, "; %s to go back", p.command(backCommand))
	}
	say(t.notes, "\n")
}

// What a person types in place of a value.
const (
	unknownCommand = "?"
	backCommand    = "<"
)

// command returns what a person types for a command: the character, or several if a category is spelled so.
func (p *prompt) command(character string) string {
	command := character
	for slices.Contains(p.Values, command) {
		command += character
	}
	return command
}

// one reads lines until the question has its answer, or until its turn comes again after the question before.
func (t *terminalAsker) one(ctx context.Context, q *questionnaire, p *prompt) error {
	for {
		say(t.notes, "%s: ", printable(p.Feature))
		text, err := next(ctx, t.lines)
		if err != nil {
			say(t.notes, "\n")
		}
		switch typed := strings.TrimSpace(text); {
		case errors.Is(err, io.EOF):
			return errGivenUp
		case err != nil:
			return err
		case typed == "":
			t.show(p)
		case typed == p.command(unknownCommand):
			return q.answer(p, answer{})
		case typed == p.command(backCommand) && p.number > 1:
			return q.back()
		case typed == p.command(backCommand):
			say(t.notes, "  this is the first question\n")
		default:
			a, problem := p.parse(text)
			if problem == "" {
				return t.take(q, p, a, typed)
			}
			say(t.notes, "  %s\n", problem)
		}
	}
}

// take answers a question. It shows a category that was typed in part.
func (t *terminalAsker) take(q *questionnaire, p *prompt, a answer, typed string) error {
	if spelled := a.spelled(); p.categorical() && typed[0] != '"' && spelled != typed {
		say(t.notes, "  %s\n", printable(spelled))
	}
	return q.answer(p, a)
}

// parse reads an answer. The problem describes what is wrong with it, or which categories it may
// mean.
func (p *prompt) parse(text string) (a answer, problem string) {
	a, problem = parseAnswer(p.Kind, p.Counts, p.Zone, p.Values, text)
	typed := strings.TrimSpace(text)
	switch {
	case problem != "" && !p.categorical():
		return answer{}, "want " + wantedOf(p.Counts)
	case problem != "" || !p.categorical() || typed[0] == '"' || !unlisted(p.Values, a):
		return a, problem
	}
	switch found := containing(p.Values, typed); len(found) {
	case 0:
		return answer{}, fmt.Sprintf("no value contains %q%s; another value is typed in double quotes", typed,
			setting.Near(typed, p.Values))
	case 1:
		return textAnswer(found[0]), ""
	default:
		return answer{}, "which? " + listed(found)
	}
}

// containing returns the values that contain a text, in upper or lower case; the value alone that is the whole text.
func containing(values []string, text string) []string {
	var found []string
	for _, v := range values {
		if strings.EqualFold(v, text) {
			return []string{v}
		}
		if strings.Contains(strings.ToLower(v), strings.ToLower(text)) {
			found = append(found, v)
		}
	}
	return found
}

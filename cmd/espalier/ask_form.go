package main

import (
	"context"
	"errors"
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// formAsker asks a person at a terminal, with a form for each question. One program shows
// all forms: a second program would lose keys to the reader of the first one.
type formAsker struct {
	input  io.Reader
	output io.Writer
	asking *questionnaire

	prompt *prompt
	form   *huh.Form
	answer answer
	err    error
}

func (f *formAsker) ask(ctx context.Context, q *questionnaire) error {
	f.asking = q
	if !f.next() {
		return nil
	}
	_, err := tea.NewProgram(f, tea.WithContext(ctx), tea.WithInput(f.input), tea.WithOutput(f.output),
		tea.WithoutSignalHandler()).Run()
	switch {
	case ctx.Err() != nil:
		return context.Canceled
	case f.err != nil:
		return f.err
	case err != nil:
		return err
	case f.prompt != nil: // the program ended early: the answers are not complete
		return huh.ErrUserAborted
	}
	return nil
}

// next makes the form of the next question, if there is one.
func (f *formAsker) next() bool {
	if f.prompt = f.asking.next(); f.prompt == nil {
		return false
	}
	f.answer = answer{}
	field := numberField(f.prompt, &f.answer)
	if f.prompt.Kind == dataset.Categorical && f.prompt.Counts == dataset.Plain {
		field = categoryField(f.prompt, &f.answer)
	}
	f.form = huh.NewForm(huh.NewGroup(field))
	return true
}

// Init shows the first form.
func (f *formAsker) Init() tea.Cmd { return f.form.Init() }

// Update passes a key to the form. After an answer it shows the next form.
func (f *formAsker) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if f.prompt == nil || f.err != nil { // the program is about to end
		return f, nil
	}
	_, cmd := f.form.Update(msg)
	switch f.form.State {
	case huh.StateAborted:
		f.err = huh.ErrUserAborted
		return f, tea.Quit
	case huh.StateCompleted:
		line := printable(f.prompt.Feature) + ": " + printable(f.answer.spelled())
		note, err := f.asking.answer(f.prompt, f.answer)
		if f.err = err; note != "" {
			line += " (" + note + ")"
		}
		answered := tea.Println(line)
		if f.err != nil || !f.next() {
			return f, tea.Sequence(answered, tea.Quit)
		}
		return f, tea.Sequence(answered, f.form.Init())
	default:
		return f, cmd
	}
}

// View draws the form.
func (f *formAsker) View() tea.View {
	if f.prompt == nil {
		return tea.NewView("")
	}
	return tea.NewView(f.form.View())
}

// title returns the question: the feature and its cost.
func (p *prompt) title() string {
	return printable(p.Feature) + ", for " + money(p.Cost, p.Unit)
}

// numberField asks for a number or a point in time. The expected form is part of the
// description: in the field itself, the library cannot draw it on a terminal of unknown
// width.
func numberField(p *prompt, a *answer) huh.Field {
	wantNumber := wantedOf(p.Counts) + ", or nothing if it is unknown"
	return huh.NewInput().Title(p.title()).Description(p.soFar() + "\n" + wantNumber).Validate(func(s string) error {
		got, problem := parseAnswer(p.Kind, p.Counts, nil, s)
		if problem != "" {
			return errors.New(wantNumber)
		}
		*a = got
		return nil
	})
}

// listHeight is the most lines of a list of values. Longer lists scroll, and a slash
// begins a search.
const listHeight = 15

// categoryField asks for a category, in a list of the known ones.
func categoryField(p *prompt, a *answer) huh.Field {
	other := noneOf(p.Values)
	options := []huh.Option[answer]{huh.NewOption("(unknown)", answer{})}
	for _, v := range p.Values {
		spelled := printable(v)
		if v == "" {
			spelled = `""`
		}
		options = append(options, huh.NewOption(spelled, answer{tree.Text(v), v}))
	}
	options = append(options, huh.NewOption("(another value)", answer{tree.Text(other), other}))
	return huh.NewSelect[answer]().Title(p.title()).Description(p.soFar()).Options(options...).
		Height(min(listHeight, len(options)+4)).Value(a)
}

// noneOf returns a text that differs from all values.
func noneOf(values []string) string {
	other := "other"
	for slices.Contains(values, other) {
		other += "_"
	}
	return other
}

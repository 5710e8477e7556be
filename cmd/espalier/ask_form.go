package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

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

	// In a list of categories:
	search bool   // letters search the list
	typed  string // what is searched
	moved  bool   // the arrows were used since
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
	f.answer, f.typed = answer{}, ""
	f.search, f.moved = false, false
	field := numberField(f.prompt, &f.answer)
	if f.prompt.listed() {
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
	if f.prompt.listed() && f.typing(msg) {
		return f, f.answered()
	}
	_, cmd := f.form.Update(msg)
	switch f.form.State {
	case huh.StateAborted:
		f.err = huh.ErrUserAborted
		return f, tea.Quit
	case huh.StateCompleted:
		return f, f.answered()
	default:
		return f, cmd
	}
}

// answered takes the answer, prints it, and shows the next form.
func (f *formAsker) answered() tea.Cmd {
	line := printable(f.prompt.Feature) + ": " + printable(f.answer.spelled())
	note, err := f.asking.answer(f.prompt, f.answer)
	if f.err = err; note != "" {
		line += " (" + note + ")"
	}
	if f.prompt.listed() && f.typed != "" && unlisted(f.prompt.Values, f.answer) {
		line += "; " + unlistedNote(f.prompt.Feature, f.prompt.Values, f.answer)
	}
	answered := tea.Println(line)
	if f.err != nil || !f.next() {
		return tea.Sequence(answered, tea.Quit)
	}
	return tea.Sequence(answered, f.form.Init())
}

// typing follows what is typed in a list of categories: it searches the list, which begins at "unknown". It
// reports whether the answer is complete: the enter key takes what was typed if that is a listed value,
// or if the list has nothing like it. Else the list has the choice, as after the arrows.
func (f *formAsker) typing(msg tea.Msg) (complete bool) {
	switch m := msg.(type) {
	case tea.PasteMsg:
		f.searches(m.Content)
	case tea.KeyPressMsg:
		switch {
		case m.String() == "enter":
			return f.typed != "" && !f.moved && f.takesTyped()
		case m.String() == "/" && !f.search:
			f.search = true
		case m.String() == "esc" && f.search:
			f.form.Update(msg) // the first ends the search, the second clears it
			f.search, f.typed = false, ""
		case m.String() == "backspace" && f.typed != "":
			runes := []rune(f.typed)
			f.typed, f.moved = string(runes[:len(runes)-1]), false
		case m.Text != "":
			f.searches(m.Text)
		default:
			f.moved = true
		}
	}
	return false
}

// searches adds to what is searched.
func (f *formAsker) searches(text string) {
	if !f.search {
		f.search = true
		f.form.Update(tea.KeyPressMsg{Text: "/", Code: '/'})
	}
	f.typed, f.moved = f.typed+text, false
}

// takesTyped takes what was typed as the answer, unless the list shows other values for it.
func (f *formAsker) takesTyped() bool {
	a, problem := parseAnswer(f.prompt.Kind, f.prompt.Counts, f.prompt.Values, f.typed)
	if problem != "" || a.value.Missing() {
		return false
	}
	shown := slices.ContainsFunc(f.prompt.options(), func(o huh.Option[answer]) bool {
		return strings.Contains(strings.ToLower(o.Key), strings.ToLower(f.typed))
	})
	if shown && unlisted(f.prompt.Values, a) {
		return false
	}
	f.answer = a
	return true
}

// listed reports whether the question is about categories.
func (p *prompt) listed() bool { return p.Kind == dataset.Categorical && p.Counts == dataset.Plain }

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

// listHeight is the most lines of a list of values. Longer lists scroll, and letters search
// them.
const listHeight = 15

// options lists what a question about categories shows.
func (p *prompt) options() []huh.Option[answer] {
	other := noneOf(p.Values)
	options := []huh.Option[answer]{huh.NewOption("(unknown)", answer{})}
	for _, v := range p.Values {
		spelled := printable(v)
		if v == "" {
			spelled = `""`
		}
		options = append(options, huh.NewOption(spelled, answer{tree.Text(v), v}))
	}
	return append(options, huh.NewOption("(another value)", answer{tree.Text(other), other}))
}

// categoryField asks for a category, in a list of the known ones.
func categoryField(p *prompt, a *answer) huh.Field {
	options := p.options()
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

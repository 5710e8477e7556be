package setting

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Value is a field of a configuration as text: it reads the field's value from text,
// spells it and checks it. It has the methods of a flag.
type Value interface {
	// String spells the value so that Set reads it back.
	String() string
	// Set reads a text. The error says what is wanted instead, and the value stays as it was.
	Set(text string) error
	// Type is the word that stands for a value in the help.
	Type() string
	// Wants says in words what the value may be, such as "a whole number from 1 to 64".
	Wants() string

	empty() bool
	faults() []error // each begins with the value that is wrong
	target() any     // pointer to the field
}

// Check looks at a text. The error says what is wanted instead of it.
type Check func(text string) error

// By is the check of a parser. A parser's error may begin with a name and the quoted
// text, as `algorithm "x": want c45 or cart` does: they are cut off.
func By[T any](parse func(text string) (T, error)) Check {
	return func(text string) error {
		_, err := parse(text)
		if err == nil {
			return nil
		}
		return problem(text, err)
	}
}

// problem returns what a parser's error says beside the quoted text.
func problem(text string, err error) error {
	if _, rest, ok := strings.Cut(err.Error(), strconv.Quote(text)+": "); ok {
		return errors.New(rest)
	}
	return err
}

// Text is a setting of any text that passes the checks.
func Text(to *string, checks ...Check) Value {
	return &text[string]{to: to, checks: checks, wants: "text"}
}

// OneOf is a setting of one of the given names.
func OneOf[T ~string](to *T, names ...string) Value {
	wants := Alternatives(names)
	return &text[T]{to: to, wants: wants, checks: []Check{func(name string) error {
		if !slices.Contains(names, name) {
			return errors.New("want " + wants)
		}
		return nil
	}}}
}

// Alternatives spells a list of names: a, b or c.
func Alternatives(names []string) string {
	n := len(names)
	if n < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
}

type text[T ~string] struct {
	to     *T
	checks []Check
	wants  string
}

func (v *text[T]) String() string        { return string(*v.to) }
func (v *text[T]) Set(text string) error { *v.to = T(text); return nil }
func (v *text[T]) Type() string          { return "string" }
func (v *text[T]) Wants() string         { return v.wants }
func (v *text[T]) empty() bool           { return *v.to == "" }
func (v *text[T]) target() any           { return v.to }

func (v *text[T]) faults() []error { return checked(string(*v.to), v.checks) }

// checked returns what is wrong with a text, behind the text.
func checked(text string, checks []Check) []error {
	var faults []error
	for _, check := range checks {
		if err := check(text); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", Word(text), err))
		}
	}
	return faults
}

// Word returns a text in quotes where it does not read as one word.
func Word(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// Switch is a setting that is true or false.
func Switch(to *bool) Value { return &onOff{to} }

type onOff struct{ to *bool }

func (v *onOff) String() string  { return strconv.FormatBool(*v.to) }
func (v *onOff) Type() string    { return "bool" }
func (v *onOff) Wants() string   { return "true or false" }
func (v *onOff) empty() bool     { return false }
func (v *onOff) faults() []error { return nil }
func (v *onOff) target() any     { return v.to }

// IsBoolFlag tells the flag library that the flag may stand without a value.
func (v *onOff) IsBoolFlag() bool { return true }

func (v *onOff) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("want true or false")
	}
	*v.to = on
	return nil
}

// List is a setting of several texts, each of which passes the checks. As one text they
// are joined by commas.
func List[T ~[]string](to *T, checks ...Check) Value { return ListBy(to, Each(checks...)) }

// Each checks the texts of a list one by one.
func Each(checks ...Check) func(items []string) []error {
	return func(items []string) []error {
		var faults []error
		for _, item := range items {
			faults = append(faults, checked(item, checks)...)
		}
		return faults
	}
}

// ListBy is a setting of several texts that are checked together. The errors of the
// check begin with the text that is wrong.
func ListBy[T ~[]string](to *T, check func(items []string) []error) Value {
	return &list[T]{to: to, check: check}
}

// Repeated is a setting that is given once for each of several texts, which may have
// commas.
func Repeated[T ~[]string](to *T) Value { return &repeated[T]{list[T]{to: to, check: Each()}} }

type list[T ~[]string] struct {
	to    *T
	check func(items []string) []error
	given bool // and no longer the default: a further text adds to the list
}

func (v *list[T]) Type() string  { return "strings" }
func (v *list[T]) Wants() string { return "texts" }
func (v *list[T]) empty() bool   { return len(*v.to) == 0 }
func (v *list[T]) target() any   { return v.to }

func (v *list[T]) faults() []error {
	return v.check(*v.to)
}

// String joins the texts by commas. A text with a comma in it stands in double quotes.
func (v *list[T]) String() string { return joined(*v.to) }

// Set replaces the default by the texts of a line of CSV. Set a second time adds to them:
// a flag may be repeated.
func (v *list[T]) Set(text string) error {
	items, err := cut(text)
	if err == nil {
		v.add(items)
	}
	return err
}

func (v *list[T]) add(items []string) {
	if v.given {
		items = append(*v.to, items...)
	}
	*v.to, v.given = items, true
}

// Append adds a text.
func (v *list[T]) Append(item string) error {
	*v.to = append(*v.to, item)
	return nil
}

// Replace sets the texts.
func (v *list[T]) Replace(items []string) error {
	*v.to, v.given = items, true
	return nil
}

// GetSlice returns the texts.
func (v *list[T]) GetSlice() []string { return *v.to }

type repeated[T ~[]string] struct{ list[T] }

// Type is that of the flag library.
func (v *repeated[T]) Type() string { return "stringArray" }

// Set adds a text as it is.
func (v *repeated[T]) Set(text string) error {
	v.add([]string{text})
	return nil
}

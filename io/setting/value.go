package setting

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Value is a field of a configuration as text: it reads the value from text, spells it and checks
// it. It has the methods of a flag.
type Value interface {
	// String spells the value so that Set reads it back. Package flag also calls it of a Value without a field.
	String() string
	// Set reads a text. The error describes the valid values, and the value stays unchanged.
	Set(text string) error
	// Type is the word that stands for a value in the help.
	Type() string
	// Wants describes the valid values in words, such as "a whole number from 1 to 64".
	Wants() string

	empty() bool
	faults() []error // each begins with the wrong value
	target() any     // pointer to the field
}

// valueOf returns the value of a field, and zero for a nil pointer.
func valueOf[T any](to *T) (value T) {
	if to != nil {
		value = *to
	}
	return value
}

// Check checks a text. The error describes the valid texts.
type Check func(text string) error

// By is the check of a parser. An error of the parser may begin with a name and the quoted text, as
// `algorithm "x": want c45 or cart` does: they are cut off.
func By[T any](parse func(text string) (T, error)) Check {
	return func(text string) error {
		_, err := parse(text)
		if err == nil {
			return nil
		}
		return problem(text, err)
	}
}

// problem returns an error of a parser without the part up to the quoted text.
func problem(text string, err error) error {
	if _, rest, ok := strings.Cut(err.Error(), strconv.Quote(text)+": "); ok {
		return errors.New(rest)
	}
	return err
}

// Text is a setting of any text that passes the checks.
func Text(to *string, checks ...Check) Value { return newText(to, "text", checks) }

// OneOf is a setting of one of the given names.
func OneOf[T ~string](to *T, names ...string) Value {
	wants := Alternatives(names)
	return newText(to, wants, []Check{func(name string) error {
		if !slices.Contains(names, name) {
			return errors.New("want " + wants)
		}
		return nil
	}})
}

func newText[T ~string](to *T, wants string, checks []Check) Value {
	return &typed[T]{
		to: to, wants: wants, checks: checks, parse: func(text string) (T, error) { return T(text), nil },
		spell: func(text T) string { return string(text) },
	}
}

// Alternatives spells a list of names: a, b or c.
func Alternatives(names []string) string {
	n := len(names)
	if n < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
}

// checked returns what is wrong with a text, each preceded by the text.
func checked(text string, checks []Check) []error {
	var faults []error
	for _, check := range checks {
		if err := check(text); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", Word(text), err))
		}
	}
	return faults
}

// Word returns a text, in quotes if it does not read as a single word.
func Word(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// Switch is a setting that is true or false.
func Switch(to *bool) Value { return &onOff{to} }

type onOff struct{ to *bool }

func (v *onOff) String() string  { return strconv.FormatBool(valueOf(v.to)) }
func (v *onOff) Type() string    { return "bool" }
func (v *onOff) Wants() string   { return "true or false" }
func (v *onOff) empty() bool     { return false }
func (v *onOff) faults() []error { return nil }
func (v *onOff) target() any     { return v.to }

// IsBoolFlag tells the flag library that the flag may be given without a value.
func (v *onOff) IsBoolFlag() bool { return true }

func (v *onOff) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("want true or false")
	}
	*v.to = on
	return nil
}

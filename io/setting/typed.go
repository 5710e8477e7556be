package setting

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ItemError is the error for a text, possibly an item of a list, that is not a value of the
// setting.
type ItemError struct {
	Item string
	Err  error // describes the valid values
}

// Error implements error.
func (e *ItemError) Error() string { return e.Err.Error() }

// Unwrap returns the description of the valid values.
func (e *ItemError) Unwrap() error { return e.Err }

// fault is the last text that a value of a custom type has refused. Set accepts such a text without
// an error, so that all faults of a configuration are reported at once: see Refused.
type fault struct{ refused *ItemError }

// note records the error for a text, or that the text is valid.
func (f *fault) note(text string, err error) {
	item := new(ItemError)
	switch {
	case err == nil:
		f.refused = nil
	case errors.As(err, &item):
		f.refused = item
	default:
		f.refused = &ItemError{text, problem(text, err)}
	}
}

func (f *fault) faults() []error {
	if f.refused == nil {
		return nil
	}
	return []error{fmt.Errorf("%s: %w", Word(f.refused.Item), f.refused.Err)}
}

// err returns the description of the valid values, if a text was refused; nil otherwise.
func (f *fault) err() error {
	if f.refused == nil {
		return nil
	}
	return f.refused.Err
}

// Refused returns the fault of a text to which a value was set in vain; nil if absent.
func Refused(v Value) error {
	if f, ok := v.(interface{ err() error }); ok && f.err() != nil {
		return v.faults()[0]
	}
	return nil
}

// Typed is a setting of a custom type, as text. wants describes the valid texts; if it is empty,
// the error of parse does. The errors of parse may have the form described at By.
func Typed[T any](to *T, wants string, parse func(text string) (T, error), spell func(T) string) Value {
	if wants == "" {
		wants = "text"
	}
	return &typed[T]{to: to, wants: wants, parse: parse, spell: spell}
}

// Named is a setting of a type with named values. The empty text is the zero value.
func Named[T interface {
	comparable
	fmt.Stringer
}](to *T, parse func(name string) (T, error),
) Value {
	var zero T
	return Typed(to, "", func(name string) (T, error) {
		if name == "" {
			return zero, nil
		}
		return parse(name)
	}, func(x T) string {
		if x == zero {
			return ""
		}
		return x.String()
	})
}

type typed[T any] struct {
	fault

	to     *T
	wants  string
	parse  func(string) (T, error)
	spell  func(T) string
	checks []Check
}

func (v *typed[T]) Type() string  { return "string" }
func (v *typed[T]) Wants() string { return v.wants }
func (v *typed[T]) empty() bool   { return v.String() == "" }
func (v *typed[T]) target() any   { return v.to }
func (v *typed[T]) encode() any   { return v.String() }

func (v *typed[T]) String() string {
	if v.to == nil {
		return ""
	}
	return v.spell(*v.to)
}

func (v *typed[T]) faults() []error {
	return append(v.fault.faults(), checked(v.String(), v.checks)...)
}

func (v *typed[T]) decode(raw []byte) error {
	if err := setText(v, raw); err != nil {
		return err
	}
	return v.err()
}

// Set sets the value, which stays unchanged if the text is refused.
func (v *typed[T]) Set(text string) error {
	x, err := v.parse(text)
	if err == nil {
		*v.to = x
	}
	v.note(text, err)
	return nil
}

// setText sets a value to a text in JSON; null leaves it unchanged.
func setText(v Value, raw []byte) error {
	var text *string
	switch {
	case json.Unmarshal(raw, &text) != nil:
		return errors.New("want " + v.Wants())
	case text == nil: // null
		return nil
	default:
		return v.Set(*text)
	}
}

// Unchecked is a setting whose value is not checked by Faults, but by its owner.
func Unchecked(v Value) Value { return unchecked{v} }

type unchecked struct{ Value }

func (unchecked) faults() []error { return nil }
func (v unchecked) String() string {
	if v.Value == nil {
		return ""
	}
	return v.Value.String()
}

// Choices is a setting of several values, such as ListOf. In JSON a single value may be given
// without a list, and numbers are numbers.
// others are further fields that the texts set.
func Choices[T any](to *T, parse func(items []string) (T, error), spell func(T) []string, others ...any) Value {
	return &listOf[T]{to: to, parse: parse, spell: spell, bare: true, others: others}
}

// Amended is Choices for texts that change only the parts of the value that they name: the value is not replaced. parse
// changes others itself, and spell leaves out the parts of the default that no text has named.
func Amended[T any](to *T, parse func(items []string) (T, error), spell func(T) []string, others ...any) Value {
	return &listOf[T]{to: to, parse: parse, spell: spell, bare: true, others: others, amends: true}
}

// Amends reports whether a text changes only the parts of a value that it names.
func Amends(v Value) bool {
	list, ok := v.(interface{ amend() bool })
	return ok && list.amend()
}

// IsList reports whether a value is a list of texts, such as names of columns, which may have none.
func IsList(v Value) bool {
	_, ok := v.target().(*[]string)
	return ok
}

// ListOf is a setting of a custom type that is spelled as several texts.
func ListOf[T any](to *T, parse func(items []string) (T, error), spell func(T) []string) Value {
	return &listOf[T]{to: to, parse: parse, spell: spell}
}

// EachBy returns the parser of a list whose items are parsed by a function. A list that consists of
// the word alone has no items. A list without items is nil.
func EachBy[T any](word string, parse func(text string) (T, error)) func(items []string) ([]T, error) {
	return func(items []string) ([]T, error) {
		if len(items) == 0 || word != "" && slices.Equal(items, []string{word}) {
			return nil, nil
		}
		values := make([]T, len(items))
		for i, text := range items {
			x, err := parse(text)
			if err != nil {
				return nil, &ItemError{text, problem(text, err)}
			}
			values[i] = x
		}
		return values, nil
	}
}

// SpellEach returns a function that spells the items of a list; an empty list is spelled as the
// word.
func SpellEach[T any](word string, spell func(T) string) func([]T) []string {
	return func(values []T) []string {
		if len(values) == 0 && word != "" {
			return []string{word}
		}
		var items []string
		for _, x := range values {
			items = append(items, spell(x))
		}
		return items
	}
}

// List is a setting of several texts, each of which passes the checks.
func List[T ~[]string](to *T, checks ...Check) Value { return newList(to, checks) }

func newList[T ~[]string](to *T, checks []Check) *listOf[T] {
	return &listOf[T]{
		to: to, checks: checks, parse: func(items []string) (T, error) { return items, nil },
		spell: func(texts T) []string { return texts },
	}
}

// Repeated is a setting that is given once for each of several texts, which may contain commas.
func Repeated[T ~[]string](to *T) Value { return &repeated[T]{newList(to, nil)} }

// RepeatedOf is ListOf for a setting that is given once for each of several texts, which may contain commas. others are
// further fields that the texts set.
func RepeatedOf[T any](to *T, parse func(items []string) (T, error), spell func(T) []string, others ...any) Value {
	return &repeated[T]{&listOf[T]{to: to, parse: parse, spell: spell, others: others}}
}

type listOf[T any] struct {
	fault

	to     *T
	parse  func([]string) (T, error)
	spell  func(T) []string
	checks []Check // for each text
	bare   bool    // whether a single value may be given without a list in JSON
	given  bool    // whether a value was given, so that a further text adds to the list
	amends bool    // whether parse adds texts to the value
	others []any   // further fields that parse sets
}

func (v *listOf[T]) Type() string       { return "strings" }
func (v *listOf[T]) Wants() string      { return "texts" }
func (v *listOf[T]) empty() bool        { return len(v.GetSlice()) == 0 }
func (v *listOf[T]) target() any        { return v.to }
func (v *listOf[T]) targets() []any     { return append([]any{v.to}, v.others...) }
func (v *listOf[T]) GetSlice() []string { return v.spell(*v.to) }
func (v *listOf[T]) amend() bool        { return v.amends }

func (v *listOf[T]) faults() []error {
	faults := v.fault.faults()
	for _, text := range v.GetSlice() {
		faults = append(faults, checked(text, v.checks)...)
	}
	return faults
}

// String joins the texts by commas. A text with a comma is in double quotes.
func (v *listOf[T]) String() string {
	if v == nil || v.to == nil {
		return ""
	}
	return Join(v.GetSlice())
}

// Set replaces the default by the texts in a line of CSV. Setting the value again adds to them.
func (v *listOf[T]) Set(text string) error {
	items, err := Cut(text)
	if err != nil {
		return err
	}
	return v.add(items)
}

func (v *listOf[T]) add(items []string) error {
	if v.given && !v.amends {
		items = append(v.GetSlice(), items...)
	}
	return v.Replace(items)
}

// Append adds a text.
func (v *listOf[T]) Append(item string) error {
	if v.amends {
		return v.Replace([]string{item})
	}
	return v.Replace(append(v.GetSlice(), item))
}

// Replace sets the texts, or amends the value by them. The value stays unchanged if they are refused.
func (v *listOf[T]) Replace(items []string) error {
	x, err := v.parse(items)
	if err == nil {
		*v.to = x
		v.given = true
	}
	v.note(Join(items), err)
	return nil
}

func (v *listOf[T]) encode() any {
	items := v.GetSlice()
	if !v.bare {
		return items
	}
	values := make([]any, len(items))
	for i, text := range items {
		values[i] = text
		if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
			values[i] = x
		}
	}
	if len(values) == 1 {
		return values[0]
	}
	return values
}

func (v *listOf[T]) decode(raw []byte) error {
	var items []string
	var list []json.RawMessage
	switch {
	case !v.bare && json.Unmarshal(raw, &items) == nil:
	case !v.bare:
		if err := setText(v, raw); err != nil {
			return err
		}
		return v.err()
	case json.Unmarshal(raw, &list) != nil:
		list = []json.RawMessage{raw}
	}
	for _, one := range list {
		var number json.Number
		var text string
		if json.Unmarshal(one, &number) == nil {
			text = number.String()
		} else if json.Unmarshal(one, &text) != nil {
			return fmt.Errorf("%s: want a text, a number or a list of them", one)
		}
		items = append(items, text)
	}
	_ = v.Replace(items) // notes a fault
	return v.err()
}

type repeated[T any] struct{ *listOf[T] }

// Type returns the name of the type in the flag library.
func (v *repeated[T]) Type() string { return "stringArray" }

// Set adds a text unchanged.
func (v *repeated[T]) Set(text string) error { return v.add([]string{text}) }

// Table is a setting of a text, such as the name of a file. In JSON it may also be an object with
// the values of such a file. values are pointers to the values by key; others are further fields
// that the text sets.
func Table(text Value, values map[string]any, others ...any) Value {
	return &table{text, values, others}
}

type table struct {
	Value

	values map[string]any
	others []any
}

func (v *table) String() string {
	if v.Value == nil {
		return ""
	}
	return v.Value.String()
}

func (v *table) targets() []any {
	list := []any{v.target()}
	for _, key := range slices.Sorted(maps.Keys(v.values)) {
		list = append(list, v.values[key])
	}
	return append(list, v.others...)
}

func (v *table) encode() any {
	values := make(map[string]any)
	for key, to := range v.values {
		if reflect.ValueOf(to).Elem().Len() > 0 {
			values[key] = to
		}
	}
	if len(values) == 0 || v.String() != "" { // a file may have been read
		return v.String()
	}
	return values
}

func (v *table) decode(raw []byte) error {
	if setText(v.Value, raw) == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	var members map[string]json.RawMessage
	if d.Decode(&members) != nil {
		return errors.New("want a text or an object of values")
	}
	for key, value := range members {
		to, known := v.values[key]
		if !known {
			return fmt.Errorf("unknown key %q", key)
		}
		if err := json.Unmarshal(value, to); err != nil {
			return err
		}
	}
	return nil
}

// Join joins texts by commas. A text with a comma is in double quotes.
func Join(items []string) string {
	switch {
	case len(items) == 0:
		return ""
	case len(items) == 1 && items[0] == "": // CSV would spell it as an empty list
		return `""`
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(items) // a Builder has no errors; Flush has none either
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// Cut splits a line of CSV into its texts.
func Cut(text string) ([]string, error) {
	if text == "" {
		return []string{}, nil
	}
	items, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil {
		return nil, errors.New("want values separated by commas; one with a comma in it stands in double quotes")
	}
	return items, nil
}

package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DataError is an error of the input data. Error joins the fields into one sentence, and
// leaves out empty ones.
type DataError struct {
	File     string `json:"file,omitempty"`
	RowGroup *int   `json:"row_group,omitempty"`
	Column   string `json:"column,omitempty"`
	Value    string `json:"value,omitempty"`
	Bytes    int    `json:"bytes,omitempty"` // length of the value, if Value is only its beginning
	Problem  string `json:"problem"`         // the fault, and the expected data
	Hint     string `json:"hint,omitempty"`  // the remedy
}

// WithHint sets the hint of the DataError in err, if it has none, and returns err.
func WithHint(err error, hint string) error {
	var e *DataError
	if errors.As(err, &e) && e.Hint == "" {
		e.Hint = hint
	}
	return err
}

// ReplaceHint sets the hint of a *DataError, whatever it has.
func ReplaceHint(err error, hint string) error {
	var e *DataError
	if errors.As(err, &e) {
		e.Hint = hint
	}
	return err
}

// maxShownValue bounds the bytes of an offending value in a message.
const maxShownValue = 80

// Error returns one sentence: place, problem, value, hint.
func (e *DataError) Error() string {
	var place []string
	if e.File != "" {
		place = append(place, e.File)
	}
	if e.RowGroup != nil {
		place = append(place, fmt.Sprintf("row group %d", *e.RowGroup))
	}
	if e.Column != "" {
		place = append(place, fmt.Sprintf("column %q", e.Column))
	}
	s := strings.Join(place, ", ")
	if s != "" {
		s += ": "
	}
	s += e.Problem
	if e.Value != "" {
		v := shorten(*e)
		if v.Bytes > len(v.Value) {
			v.Value = fmt.Sprintf("%s... (%d bytes)", v.Value, v.Bytes)
		}
		s += fmt.Sprintf(" (value %q)", v.Value)
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// shorten keeps the beginning of a long value.
func shorten(e DataError) DataError {
	if len(e.Value) <= maxShownValue {
		return e
	}
	e.Bytes = max(e.Bytes, len(e.Value))
	end := maxShownValue
	for end > maxShownValue-utf8.UTFMax && !utf8.RuneStart(e.Value[end]) {
		end--
	}
	e.Value = e.Value[:end]
	return e
}

// errorMark opens the machine-readable line of a DataError inside the text of another
// error. Beam pipelines keep the text of errors, but not their types.
const errorMark = "espalier-data-error:"

// MarshalText returns a machine-readable line, which ParseError finds in any text.
func (e *DataError) MarshalText() ([]byte, error) {
	c := shorten(*e)
	type plain DataError
	b, err := json.Marshal((*plain)(&c))
	if err != nil {
		return nil, err
	}
	return append([]byte(errorMark), b...), nil
}

// ParseError returns the first DataError written by MarshalText in a text.
func ParseError(text string) (*DataError, bool) {
	_, rest, ok := strings.Cut(text, errorMark)
	if !ok {
		return nil, false
	}
	type plain DataError
	var e plain
	err := json.NewDecoder(strings.NewReader(rest)).Decode(&e)
	return (*DataError)(&e), err == nil
}

// NullLabel returns the error for a row without a label. row identifies the row.
func NullLabel(column, row, hint string) *DataError {
	return &DataError{Column: column, Problem: "the label of " + row + " is null, expected a class", Hint: hint}
}

// WeightError returns the error for the weight of a row. row identifies the row, and fault
// describes what is wrong.
func WeightError(column, value, row, fault, hint string) *DataError {
	return &DataError{Column: column, Value: value, Problem: "the weight of " + row + " " + fault, Hint: hint}
}

package dataset

import (
	"encoding/json"
	"fmt"
	"strings"
)

// DataError says that the data broke the contract: where, what was found and
// what was expected. Empty fields are left out of the sentence.
type DataError struct {
	File     string `json:"file,omitempty"`
	RowGroup *int   `json:"row_group,omitempty"`
	Column   string `json:"column,omitempty"`
	Value    string `json:"value,omitempty"`
	Problem  string `json:"problem"`        // what was found and what was expected
	Hint     string `json:"hint,omitempty"` // what the user can do
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
		v := e.Value
		if len(v) > maxShownValue {
			v = fmt.Sprintf("%s... (%d bytes)", v[:maxShownValue], len(v))
		}
		s += fmt.Sprintf(" (value %q)", v)
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// errorMark opens the machine-readable line of a DataError inside the text of
// another error. Beam loses the types of errors on their way out of a
// pipeline, the text survives.
const errorMark = "espalier-data-error:"

// MarshalText returns the line that ParseError finds again in any text.
func (e *DataError) MarshalText() ([]byte, error) {
	c := *e
	if len(c.Value) > 2*maxShownValue {
		c.Value = c.Value[:2*maxShownValue]
	}
	type plain DataError
	b, err := json.Marshal((*plain)(&c))
	if err != nil {
		return nil, err
	}
	return append([]byte(errorMark), b...), nil
}

// ParseError finds the first DataError that MarshalText wrote into the text.
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

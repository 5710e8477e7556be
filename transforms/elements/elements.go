// Package elements has the forms of what the DoFns of packages transforms and jobs send each other, and counts their
// work. It is not meant for other programs.
package elements

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/usage"
)

// CounterNamespace is the namespace of Espalier's Beam counters.
const CounterNamespace = "espalier"

// ErrValue says that a value was not sent by a DoFn of the same job.
var ErrValue = errors.New("elements: not a value of this job")

// Collect lists all values of a key.
func Collect(values func(*[]byte) bool) [][]byte {
	var list [][]byte
	var b []byte
	for values(&b) {
		list = append(list, b)
		b = nil
	}
	return list
}

// MustJSON encodes a value of numbers, texts and lists, which cannot fail.
func MustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // plain structs of texts and numbers
		panic(err)
	}
	return b
}

// Carry prepares an error for a runner, which only keeps the text of an error. If err is a
// dataset.DataError, the text is its machine-readable line, for dataset.ParseError, and its sentence, for people who read
// the log. A fault for a person, such as a missing permission, is marked, for usage.Marked.
func Carry(err error) error {
	var e *dataset.DataError
	if !errors.As(err, &e) {
		return usage.Mark(err)
	}
	line, failed := e.MarshalText()
	if failed != nil {
		return err
	}
	return fmt.Errorf("%s\n%w", line, e)
}

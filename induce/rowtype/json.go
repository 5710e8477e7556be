package rowtype

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/naming"
)

// DecodeJSON reads a single JSON value into v. Numbers keep their digits, as json.Number.
func DecodeJSON(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows it")
	}
	return nil
}

// longName is the length in bytes above which an error proposes no similar name: the time to find
// one grows with the length.
const longName = 100

// Unknown returns the errors of the first names that are not the names of columns; nil without names.
func Unknown(names, columns []string) error {
	var faults []error
	for _, name := range first(names) {
		e := &dataset.DataError{Column: name, Problem: fmt.Sprintf("no column has this name, only %q", first(columns))}
		if len(name) <= longName {
			if near := naming.Nearest(name, columns); near != "" {
				e.Hint = fmt.Sprintf("did you mean %q?", near)
			}
		}
		faults = append(faults, e)
	}
	return errors.Join(faults...)
}

// mostNames is the greatest number of names that an error lists.
const mostNames = 20

// first returns the first names in alphabetical order, as many as an error lists.
func first(names []string) []string {
	names = slices.Sorted(slices.Values(names))
	return names[:min(len(names), mostNames)]
}

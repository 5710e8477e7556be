package jobs

import (
	"errors"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Carry puts the machine-readable line of a data error into the text of what a
// DoFn returns: runners keep an error's text, not its type.
func Carry(err error) error {
	var e *dataset.DataError
	if !errors.As(err, &e) {
		return err
	}
	line, failed := e.MarshalText()
	if failed != nil {
		return err
	}
	return errors.New(string(line))
}

package jobs

import (
	"errors"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Carry prepares an error for a runner, which keeps only the text of an error. If err is a
// dataset.DataError, the text is its machine-readable line, for dataset.ParseError.
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

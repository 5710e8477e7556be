package parquetio

import (
	"context"
	"errors"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// fault returns an error without its place, which the caller adds.
func fault(problem, hint string) *dataset.DataError {
	return &dataset.DataError{Problem: problem, Hint: hint}
}

// damage returns a fault of a file with contradictions.
func damage(format string, args ...any) *dataset.DataError {
	return fault("the column is damaged: "+fmt.Sprintf(format, args...), hintDamaged)
}

// placeFetch adds the place to a fault of the data, and leaves a fault of the storage
// unchanged.
func (g *rowGroup) placeFetch(column int, err error) error {
	if e := (*dataset.DataError)(nil); errors.As(err, &e) {
		return g.place(column, e)
	}
	return err
}

// place turns an error of decoding into a DataError with its place. A canceled context
// stays as it is.
func (g *rowGroup) place(column int, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var e *dataset.DataError
	if !errors.As(err, &e) {
		e = damage("%v", err)
	}
	e.File = g.file.URL
	e.RowGroup = &g.number
	e.Column = g.file.columns[column].Name
	return e
}

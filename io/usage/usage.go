// Package usage has the errors of a command, its settings and its output. An error names the
// setting, the expected value and the remedy. It is not meant for other programs.
package usage

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Error says that a command or its configuration cannot be carried out.
type Error struct{ Problem string }

// Error returns the problem.
func (e *Error) Error() string { return e.Problem }

// Errorf returns an Error of a formatted problem.
func Errorf(format string, args ...any) error {
	return &Error{Problem: fmt.Sprintf(format, args...)}
}

// All makes one usage error of several faults, on one line.
func All(faults []error) error {
	var texts []string
	for _, err := range faults {
		texts = append(texts, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return &Error{Problem: strings.Join(texts, "; ")}
}

// outputMark opens the text of a worker's error on its output. A pipeline keeps the text of
// an error, but not its type.
const outputMark = "espalier-output-fault:"

// MarkOutput marks an error of a worker as a fault of its output. A fault of the input and
// the end of the run are returned as they are.
func MarkOutput(err error) error {
	if err == nil || errors.As(err, new(*dataset.DataError)) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errors.New(outputMark + strconv.Quote(err.Error()))
}

// MarkedOutput finds the mark of MarkOutput in the error of a runner.
func MarkedOutput(err error) (*Error, bool) {
	_, rest, ok := strings.Cut(err.Error(), outputMark)
	if !ok {
		return nil, false
	}
	quoted, _ := strconv.QuotedPrefix(rest) // empty if the text was cut
	text, damaged := strconv.Unquote(quoted)
	return &Error{Problem: "--output: " + text}, damaged == nil
}

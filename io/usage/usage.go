// Package usage has the errors of a command, its settings and its output. An error names the
// setting, the expected value and the remedy. It is not meant for other programs.
package usage

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Error is the error if a command or its configuration cannot be carried out.
type Error struct {
	Setting string // the setting at fault; empty: several, or none
	Problem string // the text after the setting, including the separator
}

// Error returns the setting as its flag, and the problem.
func (e *Error) Error() string {
	if e.Setting == "" {
		return e.Problem
	}
	return "--" + e.Setting + e.Problem
}

// leading matches the flag at the beginning of a format.
var leading = regexp.MustCompile(`^--([a-z_]+)([ :].*)$`)

// Errorf returns an Error of a formatted problem. A flag at the beginning of the format is its setting.
func Errorf(format string, args ...any) error {
	if parts := leading.FindStringSubmatch(format); parts != nil {
		return &Error{Setting: parts[1], Problem: fmt.Sprintf(parts[2], args...)}
	}
	return &Error{Problem: fmt.Sprintf(format, args...)}
}

// Renamed returns an error about a setting as an error about another setting, by which a verb sets
// the first.
func Renamed(err error, from, to string) error {
	var e *Error
	if errors.As(err, &e) && e.Setting == from {
		return &Error{Setting: to, Problem: e.Problem}
	}
	return err
}

// All makes one usage error of faults, on one line; nil without faults.
func All(faults []error) error {
	if len(faults) == 0 {
		return nil
	}
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
	return &Error{Setting: "output", Problem: ": " + text}, damaged == nil
}

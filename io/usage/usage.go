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

	nature Nature // the nature of the cause; Internal: there is no cause, or it has no nature
}

// Error returns the setting as its flag, and the problem.
func (e *Error) Error() string {
	if e.Setting == "" {
		return e.Problem
	}
	return "--" + e.Setting + e.Problem
}

// Nature implements Natured.
func (e *Error) Nature() Nature {
	if e.nature == Internal {
		return Usage
	}
	return e.nature
}

// leading matches the flag at the beginning of a format.
var leading = regexp.MustCompile(`(?s)^--([a-z_]+)([ :].*)$`)

// split separates the flag at the beginning of a text from the problem.
func split(text string) *Error {
	if parts := leading.FindStringSubmatch(text); parts != nil {
		return &Error{Setting: parts[1], Problem: parts[2]}
	}
	return &Error{Problem: text}
}

// Errorf returns an Error of a formatted problem. A flag at the beginning of the format is its setting. Its nature is
// the nature of an error among args, if one has a nature.
func Errorf(format string, args ...any) error { return errorf(format, args) }

func errorf(format string, args []any) *Error {
	e := split(format)
	e.Problem = fmt.Sprintf(e.Problem, args...)
	for _, arg := range args {
		if cause, ok := arg.(error); ok && e.nature == Internal {
			e.nature, _ = innermost(cause)
		}
	}
	return e
}

// Later returns an Error whose cause goes away without a person, such as another run at work.
func Later(format string, args ...any) error {
	e := errorf(format, args)
	e.nature = TryAgain
	return e
}

// Reworded returns an error about settings in other words, with the same nature.
func Reworded(err error, problem string) error {
	return &Error{Problem: problem, nature: NatureOf(err)}
}

// Renamed returns an error about a setting as an error about another setting, by which a verb sets
// the first.
func Renamed(err error, from, to string) error {
	var e *Error
	if errors.As(err, &e) && e.Setting == from {
		return &Error{Setting: to, Problem: e.Problem, nature: e.nature}
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
	return &Error{Problem: strings.Join(texts, "; "), nature: natureOf(faults)}
}

// natureOf returns the nature of several faults. A fault that needs a person comes first.
func natureOf(faults []error) Nature {
	last := Internal
	for _, err := range faults {
		n, _ := innermost(err)
		if n == Internal || n == Usage {
			return Usage
		}
		last = n
	}
	return last
}

// OfOutput returns an error of a worker as a fault of its output. A fault of the input, a fault that goes away without a
// person and the end of the run are returned as they are.
func OfOutput(err error) error {
	if err == nil || errors.As(err, new(*dataset.DataError)) || NatureOf(err) == TryAgain || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{Setting: "output", Problem: ": " + err.Error()}
}

// mark opens the text of a marked error.
const mark = "espalier-usage-fault:"

// Mark prepares an error of a worker for a pipeline, which keeps the text of an error, but not its type: Marked finds an
// error of the nature Usage again. Other errors are returned as they are.
func Mark(err error) error {
	if err == nil || NatureOf(err) != Usage {
		return err
	}
	return errors.New(mark + strconv.Quote(err.Error()))
}

// Marked finds an error that Mark has prepared in the error of a runner.
func Marked(err error) (*Error, bool) {
	_, rest, ok := strings.Cut(err.Error(), mark)
	if !ok {
		return nil, false
	}
	quoted, _ := strconv.QuotedPrefix(rest) // empty if the text was cut
	text, damaged := strconv.Unquote(quoted)
	return split(text), damaged == nil
}

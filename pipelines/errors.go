package pipelines

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/pipelines/setting"
)

// UsageError says that a command or its configuration cannot be carried out.
type UsageError struct{ Problem string }

// Error returns the problem.
func (e *UsageError) Error() string { return e.Problem }

func usagef(format string, args ...any) error {
	return &UsageError{Problem: fmt.Sprintf(format, args...)}
}

// allFaults makes one usage error of several faults, on one line.
func allFaults(faults []error) error {
	var texts []string
	for _, err := range faults {
		texts = append(texts, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return &UsageError{Problem: strings.Join(texts, "; ")}
}

// InterruptedError says that a run was interrupted and can be resumed.
type InterruptedError struct {
	Checkpoints string // folder from which --resume goes on
	Err         error
}

// Error says where the checkpoints are.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("%v; its checkpoints stay in %s", e.Err, e.Checkpoints)
}

// Unwrap returns what has ended the run.
func (e *InterruptedError) Unwrap() error { return e.Err }

// orInterrupted returns why a context has ended in place of an error that came after
// the end: whatever failed then, in whatever words, did so for want of the context.
func orInterrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.As(err, new(*InterruptedError)) {
		return err
	}
	return context.Cause(ctx)
}

// RunnerError says that a job failed for other reasons than the data.
type RunnerError struct {
	Job, Runner string
	Err         error
}

// Error names the job and the runner.
func (e *RunnerError) Error() string {
	return fmt.Sprintf("the job %q failed on the runner %q: %v", e.Job, e.Runner, cause(e.Err))
}

// cause cuts the runner's own words off an error's text: they name the whole
// pipeline before the one line that matters.
func cause(err error) string {
	text := err.Error()
	if workerEnded(text) {
		return "a worker process ended without a word: killed, or out of memory? Give workers more memory, or lower --parallelism, --memory_objects or --histogram_memory"
	}
	text = afterLast(text, "caused by:")
	if head, rest, ok := strings.Cut(strings.TrimSpace(text), "\n"); ok && strings.HasPrefix(head, "DoFn[") {
		text = rest
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "panic: ") {
		text, _, _ = strings.Cut(text, "\n") // the stack is in the engine's log
	}
	return text
}

// workerEnded recognises how Beam's Java engines tell that a worker's connection
// or its process has ended.
func workerEnded(text string) bool {
	return strings.Contains(text, "StatusRuntimeException: CANCELLED: ") || strings.Contains(text, "Process died with exit code")
}

// afterLast returns what follows the last sep in s, or s.
func afterLast(s, sep string) string {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[i+len(sep):]
	}
	return s
}

// Unwrap returns what the runner returned.
func (e *RunnerError) Unwrap() error { return e.Err }

// maxHinted is the number of names that a hint lists.
const maxHinted = 8

// Hint proposes the name that was meant, else says which ones there are.
func Hint(name string, names []string) string {
	if near := setting.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if len(names) == 0 {
		return ""
	}
	listed := make([]string, min(maxHinted, len(names)))
	for i := range listed {
		listed[i] = strconv.Quote(names[i])
	}
	if more := len(names) - len(listed); more > 0 {
		listed = append(listed, fmt.Sprintf("%d more", more))
	}
	return "; there are " + strings.Join(listed, ", ")
}

// unknownColumn is the error for a column named in a flag that no file has.
func unknownColumn(flag, name string, columns []string) error {
	return usagef("--%s: no input file has a column %q%s", flag, name, Hint(name, columns))
}

// outputMark opens what a worker says of an output that it cannot write: the type of an
// error does not survive the way out of a pipeline, its text does.
const outputMark = "espalier-output-fault:"

// outputFault marks what goes wrong with an output in a worker. Faults of the input and
// the end of the run stay what they are.
func outputFault(err error) error {
	if err == nil || errors.As(err, new(*dataset.DataError)) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errors.New(outputMark + strconv.Quote(err.Error()))
}

// asOutputFault finds the mark of outputFault in the error of a runner.
func asOutputFault(err error) (*UsageError, bool) {
	_, rest, ok := strings.Cut(err.Error(), outputMark)
	if !ok {
		return nil, false
	}
	quoted, _ := strconv.QuotedPrefix(rest) // empty if the text was cut
	text, damaged := strconv.Unquote(quoted)
	return &UsageError{Problem: "--output: " + text}, damaged == nil
}

// asDataError finds a data error in what a runner returned.
func asDataError(err error) (*dataset.DataError, bool) {
	var e *dataset.DataError
	if errors.As(err, &e) {
		return e, true
	}
	return dataset.ParseError(err.Error())
}

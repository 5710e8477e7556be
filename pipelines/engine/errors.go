package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// RunnerError is the error of a job that failed for reasons other than the data.
type RunnerError struct {
	Job, Runner string
	Err         error
}

// Error names the job and the runner.
func (e *RunnerError) Error() string {
	return fmt.Sprintf("the job %q failed on the runner %q: %v", e.Job, e.Runner, cause(e.Err))
}

// Unwrap returns the error of the runner.
func (e *RunnerError) Unwrap() error { return e.Err }

// cause cuts a runner's error to the reason of the failure. Runners put a long
// description of the whole pipeline before it.
func cause(err error) string {
	text := err.Error()
	if workerEnded(text) {
		return "a worker process ended without a word: killed, or out of memory? Give workers more memory, " +
			"or lower --parallelism, --memory_objects or --histogram_memory"
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

// workerEnded reports whether an error of Beam's Java engines means that the connection to a worker
// or its process has ended.
func workerEnded(text string) bool {
	return strings.Contains(text, "StatusRuntimeException: CANCELLED: ") ||
		strings.Contains(text, "Process died with exit code")
}

// afterLast returns the text after the last sep in s, or all of s if it has no sep.
func afterLast(s, sep string) string {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[i+len(sep):]
	}
	return s
}

// asDataError finds a data error in the error of a runner, by its type or by its text.
func asDataError(err error) (*dataset.DataError, bool) {
	var e *dataset.DataError
	if errors.As(err, &e) {
		return e, true
	}
	return dataset.ParseError(err.Error())
}

// OrInterrupted returns the cause of a context's end in place of an error that came after
// the end: work that fails then fails because the context has ended.
func OrInterrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.As(err, new(*InterruptedError)) {
		return err
	}
	return context.Cause(ctx)
}

// InterruptedError is the error of a run that was interrupted and can be resumed.
type InterruptedError struct {
	Checkpoints string // folder that --resume reads
	Err         error
}

// Error names the folder of the checkpoints.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("%v; its checkpoints stay in %s", e.Err, e.Checkpoints)
}

// Unwrap returns the cause of the interrupt.
func (e *InterruptedError) Unwrap() error { return e.Err }

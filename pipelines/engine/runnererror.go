package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// RunnerError says that a job failed for other reasons than the data.
type RunnerError struct {
	Job, Runner string
	Err         error
}

// Error names the job and the runner.
func (e *RunnerError) Error() string {
	return fmt.Sprintf("the job %q failed on the runner %q: %v", e.Job, e.Runner, cause(e.Err))
}

// Unwrap returns what the runner returned.
func (e *RunnerError) Unwrap() error { return e.Err }

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

// asDataError finds a data error in what a runner returned.
func asDataError(err error) (*dataset.DataError, bool) {
	var e *dataset.DataError
	if errors.As(err, &e) {
		return e, true
	}
	return dataset.ParseError(err.Error())
}

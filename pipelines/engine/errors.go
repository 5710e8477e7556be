package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/usage"
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

// Nature implements usage.Natured: workers and their hosts come and go, but a panic comes again.
func (e *RunnerError) Nature() usage.Nature {
	if e.Panicked() {
		return usage.Internal
	}
	return usage.TryAgain
}

// Panicked reports whether the work of the job has panicked. Beam's emitters also panic, with the error of a connection that
// has ended; such a panic does not count.
func (e *RunnerError) Panicked() bool {
	text := cause(e.Err)
	return strings.HasPrefix(text, "panic: ") && !strings.Contains(text, "rpc error:") && !strings.Contains(text, "context canceled")
}

// Unwrap returns the error of the runner.
func (e *RunnerError) Unwrap() error { return e.Err }

// cause cuts a runner's error to the reason of the failure. Runners put a long
// description of the whole pipeline before it.
func cause(err error) string {
	text := err.Error()
	if how := workerEnd(text); how != "" {
		return how
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

// diedAtStart is what Beam's Java engines say of a worker process that has ended before it has connected.
var diedAtStart = regexp.MustCompile(`Process died with exit code (\d+)`)

// workerEnd returns how a worker process has ended, if that is the error of one of Beam's Java engines; else
// the empty text. Engines neither keep what a worker prints, nor how it ends once it has connected.
func workerEnd(text string) string {
	const memory = "Give workers more memory, or lower --parallelism, --memory_objects or --histogram_memory"
	if strings.Contains(text, "StatusRuntimeException: CANCELLED: ") {
		return "a worker process ended at work, without a word: killed, or out of memory? " + memory
	}
	if strings.Contains(text, "java.io.IOException: error=2,") {
		return "a host of the engine does not have the program that it should start as a worker: " +
			"with --environment_type PROCESS it is at the same path on all hosts"
	}
	code := diedAtStart.FindStringSubmatch(text)
	if code == nil {
		return ""
	}
	hint := "run it on a host of the engine to see what it prints"
	switch code[1] {
	case "0":
		hint = "its main returned, so it did not call worker.Main first"
	case "2":
		hint = "it panicked, or it read its flags before it called worker.Main"
	case "137": // 128 and the number of SIGKILL
		hint = "it was killed: out of memory? " + memory
	}
	return fmt.Sprintf("a worker process ended at its start with exit code %s: %s", code[1], hint)
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

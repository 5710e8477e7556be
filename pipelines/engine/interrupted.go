package engine

import (
	"context"
	"errors"
	"fmt"
)

// OrInterrupted returns why a context has ended in place of an error that came after
// the end: whatever failed then, in whatever words, did so for want of the context.
func OrInterrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.As(err, new(*InterruptedError)) {
		return err
	}
	return context.Cause(ctx)
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

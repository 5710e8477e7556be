package engine

import (
	"context"
	"errors"
	"fmt"
)

// OrInterrupted returns the cause of a context's end in place of an error that came after
// the end: work that fails then fails because the context has ended.
func OrInterrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.As(err, new(*InterruptedError)) {
		return err
	}
	return context.Cause(ctx)
}

// InterruptedError says that a run was interrupted and can be resumed.
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

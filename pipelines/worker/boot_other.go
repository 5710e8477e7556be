//go:build !unix

package worker

import (
	"context"
	"errors"
)

// Boot fails: this system cannot replace a process with another program.
func Boot(context.Context, []string) error { return errors.ErrUnsupported }

//go:build !unix

package main

import (
	"context"
	"errors"
)

// boot fails: this system cannot replace a process with another program.
func boot(context.Context, []string) error { return errors.ErrUnsupported }

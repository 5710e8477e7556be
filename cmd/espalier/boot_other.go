//go:build !unix

package main

import (
	"context"
	"errors"
)

func boot(context.Context, []string) error { return errors.ErrUnsupported }

//go:build !linux

package objectstore

import (
	"errors"
	"io/fs"
)

func exchangeFolders(_, _ string) error { return errors.ErrUnsupported }

func matched(_, _ string, _ fs.FileInfo) bool { return false }

// Package output writes the file of --output of a verb, whole or not at all, and replaces only files that the
// verb itself has written. It is not meant for other programs.
package output

import (
	"context"
	"errors"
	"io/fs"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
)

// Kind identifies the files that a verb may replace.
type Kind struct {
	Own     func(head []byte) bool // reports by the first bytes of a file whether it is of the kind; nil: Refuse decides
	Is      string                 // such a file, in a message: "picture of a verb"
	Another string                 // its content, in a message: "another picture"

	Refuse func(ctx context.Context, s *objectstore.Store, seen objectstore.Object) error // optional: further conditions
}

// Metrics is the kind of the metrics of an evaluation.
func Metrics() Kind {
	return Kind{Another: "the metrics of another evaluation", Refuse: runfolder.RefuseMetrics}
}

// ForeignError is the error if a file of another kind has the name.
type ForeignError struct{ Err error }

// Error implements error.
func (e *ForeignError) Error() string { return e.Err.Error() }

// Unwrap returns the usage error.
func (e *ForeignError) Unwrap() error { return e.Err }

// File is a file of --output.
type File struct {
	store *objectstore.Store
	url   string // empty if no file is written
	bound objectstore.WriteOptions
}

// Open looks at the file of --output, before any work is done. Only a file of the kind is
// replaced, and only with replace. Errors are usage errors.
func Open(ctx context.Context, s *objectstore.Store, url string, replace bool, kind Kind) (*File, error) {
	f := &File{store: s, url: url, bound: objectstore.WriteOptions{IfAbsent: true}}
	if url == "" {
		if replace {
			return nil, usage.Errorf("--overwrite replaces the file of --output: name it")
		}
		return f, nil
	}
	seen, err := s.Stat(ctx, url)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, usage.Errorf("--output: %v", err)
	case kind.Own != nil && !kind.Own(headOf(ctx, s, seen)):
		return nil, &ForeignError{usage.Errorf("--output: %s exists and is no %s: nothing is overwritten; choose another file", url,
			kind.Is)}
	}
	if kind.Refuse != nil {
		if err := kind.Refuse(ctx, s, seen); err != nil {
			return nil, err
		}
	}
	if !replace {
		return nil, usage.Errorf("--output: %s has %s: choose another file, or replace it with --overwrite", url,
			kind.Another)
	}
	f.bound = objectstore.WriteOptions{IfGeneration: seen.Generation}
	return f, nil
}

// headOf returns the first bytes of a file; none if it cannot be read.
func headOf(ctx context.Context, s *objectstore.Store, seen objectstore.Object) []byte {
	r, err := s.OpenObject(ctx, seen)
	if err != nil {
		return nil
	}
	defer func() { _ = r.Close() }() // read only: nothing can be lost
	head := make([]byte, 128)
	n, _ := r.ReadAt(head, 0) // a short file has fewer
	return head[:n]
}

// Encode writes a document, encoded by its own method, if there is a file.
func (f *File) Encode(ctx context.Context, encode func() ([]byte, error)) error {
	if f.url == "" {
		return nil
	}
	b, err := encode()
	if err != nil {
		return err
	}
	return f.Write(ctx, b)
}

// Write writes the file, whole or not at all.
func (f *File) Write(ctx context.Context, b []byte) error {
	_, err := objectstore.WriteSeen(ctx, f.store, f.url, b, f.bound)
	switch {
	case errors.Is(err, fs.ErrExist) || errors.Is(err, objectstore.ErrChanged):
		return usage.Errorf("--output: %s has appeared or changed in the meantime: nothing is overwritten; "+
			"choose another file", f.url)
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return runfolder.OutputError(err)
	default:
		return nil
	}
}

package objectstore

import (
	"context"
	"errors"
	"fmt"
)

// ReadSeen reads an object described by Stat, of at most limit bytes. If the object has
// changed since, the error wraps ErrChanged.
func ReadSeen(ctx context.Context, s *Store, o Object, limit int64) ([]byte, error) {
	b, err := s.ReadAll(ctx, o.URL, limit)
	if err != nil {
		return nil, err
	}
	if now, err := s.Stat(ctx, o.URL); err != nil || now.Generation != o.Generation {
		return nil, errors.Join(fmt.Errorf("read %s: %w", o.URL, ErrChanged), err)
	}
	return b, nil
}

// WriteSeen writes a whole file and returns its generation.
func WriteSeen(ctx context.Context, s *Store, url string, b []byte, o WriteOptions) (string, error) {
	w, err := s.Create(ctx, url, o)
	if err != nil {
		return "", err
	}
	defer w.Abort() //nolint:errcheck // after Commit nothing is left to undo
	if _, err := w.Write(b); err != nil {
		return "", err
	}
	if err := w.Commit(); err != nil {
		return "", err
	}
	stat, err := s.Stat(ctx, url)
	return stat.Generation, err
}

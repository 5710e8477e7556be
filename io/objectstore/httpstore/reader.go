package httpstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// Fetch requests a range of an object's bytes. It returns the body and its length as
// announced by the store; -1: unknown.
type Fetch func(ctx context.Context, off, length int64) (body io.ReadCloser, announced int64, err error)

// NewReader returns a reader with at least one request per read, bounded by the context. It
// turns errors into sentences by explain.
func NewReader(ctx context.Context, o objectstore.Object, options Options, fetch Fetch,
	explain func(error) error,
) objectstore.Reader {
	return &reader{ctx: ctx, object: o, options: options.WithDefaults(), fetch: fetch, explain: explain}
}

type reader struct {
	ctx     context.Context // bounds all reads
	object  objectstore.Object
	options Options
	fetch   Fetch
	explain func(error) error
}

// Size implements objectstore.Reader.
func (r *reader) Size() int64 { return r.object.Size }

// Generation implements objectstore.Reader.
func (r *reader) Generation() string { return r.object.Generation }

// Close implements io.Closer. No connection is held between reads.
func (r *reader) Close() error { return nil }

// ReadAt implements io.ReaderAt.
func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, fmt.Errorf("read at negative offset %d: %w", off, fs.ErrInvalid)
	case off >= r.object.Size:
		return 0, io.EOF
	}
	want := p[:min(int64(len(p)), r.object.Size-off)]
	n, err := r.read(want, off)
	if err != nil {
		return n, r.explain(err)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// read fills p. It keeps the bytes of a try whose answer was cut off, and continues after them.
func (r *reader) read(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	ctx := Begin(r.ctx, r.options)
	var got, wrong int
	for {
		n, err := r.try(ctx, p[got:], off+int64(got))
		got += n
		if errors.As(err, new(*LengthError)) {
			// For the transport this was a whole answer, so a success.
			if wrong++; wrong >= r.options.Attempts {
				return got, &GaveUpError{Tries: wrong, Err: err}
			}
		}
		if err == nil || !Transient(err) {
			return got, err
		}
		if err := sleep(ctx, r.options.Pause(max(wrong, triesOf(ctx).failures()))); err != nil {
			return got, err
		}
	}
}

// try reads a range by one request; the SDK may resume it by further requests. An answer of
// another length than requested is dropped as a whole.
func (r *reader) try(ctx context.Context, p []byte, off int64) (int, error) {
	want := int64(len(p))
	body, announced, err := r.fetch(ctx, off, want)
	if err != nil {
		return 0, err
	}
	defer func() { _ = body.Close() }() // read only: nothing can be lost
	if announced >= 0 && announced != want {
		return 0, &LengthError{Off: off, Want: want, Got: announced}
	}
	n, err := io.ReadFull(body, p)
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF && announced < 0: //nolint:errorlint // io.ReadFull wraps neither
		return 0, &LengthError{Off: off, Want: want, Got: int64(n)}
	case err != nil:
		return n, err
	}
	// After reading to the end the connection can be reused, and the SDK compares a checksum
	// if it has one.
	extra, err := io.ReadFull(body, make([]byte, 1))
	switch {
	case extra > 0:
		return 0, &LengthError{Off: off, Want: want, Got: want, More: true}
	case err != io.EOF: //nolint:errorlint // io.ReadFull returns it itself
		return 0, err
	}
	return n, nil
}

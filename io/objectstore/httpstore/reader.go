package httpstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// Fetch asks for a range of an object's bytes in one request. It returns the
// body and the length that the store announced, or -1.
type Fetch func(ctx context.Context, off, length int64) (body io.ReadCloser, announced int64, err error)

// NewReader returns a reader that fetches each range that is read, as long as
// the context allows. Errors pass through explain, which makes sentences of
// them.
func NewReader(ctx context.Context, o objectstore.Object, options Options, fetch Fetch,
	explain func(error) error) objectstore.Reader {
	return &reader{ctx: ctx, object: o, options: options.WithDefaults(), fetch: fetch, explain: explain}
}

type reader struct {
	ctx     context.Context // it bounds all reads, by contract
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

// read fills p. What a try brought before its answer was cut is kept.
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
			// To the transport this was a whole answer, thus a success.
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

// try reads a range by one request, or as many as the SDK resumes it by. A
// length other than that asked for makes all its bytes doubtful.
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
	case err == io.EOF, err == io.ErrUnexpectedEOF && announced < 0: //nolint:errorlint // io.ReadFull returns them itself
		return 0, &LengthError{Off: off, Want: want, Got: int64(n)}
	case err != nil:
		return n, err
	}
	// Reading on to the end lets the connection be used again, and the SDK
	// compare a checksum if it got one.
	extra, err := io.ReadFull(body, make([]byte, 1))
	switch {
	case extra > 0:
		return 0, &LengthError{Off: off, Want: want, Got: want, More: true}
	case err != io.EOF: //nolint:errorlint // io.ReadFull returns it itself
		return 0, err
	}
	return n, nil
}

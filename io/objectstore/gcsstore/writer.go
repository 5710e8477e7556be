package gcsstore

import (
	"context"
	"errors"
	"io/fs"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

const (
	// piece is the greatest size of an object sent in one request, and the size of the
	// pieces of larger objects, in bytes.
	piece = 8 << 20
	// grain is the unit of the size of pieces, in bytes.
	grain = 256 << 10
)

// writer keeps the first bytes of an object, up to a piece, until more follow or Commit.
type writer struct {
	place
	driver *Driver
	ctx    context.Context // bounds the whole write
	cancel context.CancelFunc
	object *storage.ObjectHandle
	token  string
	kept   []byte
	upload *storage.Writer // nil: at most one piece so far
}

// Create implements objectstore.Driver.
func (d *Driver) Create(ctx context.Context, path string, o objectstore.WriteOptions) (objectstore.Writer, error) {
	ctx, p, err := d.open(ctx, path)
	if err != nil {
		return nil, err
	}
	if p.key == "" {
		return nil, objectstore.ErrFolder
	}
	object := p.object()
	switch {
	case o.IfAbsent:
		object = object.If(storage.Conditions{DoesNotExist: true})
	case o.IfGeneration != "":
		generation, err := parseGeneration(o.IfGeneration)
		if err != nil {
			return nil, fs.ErrExist // no object has such a generation
		}
		object = object.If(storage.Conditions{GenerationMatch: generation})
	}
	ctx, cancel := context.WithCancel(ctx)
	return &writer{place: p, driver: d, ctx: ctx, cancel: cancel, object: object, token: httpstore.Token()}, nil
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if w.upload == nil && len(w.kept)+len(p) <= piece {
		w.kept = append(w.kept, p...)
		return len(p), nil
	}
	if w.upload == nil {
		w.upload = w.begin(piece)
		if _, err := w.upload.Write(w.kept); err != nil {
			return 0, w.fault(err)
		}
		w.kept = nil
	}
	n, err := w.upload.Write(p)
	return n, w.fault(err)
}

// begin starts an upload with a buffer of the given size, in bytes.
func (w *writer) begin(size int) *storage.Writer {
	u := w.object.NewWriter(w.ctx)
	u.ChunkSize = size
	u.ChunkRetryDeadline = w.driver.options.RetryTime
	u.ContentType = "application/octet-stream"
	u.Metadata = map[string]string{httpstore.TokenKey: w.token}
	return u
}

// Commit implements objectstore.Writer.
func (w *writer) Commit() error {
	defer w.cancel()
	if w.upload == nil {
		w.upload = w.begin((len(w.kept)/grain + 1) * grain) // a buffer larger than the object: one request
		if _, err := w.upload.Write(w.kept); err != nil {
			return w.settle(err)
		}
	}
	return w.settle(w.upload.Close())
}

// Abort implements objectstore.Writer. The service drops the pieces of an unfinished
// upload.
func (w *writer) Abort() error {
	w.cancel()
	if w.upload != nil {
		_ = w.upload.Close() // waits until the canceled requests have ended
	}
	return nil
}

// settle returns the result of the write.
func (w *writer) settle(err error) error {
	if err == nil || w.ctx.Err() != nil {
		return w.fault(err)
	}
	if unsure(err) && w.isOurs() {
		return nil
	}
	return w.fault(err)
}

// unsure reports whether the object may exist in spite of an error: an earlier try may have
// made it, so the condition failed, or no try was answered.
func unsure(err error) bool {
	var answer *googleapi.Error
	if errors.As(err, &answer) {
		return answer.Code == 412 || answer.Code == 404 || answer.Code == 410 || answer.Code >= 500
	}
	return errors.As(err, new(*httpstore.GaveUpError)) || httpstore.Transient(err)
}

// isOurs reports whether this writer wrote the present object. It makes a single try: if
// the store is down, the write has already waited long enough.
func (w *writer) isOurs() bool {
	o := w.driver.options
	o.Attempts, o.BusyAttempts = 1, 1
	a, err := w.place.object().Retryer(storage.WithMaxAttempts(1)).Attrs(httpstore.Begin(w.ctx, o))
	return err == nil && a.Metadata[httpstore.TokenKey] == w.token
}

// fault explains an error of a write.
func (w *writer) fault(err error) error {
	right := "storage.objects.create (and storage.objects.delete to replace an object)"
	err = w.explain(w.ctx, right, err)
	if err == fs.ErrNotExist { //nolint:errorlint // a wrapped one is about the bucket
		return &httpstore.Error{Text: "the store lost the upload", Again: true}
	}
	return err
}

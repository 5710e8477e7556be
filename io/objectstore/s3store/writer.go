package s3store

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

const (
	rightWrite = "s3:PutObject"

	// piece is the greatest size of an object sent in one request, and the size of the first
	// parts of larger objects, in bytes.
	piece = 8 << 20
	// sameSize is the number of parts after which their size doubles. An object may have
	// 10,000 parts and 5 TB.
	sameSize = 1000
	// senders is the number of parts sent at a time.
	senders = 4
)

// writer keeps the first bytes of an object, up to a piece, until more follow or Commit.
type writer struct {
	place
	ctx     context.Context // bounds the whole write
	cancel  context.CancelFunc
	options objectstore.WriteOptions
	token   string
	kept    []byte
	upload  *upload // nil: at most one piece so far
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
	ctx, cancel := context.WithCancel(ctx)
	return &writer{place: p, ctx: ctx, cancel: cancel, options: o, token: httpstore.Token()}, nil
}

func (w *writer) metadata() map[string]string {
	return map[string]string{httpstore.TokenKey: w.token}
}

// conditions returns the headers with the conditions of the write.
func (w *writer) conditions() (ifMatch, ifNoneMatch *string) {
	switch {
	case w.options.IfAbsent:
		return nil, aws.String("*")
	case w.options.IfGeneration != "":
		return etag(w.options.IfGeneration), nil
	default:
		return nil, nil
	}
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	var n int
	for n < len(p) {
		size := piece
		if w.upload != nil {
			size = w.upload.nextSize()
		}
		if len(w.kept) == size {
			if err := w.send(); err != nil {
				return n, w.explain(w.ctx, rightWrite, err)
			}
			continue
		}
		m := min(size-len(w.kept), len(p)-n)
		w.kept = append(w.kept, p[n:n+m]...)
		n += m
	}
	return n, nil
}

// send sends the kept bytes as the next part.
func (w *writer) send() error {
	if w.upload == nil {
		u, err := w.begin(w.ctx, w.metadata())
		if err != nil {
			return err
		}
		w.upload = u
	}
	err := w.upload.send(w.kept)
	w.kept = make([]byte, 0, w.upload.nextSize())
	return err
}

// Commit implements objectstore.Writer.
func (w *writer) Commit() error {
	defer w.cancel()
	if w.upload == nil {
		return w.settle(w.put())
	}
	err := w.send()
	if err == nil {
		ifMatch, ifNoneMatch := w.conditions()
		err = w.upload.complete(w.ctx, ifMatch, ifNoneMatch)
	}
	if err = w.settle(err); err != nil {
		w.cancel()
		_ = w.upload.abort() // the first error is the cause
	}
	return err
}

// put sends the whole object in one request.
func (w *writer) put() error {
	ifMatch, ifNoneMatch := w.conditions()
	_, err := w.client.PutObject(w.ctx, &s3.PutObjectInput{
		Bucket: aws.String(w.bucket), Key: aws.String(w.key), Body: bytes.NewReader(w.kept),
		Metadata: w.metadata(), IfMatch: ifMatch, IfNoneMatch: ifNoneMatch,
	}, func(o *s3.Options) {
		// The store may refuse two concurrent writes, and asks both for another try.
		o.Retryer = retry.AddWithErrorCodes(o.Retryer, conflict)
	})
	return err
}

// Abort implements objectstore.Writer.
func (w *writer) Abort() error {
	w.cancel()
	if w.upload == nil {
		return nil
	}
	return w.upload.abort()
}

// settle returns the result of the write.
func (w *writer) settle(err error) error {
	switch {
	case err == nil:
		return nil
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case unsure(err) && w.isOurs():
		return nil
	case w.options.IfGeneration != "" && codeOf(err) == "NoSuchKey":
		return fs.ErrExist // the store's answer if the object of the condition is absent
	}
	explained := w.explain(w.ctx, rightWrite, err)
	if explained == fs.ErrNotExist { //nolint:errorlint // a wrapped one is about the bucket
		return &httpstore.Error{Text: "the store lost the upload", Again: true}
	}
	return explained
}

// unsure reports whether the object may exist in spite of an error: an earlier try may have
// made it, so the condition failed or the upload was gone, or no try was answered.
func unsure(err error) bool {
	switch status := statusOf(err); {
	case status == http.StatusPreconditionFailed, status == http.StatusConflict,
		codeOf(err) == "NoSuchUpload", status >= http.StatusInternalServerError:
		return true
	default:
		return errors.As(err, new(*httpstore.GaveUpError)) || httpstore.Transient(err)
	}
}

// isOurs reports whether this writer wrote the present object. It makes a single try: if
// the store is down, the write has already waited long enough.
func (w *writer) isOurs() bool {
	o := w.driver.options
	o.Attempts, o.BusyAttempts = 1, 1
	head, err := w.head(httpstore.Begin(w.ctx, o))
	return err == nil && head.Metadata[httpstore.TokenKey] == w.token
}

// upload is a multipart upload.
type upload struct {
	place
	id    *string
	ctx   context.Context // the writer's
	group *errgroup.Group
	begun int32

	mu    sync.Mutex
	parts []types.CompletedPart // by number, from 1
}

func (p place) begin(ctx context.Context, metadata map[string]string) (*upload, error) {
	answer, err := p.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: aws.String(p.bucket), Key: aws.String(p.key), Metadata: metadata, ChecksumAlgorithm: p.checksum(),
	})
	if err != nil {
		return nil, err
	}
	u := &upload{place: p, id: answer.UploadId}
	u.group, u.ctx = errgroup.WithContext(ctx)
	u.group.SetLimit(senders)
	return u, nil
}

// checksum returns the SDK's default algorithm for parts, or none if it is turned off. The
// request that begins an upload must name the algorithm.
func (p place) checksum() types.ChecksumAlgorithm {
	if p.client.Options().RequestChecksumCalculation == aws.RequestChecksumCalculationWhenRequired {
		return ""
	}
	return types.ChecksumAlgorithmCrc32
}

func (u *upload) nextSize() int { return piece << (u.begun / sameSize) }

// send sends a part in the background, and waits while senders parts are being sent. It
// keeps the bytes of the part.
func (u *upload) send(part []byte) error {
	if u.ctx.Err() != nil {
		return u.group.Wait()
	}
	u.begun++
	number := u.begun
	u.group.Go(func() error {
		ctx := httpstore.Begin(u.ctx, u.driver.options)
		answer, err := u.client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: aws.String(u.bucket), Key: aws.String(u.key), UploadId: u.id,
			PartNumber: aws.Int32(number), Body: bytes.NewReader(part),
		})
		if err != nil {
			return err
		}
		u.sent(types.CompletedPart{
			PartNumber: aws.Int32(number), ETag: answer.ETag, ChecksumCRC32: answer.ChecksumCRC32,
		})
		return nil
	})
	return nil
}

func (u *upload) sent(part types.CompletedPart) {
	u.mu.Lock()
	defer u.mu.Unlock()
	number := int(*part.PartNumber)
	if len(u.parts) < number {
		u.parts = append(u.parts, make([]types.CompletedPart, number-len(u.parts))...)
	}
	u.parts[number-1] = part
}

// complete makes an object of the parts.
func (u *upload) complete(ctx context.Context, ifMatch, ifNoneMatch *string) error {
	if err := u.group.Wait(); err != nil {
		return err
	}
	_, err := u.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: aws.String(u.bucket), Key: aws.String(u.key), UploadId: u.id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
		IfMatch:         ifMatch, IfNoneMatch: ifNoneMatch,
	})
	return err
}

// abort removes the parts from the store, which would keep them and charge for them. The
// context of the writer may have ended, so it does not bound the request.
func (u *upload) abort() error {
	_ = u.group.Wait() // a part that arrives after the abort would stay
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), u.driver.options.RetryTime)
	defer cancel()
	ctx = httpstore.Begin(ctx, u.driver.options)
	_, err := u.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: aws.String(u.bucket), Key: aws.String(u.key), UploadId: u.id,
	})
	if codeOf(err) == "NoSuchUpload" {
		return nil
	}
	return u.explain(ctx, "s3:AbortMultipartUpload", err)
}

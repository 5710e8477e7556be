package gcsstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"

	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

// explain turns an error into a single sentence with a kind. right is the permission that the
// request needs.
func (p place) explain(ctx context.Context, right string, err error) error {
	var answer *googleapi.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, new(*tokenError)):
		return &httpstore.Error{
			Text: "the Google Cloud credentials gave no token: run `gcloud auth application-default login` again " +
				"or set GOOGLE_APPLICATION_CREDENTIALS (" + httpstore.Reason(err) + ")",
			Kind:  fs.ErrPermission,
			Again: httpstore.Passes(err),
		}
	case errors.As(err, new(*httpstore.GaveUpError)):
		return httpstore.Failed(err)
	case errors.Is(err, storage.ErrBucketNotExist):
		return p.noBucket()
	case errors.Is(err, storage.ErrObjectNotExist):
		return p.absent(ctx, err)
	case errors.As(err, &answer):
		return p.explainAnswer(ctx, right, answer)
	case errors.As(err, new(*httpstore.Error)):
		return err
	default:
		return httpstore.Failed(err)
	}
}

func (p place) explainAnswer(ctx context.Context, right string, answer *googleapi.Error) error {
	switch answer.Code {
	case http.StatusUnauthorized:
		return &httpstore.Error{
			Text: "the Google Cloud credentials were refused: run `gcloud auth application-default login` or set " +
				"GOOGLE_APPLICATION_CREDENTIALS",
			Kind: fs.ErrPermission,
		}
	case http.StatusForbidden:
		return &httpstore.Error{
			Text: fmt.Sprintf("permission denied: it needs %s on bucket %s%s", right, p.bucket, said(answer)),
			Kind: fs.ErrPermission,
		}
	case http.StatusNotFound:
		return p.absent(ctx, answer)
	case http.StatusPreconditionFailed:
		return fs.ErrExist
	default:
		status := &httpstore.StatusError{Code: answer.Code}
		return &httpstore.Error{Text: status.Error() + said(answer), Again: httpstore.Passes(status)}
	}
}

// said returns the service's message, in addition to the code. It names the account that lacks the
// permission.
func said(answer *googleapi.Error) string {
	message := httpstore.OneLine(answer.Message)
	if message == "" || strings.EqualFold(message, http.StatusText(answer.Code)) {
		return ""
	}
	return " (" + strings.TrimSuffix(message, ".") + ")"
}

func (p place) noBucket() error {
	return &httpstore.Error{Text: "there is no bucket " + p.bucket, Kind: fs.ErrNotExist}
}

// absent distinguishes a missing object from a missing bucket. The service only distinguishes them
// by its message. If the message is unknown, absent lists the bucket.
func (p place) absent(ctx context.Context, err error) error {
	var answer *googleapi.Error
	switch {
	case errors.As(err, &answer) && strings.HasPrefix(answer.Message, "No such object"):
		return fs.ErrNotExist
	case errors.As(err, &answer) && strings.Contains(answer.Message, "bucket does not exist"):
		return p.noBucket()
	}
	objects := p.client.Bucket(p.bucket).Objects(ctx, &storage.Query{Prefix: p.key})
	objects.PageInfo().MaxSize = 1
	if _, err := objects.Next(); err != nil && !errors.Is(err, iterator.Done) &&
		errors.Is(err, storage.ErrBucketNotExist) {
		return p.noBucket()
	}
	return fs.ErrNotExist
}

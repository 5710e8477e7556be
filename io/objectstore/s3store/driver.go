package s3store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

const (
	rightRead   = "s3:GetObject (and s3:ListBucket, without which a missing object looks the same)"
	rightList   = "s3:ListBucket"
	rightRemove = "s3:DeleteObject"

	// removers is the number of concurrent requests of RemoveAll. Each request removes a
	// page of a listing.
	removers = 4
)

// Driver serves s3:// URLs. It is safe for concurrent use.
type Driver struct {
	options httpstore.Options
	client  httpstore.Lazy[s3.Client]
	buckets sync.Map // names of buckets known to exist
}

var _ objectstore.FlatDriver = (*Driver)(nil)

func init() {
	objectstore.RegisterDriver("s3", func(p objectstore.Patience) objectstore.Driver {
		return New(httpstore.Options{IdleTimeout: p.Idle, RetryTime: p.Retry})
	})
}

// New returns a driver. It makes its client at the first use.
func New(o httpstore.Options) *Driver {
	return &Driver{options: o.WithDefaults()}
}

// place is the object or folder of an operation. Its methods explain errors.
type place struct {
	driver      *Driver
	client      *s3.Client
	bucket, key string
}

// open starts an operation on a path. The returned context counts the tries of the operation.
func (d *Driver) open(ctx context.Context, path string) (context.Context, place, error) {
	bucket, key := httpstore.SplitPath(path)
	p := place{driver: d, bucket: bucket, key: key}
	if err := httpstore.CheckBucket(bucket); err != nil {
		return ctx, p, err
	}
	client, err := d.client.Get(ctx, d.options, newClient)
	if err != nil {
		return ctx, p, err
	}
	p.client = client
	return httpstore.Begin(ctx, d.options), p, nil
}

// List implements objectstore.Driver.
func (d *Driver) List(ctx context.Context, folder string, depth int) ([]objectstore.Object, error) {
	ctx, p, err := d.open(ctx, folder)
	if err != nil {
		return nil, err
	}
	prefix := httpstore.Prefix(p.key)
	query := &s3.ListObjectsV2Input{Bucket: aws.String(p.bucket), Prefix: aws.String(prefix)}
	if depth == 1 {
		query.Delimiter = aws.String("/")
	}
	var found []objectstore.Object
	err = p.list(ctx, query, func(page []types.Object) error {
		for i := range page {
			if httpstore.Within(aws.ToString(page[i].Key), prefix, depth) {
				found = append(found, describe(p.bucket, &page[i]))
			}
		}
		return nil
	})
	return found, p.explain(ctx, rightList, err)
}

// Folders implements objectstore.FlatDriver.
func (d *Driver) Folders(ctx context.Context, folder string) (names []string, all bool, err error) {
	ctx, p, err := d.open(ctx, folder)
	if err != nil {
		return nil, false, err
	}
	prefix := httpstore.Prefix(p.key)
	page, err := p.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
		Bucket: aws.String(p.bucket), Prefix: aws.String(prefix), Delimiter: aws.String("/"),
	})
	if err != nil {
		return nil, false, p.explain(ctx, rightList, err)
	}
	for _, below := range page.CommonPrefixes {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(aws.ToString(below.Prefix), prefix), "/"))
	}
	return names, !aws.ToBool(page.IsTruncated), nil
}

// list visits the pages of a listing.
func (p place) list(ctx context.Context, query *s3.ListObjectsV2Input, visit func([]types.Object) error) error {
	pages := s3.NewListObjectsV2Paginator(p.client, query)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		if err := visit(page.Contents); err != nil {
			return err
		}
	}
	return nil
}

func describe(bucket string, o *types.Object) objectstore.Object {
	return objectstore.Object{
		URL: bucket + "/" + aws.ToString(o.Key), Size: aws.ToInt64(o.Size), Generation: generation(o.ETag),
	}
}

// generation returns an ETag without its quotes. Some stores omit the quotes in some
// answers.
func generation(etag *string) string { return strings.Trim(aws.ToString(etag), `"`) }

func etag(generation string) *string { return aws.String(`"` + generation + `"`) }

// Stat implements objectstore.Driver.
func (d *Driver) Stat(ctx context.Context, path string) (objectstore.Object, error) {
	ctx, p, err := d.open(ctx, path)
	if err != nil {
		return objectstore.Object{}, err
	}
	if err := httpstore.CheckName(p.key); err != nil {
		return objectstore.Object{}, err
	}
	head, err := p.head(ctx)
	if err != nil {
		return objectstore.Object{}, p.explain(ctx, rightRead, err)
	}
	return objectstore.Object{URL: path, Size: aws.ToInt64(head.ContentLength), Generation: generation(head.ETag)}, nil
}

func (p place) head(ctx context.Context) (*s3.HeadObjectOutput, error) {
	return p.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(p.bucket), Key: aws.String(p.key)})
}

// Open implements objectstore.Driver.
func (d *Driver) Open(ctx context.Context, o objectstore.Object) (objectstore.Reader, error) {
	o, err := httpstore.Present(ctx, d, o)
	if err != nil {
		return nil, err
	}
	_, p, err := d.open(ctx, o.URL)
	if err != nil {
		return nil, err
	}
	fetch := func(ctx context.Context, off, length int64) (io.ReadCloser, int64, error) {
		return p.fetch(ctx, etag(o.Generation), off, length)
	}
	return httpstore.NewReader(ctx, o, d.options, fetch, func(err error) error {
		if hasStatus(err, http.StatusPreconditionFailed) || codeOf(err) == "NoSuchKey" {
			return objectstore.ErrChanged
		}
		return p.explain(ctx, rightRead, err)
	}), nil
}

func (p place) fetch(ctx context.Context, etag *string, off, length int64) (io.ReadCloser, int64, error) {
	answer, err := p.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: aws.String(p.bucket), Key: aws.String(p.key), IfMatch: etag,
		Range: aws.String(fmt.Sprintf("bytes=%d-%d", off, off+length-1)),
	})
	if err != nil {
		return nil, 0, err
	}
	announced := int64(-1)
	if answer.ContentLength != nil {
		announced = *answer.ContentLength
	}
	return answer.Body, announced, nil
}

// Remove implements objectstore.Driver. The store reports no error for a missing object, so
// Remove looks for the object first.
func (d *Driver) Remove(ctx context.Context, path string) error {
	if _, err := d.Stat(ctx, path); err != nil {
		return err
	}
	ctx, p, err := d.open(ctx, path)
	if err != nil {
		return err
	}
	_, err = p.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(p.bucket), Key: aws.String(p.key)})
	return p.explain(ctx, rightRemove, err)
}

// RemoveAll implements objectstore.Driver.
func (d *Driver) RemoveAll(ctx context.Context, path string) error {
	ctx, p, err := d.open(ctx, path)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(removers)
	remove := func(page []types.Object) error {
		group.Go(func() error {
			ctx := httpstore.Begin(groupCtx, d.options)
			return p.explain(ctx, rightRemove, p.remove(ctx, page))
		})
		return groupCtx.Err()
	}
	listErr := p.listNamed(groupCtx, remove)
	if listErr == nil {
		listErr = p.list(groupCtx, &s3.ListObjectsV2Input{
			Bucket: aws.String(p.bucket), Prefix: aws.String(httpstore.Prefix(p.key)),
		}, remove)
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return p.explain(ctx, rightList, listErr)
}

// listNamed visits the object with exactly the place's name, if it exists: it is the first in a
// listing of this prefix. Removing without listing would leave a delete marker in a bucket with
// versions.
func (p place) listNamed(ctx context.Context, visit func([]types.Object) error) error {
	if p.key == "" {
		return nil
	}
	page, err := p.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
		Bucket: aws.String(p.bucket), Prefix: aws.String(p.key), MaxKeys: aws.Int32(1),
	})
	if err != nil || len(page.Contents) == 0 || aws.ToString(page.Contents[0].Key) != p.key {
		return err
	}
	return visit(page.Contents[:1])
}

// remove removes the objects of a page in one request.
func (p place) remove(ctx context.Context, page []types.Object) error {
	if len(page) == 0 {
		return nil
	}
	keys := make([]types.ObjectIdentifier, len(page))
	for i := range page {
		keys[i].Key = page[i].Key
	}
	answer, err := p.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: aws.String(p.bucket), Delete: &types.Delete{Objects: keys, Quiet: aws.Bool(true)},
	})
	if err != nil {
		return err
	}
	var errs []error
	for i := range answer.Errors {
		errs = append(errs, p.notRemoved(&answer.Errors[i]))
	}
	if len(errs) == 0 {
		return nil
	}
	return errors.Join(errs[0]) // a single sentence, because all errors are similar
}

func (p place) notRemoved(e *types.Error) error {
	key := aws.ToString(e.Key)
	code := aws.ToString(e.Code)
	if code == "AccessDenied" {
		return &httpstore.Error{
			Text: fmt.Sprintf("permission denied: it needs %s on bucket %s for %s", rightRemove, p.bucket, key),
			Kind: fs.ErrPermission,
		}
	}
	return &httpstore.Error{Text: fmt.Sprintf("cannot remove %s: %s", key,
		httpstore.OneLine(code+" "+aws.ToString(e.Message)))}
}

package gcsstore

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"cloud.google.com/go/storage"
	"golang.org/x/sync/errgroup"
	"google.golang.org/api/iterator"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/objectstore/httpstore"
)

const (
	// pageSize is the number of objects in one page of a listing, the service's maximum.
	pageSize = 1000
	// removers is the number of objects that RemoveAll removes at a time, with one request
	// each.
	removers = 32
)

// Driver serves gs:// URLs. It is safe for concurrent use.
type Driver struct {
	options httpstore.Options
	client  httpstore.Lazy[storage.Client]
}

var _ objectstore.FlatDriver = (*Driver)(nil)

func init() {
	objectstore.RegisterDriver("gs", func(p objectstore.Patience) objectstore.Driver {
		return New(httpstore.Options{IdleTimeout: p.Idle, RetryTime: p.Retry})
	})
}

// New returns a driver. It makes its client at the first use.
func New(o httpstore.Options) *Driver {
	return &Driver{options: o.WithDefaults()}
}

// place is the object or folder of an operation. Its methods explain errors.
type place struct {
	client      *storage.Client
	bucket, key string
}

// open starts an operation on a path. The returned context counts the tries of the
// operation.
func (d *Driver) open(ctx context.Context, path string) (context.Context, place, error) {
	bucket, key := httpstore.SplitPath(path)
	p := place{bucket: bucket, key: key}
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

func (p place) object() *storage.ObjectHandle { return p.client.Bucket(p.bucket).Object(p.key) }

// List implements objectstore.Driver.
func (d *Driver) List(ctx context.Context, folder string, depth int) ([]objectstore.Object, error) {
	ctx, p, err := d.open(ctx, folder)
	if err != nil {
		return nil, err
	}
	query := storage.Query{Prefix: httpstore.Prefix(p.key)}
	if depth == 1 {
		query.Delimiter = "/"
	}
	var found []objectstore.Object
	err = p.list(ctx, query, func(a *storage.ObjectAttrs) error {
		if httpstore.Within(a.Name, query.Prefix, depth) {
			found = append(found, describe(p.bucket, a))
		}
		return nil
	})
	return found, p.explain(ctx, "storage.objects.list", err)
}

// list visits the objects that a query finds.
func (p place) list(ctx context.Context, query storage.Query, visit func(*storage.ObjectAttrs) error) error {
	objects, err := p.objects(ctx, query)
	if err != nil {
		return err
	}
	for {
		a, err := objects.Next()
		if errors.Is(err, iterator.Done) {
			return nil
		}
		if err != nil {
			return err
		}
		if a.Name == "" {
			continue // a folder
		}
		if err := visit(a); err != nil {
			return err
		}
	}
}

func (p place) objects(ctx context.Context, query storage.Query) (*storage.ObjectIterator, error) {
	if err := query.SetAttrSelection([]string{"Name", "Size", "Generation"}); err != nil {
		return nil, err
	}
	query.Projection = storage.ProjectionNoACL
	objects := p.client.Bucket(p.bucket).Objects(ctx, &query)
	objects.PageInfo().MaxSize = pageSize
	return objects, nil
}

// Folders implements objectstore.FlatDriver.
func (d *Driver) Folders(ctx context.Context, folder string) (names []string, all bool, err error) {
	ctx, p, err := d.open(ctx, folder)
	if err != nil {
		return nil, false, err
	}
	prefix := httpstore.Prefix(p.key)
	objects, err := p.objects(ctx, storage.Query{Prefix: prefix, Delimiter: "/"})
	if err != nil {
		return nil, false, err
	}
	for page := objects.PageInfo(); ; {
		a, err := objects.Next()
		if errors.Is(err, iterator.Done) {
			return names, true, nil
		}
		if err != nil {
			return nil, false, p.explain(ctx, "storage.objects.list", err)
		}
		if a.Prefix != "" {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(a.Prefix, prefix), "/"))
		}
		if page.Remaining() == 0 {
			return names, page.Token == "", nil
		}
	}
}

func describe(bucket string, a *storage.ObjectAttrs) objectstore.Object {
	return objectstore.Object{
		URL: bucket + "/" + a.Name, Size: a.Size, Generation: strconv.FormatInt(a.Generation, 10),
	}
}

// Stat implements objectstore.Driver.
func (d *Driver) Stat(ctx context.Context, path string) (objectstore.Object, error) {
	ctx, p, err := d.open(ctx, path)
	if err != nil {
		return objectstore.Object{}, err
	}
	if err := httpstore.CheckName(p.key); err != nil {
		return objectstore.Object{}, err
	}
	a, err := p.object().Attrs(ctx)
	if err != nil {
		return objectstore.Object{}, p.explain(ctx, "storage.objects.get", err)
	}
	return describe(p.bucket, a), nil
}

// Open implements objectstore.Driver.
func (d *Driver) Open(ctx context.Context, o objectstore.Object) (objectstore.Reader, error) {
	o, err := httpstore.Present(ctx, d, o)
	if err != nil {
		return nil, err
	}
	generation, err := parseGeneration(o.Generation)
	if err != nil {
		return nil, objectstore.ErrChanged // no object has such a generation
	}
	_, p, err := d.open(ctx, o.URL)
	if err != nil {
		return nil, err
	}
	object := p.object().Generation(generation)
	fetch := func(ctx context.Context, off, length int64) (io.ReadCloser, int64, error) {
		r, err := object.NewRangeReader(ctx, off, length)
		if err != nil {
			return nil, 0, err
		}
		return r, r.Remain(), nil
	}
	return httpstore.NewReader(ctx, o, d.options, fetch, func(err error) error {
		if errors.Is(err, storage.ErrObjectNotExist) {
			return objectstore.ErrChanged
		}
		return p.explain(ctx, "storage.objects.get", err)
	}), nil
}

func parseGeneration(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err == nil && n <= 0 {
		err = strconv.ErrRange // 0 means absence
	}
	return n, err
}

// Remove implements objectstore.Driver.
func (d *Driver) Remove(ctx context.Context, path string) error {
	ctx, p, err := d.open(ctx, path)
	if err != nil {
		return err
	}
	if err := httpstore.CheckName(p.key); err != nil {
		return err
	}
	err = p.object().Delete(ctx)
	if errors.Is(err, storage.ErrObjectNotExist) && httpstore.Retried(ctx) {
		return nil // an earlier try, whose answer was lost, removed it
	}
	return p.explain(ctx, "storage.objects.delete", err)
}

// RemoveAll implements objectstore.Driver.
func (d *Driver) RemoveAll(ctx context.Context, path string) error {
	ctx, p, err := d.open(ctx, path)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(removers)
	remove := func(key string) {
		group.Go(func() error {
			one := place{client: p.client, bucket: p.bucket, key: key}
			ctx := httpstore.Begin(groupCtx, d.options)
			err := one.object().Delete(ctx)
			if errors.Is(err, storage.ErrObjectNotExist) {
				return nil
			}
			return one.explain(ctx, "storage.objects.delete", err)
		})
	}
	if p.key != "" {
		remove(p.key)
	}
	listErr := p.list(groupCtx, storage.Query{Prefix: httpstore.Prefix(p.key)}, func(a *storage.ObjectAttrs) error {
		remove(a.Name)
		return groupCtx.Err()
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return p.explain(ctx, "storage.objects.list", listErr)
}

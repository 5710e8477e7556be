package httpstore

import (
	"context"
	"crypto/rand"
	"io/fs"
	"strings"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// SplitPath splits what follows scheme:// into a bucket and a key, which may be
// empty.
func SplitPath(path string) (bucket, key string) {
	bucket, key, _ = strings.Cut(path, "/")
	return bucket, key
}

// Prefix returns the prefix of the keys below a folder of a bucket.
func Prefix(folder string) string {
	if folder == "" || strings.HasSuffix(folder, "/") {
		return folder
	}
	return folder + "/"
}

// Within reports whether a key is that of an object at most depth levels below
// a prefix, or at any level if depth is negative. Keys that end in a slash are
// no objects: consoles create them to show empty folders.
func Within(key, prefix string, depth int) bool {
	below, ok := strings.CutPrefix(key, prefix)
	if !ok || strings.HasSuffix(key, "/") {
		return false
	}
	return depth < 0 || strings.Count(below, "/") < depth
}

// TokenKey is the name of the metadata that tells one write from another.
const TokenKey = "espalier-write"

// Token returns a text that no other write has. It is stored with the object,
// so that a writer whose answer was lost can tell whether what is there is its
// own.
func Token() string { return rand.Text() }

// CheckName refuses keys that no object has, without a request.
func CheckName(key string) error {
	switch {
	case key == "":
		return objectstore.ErrFolder
	case strings.HasSuffix(key, "/"):
		return fs.ErrNotExist
	default:
		return nil
	}
}

// Present describes an object at its present generation, if it has none yet.
func Present(ctx context.Context, d objectstore.Driver, o objectstore.Object) (objectstore.Object, error) {
	if o.Generation != "" {
		return o, nil
	}
	return d.Stat(ctx, o.URL)
}

// CheckBucket refuses folders that name no bucket, or several.
func CheckBucket(bucket string) error {
	if bucket == "" || strings.ContainsAny(bucket, "*?[") {
		return &Error{Text: "the name of the bucket has to be written out, without wildcards"}
	}
	return nil
}

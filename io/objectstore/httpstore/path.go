package httpstore

import (
	"context"
	"crypto/rand"
	"io/fs"
	"strings"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// SplitPath splits the path after scheme:// into a bucket and a key. The key may be empty.
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

// Within reports whether a key belongs to an object at most depth levels below a prefix, or
// at any level if depth is negative. A key that ends in a slash belongs to no object:
// consoles create such keys to show empty folders.
func Within(key, prefix string, depth int) bool {
	below, ok := strings.CutPrefix(key, prefix)
	if !ok || strings.HasSuffix(key, "/") {
		return false
	}
	return depth < 0 || strings.Count(below, "/") < depth
}

// TokenKey is the name of the metadata with a write's Token.
const TokenKey = "espalier-write"

// Token returns a random text for one write, which is stored with the object. A writer whose
// answer was lost recognises its own object by it.
func Token() string { return rand.Text() }

// CheckName refuses keys that no object can have, without a request.
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

// Present returns o if it has a generation, else the object at its present generation.
func Present(ctx context.Context, d objectstore.Driver, o objectstore.Object) (objectstore.Object, error) {
	if o.Generation != "" {
		return o, nil
	}
	return d.Stat(ctx, o.URL)
}

// CheckBucket refuses an empty name of a bucket, and a name with wildcards.
func CheckBucket(bucket string) error {
	if bucket == "" || strings.ContainsAny(bucket, "*?[") {
		return &Error{Text: "the name of the bucket has to be written out, without wildcards"}
	}
	return nil
}

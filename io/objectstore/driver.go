package objectstore

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

// Object describes one stored object.
type Object struct {
	URL        string
	Size       int64
	Generation string // opaque; differs whenever the content may differ
}

// check compares the requested generation with the object's present one.
func (o Object) check(generation string) error {
	if o.Generation != "" && o.Generation != generation {
		return ErrChanged
	}
	return nil
}

// unless turns the absence of an object into ErrChanged, if o has a generation.
func (o Object) unless(err error) error {
	if o.Generation != "" && errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	}
	return err
}

// Reader reads one generation of an object. ReadAt may be called from several
// goroutines.
type Reader interface {
	io.ReaderAt
	io.Closer
	// Size returns the number of bytes of the object.
	Size() int64
	// Generation returns the generation of the object.
	Generation() string
}

// Byteser is a Reader that holds the whole object in memory.
type Byteser interface {
	// Bytes returns the content of the object, which must not be changed.
	Bytes() []byte
}

// IsLocal reports whether a reader's object is in memory or in a file. Reading it in
// small pieces then costs no requests.
func IsLocal(r Reader) bool {
	_, file := r.(*fileReader)
	_, memory := r.(Byteser)
	return file || memory
}

// Writer writes one object. Nothing is visible until Commit returned nil.
type Writer interface {
	io.Writer
	// Commit makes the object visible and durable, or fails and leaves nothing behind.
	Commit() error
	// Abort drops the write. After Commit it does nothing, so `defer w.Abort()` is
	// right.
	Abort() error
}

// WriteOptions bind a write to the state of its object. The zero value writes
// unconditionally.
type WriteOptions struct {
	IfAbsent     bool   // commit only if there is no such object
	OrSame       bool   // with IfAbsent: or if the object has the same bytes, so a write can be repeated
	IfGeneration string // commit only if the object has this generation
	// Volatile means that the object may be lost in a crash of the machine, but not of the process.
	// Files are then not synced to the disk.
	Volatile bool
}

// ErrChanged is the error if an object was written, replaced or removed: it no longer has the requested
// generation.
var ErrChanged = errors.New("changed meanwhile")

// ErrFolder is the error if a name belongs to a folder, not to an object.
var ErrFolder = errors.New("is a folder, not an object")

// Driver serves a scheme. A path is the part of a URL after scheme://. Returned objects have the
// path in URL, which the Store turns into the caller's URL. Errors need not name the path, because
// the Store does.
type Driver interface {
	// List returns the objects at most depth levels below a folder (1: only objects
	// in the folder itself), or all objects if depth is negative, in any order.
	// A folder that does not exist has no objects.
	List(ctx context.Context, folder string, depth int) ([]Object, error)
	// Stat describes one object.
	Stat(ctx context.Context, path string) (Object, error)
	// Open opens one object at o.Generation, or at the present generation if that is
	// empty. If the object has another generation, Open or the first read returns
	// ErrChanged. The context bounds all reads.
	Open(ctx context.Context, o Object) (Reader, error)
	// Create begins a write. Its context bounds the whole write.
	Create(ctx context.Context, path string, o WriteOptions) (Writer, error)
	// Remove removes one object.
	Remove(ctx context.Context, path string) error
	// RemoveAll removes the object of the given name and all objects in the folder of
	// this name. There may be none.
	RemoveAll(ctx context.Context, path string) error
}

// FlatDriver is a driver of a store without real folders. In such a store a listing finds objects
// at any depth, and a single listing gives more than several requests by name.
type FlatDriver interface {
	Driver
	// Folders returns the names of the folders in a folder by one request, and whether these are all.
	Folders(ctx context.Context, folder string) (names []string, all bool, err error)
}

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

// check compares the generation asked for with that of the object.
func (o Object) check(generation string) error {
	if o.Generation != "" && o.Generation != generation {
		return ErrChanged
	}
	return nil
}

// unless turns the absence of an object that was there into ErrChanged.
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
	Size() int64
	Generation() string
}

// Byteser is implemented by readers that hold the whole object in memory.
// The bytes must not be changed.
type Byteser interface {
	Bytes() []byte
}

// IsLocal reports whether a reader's bytes are at hand, in memory or in a file:
// reading them in small pieces then costs no requests.
func IsLocal(r Reader) bool {
	_, file := r.(*fileReader)
	_, memory := r.(Byteser)
	return file || memory
}

// Writer writes one object. Nothing is visible until Commit returned nil.
type Writer interface {
	io.Writer
	// Commit makes the object visible and durable, or fails and leaves nothing
	// behind.
	Commit() error
	// Abort drops what was written. After Commit it does nothing, so that
	// `defer w.Abort()` is right.
	Abort() error
}

// WriteOptions bind a write to what is there. The zero value writes
// unconditionally.
type WriteOptions struct {
	IfAbsent     bool   // commit only while there is no such object
	OrSame       bool   // with IfAbsent: or while there is one of the very same bytes, so that a write can be repeated
	IfGeneration string // commit only while the object has this generation
	// need not outlive a crash of the machine, as that of the process: spares files the wait for
	// the disk
	Volatile bool
}

// ErrChanged says that an object no longer has the generation that was asked
// for: it was replaced or removed meanwhile.
var ErrChanged = errors.New("changed meanwhile")

// ErrFolder says that a name is that of a folder where an object was expected.
var ErrFolder = errors.New("is a folder, not an object")

// Driver serves one scheme. Paths are what follows scheme:// in a URL.
// Returned objects carry the path in URL; the Store turns it into the URL that
// the caller spelled. Errors need not name the path: the Store does.
type Driver interface {
	// List returns the objects at most depth levels below a folder (1: those
	// in the folder itself), or all of them if depth is negative, in any order.
	// A folder that does not exist has no objects.
	List(ctx context.Context, folder string, depth int) ([]Object, error)
	// Stat describes one object.
	Stat(ctx context.Context, path string) (Object, error)
	// Open opens one object at its generation as List and Stat describe it, or
	// at the present one if that is empty. Another generation gives ErrChanged,
	// here or when it is read. The context bounds all reads.
	Open(ctx context.Context, o Object) (Reader, error)
	// Create begins a write. Its context bounds the whole write.
	Create(ctx context.Context, path string, o WriteOptions) (Writer, error)
	// Remove removes one object.
	Remove(ctx context.Context, path string) error
	// RemoveAll removes the object of that name and all objects in the folder
	// of that name. There may be none.
	RemoveAll(ctx context.Context, path string) error
}

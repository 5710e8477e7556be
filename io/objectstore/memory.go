package objectstore

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
)

// sharedMemory holds the objects of the whole process. A pipeline and its workers in the
// process open their own stores, and must see the same objects.
var sharedMemory memoryDriver //nolint:gochecknoglobals // mem:// is process-wide by contract

// memoryDriver keeps objects in memory. Stored bytes never change, so readers and
// writers share them.
type memoryDriver struct {
	mu      sync.RWMutex
	objects map[string]memoryObject
	written int64 // number of commits; it makes the generations
}

type memoryObject struct {
	bytes      []byte
	generation string
}

// List implements Driver.
func (d *memoryDriver) List(_ context.Context, folder string, depth int) ([]Object, error) {
	prefix := folderPrefix(folder)
	d.mu.RLock()
	defer d.mu.RUnlock()
	var found []Object
	for path, o := range d.objects {
		below, ok := strings.CutPrefix(path, prefix)
		if ok && (depth < 0 || strings.Count(below, "/") < depth) {
			found = append(found, o.describe(path))
		}
	}
	return found, nil
}

func folderPrefix(folder string) string {
	if folder == "" || strings.HasSuffix(folder, "/") {
		return folder
	}
	return folder + "/"
}

func (o memoryObject) describe(path string) Object {
	return Object{URL: path, Size: int64(len(o.bytes)), Generation: o.generation}
}

func (d *memoryDriver) get(path string) (memoryObject, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	o, ok := d.objects[path]
	if !ok {
		return o, fs.ErrNotExist
	}
	return o, nil
}

// Stat implements Driver.
func (d *memoryDriver) Stat(_ context.Context, path string) (Object, error) {
	o, err := d.get(path)
	return o.describe(path), err
}

// Open implements Driver.
func (d *memoryDriver) Open(_ context.Context, o Object) (Reader, error) {
	found, err := d.get(o.URL)
	if err != nil {
		return nil, o.unless(err)
	}
	if err := o.check(found.generation); err != nil {
		return nil, err
	}
	return memoryReader(found), nil
}

// Create implements Driver.
func (d *memoryDriver) Create(_ context.Context, path string, o WriteOptions) (Writer, error) {
	return &memoryWriter{driver: d, path: path, options: o}, nil
}

// Remove implements Driver.
func (d *memoryDriver) Remove(_ context.Context, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.objects[path]; !ok {
		return fs.ErrNotExist
	}
	delete(d.objects, path)
	return nil
}

// RemoveAll implements Driver.
func (d *memoryDriver) RemoveAll(_ context.Context, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	prefix := folderPrefix(path)
	for p := range d.objects {
		if p == path || strings.HasPrefix(p, prefix) {
			delete(d.objects, p)
		}
	}
	return nil
}

// memoryReader reads one generation of an object.
type memoryReader memoryObject

// ReadAt implements io.ReaderAt.
func (r memoryReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read at negative offset %d: %w", off, fs.ErrInvalid)
	}
	if off >= int64(len(r.bytes)) {
		return 0, io.EOF
	}
	n := copy(p, r.bytes[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close implements Reader.
func (memoryReader) Close() error { return nil }

// Size implements Reader.
func (r memoryReader) Size() int64 { return int64(len(r.bytes)) }

// Generation implements Reader.
func (r memoryReader) Generation() string { return r.generation }

// Bytes implements Byteser.
func (r memoryReader) Bytes() []byte { return r.bytes[:len(r.bytes):len(r.bytes)] }

// memoryWriter collects bytes. Commit stores them without a copy.
type memoryWriter struct {
	driver  *memoryDriver
	path    string
	options WriteOptions
	buf     []byte
}

// Write implements io.Writer.
func (w *memoryWriter) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	return len(p), nil
}

// keep implements keeper.
func (w *memoryWriter) keep(b []byte) { w.buf = b }

// Commit implements Writer.
func (w *memoryWriter) Commit() error {
	d := w.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	old, exists := d.objects[w.path]
	if err := w.options.check(exists, old.generation); err != nil {
		return err
	}
	d.written++
	if d.objects == nil {
		d.objects = make(map[string]memoryObject)
	}
	d.objects[w.path] = memoryObject{
		bytes:      w.buf[:len(w.buf):len(w.buf)],
		generation: strconv.FormatInt(d.written, 10),
	}
	w.buf = nil
	return nil
}

// Abort implements Writer.
func (w *memoryWriter) Abort() error {
	w.buf = nil
	return nil
}

// check returns an error if the options forbid to replace the present object.
func (o WriteOptions) check(exists bool, generation string) error {
	switch {
	case o.IfAbsent && exists:
		return fs.ErrExist
	case o.IfGeneration != "" && !exists:
		return fmt.Errorf("expected generation %s, but the object is gone: %w", o.IfGeneration, fs.ErrExist)
	case o.IfGeneration != "" && generation != o.IfGeneration:
		return fmt.Errorf("expected generation %s, found %s: %w", o.IfGeneration, generation, fs.ErrExist)
	default:
		return nil
	}
}

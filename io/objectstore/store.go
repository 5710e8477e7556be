package objectstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/espalier-ml/espalier/induce/naming"
)

// Store serves URLs by the driver of their scheme. It is safe for concurrent
// use.
type Store struct {
	patience *Patience // of registered drivers; nil without them

	mu      sync.Mutex
	drivers map[string]Driver
}

// New returns a store of plain paths, file:// and mem:// URLs.
func New() *Store {
	return &Store{drivers: map[string]Driver{
		"":     fileDriver{},
		"file": fileDriver{},
		"mem":  &sharedMemory,
	}}
}

// opened holds, by scheme, the functions that open the drivers for Open.
//
//nolint:gochecknoglobals // filled by the init functions of drivers, as in database/sql
var opened = make(map[string]func(p Patience) Driver)

// Patience limits how long drivers of object stores try. A zero field has the default of the driver.
type Patience struct {
	Idle  time.Duration // without a byte, after which a request is tried again
	Retry time.Duration // since the first of several failures, after which an operation fails
}

// RegisterDriver makes a scheme known to Open. The package of a driver calls it from init, so a
// program knows the schemes whose packages it imports.
func RegisterDriver(scheme string, open func(p Patience) Driver) { opened[scheme] = open }

// packages lists the packages whose import registers a driver.
//
//nolint:gochecknoglobals // a constant
var packages = map[string]string{
	"gs": "github.com/espalier-ml/espalier/io/objectstore/gcsstore",
	"s3": "github.com/espalier-ml/espalier/io/objectstore/s3store",
}

// Open returns a store with the drivers that the program imports, in addition to the drivers of New.
func Open(p Patience) *Store {
	s := New()
	s.patience = &p
	return s
}

// Register adds or replaces the driver of a scheme.
func (s *Store) Register(scheme string, d Driver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drivers[scheme] = d
}

// driver returns the driver of a scheme; nil if the scheme is unknown. A registered driver is opened at its first
// use: stores may be package variables, which are initialised before the packages of drivers are.
func (s *Store) driver(scheme string) Driver {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.drivers[scheme]
	if open := opened[scheme]; d == nil && open != nil && s.patience != nil {
		d = open(*s.patience)
		s.drivers[scheme] = d
	}
	return d
}

// location is a URL resolved to its driver.
type location struct {
	Driver
	url, scheme, path string
}

func (s *Store) locate(url string) (location, error) {
	if url == "" {
		return location{}, errors.New("empty URL: expected a path or a URL such as file:///folder/name")
	}
	scheme, path := splitURL(url)
	if scheme == "" {
		if err := s.checkPath(path); err != nil {
			return location{}, err
		}
	}
	d := s.driver(scheme)
	if d == nil {
		return location{}, s.unknownScheme(url, scheme)
	}
	if scheme == "file" && !strings.HasPrefix(path, "/") {
		return location{}, fmt.Errorf("%s: a file URL has three slashes, as in file:///folder/name", url)
	}
	if path == "" {
		return location{}, fmt.Errorf("%s: the URL names no object", url)
	}
	return location{Driver: d, url: url, scheme: scheme, path: path}, nil
}

// checkPath refuses plain paths that are meant as URLs: with a missing slash, a path would create a
// folder named "gs:".
func (s *Store) checkPath(path string) error {
	known := func(scheme string) bool { return scheme != "" && (packages[scheme] != "" || s.driver(scheme) != nil) }
	if url := misspelled(path, known); url != "" {
		return fmt.Errorf("%s: a URL has two slashes behind the colon: did you mean %s? A file of that name is ./%s",
			path, url, path)
	}
	return nil
}

// Check returns an error if a URL is misspelled or its scheme is unknown.
func (s *Store) Check(url string) error {
	_, err := s.locate(url)
	return err
}

func (s *Store) unknownScheme(url, scheme string) error {
	if p := packages[scheme]; p != "" && opened[scheme] != nil {
		return fmt.Errorf("%s: this store has no driver of the scheme %q: make the store with objectstore.Open, or call Register", url, scheme)
	} else if p != "" {
		return fmt.Errorf("%s: unknown scheme %q in this program: import its driver, as in import _ %q", url, scheme, p)
	}
	s.mu.Lock()
	names := maps.Clone(s.drivers)
	s.mu.Unlock()
	if s.patience != nil {
		for scheme := range opened {
			names[scheme] = nil
		}
	}
	known := slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(k string) bool { return k == "" })
	msg := fmt.Sprintf("%s: unknown scheme %q: there are plain paths, %s", url, scheme, strings.Join(known, ", "))
	if n := naming.Nearest(scheme, known); n != "" {
		msg += fmt.Sprintf("; did you mean %q?", n)
	}
	return errors.New(msg)
}

// fail wraps an error with the operation and the URL, unless it has them already.
func (l location) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err // its path is the path of the URL
	}
	return fmt.Errorf("%s %s: %w", op, l.url, err)
}

func (l location) object(o Object) Object {
	o.URL = joinURL(l.scheme, o.URL)
	return o
}

// List returns the object with exactly the given URL, or else all objects that match it as
// a pattern, sorted by URL. In patterns, *, ? and [..] match within a name, and **
// matches any number of folders. Wildcards do not match hidden names, see Hidden. A link to
// no file is an object of no bytes. No match is an error.
func (s *Store) List(ctx context.Context, pattern string) ([]Object, error) {
	objects, _, err := s.ListSeen(ctx, pattern)
	return objects, err
}

// ListSeen is List, and also returns all objects below Folder(pattern) if it has listed them at no
// extra cost. Otherwise seen is nil.
func (s *Store) ListSeen(ctx context.Context, pattern string) (objects, seen []Object, err error) {
	l, err := s.locate(pattern)
	if err != nil {
		return nil, nil, err
	}
	if hasMeta(l.path) {
		objects, seen, err := l.glob(ctx)
		if err != nil || len(objects) > 0 {
			return objects, seen, err
		}
	}
	o, err := l.named(ctx)
	return o, nil, l.fail("list", err)
}

// named returns the object with exactly the location's path.
func (l location) named(ctx context.Context) ([]Object, error) {
	o, err := l.Stat(ctx, l.path)
	switch {
	case err == nil:
		return []Object{l.object(o)}, nil
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrFolder):
		return nil, err
	case l.isFolder(ctx, err):
		return nil, fmt.Errorf("%w; name the files in it, as by FOLDER/*", ErrFolder)
	case hasMeta(l.path):
		return nil, noMatchError{}
	default:
		return nil, err
	}
}

// noMatchError is the error if a pattern matches no object. It is fs.ErrNotExist.
type noMatchError struct{}

func (noMatchError) Error() string     { return "no object matches" }
func (noMatchError) Is(err error) bool { return err == fs.ErrNotExist }

// Below returns the objects at most depth levels below a folder (1: in the folder itself), sorted
// by URL, including hidden names. Wildcards in the name of the folder have no meaning. The result
// is empty if the folder does not exist.
func (s *Store) Below(ctx context.Context, folder string, depth int) ([]Object, error) {
	l, err := s.locate(folder)
	if err != nil {
		return nil, err
	}
	path := l.path
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	objects, err := l.List(ctx, path, depth)
	if err != nil {
		return nil, l.fail("list", err)
	}
	for i := range objects {
		objects[i] = l.object(objects[i])
	}
	slices.SortFunc(objects, func(a, b Object) int { return strings.Compare(a.URL, b.URL) })
	return objects, nil
}

// isFolder reports whether a name without an object is a folder with objects.
func (l location) isFolder(ctx context.Context, statErr error) bool {
	if errors.Is(statErr, ErrFolder) {
		return true
	}
	for _, depth := range []int{1, -1} { // a folder may contain only folders
		if below, err := l.List(ctx, strings.TrimSuffix(l.path, "/"), depth); err == nil && len(below) > 0 {
			return true
		}
	}
	return false
}

// glob returns the objects that match the location's path, and seen as ListSeen does.
func (l location) glob(ctx context.Context) (objects, seen []Object, err error) {
	g, err := parseGlob(l.path)
	if err != nil {
		return nil, nil, l.fail("list", err)
	}
	depth := g.depth()
	if _, flat := l.Driver.(FlatDriver); flat && depth > 1 {
		depth = -1 // the listing includes all depths anyway
	}
	all, err := l.List(ctx, g.folder, depth)
	if err != nil {
		return nil, nil, l.fail("list", err)
	}
	for _, o := range all {
		matches := g.match(o.URL)
		o = l.object(o)
		if matches {
			objects = append(objects, o)
		}
		if depth < 0 {
			seen = append(seen, o)
		}
	}
	slices.SortFunc(objects, func(a, b Object) int { return strings.Compare(a.URL, b.URL) })
	return objects, seen, nil
}

// Folders returns the names of the folders in a folder, including hidden ones. known is true only
// if a single request lists them all: not for a folder with very many names, and not on a disk or
// in memory, where looking up a name is cheap.
func (s *Store) Folders(ctx context.Context, folder string) (names []string, known bool, err error) {
	l, err := s.locate(folder)
	if err != nil {
		return nil, false, err
	}
	if d, flat := l.Driver.(FlatDriver); flat {
		names, known, err = d.Folders(ctx, l.path)
	}
	return names, known, l.fail("list", err)
}

// Stat describes one object.
func (s *Store) Stat(ctx context.Context, url string) (Object, error) {
	l, err := s.locate(url)
	if err != nil {
		return Object{}, err
	}
	o, err := l.Stat(ctx, l.path)
	if err != nil {
		return Object{}, l.fail("stat", err)
	}
	return l.object(o), nil
}

// Open opens one object at its present generation.
func (s *Store) Open(ctx context.Context, url string) (Reader, error) {
	return s.OpenObject(ctx, Object{URL: url})
}

// OpenObject opens an object described by List or Stat; this saves a request. If the
// object has changed since, OpenObject or the first read returns an error that wraps
// ErrChanged. The context bounds all reads.
func (s *Store) OpenObject(ctx context.Context, o Object) (Reader, error) {
	l, err := s.locate(o.URL)
	if err != nil {
		return nil, err
	}
	o.URL = l.path
	r, err := l.Open(ctx, o)
	if err != nil {
		return nil, l.fail("open", err)
	}
	return r, nil
}

// Create begins a write of an object. The context bounds the whole write: after its end Commit
// fails.
func (s *Store) Create(ctx context.Context, url string, o WriteOptions) (Writer, error) {
	l, err := s.locate(url)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(l.path, "/") {
		return nil, l.fail("create", ErrFolder)
	}
	if o.IfAbsent && o.IfGeneration != "" {
		return nil, l.fail("create", errors.New("a write cannot be bound to both absence and a generation"))
	}
	w, err := l.Create(ctx, l.path, o)
	if err != nil {
		return nil, l.fail("create", err)
	}
	to := &writer{Writer: w, ctx: ctx, location: l}
	if o.IfAbsent && o.OrSame {
		to.store, to.sum = s, sha256.New()
	}
	return to, nil
}

// mover is a driver that gives objects other names without a copy.
type mover interface {
	move(from, to string, o WriteOptions) error
}

// moveBytes is how much of an object Move copies at a time.
const moveBytes = 8 << 20

// Move returns a writer whose Commit gives an object another name, with the conditions of a write of that name. If the
// driver cannot rename, the object is copied before Commit, and keeps its first name as well.
func (s *Store) Move(ctx context.Context, from, to string, o WriteOptions) (Writer, error) {
	source, err := s.locate(from)
	if err != nil {
		return nil, err
	}
	target, err := s.locate(to)
	if err != nil {
		return nil, err
	}
	if d, ok := source.Driver.(mover); ok && source.scheme == target.scheme {
		return &renaming{mover: d, from: source, to: target, options: o}, nil
	}
	r, err := s.Open(ctx, from)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // read only: nothing can be lost
	w, err := s.Create(ctx, to, o)
	if err != nil {
		return nil, err
	}
	buffer := make([]byte, min(moveBytes, r.Size()+1))
	if _, err := io.CopyBuffer(struct{ io.Writer }{w}, io.NewSectionReader(r, 0, r.Size()), buffer); err != nil {
		_ = w.Abort() // the first error is the cause
		return nil, err
	}
	return w, nil
}

// renaming is the Writer of an object that will be renamed. Nothing can be written.
type renaming struct {
	mover

	from, to location
	options  WriteOptions
}

// Write implements Writer.
func (*renaming) Write([]byte) (int, error) { return 0, errors.ErrUnsupported }

// Commit implements Writer.
func (r *renaming) Commit() error {
	return r.to.fail("move", r.move(r.from.path, r.to.path, r.options))
}

// Abort implements Writer.
func (*renaming) Abort() error { return nil }

// Remove removes one object.
func (s *Store) Remove(ctx context.Context, url string) error {
	l, err := s.locate(url)
	if err != nil {
		return err
	}
	return l.fail("remove", l.Remove(ctx, l.path))
}

// RemoveAll removes all objects in the folder of the given name, and the object of this
// name. It refuses the root of a scheme.
func (s *Store) RemoveAll(ctx context.Context, prefix string) error {
	l, err := s.locate(prefix)
	if err != nil {
		return err
	}
	path := strings.TrimRight(l.path, "/")
	if path == "" || path == "." || path == ".." {
		return l.fail("remove", errors.New("refusing to remove everything"))
	}
	return l.fail("remove", l.RemoveAll(ctx, path))
}

// RemoveSeen removes an object described by Stat or List. If the object has changed since,
// the error wraps ErrChanged. It is no error if the object is gone.
func (s *Store) RemoveSeen(ctx context.Context, o Object) error {
	l, err := s.locate(o.URL)
	if err != nil {
		return err
	}
	now, err := l.Stat(ctx, l.path)
	if err == nil {
		err = o.check(now.Generation)
	}
	if err == nil {
		err = l.Remove(ctx, l.path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return l.fail("remove", err)
}

// identifier is a driver in which an object may have several names.
type identifier interface {
	identify(path string) string
}

// Identity returns a text that identifies an object: it is the same for all URLs of the object,
// with any spelling and any links, and differs between objects.
func (s *Store) Identity(url string) (string, error) {
	l, err := s.locate(url)
	if err != nil {
		return "", err
	}
	if d, ok := l.Driver.(identifier); ok {
		return d.identify(l.path), nil
	}
	return joinURL(l.scheme, l.path), nil
}

// climber is a driver whose objects may be in other folders than their paths indicate.
type climber interface {
	above(path string) []string
}

// Above returns the URLs of the folders that contain an object, from its own folder up to the root
// of the scheme or the bucket. For a link, these are the folders that contain its target.
func (s *Store) Above(url string) ([]string, error) {
	l, err := s.locate(url)
	if err != nil {
		return nil, err
	}
	folders := climb(l.path)
	if d, ok := l.Driver.(climber); ok {
		folders = d.above(l.path)
	}
	for i := range folders {
		folders[i] = joinURL(l.scheme, folders[i])
	}
	return folders, nil
}

// emptier is a driver that has empty folders.
type emptier interface {
	removeEmpty(path string) error
}

// RemoveEmpty removes a folder if it exists and is empty.
func (s *Store) RemoveEmpty(folder string) error {
	l, err := s.locate(folder)
	if err != nil {
		return err
	}
	if d, ok := l.Driver.(emptier); ok {
		return l.fail("remove", d.removeEmpty(l.path))
	}
	return nil
}

// Sweep removes the temporary files of killed writers from a folder, if the scheme has such files.
// No writer may be active there.
func (s *Store) Sweep(ctx context.Context, folder string) error {
	l, err := s.locate(folder)
	if err != nil {
		return err
	}
	if d, ok := l.Driver.(sweeper); ok {
		return l.fail("sweep", d.sweep(ctx, l.path))
	}
	return nil
}

// keeper is a Writer that can hold the content of an object without a copy.
type keeper interface {
	// keep takes over the whole content, before any Write.
	keep(b []byte)
}

// Put writes an object atomically. Nobody may change b afterwards, because an object in memory
// shares b.
func (s *Store) Put(ctx context.Context, url string, b []byte, o WriteOptions) error {
	created, err := s.Create(ctx, url, o)
	if err != nil {
		return err
	}
	defer created.Abort() //nolint:errcheck // after Commit nothing is left to undo
	if w, ok := created.(*writer); ok && w.sum == nil {
		if k, ok := w.Writer.(keeper); ok {
			k.keep(b)
			return w.Commit()
		}
	}
	if _, err := created.Write(b); err != nil {
		return err
	}
	return created.Commit()
}

// ReadAll reads a whole object of at most limit bytes; there is no limit if limit is 0 or less. The
// caller must not change the bytes, because an object in memory shares them.
func (s *Store) ReadAll(ctx context.Context, url string, limit int64) ([]byte, error) {
	l, err := s.locate(url)
	if err != nil {
		return nil, err
	}
	r, err := s.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // read only: nothing can be lost
	if limit > 0 && r.Size() > limit {
		return nil, l.fail("read", fmt.Errorf("it has %d bytes, expected at most %d", r.Size(), limit))
	}
	if memory, ok := r.(Byteser); ok {
		return memory.Bytes(), nil
	}
	b := make([]byte, r.Size())
	if n, err := r.ReadAt(b, 0); n < len(b) {
		if err == nil || err == io.EOF { //nolint:errorlint // ReaderAt returns io.EOF itself
			err = io.ErrUnexpectedEOF
		}
		return nil, l.fail("read", err)
	}
	return b, nil
}

// writer adds the URL to the errors of a driver. It enforces the order of calls: no commit after an
// error, and no call after the end.
type writer struct {
	Writer
	location
	ctx    context.Context
	failed error
	ended  bool

	store *Store    // store of the object, for isThere
	sum   hash.Hash // hash of the bytes written; nil without OrSame
	size  int64
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if err := w.usable(); err != nil {
		return 0, w.fail("write", err)
	}
	n, err := w.Writer.Write(p)
	if err != nil {
		w.failed = err
	}
	if w.sum != nil {
		_, _ = w.sum.Write(p) // a hash never fails
		w.size += int64(len(p))
	}
	return n, w.fail("write", err)
}

func (w *writer) usable() error {
	switch {
	case w.ended:
		return fs.ErrClosed
	case w.failed != nil:
		return w.failed
	default:
		return w.ctx.Err()
	}
}

// Commit implements Writer.
func (w *writer) Commit() error {
	if w.ended {
		return w.fail("commit", fs.ErrClosed)
	}
	if err := w.usable(); err != nil {
		return w.fail("commit", errors.Join(err, w.Abort()))
	}
	w.ended = true
	err := w.Writer.Commit()
	if errors.Is(err, fs.ErrExist) && w.sum != nil && w.isThere() {
		return nil
	}
	return w.fail("commit", err)
}

// isThere reports whether the existing object has the same bytes as the write.
func (w *writer) isThere() bool {
	r, err := w.store.Open(w.ctx, w.url)
	if err != nil {
		return false
	}
	defer func() { _ = r.Close() }() // read only: nothing can be lost
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(r, 0, r.Size()))
	return err == nil && n == w.size && bytes.Equal(sum.Sum(nil), w.sum.Sum(nil))
}

// Abort implements Writer.
func (w *writer) Abort() error {
	if w.ended {
		return nil
	}
	w.ended = true
	return w.fail("abort", w.Writer.Abort())
}

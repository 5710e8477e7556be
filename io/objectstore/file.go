package objectstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// fileDriver keeps objects as files.
type fileDriver struct{}

// List implements Driver.
func (d fileDriver) List(ctx context.Context, folder string, depth int) ([]Object, error) {
	if folder == "" {
		folder = "."
	}
	var found []Object
	err := d.walk(ctx, folder, depth, func(o Object) { found = append(found, o) })
	return found, err
}

// walk visits the files below a folder. It follows links to folders only if depth is not negative,
// because they may form circles.
func (d fileDriver) walk(ctx context.Context, folder string, depth int, visit func(Object)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err = absence(err); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := d.walkEntry(ctx, folder, e, depth, visit); err != nil {
			return err
		}
	}
	return nil
}

// absence turns the error for a name below a file ("not a directory") into fs.ErrNotExist.
func absence(err error) error {
	if errors.Is(err, syscall.ENOTDIR) {
		return fs.ErrNotExist
	}
	return err
}

func (d fileDriver) walkEntry(ctx context.Context, folder string, e fs.DirEntry, depth int, visit func(Object)) error {
	path := e.Name()
	if folder != "." {
		path = strings.TrimSuffix(folder, "/") + "/" + path
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && e.Type()&fs.ModeSymlink != 0:
		visit(Object{URL: path}) // a reader must get the error that the link leads nowhere
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil // removed meanwhile
	case err != nil:
		return err
	case info.Mode().IsRegular():
		visit(describeFile(path, info))
	case info.IsDir() && depth < 0 && e.IsDir():
		return d.walk(ctx, path, depth, visit)
	case info.IsDir() && depth > 1:
		return d.walk(ctx, path, depth-1, visit)
	}
	return nil
}

func describeFile(path string, info fs.FileInfo) Object {
	return Object{URL: path, Size: info.Size(), Generation: fileGeneration(info)}
}

// fileGeneration combines the inode, which changes when a file is replaced, with time
// and size, which change when the file is written in place.
func fileGeneration(info fs.FileInfo) string {
	return fmt.Sprintf("%x-%x-%x", info.ModTime().UnixNano(), info.Size(), inode(info))
}

// Stat implements Driver.
func (fileDriver) Stat(_ context.Context, path string) (Object, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && isLink(path) {
		return Object{}, errDangling
	}
	if err != nil {
		return Object{}, absence(err)
	}
	if err := regular(info); err != nil {
		return Object{}, err
	}
	return describeFile(path, info), nil
}

var errNotRegular = errors.New("is no regular file: pipes and devices cannot be read here")

// regular refuses names without content of their own: folders, pipes, sockets and devices.
func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return ErrFolder
	case !info.Mode().IsRegular():
		return errNotRegular
	default:
		return nil
	}
}

// errDangling is the error for a link to nothing: the name is not free.
var errDangling = errors.New("is a link to a file that does not exist")

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// identify implements identifier. An existing file is identified by its inode, for any
// spelling and any links; a new file by the inode of its folder and its name.
func (fileDriver) identify(path string) string {
	if info, err := os.Stat(path); err == nil && inode(info) != 0 {
		return fmt.Sprintf("file %x %x", device(info), inode(info))
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if resolved, err := filepath.EvalSymlinks(absolute); err == nil {
		return resolved
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(absolute)); err == nil {
		return filepath.Join(folder, filepath.Base(absolute))
	}
	return absolute
}

// above implements climber, for the file that any links lead to.
func (fileDriver) above(path string) []string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	if resolved, err := filepath.EvalSymlinks(absolute); err == nil {
		absolute = resolved
	}
	return climb(filepath.ToSlash(absolute))
}

// fileReader is an open file, with its size and generation when it was opened.
type fileReader struct {
	file       *os.File // not embedded: its other methods to read do not look for changes
	size       int64
	generation string
}

// Size implements Reader.
func (r *fileReader) Size() int64 { return r.size }

// Generation implements Reader.
func (r *fileReader) Generation() string { return r.generation }

// ReadAt implements Reader. A file that another program writes in place while it is open has another generation after the
// read, which a look before the read might miss.
func (r *fileReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.file.ReadAt(p, off)
	info, failed := r.file.Stat()
	if failed != nil {
		return n, errors.Join(failed, err)
	}
	if fileGeneration(info) != r.generation {
		return 0, ErrChanged
	}
	return n, err
}

// Close implements Reader.
func (r *fileReader) Close() error { return r.file.Close() }

// Open implements Driver.
func (fileDriver) Open(_ context.Context, o Object) (Reader, error) {
	f, err := os.OpenFile(o.URL, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would block until somebody writes
	if err != nil {
		return nil, o.unless(absence(err))
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err == nil {
		err = o.check(fileGeneration(info))
	}
	if err != nil {
		_ = f.Close() // the first error is more informative
		return nil, err
	}
	return &fileReader{file: f, size: info.Size(), generation: fileGeneration(info)}, nil
}

// Remove implements Driver.
func (d fileDriver) Remove(ctx context.Context, path string) error {
	if _, err := d.Stat(ctx, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // os.Remove would remove an empty folder
	}
	err := os.Remove(path)
	if err == nil {
		madeFolders.tidy(filepath.Dir(path))
	}
	return err
}

// RemoveAll implements Driver.
func (fileDriver) RemoveAll(_ context.Context, path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		madeFolders.tidy(filepath.Dir(path))
	}
	return err
}

// removeEmpty implements emptier.
func (fileDriver) removeEmpty(path string) error {
	entries, err := os.ReadDir(path)
	if err = absence(err); errors.Is(err, fs.ErrNotExist) || len(entries) > 0 {
		return nil
	}
	if err != nil || isLink(path) {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return err
	}
	return nil
}

// fileWriter writes to a hidden file next to the target. Both are on the same file system, so a
// rename replaces the target atomically.
type fileWriter struct {
	file    *os.File
	name    string    // name of the file
	held    io.Closer // see holdTemporary
	target  string
	options WriteOptions
}

// Create implements Driver.
func (fileDriver) Create(_ context.Context, path string, o WriteOptions) (Writer, error) {
	folder := filepath.Dir(path)
	const tries = 10 // another process may remove its folder before this one creates a file in it
	for try := 0; ; try++ {
		err := madeFolders.make(folder)
		var f *os.File
		var held io.Closer
		if err == nil {
			sweepOnce(folder)
			f, held, err = createTemporary(folder)
		}
		switch {
		case err == nil:
			return &fileWriter{file: f, name: f.Name(), held: held, target: path, options: o}, nil
		case try < tries && errors.Is(err, fs.ErrNotExist):
		default:
			madeFolders.tidy(folder)
			return nil, err
		}
	}
}

// The names of temporary files begin and end with these.
const (
	temporaryPrefix = ".espalier-"
	temporarySuffix = ".tmp"
)

// sweeper is a driver whose killed writers leave temporary files.
type sweeper interface {
	sweep(ctx context.Context, folder string) error
}

// sweep implements sweeper.
func (fileDriver) sweep(_ context.Context, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !isTemporary(e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// sweptFolders are the folders in which this process has looked for temporary files of killed
// processes, by path.
var sweptFolders sync.Map //nolint:gochecknoglobals // folders on disk belong to the process, not to a store

// sweepOnce removes the temporary files of killed processes, before this process first writes into
// a folder. Files that cannot be removed stay, which does no harm.
func sweepOnce(folder string) {
	if absolute, err := filepath.Abs(folder); err == nil {
		folder = absolute
	}
	if _, swept := sweptFolders.LoadOrStore(folder, true); swept {
		return
	}
	entries, _ := os.ReadDir(folder) // see above
	for _, e := range entries {
		if isTemporary(e.Name()) {
			removeAbandoned(filepath.Join(folder, e.Name()))
		}
	}
}

// TemporaryFolder creates a folder for temporary files, whose name begins with prefix, and removes
// such folders of killed processes. The caller must call remove.
func TemporaryFolder(prefix string) (folder string, remove func(), err error) {
	earlier, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*")) // the pattern is a good one
	for _, name := range earlier {
		removeAbandoned(name)
	}
	for {
		if folder, err = os.MkdirTemp("", prefix); err != nil {
			return "", nil, err
		}
		if held, swept := holdTemporary(folder); !swept {
			return folder, func() {
				_ = os.RemoveAll(folder) // what stays is in the folder of temporary files
				_ = held.Close()         // only a lock
			}, nil
		}
	}
}

// temporaryBytes is the number of random bytes in the name of a temporary file.
const temporaryBytes = 8

// temporaryName returns a name in a folder that is not taken, but by chance.
func temporaryName(folder string) string {
	var random [temporaryBytes]byte
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	return filepath.Join(folder, temporaryPrefix+hex.EncodeToString(random[:])+temporarySuffix)
}

// isTemporary reports whether a name has the form of temporaryName's names.
func isTemporary(name string) bool {
	rest, prefixed := strings.CutPrefix(name, temporaryPrefix)
	digits, suffixed := strings.CutSuffix(rest, temporarySuffix)
	b, err := hex.DecodeString(digits)
	return prefixed && suffixed && err == nil && len(b) == temporaryBytes
}

// createTemporary is os.CreateTemp with the usual permissions of files, which the target keeps. The
// file is locked until held is closed.
func createTemporary(folder string) (f *os.File, held io.Closer, err error) {
	for {
		name := temporaryName(folder)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return nil, nil, err
		}
		if held, swept := holdTemporary(name); !swept {
			return f, held, nil
		}
		_ = f.Close() // nothing was written
	}
}

// Write implements io.Writer.
func (w *fileWriter) Write(p []byte) (int, error) { return w.file.Write(p) }

// Abort implements Writer.
func (w *fileWriter) Abort() error {
	err := errors.Join(w.file.Close(), os.Remove(w.name))
	_ = w.held.Close() // only a lock
	madeFolders.tidy(filepath.Dir(w.target))
	return err
}

// Commit implements Writer.
func (w *fileWriter) Commit() error {
	defer w.held.Close() //nolint:errcheck // only a lock
	var err error
	if !w.options.Volatile {
		err = w.file.Sync()
	}
	if closeErr := w.file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = w.publish()
	}
	if err != nil {
		_ = os.Remove(w.name) // already gone after a rename
		madeFolders.tidy(filepath.Dir(w.target))
		return err
	}
	if w.options.Volatile {
		return nil
	}
	return syncFolder(filepath.Dir(w.target))
}

// move implements mover.
func (fileDriver) move(from, to string, o WriteOptions) error {
	if err := madeFolders.make(filepath.Dir(to)); err != nil {
		return err
	}
	w := &fileWriter{name: from, target: to, options: o}
	if err := w.publish(); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// publish renames the temporary file to the target. Writers of the same folder exclude each other;
// otherwise one could publish between the check and the rename of another.
func (w *fileWriter) publish() error {
	unlock, err := lockFolder(filepath.Dir(w.target))
	if err != nil {
		if w.options.IfGeneration != "" {
			return fmt.Errorf("cannot lock the folder to compare generations: %w", err)
		}
		unlock = func() {} // without a generation to check, no lock is needed
	}
	defer unlock()
	if w.options.IfAbsent {
		return w.link()
	}
	if w.options.IfGeneration != "" {
		if err := w.checkGeneration(); err != nil {
			return err
		}
	}
	return rename(w.name, w.target)
}

func (w *fileWriter) checkGeneration() error {
	info, err := os.Stat(w.target)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		return w.options.check(false, "")
	}
	return w.options.check(true, fileGeneration(info))
}

// link publishes only if the target is absent: a link fails on an existing name. On a
// file system without links, an empty file reserves the name first.
func (w *fileWriter) link() error {
	err := os.Link(w.name, w.target)
	if err == nil {
		return os.Remove(w.name)
	}
	if errors.Is(err, fs.ErrExist) {
		return fs.ErrExist
	}
	reserved, err := os.OpenFile(w.target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err = reserved.Close(); err == nil {
		err = rename(w.name, w.target)
	}
	if err != nil {
		_ = os.Remove(w.target)
	}
	return err
}

// rename is os.Rename with errors that name neither file: the caller names the URL.
func rename(from, to string) error {
	err := os.Rename(from, to)
	var linkErr *os.LinkError
	if errors.As(err, &linkErr) {
		return linkErr.Err
	}
	return err
}

// syncFolder makes a rename durable. Not all file systems can.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if errors.Is(err, fs.ErrPermission) {
		return nil // the folder is writable, but not readable
	}
	if err != nil {
		return err
	}
	err = f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if errors.Is(err, fs.ErrInvalid) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

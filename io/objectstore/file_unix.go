//go:build unix

package objectstore

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// lockFolder excludes other writers of this and of all other processes until unlock is
// called. The system drops the lock of a dead process.
func lockFolder(folder string) (unlock func(), err error) {
	for {
		f, err := os.Open(folder)
		if err != nil {
			return nil, err
		}
		if err := flock(f, syscall.LOCK_EX); err != nil {
			_ = f.Close()
			return nil, err
		}
		now, err := os.Stat(folder)
		mine, mineErr := f.Stat()
		if err == nil && mineErr == nil && os.SameFile(now, mine) {
			return func() { _ = f.Close() }, nil // closing unlocks
		}
		_ = f.Close() // another folder has taken its place meanwhile, or none
	}
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// holdTemporary locks a temporary file or folder until held is closed: other processes see that its writer is alive. The system drops
// the lock of a dead process. swept reports that another process has removed the file first. Without locks of files, the file
// is not held, and no process takes it for abandoned.
func holdTemporary(name string) (held io.Closer, swept bool) {
	f, err := os.Open(name)
	if err != nil {
		return io.NopCloser(nil), errors.Is(err, fs.ErrNotExist)
	}
	if err := flock(f, syscall.LOCK_EX); err != nil {
		return f, false
	}
	now, err := os.Lstat(name)
	mine, mineErr := f.Stat()
	if err != nil || mineErr != nil || !os.SameFile(now, mine) {
		_ = f.Close()
		return nil, true
	}
	return f, false
}

// removeAbandoned removes a temporary file or folder that no process holds.
func removeAbandoned(name string) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // read only
	if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = os.RemoveAll(name) // it is in nobody's way
	}
}

func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino) //nolint:unconvert // not uint64 on all systems
	}
	return 0
}

// device returns the number of the file system of an inode.
func device(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev) //nolint:unconvert // not uint64 on all systems
	}
	return 0
}

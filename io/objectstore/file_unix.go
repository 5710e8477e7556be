//go:build unix

package objectstore

import (
	"io/fs"
	"os"
	"syscall"
)

// lockFolder excludes other writers of this and of all other processes until unlock is
// called. The system drops the lock of a dead process.
func lockFolder(folder string) (unlock func(), err error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR { //nolint:errorlint // a system call returns the number itself
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil // closing unlocks
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
